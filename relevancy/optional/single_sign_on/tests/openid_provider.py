"""An OpenID Connect provider on this machine, which says what a test tells it to."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

CLIENT_ID, SECRET = "relevancy", "a secret: of/the client"


@dataclass
class Provider:
    """claims: of the next ID token, besides the usual ones; None leaves a claim out. user_info: of the userinfo endpoint.
    metadata: besides the usual ones. signs_with: another key than the published one.
    """

    url: str = ""
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", auto_kid=True))
    claims: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    signs_with: ECKey | None = None
    is_down: bool = False
    requests: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def sign_in(self, address: str) -> dict[str, str]:
        """What a person does there: returns the parameters with which the browser comes back."""
        assert address.startswith(f"{self.url}/authorize?")
        parameters = dict(parse_qsl(urlsplit(address).query))
        assert (parameters["response_type"], parameters["client_id"]) == ("code", CLIENT_ID)
        assert parameters["scope"].split()[0] == "openid"
        code = f"code {len(self.codes)} {time.monotonic_ns()}"
        self.codes[code] = parameters
        return {"state": parameters["state"], "code": code, "iss": self.url}

    def respond(self, method: str, path: str, headers: Any, body: str) -> tuple[int, Any]:
        self.requests.append(path)
        if self.is_down:
            return 500, {"error": "server_error"}
        if path == "/.well-known/openid-configuration":
            places = {name: f"{self.url}/{name}" for name in ("token_endpoint", "userinfo_endpoint", "jwks_uri")}
            return 200, {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                **places,
                **self.metadata,
            }
        if path == "/jwks_uri":
            return 200, KeySet([self.key]).as_dict(private=False)
        if path == "/userinfo_endpoint":
            return 200, self.user_info
        assert (method, path) == ("POST", "/token_endpoint")
        form = {name: values[0] for name, values in parse_qs(body).items()}
        authorization = self.codes.pop(form.get("code", ""), None)
        if authorization is None or not self._is_client(form, headers):
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        is_same = base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == authorization["code_challenge"]
        if not is_same or form["redirect_uri"] != authorization["redirect_uri"]:
            return 400, {"error": "invalid_request"}
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": "7",
            "iat": now,
            "exp": now + 300,
            "nonce": authorization["nonce"],
        }
        claims = {name: value for name, value in (usual | self.claims).items() if value is not None}
        key = self.signs_with or self.key
        token = jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key)
        return 200, {"access_token": "an access token", "token_type": "Bearer", "id_token": token}

    def _is_client(self, form: dict[str, str], headers: Any) -> bool:
        if "client_secret_basic" not in self.metadata.get(
            "token_endpoint_auth_methods_supported", ["client_secret_basic"]
        ):
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, SECRET)
        pair = f"{CLIENT_ID}:a%20secret%3A%20of%2Fthe%20client"
        return bool(headers["authorization"] == "Basic " + base64.b64encode(pair.encode()).decode())


@contextmanager
def serve() -> Iterator[Provider]:
    """Starts a provider on a free port."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            status, content = provider.respond(self.command, self.path, self.headers, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
