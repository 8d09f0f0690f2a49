"""What every adapter that speaks HTTP must do when the other side misbehaves. A subclass names a healthy stand."""

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
    TooSlow,
    UnreadableAnswer,
)
from relevancy.engines.answers import MAX_BYTES

from .local_server import Answering, Asked, LocalServer, Reply, json_reply, serving
from .stand import LOOPBACK, Stand

HTML = Reply(
    b"<html><head><title>Sign in</title><script>steal()</script></head><body>Please <b>sign in</b></body></html>",
    headers={"content-type": "text/html"},
)


class HttpContract:
    """`healthy` answers as the engine does below `path`; `make_stand` binds the engine to a URL; `hits_reply` is its answer
    with these ids."""

    healthy: Answering
    path: str

    @classmethod
    def make_stand(cls, connection: Connection, missing: str) -> Stand:
        raise NotImplementedError

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[LocalServer]:
        with serving(type(self).healthy) as server:
            yield server

    @pytest.fixture
    def stand(self, server: LocalServer) -> Stand:
        key = "solr" if "solr" in self.path else "elasticsearch"
        return self.make_stand(Connection(key, server.url + self.path, LOOPBACK), server.url + "/absent")

    @pytest.mark.parametrize("status", [401, 403])
    def test_refused(self, server: LocalServer, stand: Stand, status: int) -> None:
        server.answer = lambda asked: Reply(f"you sent {asked.headers['authorization']}".encode(), status)
        engine = stand.open(credentials={"username": "reader", "password": "hunter2-secret"})
        with engine, pytest.raises(EndpointRefused, match="credentials") as caught:
            engine.search(stand.ask("star"))
        assert caught.value.status == status
        assert server.asked[0].headers["authorization"] == "Basic cmVhZGVyOmh1bnRlcjItc2VjcmV0"
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
        self, server: LocalServer, stand: Stand, credentials: dict[str, str], header: str
    ) -> None:
        with stand.open(credentials=credentials, headers={"X-Tenant": "shop"}) as engine:
            engine.search(stand.ask("star"))
        assert server.asked[0].headers["authorization"] == header
        assert server.asked[0].headers["x-tenant"] == "shop"

    def test_secrets_stay_out_of_logs(
        self, server: LocalServer, stand: Stand, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        server.answer = lambda asked: Reply(b"no", 401)
        with stand.open(credentials={"api_key": "key-of-it"}) as engine, pytest.raises(EndpointRefused):
            engine.search(stand.ask("star"))
        assert "key-of-it" not in caplog.text
        assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]

    def test_html_is_unreadable(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: HTML
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="Sign in Please sign in"):
            engine.search(stand.ask("star"))

    @pytest.mark.parametrize(
        "body", [b"", b"{", b"[1, 2]", b'"text"', b"[" * 100_000, b'{"response": [], "hits": 3}', b"\xff\xfe", b"{}"]
    )
    def test_other_json_is_unreadable(self, server: LocalServer, stand: Stand, body: bytes) -> None:
        server.answer = lambda asked: replace(json_reply({}), body=body)
        with stand.open() as engine, pytest.raises(UnreadableAnswer):
            engine.search(stand.ask("star"))

    def test_redirect_names_its_target(self, server: LocalServer, stand: Stand) -> None:
        location = "http://reader:hunter2@elsewhere.example/solr?key=1"
        server.answer = lambda asked: Reply(b"", 302, {"location": location})
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match=r"http://elsewhere\.example/solr") as caught:
            engine.search(stand.ask("star"))
        assert "hunter2" not in str(caught.value)
        assert len(server.asked) == 1

    def test_slow_answer(self, server: LocalServer, stand: Stand) -> None:
        def slow(asked: Asked) -> Reply:
            time.sleep(0.6)
            return type(self).healthy(asked)

        server.answer = slow
        with stand.open(read_timeout=0.2) as engine, pytest.raises(TooSlow, match=r"0\.2 s"):
            engine.search(stand.ask("star"))
        assert len(server.asked) == 1

    def test_dripping_answer(self, server: LocalServer, stand: Stand) -> None:
        def drip() -> Iterator[bytes]:
            for _ in range(40):
                time.sleep(0.05)
                yield b" "

        server.answer = lambda asked: Reply(headers={"content-type": "application/json"}, pieces=drip())
        began = time.monotonic()
        with stand.open(read_timeout=0.2, connect_timeout=0.1) as engine, pytest.raises(TooSlow):
            engine.search(stand.ask("star"))
        assert time.monotonic() - began < 1.5

    def test_too_large_by_its_own_word(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: replace(json_reply({}), length=MAX_BYTES + 1)
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="20 MB"):
            engine.search(stand.ask("star"))

    def test_too_large_without_saying_so(self, server: LocalServer, stand: Stand) -> None:
        sent: list[int] = []

        def much() -> Iterator[bytes]:
            for _ in range(100):
                sent.append(1)
                yield b" " * 1_000_000

        server.answer = lambda asked: Reply(headers={"content-type": "application/json"}, pieces=much())
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="20 MB"):
            engine.search(stand.ask("star"))
        assert len(sent) < 60

    def test_too_large_when_unpacked(self, server: LocalServer, stand: Stand) -> None:
        bomb = gzip.compress(b" " * 200_000_000, 1)
        assert len(bomb) < 2_000_000
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        server.answer = lambda asked: Reply(bomb, 200, headers)
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="20 MB"):
            engine.search(stand.ask("star"))

    def test_compressed_answer_is_read(self, server: LocalServer, stand: Stand) -> None:
        def packed(asked: Asked) -> Reply:
            reply = type(self).healthy(asked)
            return replace(reply, body=gzip.compress(reply.body), headers={**reply.headers, "content-encoding": "gzip"})

        server.answer = packed
        with stand.open() as engine:
            assert engine.search(stand.ask("star")).total == 3

    @pytest.mark.parametrize("status", [502, 503, 504])
    def test_not_ready_is_tried_again(self, server: LocalServer, stand: Stand, status: int) -> None:
        server.answer = lambda asked: Reply(b"wait", status) if len(server.asked) == 1 else type(self).healthy(asked)
        with stand.open() as engine:
            assert engine.search(stand.ask("star")).total == 3
        assert len(server.asked) == 2

    def test_not_ready_for_good(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: Reply(b"wait", 503)
        with stand.open() as engine, pytest.raises(EndpointUnreachable, match="503") as caught:
            engine.search(stand.ask("star"))
        assert caught.value.status == 503
        assert len(server.asked) == 3

    def test_too_often_waits_as_asked(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: (
            Reply(b"", 429, {"retry-after": "0"}) if len(server.asked) == 1 else type(self).healthy(asked)
        )
        with stand.open() as engine:
            assert engine.search(stand.ask("star")).total == 3

    @pytest.mark.parametrize("headers", [{}, {"retry-after": "3600"}, {"retry-after": "soon"}])
    def test_too_often_without_a_useful_time(self, server: LocalServer, stand: Stand, headers: dict[str, str]) -> None:
        server.answer = lambda asked: Reply(b"", 429, headers)
        with stand.open() as engine, pytest.raises(EndpointUnreachable, match="429"):
            engine.search(stand.ask("star"))
        assert len(server.asked) == 1

    @pytest.mark.parametrize("status", [400, 500])
    def test_not_tried_again(self, server: LocalServer, stand: Stand, status: int) -> None:
        server.answer = lambda asked: Reply(b"<h1>Oh no</h1>", status, {"content-type": "text/html"})
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="Oh no"):
            engine.search(stand.ask("star"))
        assert len(server.asked) == 1

    def test_broken_off_answer(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: replace(json_reply({"a": 1}), length=5000)
        with stand.open() as engine, pytest.raises(EndpointUnreachable, match="before the whole answer"):
            engine.search(stand.ask("star"))

    def test_nobody_listens(self, server: LocalServer, stand: Stand) -> None:
        with serving(type(self).healthy) as gone:
            url = gone.url
        with stand.open(url=url + self.path) as engine, pytest.raises(EndpointUnreachable, match="refused") as caught:
            engine.search(stand.ask("star"))
        assert url in str(caught.value)
        assert caught.value.todo

    def test_private_address_not_allowed(self, server: LocalServer, stand: Stand) -> None:
        with stand.open(rules=AddressRules()) as engine:
            with pytest.raises(EndpointUnreachable, match="RELEVANCY_ENDPOINT_HOSTS"):
                engine.search(stand.ask("star"))
            with pytest.raises(EndpointUnreachable, match="RELEVANCY_ENDPOINT_HOSTS"):
                engine.version()
        assert not server.asked

    def test_environment_proxies_are_ignored(
        self, server: LocalServer, stand: Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        with stand.open() as engine:
            assert engine.search(stand.ask("star")).total == 3

    def test_a_name_is_checked_at_each_connection(self, server: LocalServer, stand: Stand) -> None:
        """A name server that changes its mind (DNS rebinding) does not lead to another address."""
        port = urlsplit(server.url).port
        answers = iter([["127.0.0.1"], ["169.254.169.254"]])
        rules = AddressRules(private_allowed=True, resolver=lambda host, port: next(answers))
        with stand.open(rules=rules, url=f"http://search.example:{port}{self.path}") as engine:
            assert engine.search(stand.ask("star")).total == 3
            assert server.asked[0].headers["host"] == f"search.example:{port}"
            server.answer = lambda asked: self._closing(type(self).healthy(asked))
            engine.search(stand.ask("star"))
            with pytest.raises(EndpointUnreachable, match="metadata"):
                engine.search(stand.ask("star"))
        assert len(server.asked) == 2

    @staticmethod
    def _closing(reply: Reply) -> Reply:
        return replace(reply, headers={**reply.headers, "connection": "close"})

    def test_repeated_id_is_passed_on(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: self.hits_reply(["a", "b", "a"])
        with stand.open() as engine:
            assert [hit.id for hit in engine.search(stand.ask("star")).hits] == ["a", "b", "a"]

    def test_hit_without_id(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: self.hits_reply(["a", "  "])
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="title"):
            engine.search(stand.ask("star"))

    def test_ids_are_trimmed(self, server: LocalServer, stand: Stand) -> None:
        server.answer = lambda asked: self.hits_reply([" a ", "b\n"])
        with stand.open() as engine:
            assert [hit.id for hit in engine.search(stand.ask("star")).hits] == ["a", "b"]

    def test_what_a_database_cannot_keep_is_replaced(self, server: LocalServer, stand: Stand) -> None:
        reply = self.hits_reply(["a"])
        broken = reply.body.replace(b"Title of a", b"\\u0000\\ud800x\\ud83d\\ude42").replace(b"1.5", b"NaN")
        server.answer = lambda asked: replace(reply, body=broken)
        with stand.open() as engine:
            hit = engine.search(stand.ask("star")).hits[0]
        assert hit.fields["title"] == "\ufffd\ufffdx\U0001f642"
        assert hit.score is None
        json.dumps(dict(hit.fields), ensure_ascii=False).encode()

    def test_half_a_character_in_a_query(self, stand: Stand) -> None:
        with stand.open() as engine, pytest.raises(BadQuery, match="half of a character"):
            engine.search(stand.ask("star \ud800"))

    def test_no_more_than_parallel_at_once(self, server: LocalServer, stand: Stand) -> None:
        under_way: list[int] = []
        most: list[int] = []

        def counted(asked: Asked) -> Reply:
            under_way.append(1)
            most.append(len(under_way))
            time.sleep(0.01)
            under_way.pop()
            return type(self).healthy(asked)

        server.answer = counted
        with stand.open(parallel=3) as engine:
            outcomes = list(engine.search_many([stand.ask("star") for _ in range(30)]))
        assert all(isinstance(outcome, Page) for _, outcome in outcomes)
        assert max(most) <= 3

    def test_no_more_than_per_minute(self, server: LocalServer, stand: Stand) -> None:
        began = time.monotonic()
        with stand.open(per_minute=1200) as engine:
            outcomes = list(engine.search_many([stand.ask("star") for _ in range(6)]))
        assert len(outcomes) == len(server.asked) == 6
        assert time.monotonic() - began >= 5 * 0.05

    def test_stop_does_not_wait_for_the_next_minute(self, server: LocalServer, stand: Stand) -> None:
        began = time.monotonic()
        seen: list[int] = []
        with stand.open(per_minute=6) as engine:
            for index, _ in engine.search_many([stand.ask("star") for _ in range(20)], stop=lambda: bool(seen)):
                seen.append(index)
        assert len(seen) == 1
        assert time.monotonic() - began < 5

    def test_one_connection_serves_many(self, server: LocalServer, stand: Stand) -> None:
        resolved: list[str] = []

        def resolver(host: str, port: int) -> list[str]:
            resolved.append(host)
            return ["127.0.0.1"]

        with stand.open(rules=AddressRules(private_allowed=True, resolver=resolver)) as engine:
            for _ in range(20):
                engine.search(stand.ask("star"))
        assert len(resolved) == 1

    @pytest.mark.parametrize(
        "headers", [{"host": "other"}, {"Content-Length": "3"}, {"x-a": "b\r\nx: y"}, {"x a": "b"}, {"x-a": "ü"}]
    )
    def test_headers_that_cannot_be_sent(self, stand: Stand, headers: dict[str, str]) -> None:
        with pytest.raises(EndpointUnreachable, match="header"):
            stand.open(headers=headers)

    def test_credentials_in_the_address(self, stand: Stand) -> None:
        with pytest.raises(EndpointUnreachable, match="credentials") as caught:
            stand.open(url="http://reader:hunter2@127.0.0.1/x")
        assert "hunter2" not in str(caught.value)

    def test_available_key(self, stand: Stand) -> None:
        assert engines.get(stand.connection.engine).key == stand.connection.engine
