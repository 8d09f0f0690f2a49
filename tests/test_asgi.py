"""Requests are complete before they take a thread, whatever their clients do."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest

from relevancy import asgi, events
from tests.event_loops import run_coroutine

type Message = dict[str, Any]


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A WSGI application that returns the body of the request."""
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def scope(path: str = "/", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "http_version": "1.1",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"a=%ff",
        "headers": list(headers),
        "server": ("127.0.0.1", 8000),
        "client": ("192.0.2.1", 4321),
    }


LENGTH = (b"content-length", b"3")
CHUNKED = (b"transfer-encoding", b"chunked")


class Client:
    """A client that sends `chunks`, then hangs unless the last one ends the body."""

    def __init__(self, *chunks: bytes, ends: bool = True) -> None:
        self.messages = [
            {"type": "http.request", "body": chunk, "more_body": not ends or number < len(chunks)}
            for number, chunk in enumerate(chunks, 1)
        ]
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if not self.messages:
            await asyncio.Event().wait()
        return self.messages.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def application(wsgi: Any = echo, threads: int = 2) -> asgi.Application:
    return asgi.Application(wsgi, threads=threads, max_body=10)


def call(client: Client, *headers: tuple[bytes, bytes], wsgi: Any = echo) -> Client:
    run_coroutine(application(wsgi)(scope("/", *headers), client.receive, client.send))
    return client


def test_body_arrives_in_parts() -> None:
    client = call(Client(b"a", b"", b"bc"), LENGTH)
    assert (client.status, client.body) == (200, b"abc")


def test_request_without_body_is_not_waited_for() -> None:
    client = call(Client())
    assert (client.status, client.body) == (200, b"")


def test_chunked_body_gets_its_length() -> None:
    seen = []

    def wsgi(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        seen.append(WSGIRequest(environ).body)
        return echo(environ, start_response)

    call(Client(b"ab", b"cd"), CHUNKED, wsgi=wsgi)
    assert seen == [b"abcd"]


def test_dripping_clients_take_no_thread() -> None:
    async def run() -> tuple[Client, int]:
        app, fast = application(threads=1), Client(b"abc")
        slow = [Client(b"a", ends=False) for _ in range(20)]
        waiting = [asyncio.create_task(app(scope("/", LENGTH), client.receive, client.send)) for client in slow]
        await asyncio.sleep(0)
        await app(scope("/", LENGTH), fast.receive, fast.send)
        answered = sum(bool(client.sent) for client in slow)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return fast, answered

    fast, answered = run_coroutine(run())
    assert (fast.body, answered) == (b"abc", 0)


def test_body_that_does_not_arrive_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.05)
    assert call(Client(b"a", ends=False), LENGTH).status == 408


def test_oldest_of_too_many_unfinished_bodies_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_UNFINISHED", 2)

    async def run() -> list[Client]:
        app, clients = application(), [Client(b"a", ends=False) for _ in range(3)]
        tasks = [asyncio.create_task(app(scope("/", LENGTH), client.receive, client.send)) for client in clients]
        await tasks[0]
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return clients

    first, *others = run_coroutine(run())
    assert (first.status, [client.sent for client in others]) == (503, [[], []])


@pytest.mark.parametrize("declared", [b"11", b"9" * 5000])
def test_declared_size_above_the_limit_is_refused(declared: bytes) -> None:
    client = call(Client(b"x" * 11), (b"content-length", declared))
    assert client.status == 413
    assert b"the maximum is 10" in client.body


def test_chunked_body_above_the_limit_is_refused() -> None:
    assert call(Client(b"x" * 6, b"x" * 6, b"x" * 6), CHUNKED).status == 413


def test_client_that_goes_away_gets_no_response() -> None:
    client = Client()
    client.messages = [{"type": "http.disconnect"}]
    assert call(client, LENGTH).sent == []


def test_long_responses_are_sent_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "LONG_RESPONSE", 10)
    closed = []

    class Chunks(list[bytes]):
        def close(self) -> None:
            closed.append(True)

    def wsgi(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("206 Partial Content", [("X-Long", "1")])
        return Chunks([b"%02d" % number for number in range(30)])

    client = call(Client(), wsgi=wsgi)
    assert (client.status, client.sent[0]["headers"]) == (206, [(b"x-long", b"1")])
    assert client.body == b"".join(b"%02d" % number for number in range(30))
    assert [message.get("more_body", False) for message in client.sent[1:]][-1] is False
    assert closed == [True]


def test_too_many_waiting_requests_are_refused_but_health_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(asgi, "MAX_QUEUED", 0)
    recorded: list[str] = []
    monkeypatch.setattr(events, "_listeners", [lambda name, seconds, labels: recorded.append(labels["status"])])

    async def run(path: str) -> int:
        client = Client()
        await application()(scope(path), client.receive, client.send)
        return client.status

    assert [run_coroutine(run(path)) for path in ("/", "/healthz")] == [503, 200]
    assert [record.getMessage() for record in caplog.records] == ["(refused unread): 503"]
    assert recorded == ["503"]


def test_environ_is_that_of_the_request() -> None:
    given = scope("/caf%C3%A9/%2e", (b"host", b"here"), (b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"x-y", b"1"))
    environ = asgi.build_environ(given, io.BytesIO(b"abc"))
    assert environ["PATH_INFO"] == "/caf\xc3\xa9/."
    assert (environ["HTTP_HOST"], environ["HTTP_COOKIE"], environ["HTTP_X_Y"]) == ("here", "a=1; b=2", "1")
    assert (environ["QUERY_STRING"], environ["REMOTE_ADDR"], environ["CONTENT_LENGTH"]) == ("a=%ff", "192.0.2.1", "3")


def test_headers_with_underscores_do_not_pass_for_others() -> None:
    environ = asgi.build_environ(scope("/", (b"x_forwarded_proto", b"https")), io.BytesIO())
    assert "HTTP_X_FORWARDED_PROTO" not in environ


def test_other_protocols_are_refused() -> None:
    client = Client()
    with pytest.raises(ValueError, match="websocket"):
        run_coroutine(_call_websocket(client.receive, client.send))


async def _call_websocket(
    receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    await application()({"type": "websocket"}, receive, send)
