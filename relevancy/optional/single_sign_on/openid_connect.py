"""The site's OpenID Connect provider: where it signs people in, and what it says about them.

OpenID Connect Core 1.0, the authorization code flow with PKCE (RFC 7636). Requests go through the client of all engines, with its
limits of time and size.

See docs/decisions/0111.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError, MissingKeyError
from joserfc.jwk import KeySet

from relevancy import engines

MAX_AGE = 600  # seconds from the link to the provider's answer
LEEWAY = 60  # seconds by which the clocks may differ
KEPT = 3600  # seconds for which the provider's addresses and keys are kept
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
ONE_ATTEMPT = engines.RetryPolicy(attempts=1)  # a code works once


class ProviderError(Exception):
    """The provider did not answer, or its answer is not valid. The text is for the log: it may name internal addresses."""


@dataclass(frozen=True)
class Identity:
    """What the provider says about the person who signed in. name, email: may be empty."""

    issuer: str
    subject: str
    email: str = ""
    is_email_verified: bool = False
    name: str = ""


@dataclass
class _Known:
    """What the provider publishes about itself, and its keys."""

    issuer: str
    metadata: Mapping[str, Any]
    keys: KeySet
    read_at: float


_known: list[_Known] = []
_lock = Lock()


def is_configured() -> bool:
    """Whether the site has a provider."""
    return bool(settings.OIDC_ISSUER)


def begin(redirect_uri: str) -> tuple[str, dict[str, Any]]:
    """Returns the provider's address to send a browser to, and what the session keeps until it comes back to `redirect_uri`.

    Raises `ProviderError`.
    """
    metadata = _provider().metadata
    verifier = secrets.token_urlsafe(48)
    pending = {
        "state": secrets.token_urlsafe(32),
        "nonce": secrets.token_urlsafe(32),
        "verifier": verifier,
        "redirect_uri": redirect_uri,
        "at": time.time(),
    }
    digest = hashlib.sha256(verifier.encode()).digest()
    parameters = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": redirect_uri,
        "scope": "openid email profile",
        "state": pending["state"],
        "nonce": pending["nonce"],
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    address = _text(metadata, "authorization_endpoint")
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}", pending


def finish(pending: Mapping[str, Any], answer: Mapping[str, str]) -> Identity:
    """Returns who signed in. pending: what `begin` returned; answer: the parameters with which the browser came back.

    Raises `ProviderError` for an answer to another request, an expired one, an error of the provider, or an invalid token.
    """
    if not secrets.compare_digest(answer.get("state", "").encode(), str(pending.get("state") or "-").encode()):
        raise ProviderError("The answer does not belong to this browser's request: its state differs.")
    if time.time() - pending["at"] > MAX_AGE:
        raise ProviderError(f"The answer came more than {MAX_AGE // 60} minutes after the request.")
    if answer.get("error"):
        raise ProviderError(
            f"The provider answered {answer['error'][:100]!r}: {answer.get('error_description', '')[:500]!r}."
        )
    provider = _provider()
    if answer.get("iss", provider.issuer) != provider.issuer:  # RFC 9207
        raise ProviderError(f"The answer is of {answer['iss'][:200]!r}, not of {provider.issuer}.")
    tokens = _exchange(provider, answer.get("code", ""), pending)
    claims = _verified(provider, _text(tokens, "id_token"), str(pending["nonce"]))
    if not claims.get("email") and provider.metadata.get("userinfo_endpoint"):
        claims = {**_user_info(provider, _text(tokens, "access_token"), claims["sub"]), **claims}
    return Identity(
        issuer=provider.issuer,
        subject=claims["sub"],
        email=_optional(claims, "email"),
        # Some providers write it as text.
        is_email_verified=claims.get("email_verified") in (True, "true") or settings.OIDC_TRUST_EMAIL,
        name=_optional(claims, "name") or _optional(claims, "preferred_username"),
    )


def forget() -> None:
    """Reads the provider's addresses and keys again when they are needed next."""
    with _lock:
        _known.clear()


def _provider(*, renew_keys: bool = False) -> _Known:
    issuer = settings.OIDC_ISSUER
    with _lock:
        provider = next((provider for provider in _known if provider.issuer == issuer), None)
        if provider is not None and not renew_keys and time.monotonic() - provider.read_at < KEPT:
            return provider
        metadata = _ask("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata.get("issuer") != issuer:
            raise ProviderError(
                f"{issuer} says that its issuer is {str(metadata.get('issuer'))[:200]!r}. RELEVANCY_OIDC_ISSUER must be the same text."
            )
        try:
            keys = KeySet.import_key_set({"keys": _ask("GET", _text(metadata, "jwks_uri")).get("keys", [])})
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderError(f"The keys of {issuer} cannot be read: {error}") from error
        _known[:] = [_Known(issuer, metadata, keys, time.monotonic())]
        return _known[0]


def _exchange(provider: _Known, code: str, pending: Mapping[str, Any]) -> Mapping[str, Any]:
    """Exchanges a code for tokens."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": pending["redirect_uri"],
        "code_verifier": pending["verifier"],
    }
    headers = {"content-type": "application/x-www-form-urlencoded"}
    client_id, secret = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
    methods: Collection[str] = provider.metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    if secret and "client_secret_basic" in methods:
        pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"  # RFC 6749, 2.3.1
        headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    else:
        form |= {"client_id": client_id} | ({"client_secret": secret} if secret else {})
    return _ask("POST", _text(provider.metadata, "token_endpoint"), urlencode(form).encode(), headers)


def _verified(provider: _Known, token: str, nonce: str) -> dict[str, Any]:
    """Returns the claims of an ID token whose signature, issuer, audience, nonce and times are valid."""
    try:
        try:
            decoded = jwt.decode(token, provider.keys, algorithms=ALGORITHMS)
        except (InvalidKeyIdError, MissingKeyError):  # the provider has changed its keys
            decoded = jwt.decode(token, _provider(renew_keys=True).keys, algorithms=ALGORITHMS)
        rules = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": provider.issuer},
            aud={"essential": True, "value": settings.OIDC_CLIENT_ID},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        rules.validate(decoded.claims)
    except (JoseError, ValueError, TypeError) as error:
        raise ProviderError(f"The ID token is not valid: {error}") from error
    claims: dict[str, Any] = decoded.claims
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != settings.OIDC_CLIENT_ID:
        raise ProviderError("The ID token is for several applications, and was not issued to this one.")
    if not 0 < len(claims["sub"]) <= 255:
        raise ProviderError("The ID token does not say who signed in: its subject must have 1 to 255 characters.")
    return claims


def _user_info(provider: _Known, access_token: str, subject: str) -> Mapping[str, Any]:
    claims = _ask(
        "GET", _text(provider.metadata, "userinfo_endpoint"), headers={"authorization": f"Bearer {access_token}"}
    )
    if claims.get("sub") != subject:
        raise ProviderError("The provider described another user than the one who signed in.")
    return claims


def _ask(
    method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    """Sends a request and returns the JSON object of its response.

    Only the issuer's host, which an admin has set, may be a private address without being listed in RELEVANCY_ENDPOINT_HOSTS.
    """
    try:
        own_host = engines.AddressRules().parse_url(settings.OIDC_ISSUER).base.partition("://")[2]
        rules = engines.AddressRules.parse(
            f"{settings.ENDPOINT_HOSTS} {own_host}", private_allowed=settings.ENDPOINT_PRIVATE_ALLOWED
        )
        address = rules.parse_url(url)
        connection = engines.Connection("OpenID Connect", url, rules, parallel=1, connect_timeout=5, read_timeout=10)
        client = engines.HttpClient(connection, address, _error_text, retries=ONE_ATTEMPT)
        try:
            headers = {"accept": "application/json", **(headers or {})}
            response = client.send(method, urlsplit(url).path or "/", body=body, headers=headers)
        finally:
            client.close()
        answer = json.loads(response.body)
    except engines.EngineError as error:
        raise ProviderError(str(error)) from error
    except ValueError as error:
        raise ProviderError(f"{url} did not answer with JSON.") from error
    if not isinstance(answer, dict):
        raise ProviderError(f"{url} did not answer with a JSON object.")
    return answer


def _error_text(body: Any) -> str:
    """The error of a token endpoint (RFC 6749, 5.2)."""
    if not isinstance(body, dict):
        return ""
    return " ".join(str(body[name])[:300] for name in ("error", "error_description") if body.get(name))


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value:
        raise ProviderError(f"The provider's answer has no {name}.")
    return value


def _optional(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
