"""How much faster several workers search one run, and whether they keep to the limit of its endpoint.

    python benchmarks/workers.py [--queries N] [--requests N] [--only allowed|limited|embedded …] [--quick] [--check]

Workers are processes as `relevancy worker` starts them. The engine is a server in a process of its own that answers each search after
50 ms, speaks like Solr, and counts the searches that it has to answer at a time.

- allowed: the endpoint answers as many requests at a time as four workers send (`--requests` each). Target: two workers are at least
  1.9 times as fast as one, and four 3.6 times. That needs a machine that is not busy with something else.
- limited: the endpoint answers as many as one worker sends. Target: four workers are as fast as one (0.9 to 1.1), and never one request
  more at a time arrives than the limit.
- embedded: on the embedded index, where searching takes the worker's own time. Target: two workers are at least 1.6 times as fast as
  one, on two cores and PostgreSQL; SQLite has one writer at a time.

Each figure is of the time from the first search of the run to its last. Data: invented data.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import fresh_site
import invented
import options
from served_site import end, own_site, start

from relevancy import cases, endpoints, queries, runs, tasks
from relevancy.management.commands.demo import worker_command
from relevancy.models import Attempt, Case, Endpoint, Run, User
from tests.live.servers import free_port

SECONDS = 0.05  # until the stub answers
HITS = 10
MAX_SECONDS = 1800
TEMPLATES = {
    "solr": "q=#$query##",
    "embedded": '{"query": "#$query##", "fields": {"title": 2, "short_description": 1}}',
}


@dataclass(frozen=True)
class Measured:
    """One run. rate: queries a second. most: searches at a time that the stub had to answer; 0 without it."""

    rate: float
    most: int


def answer_searches(port: int, most: multiprocessing.sharedctypes.Synchronized[int]) -> None:
    """Serves the stub until its process is ended. most: the searches that were in progress at a time."""
    in_progress = 0
    chance = random.Random(1)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal in_progress
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.lower().split(b"\r\n")
                lengths = [int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")]
                await reader.readexactly(lengths[0] if lengths else 0)
                if b"/select" in lines[0]:
                    in_progress += 1
                    most.value = max(most.value, in_progress)
                    await asyncio.sleep(SECONDS)
                    in_progress -= 1
                    documents = [{"id": f"doc-{chance.randrange(20_000):06d}", "title": "A title", "score": 1.0}] * HITS
                    body = {"response": {"numFound": HITS, "start": 0, "docs": documents}}
                else:
                    body = {"lucene": {"solr-spec-version": "9.10.1"}}
                content = json.dumps({"responseHeader": {"status": 0, "QTime": 1}, **body}).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(content)
                )
                writer.write(content)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def stub() -> Iterator[tuple[str, multiprocessing.sharedctypes.Synchronized[int]]]:
    """The address of the stub, and the number of searches that it had to answer at a time."""
    context = multiprocessing.get_context("fork")  # before Django has threads
    most = context.Value("i", 0)
    port = free_port()
    process = context.Process(target=answer_searches, args=(port, most), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port}/solr/stub", most
    finally:
        process.kill()
        process.join()


@contextmanager
def working(count: int, requests: int) -> Iterator[None]:
    """So many workers, which have started and wait for tasks."""
    own = own_site() | {"RELEVANCY_WORKER_REQUESTS": str(requests)}
    with ExitStack() as stack:
        log = stack.enter_context((fresh_site.DATA / "workers.log").open("a"))
        started = []
        for _ in range(count):
            process = start(worker_command(), own, log)
            stack.callback(end, process)
            started.append(process.pid)
        for pid in started:
            while cpu_seconds(pid) < 0.5 or busy_share(pid) > 0.3:
                time.sleep(0.2)
        yield


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_share(pid: int) -> float:
    """The part of a core that a process uses at the moment."""
    before = cpu_seconds(pid)
    time.sleep(1)
    return cpu_seconds(pid) - before


def search(attempt: Attempt, workers: int, requests: int) -> float:
    """Runs the attempt with so many workers. Returns the queries a second."""
    with working(workers, requests):
        run = runs.start(attempt=attempt, by=attempt.created_by)
        tasks.enqueue_run(run)
        deadline = time.monotonic() + MAX_SECONDS
        while run.is_active:
            assert time.monotonic() < deadline, f"{run.done} of {run.queries} searched in {MAX_SECONDS} s"
            time.sleep(0.2)
            run.refresh_from_db()
    assert (run.status, run.done, run.rankings.count()) == (Run.Status.COMPLETE, run.queries, run.queries), run.reason
    return run.queries / run.seconds


def measure(attempt: Attempt, workers: int, requests: int) -> Measured:
    """One run with so many workers, printed."""
    if attempt.endpoint.engine != "solr":
        rate, most = search(attempt, workers, requests), 0
    else:
        with stub() as (url, counted):
            Endpoint.objects.filter(pk=attempt.endpoint_id).update(url=url)
            attempt.endpoint.refresh_from_db()
            rate, most = search(attempt, workers, requests), counted.value
    at_a_time = f", at most {most} requests at a time" if most else ""
    load = os.getloadavg()[0]
    print(f"  {workers} workers: {rate:,.0f} queries a second{at_a_time} (load {load:.1f})", flush=True)
    return Measured(rate, most)


def make_attempt(case: Case, by: User, engine: str, url: str, parallel: int) -> Attempt:
    """An attempt on an endpoint that answers so many requests at a time."""
    endpoint = endpoints.create(name=f"{engine} {parallel}", engine=engine, url=url, by=by, parallel=parallel)
    fields = "id:id title:title"
    return runs.attempts.save(case=case, endpoint=endpoint, template=TEMPLATES[engine], fields=fields, by=by)


def measure_allowed(case: Case, by: User, requests: int) -> bool:
    """The endpoint answers what four workers send."""
    print(f"allowed: {requests} requests at a time a worker, {4 * requests} of the endpoint")
    attempt = make_attempt(case, by, "solr", "http://127.0.0.1:1/solr/stub", 4 * requests)
    one, two, four = (measure(attempt, workers, requests) for workers in (1, 2, 4))
    good = options.verdict(two.rate >= 1.9 * one.rate, f"two workers at least 1.9 times one, {two.rate / one.rate:.2f}")
    good = options.verdict(four.rate >= 3.6 * one.rate, f"four at least 3.6 times, {four.rate / one.rate:.2f}") and good
    return (
        options.verdict(four.most <= 4 * requests, f"at most {4 * requests} requests at a time, {four.most}") and good
    )


def measure_limited(case: Case, by: User, requests: int) -> bool:
    """The endpoint answers what one worker sends."""
    print(f"limited: {requests} requests at a time a worker, {requests} of the endpoint")
    attempt = make_attempt(case, by, "solr", "http://127.0.0.1:1/solr/stub", requests)
    one, four = (measure(attempt, workers, requests) for workers in (1, 4))
    ratio = four.rate / one.rate
    good = options.verdict(0.9 <= ratio <= 1.1, f"four workers as fast as one, {ratio:.2f}")
    return options.verdict(four.most <= requests, f"at most {requests} requests at a time, {four.most}") and good


def measure_embedded(case: Case, by: User, requests: int) -> bool:
    """Searching takes the time of the worker."""
    print("embedded: the index is searched by the worker")
    attempt = make_attempt(case, by, "embedded", "workers", 8)
    with endpoints.connect(attempt.endpoint) as engine:
        engine.load_documents([invented.document(number) for number in range(invented.DOCUMENTS)])
    one, two = (measure(attempt, workers, requests) for workers in (1, 2))
    return options.verdict(two.rate >= 1.6 * one.rate, f"two workers at least 1.6 times one, {two.rate / one.rate:.2f}")


MEASURES = {"allowed": measure_allowed, "limited": measure_limited, "embedded": measure_embedded}


if __name__ == "__main__":
    line = options.parser(__doc__, 20_000)
    line.add_argument("--requests", type=int, default=4, metavar="N", help="at a time, of one worker; 4 unless given")
    line.add_argument("--only", nargs="*", choices=MEASURES, default=list(MEASURES))
    chosen = options.read(line, quick=40)
    by = User.objects.create_superuser("benchmark@example.org")
    case = cases.create(name="Workers", owner=by)
    queries.add(case=case, texts=invented.query_texts(chosen.queries))
    print(f"{chosen.queries:,} queries; {fresh_site.connection.vendor}; invented data", flush=True)
    good = [MEASURES[name](case, by, chosen.requests) for name in chosen.only]
    raise SystemExit(options.status(chosen, all(good)))
