"""Time limits of a whole exchange, and ending one from another thread, against servers that hang or drip."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from relevancy.engines import AddressRules, Connection, EndpointUnreachable, EngineError, RequestAborted, TooSlow
from relevancy.engines.transport.client import HttpClient
from tests.contracts.local_server import Reply, serving
from tests.slow_server import (
    Behaviour,
    drip_body,
    drip_chunks,
    drip_headers,
    drip_status,
    hang,
    read_slowly,
    slow_server,
)

RULES = AddressRules(private_allowed=True)
FAST = 0.02  # seconds between two bytes: far less than the time-out, which therefore no single read exceeds
LIMIT = 0.3
PATIENCE = 5.0  # seconds; without limits, the exchanges below last for minutes or forever


@contextmanager
def client(url: str, connect: float = LIMIT, read: float = LIMIT, rules: AddressRules = RULES) -> Iterator[HttpClient]:
    connection = Connection("solr", url, rules, connect_timeout=connect, read_timeout=read)
    opened = HttpClient(connection, rules.parse_url(url), lambda body: "")
    try:
        yield opened
    finally:
        opened.close()


def outcome_within(seconds: float, call: Callable[[], object]) -> object:
    """Returns what a call returns or raises; fails if it takes longer than `seconds`."""
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(call())
        except EngineError as error:
            outcomes.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcomes, f"The call did not end within {seconds} s."
    return outcomes[0]


SLOW = [hang, drip_status(FAST), drip_headers(FAST), drip_body(FAST), drip_chunks(FAST)]
NAMES = ["hang", "status", "headers", "body", "chunks"]


@pytest.mark.parametrize("behaviour", SLOW, ids=NAMES)
def test_send_limits_the_whole_response(behaviour: Behaviour) -> None:
    with slow_server(behaviour) as server, client(server.url) as http:
        error = outcome_within(PATIENCE, lambda: http.send("GET", "/x"))
        assert isinstance(error, TooSlow)
        assert "0.3 s" in str(error)
        assert server.accepted == 1  # not repeated


def test_send_limits_the_time_of_a_large_request() -> None:
    with slow_server(read_slowly) as server, client(server.url) as http:
        assert isinstance(outcome_within(PATIENCE, lambda: http.send("POST", "/x", body=b"x" * 50_000_000)), TooSlow)


def test_send_limits_a_tls_handshake() -> None:
    with slow_server(hang, "https") as server, client(server.url) as http:
        error = outcome_within(PATIENCE, lambda: http.send("GET", "/x"))
    assert isinstance(error, EndpointUnreachable)
    assert "did not accept a connection within 0.3 s" in str(error)


def test_send_limits_a_name_lookup() -> None:
    released = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        released.wait(60)
        return ["127.0.0.1"]

    rules = AddressRules(private_allowed=True, resolver=resolver)
    with client("http://search.example:1", rules=rules) as http:
        error = outcome_within(PATIENCE, lambda: http.send("GET", "/x"))
        released.set()
    assert isinstance(error, EndpointUnreachable)
    assert "did not accept a connection" in str(error)


def test_send_limits_all_attempts_together() -> None:
    delays: list[float] = []
    with serving(lambda received: Reply(b"", 503, {"retry-after": "9"})) as server:
        connection = Connection("solr", server.url, RULES, connect_timeout=1, read_timeout=2)
        http = HttpClient(connection, RULES.parse_url(server.url), lambda body: "", sleep=delays.append)
        with pytest.raises(EndpointUnreachable, match="503"):
            http.send("GET", "/x")
        http.close()
    assert delays == []


def test_send_after_a_slow_response() -> None:
    """The connection of an exchange that was cut off is not used again."""
    with serving(lambda received: Reply(b"ok", 200)) as server, client(server.url) as http:
        server.respond = lambda received: Reply(chunks=iter(_slow_chunks()))
        with pytest.raises(TooSlow):
            http.send("GET", "/slow")
        server.respond = lambda received: Reply(received.path.encode(), 200)
        assert http.send("GET", "/next").body == b"/next"


def _slow_chunks() -> Iterator[bytes]:
    for _ in range(30):
        time.sleep(FAST)
        yield b"slow"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a self-signed certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + built.public_bytes(Encoding.PEM))
    return path


@pytest.mark.parametrize("behaviour", SLOW, ids=NAMES)
def test_send_limits_the_whole_response_over_tls(
    behaviour: Behaviour, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certifi.where", lambda: str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with slow_server(behaviour, "https", context) as server:
        with client(server.url, connect=PATIENCE) as http:
            assert isinstance(outcome_within(PATIENCE, lambda: http.send("GET", "/x")), TooSlow)
        with client(server.url, connect=PATIENCE, read=300) as http:
            threading.Timer(0.3, http.abort).start()
            assert isinstance(outcome_within(PATIENCE, lambda: http.send("GET", "/x")), RequestAborted)


@pytest.mark.parametrize(
    ("behaviour", "scheme"), [*((slow, "http") for slow in SLOW), (hang, "https")], ids=[*NAMES, "handshake"]
)
def test_abort_ends_an_exchange(behaviour: Behaviour, scheme: str) -> None:
    with slow_server(behaviour, scheme) as server, client(server.url, connect=300, read=300) as http:
        threading.Timer(0.1, lambda: server.connected.wait(60) and http.abort()).start()
        assert isinstance(outcome_within(PATIENCE, lambda: http.send("GET", "/x")), RequestAborted)
        with pytest.raises(RequestAborted):
            http.send("GET", "/x")
        assert server.accepted == 1


def test_abort_ends_the_delay_before_a_repetition() -> None:
    with (
        serving(lambda received: Reply(b"", 503, {"retry-after": "9"})) as server,
        client(server.url, 300, 300) as http,
    ):
        threading.Timer(0.2, http.abort).start()
        assert isinstance(outcome_within(PATIENCE, lambda: http.send("GET", "/x")), RequestAborted)


def test_abort_ends_every_thread() -> None:
    with slow_server(drip_headers(FAST)) as server, client(server.url, 300, 300) as http:
        outcomes: list[object] = []
        threads = [
            threading.Thread(target=lambda: outcomes.append(outcome_within(PATIENCE, lambda: http.send("GET", "/x"))))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        while server.accepted < 8:
            time.sleep(0.01)
        http.abort()
        for thread in threads:
            thread.join(PATIENCE)
    assert [type(outcome) for outcome in outcomes] == [RequestAborted] * 8
