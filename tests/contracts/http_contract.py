"""What every HTTP adapter must do when the server misbehaves."""

import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from relevancy import engines
from relevancy.engines import (
    AddressRules,
    BadQuery,
    Connection,
    EndpointRefused,
    EndpointUnreachable,
    Page,
    RequestAborted,
    TooSlow,
    UnreadableResponse,
    parse_fields,
)
from relevancy.engines.transport.response import MAX_BYTES
from tests.slow_server import Behaviour, drip_chunks, drip_headers, drip_status, hang, slow_server

from .local_server import LocalServer, ReceivedRequest, Reply, Responder, json_reply, serving
from .subject import LOOPBACK, EngineUnderTest

HTML = Reply(
    b"<html><head><title>Sign in</title><script>steal()</script></head><body>Please <b>sign in</b></body></html>",
    headers={"content-type": "text/html"},
)


class HttpContract:
    """Subclasses provide a healthy engine.

    `key`: the engine's key.
    `healthy`: responds as the engine does at `path`.
    `make_subject`: binds the engine to a URL.
    `hits_reply`: the engine's response with hits of these ids.
    """

    key: str
    healthy: Responder
    path: str

    @classmethod
    def make_subject(cls, connection: Connection, missing_url: str) -> EngineUnderTest:
        raise NotImplementedError

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[LocalServer]:
        with serving(type(self).healthy) as server:
            yield server

    @pytest.fixture
    def subject(self, server: LocalServer) -> EngineUnderTest:
        return self.make_subject(Connection(self.key, server.url + self.path, LOOPBACK), server.url + "/absent")

    @pytest.mark.parametrize("status", [401, 403])
    def test_refused(self, server: LocalServer, subject: EngineUnderTest, status: int) -> None:
        server.respond = lambda received: Reply(f"you sent {received.headers['authorization']}".encode(), status)
        engine = subject.connect(credentials={"username": "reader", "password": "hunter2-secret"})
        with engine, pytest.raises(EndpointRefused, match="credentials") as caught:
            engine.search(subject.request("star"))
        assert caught.value.status == status
        assert server.received[0].headers["authorization"] == "Basic cmVhZGVyOmh1bnRlcjItc2VjcmV0"
        assert "cmVhZGVyOmh1bnRlcjItc2VjcmV0" not in str(caught.value)

    @pytest.mark.parametrize(
        ("credentials", "header"),
        [
            ({"api_key": "id:key-of-it"}, "ApiKey aWQ6a2V5LW9mLWl0"),
            ({"api_key": "aWQ6a2V5"}, "ApiKey aWQ6a2V5"),
            ({"bearer": "token-of-it"}, "Bearer token-of-it"),
        ],
    )
    def test_credentials_are_sent(
        self, server: LocalServer, subject: EngineUnderTest, credentials: dict[str, str], header: str
    ) -> None:
        with subject.connect(credentials=credentials, headers={"X-Tenant": "shop"}) as engine:
            engine.search(subject.request("star"))
        assert server.received[0].headers["authorization"] == header
        assert server.received[0].headers["x-tenant"] == "shop"

    def test_secrets_stay_out_of_logs(
        self, server: LocalServer, subject: EngineUnderTest, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        server.respond = lambda received: Reply(b"no", 401)
        with subject.connect(credentials={"api_key": "key-of-it"}) as engine, pytest.raises(EndpointRefused):
            engine.search(subject.request("star"))
        assert "key-of-it" not in caplog.text
        assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]

    def test_html_is_unreadable(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: HTML
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="Sign in Please sign in"):
            engine.search(subject.request("star"))

    @pytest.mark.parametrize(
        "body", [b"", b"{", b"[1, 2]", b'"text"', b"[" * 100_000, b'{"response": [], "hits": 3}', b"\xff\xfe", b"{}"]
    )
    def test_other_json_is_unreadable(self, server: LocalServer, subject: EngineUnderTest, body: bytes) -> None:
        server.respond = lambda received: replace(json_reply({}), body=body)
        with subject.connect() as engine, pytest.raises(UnreadableResponse):
            engine.search(subject.request("star"))

    def test_redirect_names_its_target(self, server: LocalServer, subject: EngineUnderTest) -> None:
        location = "http://reader:hunter2@elsewhere.example/solr?key=1"
        server.respond = lambda received: Reply(b"", 302, {"location": location})
        with (
            subject.connect() as engine,
            pytest.raises(UnreadableResponse, match=r"http://elsewhere\.example/solr") as caught,
        ):
            engine.search(subject.request("star"))
        assert "hunter2" not in str(caught.value)
        assert len(server.received) == 1

    def test_slow_response(self, server: LocalServer, subject: EngineUnderTest) -> None:
        def slow(received: ReceivedRequest) -> Reply:
            time.sleep(0.6)
            return type(self).healthy(received)

        server.respond = slow
        with subject.connect(read_timeout=0.2) as engine, pytest.raises(TooSlow, match=r"0\.2 s"):
            engine.search(subject.request("star"))
        assert len(server.received) == 1

    def test_dripping_response(self, server: LocalServer, subject: EngineUnderTest) -> None:
        def drip() -> Iterator[bytes]:
            for _ in range(40):
                time.sleep(0.05)
                yield b" "

        server.respond = lambda received: Reply(headers={"content-type": "application/json"}, chunks=drip())
        started = time.monotonic()
        with subject.connect(read_timeout=0.2, connect_timeout=0.1) as engine, pytest.raises(TooSlow):
            engine.search(subject.request("star"))
        assert time.monotonic() - started < 1.5

    @pytest.mark.parametrize("behaviour", [drip_status(0.02), drip_headers(0.02), drip_chunks(0.02), hang])
    def test_slow_server(self, subject: EngineUnderTest, behaviour: Behaviour) -> None:
        """The time-out is for the whole response, from the status line to the last byte; each byte comes in time."""
        with slow_server(behaviour) as slow:
            changes = {"url": slow.url + self.path, "read_timeout": 0.3}
            with subject.connect(**changes) as engine, pytest.raises(TooSlow, match=r"0\.3 s"):
                engine.search(subject.request("star"))
            with subject.connect(**changes) as engine, pytest.raises(TooSlow, match=r"0\.3 s"):
                engine.version()

    def test_abort_ends_searches(self, subject: EngineUnderTest) -> None:
        with slow_server(drip_headers(0.02)) as slow:
            with subject.connect(url=slow.url + self.path, read_timeout=120) as engine:

                def stop() -> bool:
                    if slow.connected.is_set():
                        engine.abort()
                    return slow.connected.is_set()

                outcomes = list(engine.search_many([subject.request("star") for _ in range(150)], stop=stop))
                with pytest.raises(RequestAborted):
                    engine.search(subject.request("star"))
            assert all(isinstance(outcome, RequestAborted) for _, outcome in outcomes)
            assert slow.accepted <= subject.connection.parallel

    def test_too_large_by_content_length(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: replace(json_reply({}), length=MAX_BYTES + 1)
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="20 MB"):
            engine.search(subject.request("star"))

    def test_too_large_without_content_length(self, server: LocalServer, subject: EngineUnderTest) -> None:
        sent: list[int] = []

        def large() -> Iterator[bytes]:
            for _ in range(100):
                sent.append(1)
                yield b" " * 1_000_000

        server.respond = lambda received: Reply(headers={"content-type": "application/json"}, chunks=large())
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="20 MB"):
            engine.search(subject.request("star"))
        assert len(sent) < 60

    def test_too_large_when_decompressed(self, server: LocalServer, subject: EngineUnderTest) -> None:
        bomb = gzip.compress(b" " * 200_000_000, 1)
        assert len(bomb) < 2_000_000
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        server.respond = lambda received: Reply(bomb, 200, headers)
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="20 MB"):
            engine.search(subject.request("star"))

    def test_compressed_response(self, server: LocalServer, subject: EngineUnderTest) -> None:
        def compressed(received: ReceivedRequest) -> Reply:
            reply = type(self).healthy(received)
            return replace(reply, body=gzip.compress(reply.body), headers={**reply.headers, "content-encoding": "gzip"})

        server.respond = compressed
        with subject.connect() as engine:
            assert engine.search(subject.request("star")).total == 3

    @pytest.mark.parametrize("status", [502, 503, 504])
    def test_not_ready_is_repeated(self, server: LocalServer, subject: EngineUnderTest, status: int) -> None:
        server.respond = lambda received: (
            Reply(b"wait", status) if len(server.received) == 1 else type(self).healthy(received)
        )
        with subject.connect() as engine:
            assert engine.search(subject.request("star")).total == 3
        assert len(server.received) == 2

    def test_not_ready_three_times(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: Reply(b"wait", 503)
        with subject.connect() as engine, pytest.raises(EndpointUnreachable, match="503") as caught:
            engine.search(subject.request("star"))
        assert caught.value.status == 503
        assert len(server.received) == 3

    def test_too_many_requests_is_repeated_after_retry_after(
        self, server: LocalServer, subject: EngineUnderTest
    ) -> None:
        server.respond = lambda received: (
            Reply(b"", 429, {"retry-after": "0"}) if len(server.received) == 1 else type(self).healthy(received)
        )
        with subject.connect() as engine:
            assert engine.search(subject.request("star")).total == 3

    @pytest.mark.parametrize("headers", [{}, {"retry-after": "3600"}, {"retry-after": "soon"}])
    def test_too_many_requests_without_usable_retry_after(
        self, server: LocalServer, subject: EngineUnderTest, headers: dict[str, str]
    ) -> None:
        server.respond = lambda received: Reply(b"", 429, headers)
        with subject.connect() as engine, pytest.raises(EndpointUnreachable, match="429"):
            engine.search(subject.request("star"))
        assert len(server.received) == 1

    @pytest.mark.parametrize("status", [400, 500])
    def test_other_errors_are_not_repeated(self, server: LocalServer, subject: EngineUnderTest, status: int) -> None:
        server.respond = lambda received: Reply(b"<h1>Oh no</h1>", status, {"content-type": "text/html"})
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="Oh no"):
            engine.search(subject.request("star"))
        assert len(server.received) == 1

    def test_incomplete_response(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: replace(json_reply({"a": 1}), length=5000)
        with subject.connect() as engine, pytest.raises(EndpointUnreachable, match="before the response was complete"):
            engine.search(subject.request("star"))

    def test_closed_port(self, server: LocalServer, subject: EngineUnderTest) -> None:
        with serving(type(self).healthy) as stopped:
            url = stopped.url
        with (
            subject.connect(url=url + self.path) as engine,
            pytest.raises(EndpointUnreachable, match="refused") as caught,
        ):
            engine.search(subject.request("star"))
        assert url in str(caught.value)
        assert caught.value.hint

    def test_private_address_not_allowed(self, server: LocalServer, subject: EngineUnderTest) -> None:
        with subject.connect(rules=AddressRules()) as engine:
            with pytest.raises(EndpointUnreachable, match="RELEVANCY_ENDPOINT_HOSTS"):
                engine.search(subject.request("star"))
            with pytest.raises(EndpointUnreachable, match="RELEVANCY_ENDPOINT_HOSTS"):
                engine.version()
        assert not server.received

    def test_environment_proxies_are_ignored(
        self, server: LocalServer, subject: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        with subject.connect() as engine:
            assert engine.search(subject.request("star")).total == 3

    def test_host_name_is_checked_for_each_connection(self, server: LocalServer, subject: EngineUnderTest) -> None:
        """A name server that returns another address later (DNS rebinding) does not lead there."""
        port = urlsplit(server.url).port
        answers = iter([["127.0.0.1"], ["169.254.169.254"]])
        rules = AddressRules(private_allowed=True, resolver=lambda host, port: next(answers))
        with subject.connect(rules=rules, url=f"http://search.example:{port}{self.path}") as engine:
            assert engine.search(subject.request("star")).total == 3
            assert server.received[0].headers["host"] == f"search.example:{port}"
            server.respond = lambda received: self._closing(type(self).healthy(received))
            engine.search(subject.request("star"))
            with pytest.raises(EndpointUnreachable, match="metadata"):
                engine.search(subject.request("star"))
        assert len(server.received) == 2

    @staticmethod
    def _closing(reply: Reply) -> Reply:
        return replace(reply, headers={**reply.headers, "connection": "close"})

    def test_repeated_id_is_returned(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: self.hits_reply(["a", "b", "a"])
        with subject.connect() as engine:
            assert [hit.id for hit in engine.search(subject.request("star")).hits] == ["a", "b", "a"]

    def test_hit_without_id(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: self.hits_reply(["a", "  "])
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="title"):
            engine.search(subject.request("star"))

    def test_ids_are_trimmed(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: self.hits_reply([" a ", "b\n"])
        with subject.connect() as engine:
            assert [hit.id for hit in engine.search(subject.request("star")).hits] == ["a", "b"]

    def test_characters_that_databases_reject_are_replaced(self, server: LocalServer, subject: EngineUnderTest) -> None:
        reply = self.hits_reply(["a"])
        broken = reply.body.replace(b"Title of a", b"\\u0000\\ud800x\\ud83d\\ude42").replace(b"1.5", b"NaN")
        server.respond = lambda received: replace(reply, body=broken)
        with subject.connect() as engine:
            hit = engine.search(subject.request("star")).hits[0]
        assert hit.fields["title"] == "\ufffd\ufffdx\U0001f642"
        assert hit.score is None
        json.dumps(dict(hit.fields), ensure_ascii=False).encode()

    def test_large_responses_are_cut(self, server: LocalServer, subject: EngineUnderTest) -> None:
        reply = self.hits_reply([f"doc {number}" for number in range(200)])
        body = reply.body.replace(b'"Title of doc 1"', json.dumps(["x" * 1_000_000, {"y": "z"}]).encode())
        server.respond = lambda received: replace(reply, body=body)
        request = replace(subject.request("star", rows=5), fields=parse_fields("*", subject.fields.id))
        with subject.connect() as engine:
            page = engine.search(request)
            ((_, many),) = engine.search_many([request])
            result = engine.lookup(["doc 1"], request.fields)
        assert isinstance(many, Page)
        for hits in (page.hits, many.hits):
            assert [hit.id for hit in hits] == [f"doc {number}" for number in range(5)]
            assert "[cut: 1,000,000 characters]" in str(hits[1].fields["title"])
            assert len(json.dumps(dict(hits[1].fields))) < 12_000
        assert all(len(json.dumps(dict(hit.fields))) < 12_000 for hit in result)

    @pytest.mark.parametrize("number", [b"1" + b"0" * 400, b"1e999", b"-1e999"])
    def test_numbers_that_nothing_can_store(self, server: LocalServer, subject: EngineUnderTest, number: bytes) -> None:
        """A page with such a number is read without it, or is unreadable; no other exception stops a run."""
        reply = self.hits_reply(["a"])
        for original in (b"1.5", b": 1,", b": 1}"):
            changed = replace(
                reply, body=reply.body.replace(original, original.replace(b"1.5", b"1").replace(b"1", number))
            )
            server.respond = lambda received, changed=changed: changed  # type: ignore[misc]
            with subject.connect() as engine:
                for _, outcome in engine.search_many([subject.request("star")]):
                    if isinstance(outcome, Page):
                        assert outcome.total in (None, 1)
                        assert [hit.score for hit in outcome.hits] in ([None], [1.5])
                        json.dumps([dict(hit.fields) for hit in outcome.hits], allow_nan=False)
                    else:
                        assert isinstance(outcome, UnreadableResponse)

    def test_long_id(self, server: LocalServer, subject: EngineUnderTest) -> None:
        server.respond = lambda received: self.hits_reply(["x" * 100_000])
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="100,000 characters"):
            engine.search(subject.request("star"))

    def test_lone_surrogate_in_a_query(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(BadQuery, match="half of a character"):
            engine.search(subject.request("star \ud800"))

    def test_parallel_limit(self, server: LocalServer, subject: EngineUnderTest) -> None:
        active: list[int] = []
        counts: list[int] = []

        def count(received: ReceivedRequest) -> Reply:
            active.append(1)
            counts.append(len(active))
            time.sleep(0.01)
            active.pop()
            return type(self).healthy(received)

        server.respond = count
        with subject.connect(parallel=3) as engine:
            outcomes = list(engine.search_many([subject.request("star") for _ in range(30)]))
        assert all(isinstance(outcome, Page) for _, outcome in outcomes)
        assert max(counts) <= 3

    def test_per_minute_limit(self, server: LocalServer, subject: EngineUnderTest) -> None:
        started = time.monotonic()
        with subject.connect(per_minute=1200) as engine:
            outcomes = list(engine.search_many([subject.request("star") for _ in range(6)]))
        assert len(outcomes) == len(server.received) == 6
        assert time.monotonic() - started >= 5 * 0.05

    def test_stop_does_not_wait_for_the_rate_limit(self, server: LocalServer, subject: EngineUnderTest) -> None:
        started = time.monotonic()
        seen: list[int] = []
        with subject.connect(per_minute=6) as engine:
            for index, _ in engine.search_many([subject.request("star") for _ in range(20)], stop=lambda: bool(seen)):
                seen.append(index)
        assert len(seen) == 1
        assert time.monotonic() - started < 5

    def test_connection_is_reused(self, server: LocalServer, subject: EngineUnderTest) -> None:
        resolved: list[str] = []

        def resolver(host: str, port: int) -> list[str]:
            resolved.append(host)
            return ["127.0.0.1"]

        with subject.connect(rules=AddressRules(private_allowed=True, resolver=resolver)) as engine:
            for _ in range(20):
                engine.search(subject.request("star"))
        assert len(resolved) == 1

    @pytest.mark.parametrize(
        "headers", [{"host": "other"}, {"Content-Length": "3"}, {"x-a": "b\r\nx: y"}, {"x a": "b"}, {"x-a": "ü"}]
    )
    def test_invalid_headers(self, subject: EngineUnderTest, headers: dict[str, str]) -> None:
        with pytest.raises(EndpointUnreachable, match="header"):
            subject.connect(headers=headers)

    def test_credentials_in_the_address(self, subject: EngineUnderTest) -> None:
        with pytest.raises(EndpointUnreachable, match="credentials") as caught:
            subject.connect(url="http://reader:hunter2@127.0.0.1/x")
        assert "hunter2" not in str(caught.value)

    def test_engine_is_registered(self, subject: EngineUnderTest) -> None:
        assert engines.get(subject.connection.engine).key == subject.connection.engine
