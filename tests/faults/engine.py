"""A search engine in a process of its own: Solr's API for ten invented documents of each query. The core of its URL chooses a fault.

`python -m tests.faults.engine PORT`; URLs: http://127.0.0.1:PORT/solr/CORE with one of `CORES`.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit
from zlib import crc32

from tests.contracts.local_server import ReceivedRequest, Reply, json_reply, serving

SECONDS = 0.02  # of each answer
DEPTH = 10


def doc_ids(query: str) -> list[str]:
    """The documents that the engine returns for a query, best first."""
    return [f"{crc32(query.encode()) % 1000}-{rank}" for rank in range(DEPTH)]


def healthy(received: ReceivedRequest) -> Reply:
    """Answers as Solr does."""
    path = urlsplit(received.path).path
    if not path.endswith("/select"):
        return json_reply({"responseHeader": {"status": 0}, "lucene": {"solr-spec-version": "9.10.1"}})
    time.sleep(SECONDS)
    query = parse_qs(received.body.decode())["q"][0]
    docs = [{"id": doc_id, "title": f"{query} {doc_id}"} for doc_id in doc_ids(query)]
    return json_reply({"responseHeader": {"status": 0, "QTime": 1}, "response": {"numFound": DEPTH, "docs": docs}})


def _drip(received: ReceivedRequest) -> Reply:
    def chunks() -> Iterator[bytes]:
        while True:
            time.sleep(0.2)
            yield b" "

    return Reply(headers={"content-type": "application/json"}, chunks=chunks())


def _half(received: ReceivedRequest) -> Reply:
    reply = healthy(received)
    return Reply(reply.body[: len(reply.body) // 2], headers=reply.headers, length=len(reply.body))


def _endless(received: ReceivedRequest) -> Reply:
    """Ten gigabytes, which nobody should read to the end."""
    block = b" " * 1_000_000
    return Reply(headers={"content-type": "application/json"}, chunks=(block for _ in range(10_000)))


def _redirect(received: ReceivedRequest) -> Reply:
    return Reply(b"", 302, {"location": received.path})


CORES: dict[str, Callable[[ReceivedRequest], Reply]] = {
    "healthy": healthy,
    "drip": _drip,
    "half": _half,
    "endless": _endless,
    "redirect": _redirect,
}


def respond(received: ReceivedRequest) -> Reply:
    """Answers as the core in the path of the request does."""
    return CORES[urlsplit(received.path).path.split("/")[2]](received)


if __name__ == "__main__":
    with serving(respond, port=int(sys.argv[1]), records=False):
        threading.Event().wait()
