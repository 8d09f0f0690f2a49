"""Transport; `tests/contracts/http_contract.py` tests the HTTP client through every adapter."""

import threading
import time
from email.utils import formatdate

import pytest

from relevancy.engines import AddressRules, Connection, EndpointUnreachable, UnreadableResponse
from relevancy.engines.transport.client import HttpClient, request_headers
from relevancy.engines.transport.concurrency import in_parallel
from relevancy.engines.transport.exchange import LimitedSocket
from relevancy.engines.transport.rate_limit import RateLimit
from relevancy.engines.transport.response import Response, check_status, error_for_status, excerpt, read_json
from relevancy.engines.transport.retries import backoff, delay_after_response
from tests.contracts.local_server import Reply, serving


def test_backoff_grows_and_varies() -> None:
    for attempt, maximum in ((1, 0.2), (2, 0.4), (3, 0.8)):
        delays = {backoff(attempt) for _ in range(50)}
        assert maximum / 2 <= min(delays) < max(delays) <= maximum


def test_send_waits_as_long_as_retry_after_says() -> None:
    delays: list[float] = []
    with serving(lambda received: Reply(b"", 503, {"retry-after": "7"})) as server:
        rules = AddressRules(private_allowed=True)
        connection = Connection("solr", server.url, rules)
        client = HttpClient(connection, rules.parse_url(server.url), lambda body: "", sleep=delays.append)
        with pytest.raises(EndpointUnreachable):
            client.send("GET", "/")
        client.close()
    assert len(delays) == 2
    assert all(7 <= delay <= 7.2 for delay in delays)


def test_send_writes_headers_and_body_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    sendall = LimitedSocket.sendall

    def record(self: LimitedSocket, data: bytes) -> None:
        written.append(data)
        sendall(self, data)

    monkeypatch.setattr(LimitedSocket, "sendall", record)
    with serving(lambda received: Reply(b"{}")) as server:
        rules = AddressRules(private_allowed=True)
        client = HttpClient(Connection("solr", server.url, rules), rules.parse_url(server.url), lambda body: "")
        assert [client.send("POST", "/", body=b"q=a").status for _ in range(2)] == [200, 200]
        assert client.send("GET", "/").status == 200
        client.close()
    assert [data.split(b" ")[0] for data in written] == [b"POST", b"POST", b"GET"]
    assert [data.partition(b"\r\n\r\n")[2] for data in written] == [b"q=a", b"q=a", b""]


def test_send_repeats_a_refused_connection() -> None:
    delays: list[float] = []
    with serving(lambda received: Reply()) as server:
        url = server.url
    rules = AddressRules(private_allowed=True)
    client = HttpClient(Connection("solr", url, rules), rules.parse_url(url), lambda body: "", sleep=delays.append)
    with pytest.raises(EndpointUnreachable, match="refused"):
        client.send("GET", "/")
    client.close()
    assert len(delays) == 2


def test_send_says_that_a_port_does_not_use_tls() -> None:
    with serving(lambda received: Reply()) as server:
        url = server.url.replace("http://", "https://")
        rules = AddressRules(private_allowed=True)
        client = HttpClient(Connection("solr", url, rules), rules.parse_url(url), lambda body: "", sleep=lambda _: None)
        with pytest.raises(EndpointUnreachable, match="does not use TLS") as caught:
            client.send("GET", "/")
        client.close()
    assert "http://" in str(caught.value)
    assert "certificate" not in str(caught.value)


def test_request_headers_keeps_values_out_of_errors() -> None:
    connection = Connection("solr", "http://x.example/c", AddressRules(), headers={"x-key": "secret\nvalue"})
    with pytest.raises(EndpointUnreachable) as caught:
        request_headers(connection)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html><style>p {}</style><body>Not\n  here <b>today</b></body>", "Not here today"),
        (b'Encountered "<EOF>" here', 'Encountered "<EOF>" here'),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_excerpt(body: bytes, expected: str) -> None:
    assert excerpt(body) == expected


def test_excerpt_is_short() -> None:
    assert len(excerpt(b"word " * 1000)) <= 160


def test_read_json_of_an_empty_body() -> None:
    with pytest.raises(UnreadableResponse, match="it is empty"):
        read_json("", "http://x.example")


def test_error_for_status_shows_both_ends_of_a_long_message() -> None:
    message = str(error_for_status(400, "here", "begin " + "x " * 5000 + "end"))
    assert "begin" in message
    assert "end" in message
    assert len(message) < 2000


def test_check_status_of_a_redirect_without_target() -> None:
    with pytest.raises(UnreadableResponse, match="an empty address"):
        check_status(Response(301, {}, b""), "here", lambda body: "")


def test_rate_limit_spaces_requests() -> None:
    now, waited = [0.0], []

    class Cancelled(threading.Event):
        """Lets the time pass at once."""

        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            now[0] += timeout or 0
            return self.is_set()

    rate_limit, cancelled = RateLimit(60, clock=lambda: now[0]), Cancelled()
    for _ in range(3):
        rate_limit.wait(cancelled)
    assert waited == [0, 1, 1]
    now[0] = 100.0
    rate_limit.wait(cancelled)
    rate_limit.wait(cancelled)
    assert waited[3:] == [0, 1]


def test_rate_limit_reserves_in_a_schedule_of_several_processes_and_gives_back_what_it_does_not_send() -> None:
    reserved: list[int] = []
    rate_limit = RateLimit(60_000, lambda count: reserved.append(count) or 0.0)
    for _ in range(300):
        rate_limit.wait()
    assert reserved == [250, 250]
    cancelled = threading.Event()
    cancelled.set()
    rate_limit.wait(cancelled)
    rate_limit.close()
    rate_limit.close()
    assert reserved == [250, 250, -200]


def test_rate_limit_without_limit() -> None:
    started = time.monotonic()
    for _ in range(1000):
        RateLimit(0).wait()
    assert time.monotonic() - started < 0.5


def test_in_parallel_calls_stop_only_in_the_callers_thread() -> None:
    callers: set[int] = set()

    def stop() -> bool:
        callers.add(threading.get_ident())
        return False

    assert sorted(in_parallel(range(100), lambda job: job, parallel=4, stop=stop)) == list(range(100))
    assert callers == {threading.get_ident()}


def test_in_parallel_continues_while_the_caller_is_busy() -> None:
    worked: list[int] = []
    for _ in in_parallel(range(50), lambda job: worked.append(job) or job, parallel=2, stop=lambda: False, ahead=25):
        time.sleep(0.05)
        break
    assert len(worked) >= 40


def test_in_parallel_raises_what_work_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel([1, 0], lambda job: 1 // job, parallel=2, stop=lambda: False))


def test_in_parallel_checks_stop_while_no_result_arrives() -> None:
    release = threading.Event()
    received = [0]

    def stop() -> bool:
        received[0] += 1
        if received[0] > 3:
            release.set()
        return received[0] > 3

    done = list(in_parallel(range(20), lambda job: release.wait(20), parallel=1, stop=stop, ahead=3))
    assert done == [True]


def test_delay_after_response_understands_dates() -> None:
    def delay(retry_after: str, status: int = 503) -> float | None:
        return delay_after_response(Response(status, {"retry-after": retry_after}, b""), 1)

    soon = delay(formatdate(time.time() + 5, usegmt=True))
    assert soon is not None
    assert 3 <= soon <= 5.2
    assert delay(formatdate(time.time() + 3600, usegmt=True)) is None
    assert delay(formatdate(time.time() - 60, usegmt=True), 429) is not None


def test_delay_after_response_of_a_success() -> None:
    assert delay_after_response(Response(200, {"retry-after": "1"}, b""), 1) is None
