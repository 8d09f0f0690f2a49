"""The parts of the HTTP rules that need no server; the rest is in `tests/contracts/http_contract.py`."""

import threading
import time

import pytest

from relevancy.engines import AddressRules, Connection, EndpointUnreachable, UnreadableAnswer
from relevancy.engines.answers import Answer, check_status, error_for, explain_tree, first_words, read_json
from relevancy.engines.http import HttpClient, backoff, sent_headers
from relevancy.engines.many import in_parallel
from relevancy.engines.pace import Pace
from tests.contracts.local_server import Reply, serving


def test_backoff_grows_and_varies() -> None:
    for attempt, longest in ((1, 0.2), (2, 0.4), (3, 0.8)):
        waits = {backoff(attempt) for _ in range(50)}
        assert longest / 2 <= min(waits) < max(waits) <= longest


def test_send_waits_between_tries_and_honours_retry_after() -> None:
    waits: list[float] = []
    with serving(lambda asked: Reply(b"", 503, {"retry-after": "7"})) as server:
        rules = AddressRules(private_allowed=True)
        connection = Connection("solr", server.url, rules)
        client = HttpClient(connection, rules.read(server.url), lambda body: "", sleep=waits.append)
        with pytest.raises(EndpointUnreachable):
            client.send("GET", "/")
        client.close()
    assert len(waits) == 2
    assert all(7 <= wait <= 7.2 for wait in waits)


def test_send_tries_a_refused_connection_again() -> None:
    waits: list[float] = []
    with serving(lambda asked: Reply()) as server:
        url = server.url
    rules = AddressRules(private_allowed=True)
    client = HttpClient(Connection("solr", url, rules), rules.read(url), lambda body: "", sleep=waits.append)
    with pytest.raises(EndpointUnreachable, match="refused"):
        client.send("GET", "/")
    client.close()
    assert len(waits) == 2


def test_sent_headers_keeps_values_out_of_errors() -> None:
    connection = Connection("solr", "http://x.example/c", AddressRules(), headers={"x-key": "secret\nvalue"})
    with pytest.raises(EndpointUnreachable) as caught:
        sent_headers(connection)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><style>p {}</style><body>Not\n  here <b>today</b></body>", "Not here today"),
        (b'Encountered "<EOF>" here', 'Encountered "<EOF>" here'),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_first_words(body: bytes, words: str) -> None:
    assert first_words(body) == words


def test_first_words_are_few() -> None:
    assert len(first_words(b"word " * 1000)) <= 160


def test_read_json_of_something_else() -> None:
    with pytest.raises(UnreadableAnswer, match="it is empty"):
        read_json("", "http://x.example")


def test_error_for_shows_both_ends_of_a_long_message() -> None:
    message = str(error_for(400, "here", "begin " + "x " * 5000 + "end"))
    assert "begin" in message
    assert "end" in message
    assert len(message) < 2000


def test_check_status_of_a_redirect_to_nowhere() -> None:
    with pytest.raises(UnreadableAnswer, match="nowhere"):
        check_status(Answer(301, {}, b""), "here", lambda body: "")


def test_explain_tree_survives_other_json() -> None:
    assert explain_tree({"details": [1, {"value": "x"}]}) == {
        "value": 0.0,
        "description": "",
        "details": [{"value": 0.0, "description": "", "details": []}],
    }


def test_pace_spreads_turns() -> None:
    now = [0.0]
    pace = Pace(60, clock=lambda: now[0])
    halted = threading.Event()
    halted.set()
    pace.wait(halted)
    assert pace._next == 1.0
    pace.wait(halted)
    assert pace._next == 2.0
    now[0] = 100.0
    pace.wait(halted)
    assert pace._next == 101.0


def test_pace_without_limit() -> None:
    began = time.monotonic()
    for _ in range(1000):
        Pace(0).wait()
    assert time.monotonic() - began < 0.5


def test_in_parallel_calls_stop_in_the_callers_thread_only() -> None:
    callers: set[int] = set()

    def stop() -> bool:
        callers.add(threading.get_ident())
        return False

    assert sorted(in_parallel(range(100), lambda job: job, parallel=4, stop=stop)) == list(range(100))
    assert callers == {threading.get_ident()}


def test_in_parallel_goes_on_while_the_caller_is_busy() -> None:
    worked: list[int] = []
    for _ in in_parallel(range(50), lambda job: worked.append(job) or job, parallel=2, stop=lambda: False, ahead=25):
        time.sleep(0.05)
        break
    assert len(worked) >= 40


def test_in_parallel_raises_what_work_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel([1, 0], lambda job: 1 // job, parallel=2, stop=lambda: False))


def test_in_parallel_notices_stop_while_nothing_comes_back() -> None:
    release = threading.Event()
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        if asked[0] > 3:
            release.set()
        return asked[0] > 3

    done = list(in_parallel(range(20), lambda job: release.wait(20), parallel=1, stop=stop, ahead=3))
    assert done == [True]
