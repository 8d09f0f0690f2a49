"""A million queries: imported, searched in a file of rankings by several workers, scored, compared and opened, with a worker killed.

    python benchmarks/million.py [--queries N] [--workers N] [--postgres URL] [--embedded N] [--from-tsv QUERIES QRELS RUN RUN]

1,010,916 queries unless given, with 1.1 judged documents each and ten results, ids of a collection of 8.75 documents a query: the shape
of MS MARCO passage, in invented words. Two files of rankings; the second has another order and some other documents. --from-tsv takes
files that you have instead: queries (id, text), judgments (id, 0, document, grade) and two runs (id, document, rank, or a TREC run).

The site is served by granian with 2 processes, and `--workers` (2 unless given) processes work for it, as `relevancy worker` starts
them. One of them is killed (-9) during the first run and started again. All the time somebody rates in another case, four times a
second, and asks for /healthz. The embedded index has passages of 56 words and is searched with the first `--embedded` queries (2,000
unless given; 0 for none).

For each stage: seconds, queries a second, seconds of CPU of the workers or the command, the peak of their memory, and the 95th
percentile of a rating and of /healthz meanwhile. The targets are those of a million queries on two cores with PostgreSQL on the same
machine, as queries a second, so that they hold for fewer, too. SQLite in a file; URL: a server on which a separate database may be
created. Ends with status 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count, islice
from pathlib import Path
from statistics import median, quantiles

import fresh_site
import options
import urllib3
from django.db import connection
from django.test import Client
from invented import query_texts
from large_case import make_case
from own_environment import Used, run_command
from served_site import end, own_site, served, start
from storage import size_of

from relevancy import cases, endpoints, queries, runs, scorers, tasks
from relevancy.management.commands.demo import worker_command
from relevancy.models import Attempt, Case, CaseScore, Document, QueryScore, Ranking, Run, Scorer, User
from relevancy.queries import normalize

QUERIES, DOCUMENTS_PER_QUERY, JUDGED_TWICE = 1_010_916, 8.75, 0.1
WORDS_OF_A_QUERY = {3: 10, 4: 18, 5: 20, 6: 17, 7: 13, 8: 9, 9: 6, 10: 4, 11: 3}  # words: share in percent
WORDS_OF_A_PASSAGE, PASSAGES = 56, 20_000
PLACES = 10
SCORERS = ["nDCG@10", "RR@10"]
IMPORT_RATE = QUERIES / (6 * 60)  # queries a second, with their ratings
RUN_RATE = QUERIES / (12 * 60)  # searched in a file that is stored and indexed first, stored and scored
RATING_MS, HEALTH_MS, WORKER_MB = 500, 500, 400
RANKING_BYTES = 200
COMPARE_SECONDS, COMPARE_MB = 60, 1000
PAGES_MS = {
    "the case": 500,
    "the next page": 200,
    "a rating": 200,
    "home": 1000,
    "the book": 1000,
    "the queries of the book": 500,
    "its conflicts": 500,
    "judging": 500,
}
PAUSE = 0.25  # seconds between two ratings of the one who rates meanwhile
ROUNDS = 5
MAX_SECONDS = 7_200
KILLED_AT = 0.3  # of the queries of the first run
TOKEN = "a" * 32  # it only has to be the same in the cookie and the header


# The data


@dataclass(frozen=True)
class Files:
    """Files to import: a list of queries, their ratings, and two files of rankings. count, judged: how many queries and ratings there
    are. top: the highest grade."""

    queries: Path
    ratings: Path
    rankings: list[Path]
    count: int
    judged: int
    top: int


type Judged = dict[str, int]  # grade by document id
type Listed = Iterator[
    tuple[str, Judged, list[list[str]]]
]  # the text of a query, its judgments, its results in each run


def vocabulary(size: int) -> list[str]:
    """So many invented words."""
    chance = random.Random(1)
    parts = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(chance.choices(parts, k=chance.choice((1, 2, 2, 3, 3, 4))))] = None
    return list(words)


def invented_queries(number: int) -> Listed:
    """Distinct queries whose words are as unevenly distributed as those of a language."""
    chance = random.Random(2)
    words = vocabulary(30_000)
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    lengths = list(WORDS_OF_A_QUERY)
    shares = list(accumulate(WORDS_OF_A_QUERY.values()))
    documents = round(number * DOCUMENTS_PER_QUERY) + 100
    texts: set[int] = set()
    for _ in range(number):
        chosen = chance.choices(words, cum_weights=weights, k=chance.choices(lengths, cum_weights=shares)[0])
        while hash(text := " ".join(chosen)) in texts:
            chosen += chance.choices(words, cum_weights=weights)
        texts.add(hash(text))
        first = [str(doc) for doc in chance.sample(range(documents), PLACES)]
        second = [*first[:2], first[3], first[2], *first[4:8], *map(str, chance.sample(range(documents), 2))]
        judged: Judged = {}
        for _ in range(1 + (chance.random() < JUDGED_TWICE)):
            judged[chance.choice(first) if chance.random() < 0.6 else str(chance.randrange(documents))] = 1
        yield text, judged, [first, list(dict.fromkeys(second))]


def queries_from_tsv(paths: list[str], number: int) -> Listed:
    """Queries of real files, at most so many. Later ones with a text that has occurred are left out, and so are grades below 0."""
    text_file, judged_file, *run_files = paths
    judged: dict[str, Judged] = {}
    for columns in _rows(judged_file):
        if (grade := int(columns[3])) >= 0:
            judged.setdefault(columns[0], {})[columns[2]] = grade
    results = []
    for path in run_files:
        listed: dict[str, list[tuple[int, str]]] = {}
        for columns in _rows(path):
            doc_id, rank = (columns[2], columns[3]) if len(columns) > 3 else (columns[1], columns[2])
            if int(rank) <= PLACES:
                listed.setdefault(columns[0], []).append((int(rank), doc_id))
        results.append(listed)
    topics: dict[str, str] = {}
    for topic, text, *_ in _rows(text_file, "\t"):
        if text := normalize(text):
            topics.setdefault(text, topic)
    for text, topic in islice(topics.items(), number):
        ranked = [[doc_id for _, doc_id in sorted(listed.get(topic, []))[:PLACES]] for listed in results]
        yield text, judged.get(topic, {}), ranked


def _rows(path: str, separator: str | None = None) -> Iterator[list[str]]:
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\n").split(separator)


def write_files(listed: Listed) -> Files:
    """Writes what is imported."""
    folder = fresh_site.DATA / "million"
    folder.mkdir()
    paths = [folder / name for name in ("queries.txt", "ratings.csv", "run-1.csv", "run-2.csv")]
    number = judged = top = 0
    with ExitStack() as stack:
        texts, *others = (stack.enter_context(path.open("w", encoding="utf-8")) for path in paths)
        ratings, *rankings = (csv.writer(file, lineterminator="\n") for file in others)
        ratings.writerow(("query", "docid", "rating"))
        for writer in rankings:
            writer.writerow(("query", "docid", "position"))
        for text, grades, ranked in listed:
            texts.write(f"{text}\n")
            ratings.writerows((text, doc_id, grade) for doc_id, grade in grades.items())
            number, judged, top = number + 1, judged + len(grades), max(top, *grades.values(), 0)
            for writer, doc_ids in zip(rankings, ranked, strict=True):
                writer.writerows((text, doc_id, place) for place, doc_id in enumerate(doc_ids, 1))
                if not doc_ids:
                    writer.writerow((text, "", ""))
    return Files(paths[0], paths[1], paths[2:], number, judged, top)


# What is measured


class Workers:
    """Processes that work, and what they have needed, also those that were killed."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._cpu: Counter[int] = Counter()
        self.megabytes = 0.0
        self._is_over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def start(self) -> None:
        self._processes.append(start(worker_command(), own_site()))

    def kill(self) -> None:
        """Kills one and starts another one, as whatever supervises a site does."""
        self._read()
        killed = self._processes.pop(0)
        killed.kill()
        killed.wait()
        self.start()

    def cpu(self) -> float:
        self._read()
        return sum(self._cpu.values()) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self._is_over.set()
        for process in self._processes:
            end(process)

    def _watch(self) -> None:
        while not self._is_over.wait(0.5):
            self._read()

    def _read(self) -> None:
        for process in list(self._processes):
            try:
                folder = Path(f"/proc/{process.pid}")
                columns = (folder / "stat").read_text().rpartition(")")[2].split()
                peak = re.search(r"VmHWM:\s*(\d+)", (folder / "status").read_text())
            except OSError:  # it has just ended
                continue
            self._cpu[process.pid] = int(columns[11]) + int(columns[12])
            if peak:
                self.megabytes = max(self.megabytes, int(peak[1]) / 1024)


class Rater(threading.Thread):
    """Rates in another case and asks for /healthz until it is stopped."""

    def __init__(self, address: str, by: User) -> None:
        super().__init__(daemon=True)
        self._address, self._is_over = address, threading.Event()
        case = make_case("Another case", query_texts(20), by)
        first = case.case_queries.present().first()
        assert first is not None
        self._url, self._headers = f"/cases/{case.pk}/queries/{first.pk}/rate/?rank=1", session(by)
        self.times: dict[str, list[float]] = {"a rating": [], "/healthz": []}
        self.failed: list[str] = []

    def run(self) -> None:
        with urllib3.PoolManager(1) as pool:
            for number in count():
                fields = {"doc_id": f"doc-{number % 7:06d}", "value": str(number % 4)}
                rate = partial(pool.request, "POST", self._address + self._url, fields=fields, encode_multipart=False)
                self._time("a rating", partial(rate, headers=self._headers, retries=False))
                self._time("/healthz", partial(pool.request, "GET", f"{self._address}/healthz", retries=False))
                if self._is_over.wait(PAUSE):
                    return

    def stop(self) -> None:
        self._is_over.set()
        self.join()

    def _time(self, what: str, send: Callable[[], urllib3.BaseHTTPResponse]) -> None:
        begun = time.perf_counter()
        try:
            status = str(send().status)
        except urllib3.exceptions.HTTPError as error:
            status = type(error).__name__
        self.times[what].append((time.perf_counter() - begun) * 1000)
        if status != "200":
            self.failed.append(f"{what}: {status}")


def session(user: User) -> dict[str, str]:
    """The headers of a request of somebody who has signed in."""
    client = Client()
    client.force_login(user)
    cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}"
    return {"cookie": cookies, "x-csrftoken": TOKEN, "hx-request": "true"}


@dataclass
class Stage:
    """What a stage has needed. cpu, megabytes: of commands."""

    seconds: float = 0.0
    cpu: float = 0.0
    megabytes: float = 0.0

    def add(self, used: Used) -> None:
        self.cpu += used.cpu
        self.megabytes = max(self.megabytes, used.megabytes)


@dataclass
class Measure:
    """All stages. is_good: whether all targets were met so far."""

    workers: Workers
    rater: Rater
    is_good: bool = True
    stages: dict[str, Stage] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, number: int) -> Iterator[Stage]:
        """A stage with so many queries; prints what it has needed."""
        stage = self.stages[name] = Stage()
        begun, cpu = time.perf_counter(), self.workers.cpu()
        positions = {what: len(times) for what, times in self.rater.times.items()}
        yield stage
        stage.seconds = time.perf_counter() - begun
        waits = [
            f"p95 of {what} {percentile(times[positions[what] :]):.0f} ms" for what, times in self.rater.times.items()
        ]
        command = f", command {stage.cpu:.1f} s of CPU and {stage.megabytes:.0f} MB" if stage.cpu else ""
        cpu = self.workers.cpu() - cpu
        print(
            f"{name}: {stage.seconds:.1f} s, {number / stage.seconds:,.0f} queries a second{command}, workers "
            f"{cpu:.1f} s of CPU ({cpu * 1000 / number:.2f} ms a query) and {self.workers.megabytes:.0f} MB; {', '.join(waits)} "
            f"(load {os.getloadavg()[0]:.1f})",
            flush=True,
        )

    def check(self, target: str, value: float, *, least: float = 0, most: float = float("inf")) -> None:
        self.is_good &= options.verdict(least <= value <= most, f"{target}, {value:,.1f}")


def percentile(times: list[float]) -> float:
    """The 95th percentile; 0 of nothing."""
    return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else sum(times)


def wait_for(is_done: Callable[[], bool], what: str) -> None:
    """Waits for the workers."""
    deadline = time.monotonic() + MAX_SECONDS
    while not is_done():
        assert time.monotonic() < deadline, f"{what} did not end in {MAX_SECONDS} s"
        time.sleep(0.2)


# The stages


def import_all(measure: Measure, case: Case, files: Files, number: int) -> None:
    with measure.stage("queries imported", number) as first:
        first.add(run_command(["import_queries", str(case.pk), str(files.queries)], own_site()))
    with measure.stage("ratings imported", number) as second:
        second.add(run_command(["import_ratings", str(case.pk), str(files.ratings)], own_site()))
    stored = case.book.queries.filter(ratings__isnull=False).distinct().count()
    print(f"  {case.case_queries.present().count():,} queries, {files.judged:,} ratings of {stored:,} queries")
    rate = number / (first.seconds + second.seconds)
    measure.check(f"at least {IMPORT_RATE:,.0f} queries a second with their ratings", rate, least=IMPORT_RATE)


def run_file(measure: Measure, case: Case, path: Path, by: User, number: int, *, kills: bool) -> Run:
    """Stores a file of rankings, and searches all queries in it."""
    with measure.stage(f"{path.stem} stored and indexed", number) as stored:
        stored.add(run_command(["create_endpoint", path.stem, "static", str(path), "--owner", by.email], own_site()))
    endpoint = by.endpoints.get(name=path.stem)
    attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", fields="id:id", by=by)
    with measure.stage(f"{path.stem} searched and scored", number) as searched:
        run = search(measure, attempt, kills=kills)
    assert Ranking.objects.filter(run=run).count() == number
    score = CaseScore.objects.filter(run=run).order_by("pk").values_list("version__scorer__name", "score")
    print("  " + ", ".join(f"{name} {value:.2f}" for name, value in score))
    rate = number / (stored.seconds + searched.seconds)
    measure.check(f"at least {RUN_RATE:,.0f} queries a second stored, searched and scored", rate, least=RUN_RATE)
    return run


def search(measure: Measure, attempt: Attempt, *, kills: bool = False) -> Run:
    """Runs an attempt with the workers, one of which may be killed."""
    run = runs.start(attempt=attempt, by=attempt.created_by)
    tasks.enqueue_run(run)

    def has_done(part: float) -> bool:
        run.refresh_from_db()
        return not run.is_active or run.done >= part * run.queries

    if kills:
        wait_for(lambda: has_done(KILLED_AT), "the first part of a run")
        print(f"  a worker is killed after {run.done:,} queries", flush=True)
        measure.workers.kill()
    wait_for(lambda: has_done(2), "a run")
    assert (run.status, run.done) == (Run.Status.COMPLETE, run.queries), (run.status, run.done, run.reason)
    return run


def score_again(measure: Measure, run: Run, name: str, number: int) -> None:
    """Scores a run with one more scorer."""
    scorer = Scorer.objects.get(name=name, owner=None)
    with measure.stage(f"{run} scored with {name}", number):
        scorers.add_scorer(case=run.case, scorer=scorer)
        tasks.enqueue_run_rescore(run)
        wait_for(CaseScore.objects.filter(run=run, version__scorer=scorer).exists, "scoring")


def search_embedded(measure: Measure, files: Files, by: User, number: int) -> None:
    with files.queries.open(encoding="utf-8") as file:
        texts = [line.strip() for line in islice(file, number)]
    case = cases.create(name="Embedded", owner=by)
    queries.add(case=case, texts=texts)
    endpoint = endpoints.create(name="passages", engine="embedded", url="passages", by=by)
    words, chance = vocabulary(30_000), random.Random(3)
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(
            {"id": str(doc), "text": " ".join(chance.choices(words, cum_weights=weights, k=WORDS_OF_A_PASSAGE))}
            for doc in range(min(PASSAGES, 10 * number))
        )
    template = '{"query": "#$query##", "fields": {"text": 1}}'
    attempt = runs.attempts.save(case=case, endpoint=endpoint, template=template, fields="id:id text", by=by)
    with measure.stage("searched in the embedded index", len(texts)):
        search(measure, attempt)


def compare(measure: Measure, earlier: Run, later: Run, number: int) -> None:
    printed = fresh_site.DATA / "compared.txt"
    with measure.stage("two runs compared", number) as stage:
        stage.add(run_command(["compare", str(earlier.pk), str(later.pk)], own_site(), printed))
    print("  " + printed.read_text(encoding="utf-8").strip().splitlines()[0])
    measure.check(f"compared in at most {COMPARE_SECONDS} s", stage.seconds, most=COMPARE_SECONDS)
    measure.check(f"with at most {COMPARE_MB} MB", stage.megabytes, most=COMPARE_MB)


def open_pages(measure: Measure, address: str, case: Case, run: Run, by: User) -> None:
    """What one user waits for. The first request of each fills caches and is not counted."""
    headers, grade = session(by), count()
    listed = case.case_queries.present().order_by("position", "pk").select_related("query")
    first, *_, last = listed[:51]
    doc_id = run.rankings.get(query=first.query_id).doc_ids[0]
    url, book = f"{address}/cases/{case.pk}/", f"{address}/books/{case.book_id}/"
    with urllib3.PoolManager(1) as pool:
        plain, of_list = {"cookie": headers["cookie"]}, {**headers, "hx-target": "queries"}
        rate = partial(pool.request, "POST", f"{url}queries/{first.pk}/rate/?rank=1", encode_multipart=False)
        requests: dict[str, Callable[[], urllib3.BaseHTTPResponse]] = {
            "the case": partial(pool.request, "GET", url, headers=plain),
            "the next page": partial(pool.request, "GET", f"{url}?page=from-{last.pk}", headers=of_list),
            "a rating": lambda: rate(fields={"doc_id": doc_id, "value": str(next(grade) % 2)}, headers=headers),
            "home": partial(pool.request, "GET", f"{address}/", headers=plain),
            "the book": partial(pool.request, "GET", book, headers=plain),
            "the queries of the book": partial(pool.request, "GET", f"{book}queries/", headers=plain),
            "its conflicts": partial(pool.request, "GET", f"{book}conflicts/", headers=plain),
            "judging": partial(pool.request, "GET", f"{book}judge/", headers=plain),
        }
        for name, send in requests.items():
            times = []
            for _ in range(ROUNDS + 1):
                begun = time.perf_counter()
                response = send()
                times.append((time.perf_counter() - begun) * 1000)
                assert response.status == 200, (name, response.status, response.data[:300])
            most = PAGES_MS[name]
            measure.check(f"{name}: median at most {most} ms", median(times[1:]), most=most)


def print_sizes(measure: Measure, case: Case, number: int) -> None:
    """Bytes that a query takes in a run: its ranking, its scores, and its share of the documents, all with their indexes."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE")
    rankings, searched = Ranking.objects.count(), case.runs.count() * number
    ranking, score, document = (size_of(model) for model in (Ranking, QueryScore, Document))
    scores_stored = QueryScore.objects.count()
    print(
        f"bytes: {ranking / rankings:.0f} a ranking, {score / scores_stored:.0f} a score, "
        f"{document / max(Document.objects.count(), 1):.0f} a document, of which there are {Document.objects.count():,}; "
        f"{(ranking + score + document) / searched:.0f} a query and run"
    )
    measure.check(f"a ranking at most {RANKING_BYTES} bytes", ranking / rankings, most=RANKING_BYTES)


def main(chosen: argparse.Namespace) -> bool:
    by = User.objects.create_superuser("owner@example.com")
    begun = time.perf_counter()
    listed = queries_from_tsv(chosen.from_tsv, chosen.queries) if chosen.from_tsv else invented_queries(chosen.queries)
    files = write_files(listed)
    case = cases.create(
        name="Million",
        owner=by,
        scale=scorers.parse_scale(f"0:{max(1, files.top)}"),
        scorers=[Scorer.objects.get(name=name, owner=None) for name in SCORERS],
    )
    source = "files of your own" if chosen.from_tsv else "invented data in the shape of MS MARCO passage"
    print(f"{files.count:,} queries, {connection.vendor}, {chosen.workers} workers; {source}")
    print(f"generated: {time.perf_counter() - begun:.1f} s", flush=True)
    workers = Workers()
    try:
        with served(with_worker=False) as address:
            for _ in range(chosen.workers):
                workers.start()
            rater = Rater(address, by)
            rater.start()
            measure = Measure(workers, rater)
            import_all(measure, case, files, files.count)
            earlier, later = (
                run_file(measure, case, path, by, files.count, kills=not number)
                for number, path in enumerate(files.rankings)
            )
            score_again(measure, later, "P@10", files.count)
            if chosen.embedded:
                search_embedded(measure, files, by, min(chosen.embedded, files.count))
            compare(measure, earlier, later, files.count)
            rater.stop()
            open_pages(measure, address, case, later, by)
    finally:
        workers.end()
    for what, most in (("a rating", RATING_MS), ("/healthz", HEALTH_MS)):
        measure.check(f"p95 of {what} in all stages at most {most} ms", percentile(rater.times[what]), most=most)
    measure.check(f"no rating and no /healthz fails {sorted(set(rater.failed))}", len(rater.failed), most=0)
    measure.check(f"a worker at most {WORKER_MB} MB", workers.megabytes, most=WORKER_MB)
    print_sizes(measure, case, files.count)
    return measure.is_good


if __name__ == "__main__":
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("--postgres", metavar="URL", default="")
    line.add_argument("--queries", type=int, default=QUERIES, metavar="N")
    line.add_argument("--workers", type=int, default=2, metavar="N")
    line.add_argument("--embedded", type=int, default=2_000, metavar="N")
    line.add_argument("--from-tsv", nargs=4, metavar=("QUERIES", "QRELS", "RUN", "RUN"))
    chosen = line.parse_args()
    if chosen.postgres and os.environ.get("RELEVANCY_DATABASE_URL") != chosen.postgres:
        # Django takes its database from the environment, once.
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
    raise SystemExit(not main(chosen))
