"""A killed worker, several writers at once, commands as a shell sees them."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import ReceivedRequest, Reply, serving
from tests.processes import Site, site


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as made:
        yield made


MAKE_SOLR = """
owner = make_user("Owner", superuser=True)
case = make_case([f"star {n}" for n in range(160)], owner=owner)
endpoint = make_endpoint(owner, engine="solr", url=sys.argv[1], parallel=4)
attempt = make_attempt(case, endpoint, template="q=#$query##&defType=edismax&qf=title&q.op=OR", fields="id:id title:title")
run = runs.start(attempt=attempt, by=owner)
tasks.enqueue_run(run)
print(run.pk)
"""
STATE = """
run = Run.objects.get(pk=sys.argv[1])
rankings = list(run.rankings.values_list("query_id", "error_kind"))
distinct, errors = {query for query, _ in rankings}, [error for _, error in rankings if error]
print(json.dumps([run.status, run.reason, run.done, len(rankings), len(distinct), len(errors)]))
"""
AGE = """
from datetime import timedelta
from django.utils import timezone
run = Run.objects.get(pk=sys.argv[1])
run.parts.update(heartbeat_at=timezone.now() - timedelta(seconds=90))
print(Run.objects.get(pk=sys.argv[1]).rankings.count())
"""


def test_a_killed_worker_loses_and_doubles_nothing(here: Site) -> None:
    bodies: list[str] = []

    def slow(request: ReceivedRequest) -> Reply:
        if "/select" in request.path:
            bodies.append(request.body.decode())
            time.sleep(0.05)
        return fake_solr(request)

    with serving(slow) as solr:
        run = str(here.ask(MAKE_SOLR, f"{solr.url}/solr/films"))
        first = here.start("worker", "--interval", "0.05")
        deadline = time.monotonic() + 30
        while len(bodies) < 130 and first.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        searched = len(bodies)
        assert 130 <= searched < 160
        kept = here.ask(AGE, run)
        assert 0 < kept < 160  # what was written last depends on how busy the machine is
        second = here.run("worker", "--batch", "--interval", "0.05")
        assert second.returncode == 0, second.stderr
        assert here.ask(STATE, run) == ["complete", "", 160, 160, 160, 0]
        assert len(bodies) - searched == 160 - kept


MAKE_TWO = """
owner = User.objects.filter(is_superuser=True).first() or make_user("Owner", superuser=True)
endpoint = make_endpoint(owner, engine="solr", url=sys.argv[1], parallel=2)
found = [make_case([f"star {n}" for n in range(30)], owner=owner) for _ in range(2)]
for case in found:
    make_attempt(case, endpoint, template="q=#$query##&defType=edismax&qf=title&q.op=OR", fields="id:id title:title")
print(json.dumps([case.pk for case in found]))
"""


class CountedSolr:
    """Answers searches like Solr after a while. most: the searches that it had to answer at a time. times: when they arrived.

    expected: no search is answered before so many have arrived, so that all workers have begun.
    """

    def __init__(self, seconds: float, expected: int = 1) -> None:
        self.seconds = seconds
        self.now = self.most = 0
        self._has_all = threading.Barrier(expected)
        self.times: list[float] = []
        self._lock = threading.Lock()

    def __call__(self, request: ReceivedRequest) -> Reply:
        if "/select" not in request.path:
            return fake_solr(request)
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.times.append(time.monotonic())
            is_early = len(self.times) <= self._has_all.parties
        if is_early:
            self._has_all.wait(60)
        time.sleep(self.seconds)
        reply = fake_solr(request)
        with self._lock:
            self.now -= 1
        return reply


def test_two_processes_share_the_requests_of_an_endpoint(here: Site) -> None:
    counted = CountedSolr(0.02)
    with serving(counted) as solr:
        processes = [
            here.start("evaluate", str(case), "--json", "-") for case in here.ask(MAKE_TWO, f"{solr.url}/solr/films")
        ]
        for process in processes:
            out, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
            assert json.loads(out)["complete"]
    assert counted.most == 2


MAKE_PARTS = """
from relevancy.runs import parts
parts.PART_QUERIES = 40
owner = User.objects.filter(is_superuser=True).first() or make_user("Owner", superuser=True)
rated = {f"star {n}": {"2": n % 4, "3": (n + 1) % 4, "5": 1} for n in range(200)}
case = make_case([f"star {n}" for n in range(400)], rated, owner=owner, measures=["nDCG@10", "P@10"])
limits = {"parallel": int(sys.argv[2]), "per_minute": int(sys.argv[3])}
endpoint = make_endpoint(owner, engine="solr", url=sys.argv[1], **limits)
template = "q=#$query##&defType=edismax&qf=title&q.op=OR"
run = runs.start(attempt=make_attempt(case, endpoint, template=template, fields="id:id title:title"), by=owner)
tasks.enqueue_run(run)
print(json.dumps([run.pk, run.parts.count()]))
"""
RESULTS = """
from relevancy.models import Ranking, read_hits
run = Run.objects.get(pk=sys.argv[1])
names = [f.attname for f in Ranking._meta.fields if f.attname not in ("id", "run_id", "query_id", "documents", "took_ms")]
rows = read_hits(run.rankings.order_by("query__text"))
rankings = [[str(row.hits), *(str(getattr(row, name)) for name in names)] for row in rows]
by_query = sorted([name, query, *map(str, row)] for (name, query), row in stored_scores(run).items())
of_case = [[name, *map(str, row)] for name, row in stored_case_scores(run).items()]
print(json.dumps([run.status, run.done, run.failed, run.parts.count(), rankings, by_query, of_case]))
"""


def search_with_workers(here: Site, counted: CountedSolr, workers: int, *limits: int) -> list[Any]:
    """Runs a case in 10 parts with so many workers. Returns its results."""
    with serving(counted) as solr:
        run, parts = here.ask(MAKE_PARTS, f"{solr.url}/solr/films", *map(str, limits))
        assert parts == 10
        at_work = [here.start("worker", "--batch", "--interval", "0.02")]
        # The others would find the queue empty, and end, between the start of the first task and its enqueuing of the next one.
        deadline = time.monotonic() + 60
        while not counted.times and time.monotonic() < deadline:
            time.sleep(0.02)
        at_work += [here.start("worker", "--batch", "--interval", "0.02") for _ in range(workers - 1)]
        for worker in at_work:
            _, err = worker.communicate(timeout=120)
            assert worker.returncode == 0, err
    results: list[Any] = here.ask(RESULTS, str(run))
    return results


def test_results_of_many_workers_are_those_of_one_and_their_requests_keep_to_the_limit(tmp_path: Path) -> None:
    counts: list[int] = []
    results: list[Any] = []
    with site(tmp_path, RELEVANCY_WORKER_REQUESTS="2") as here:
        for workers, parallel, expected in ((1, 4, 2), (2, 3, 3)):
            counted = CountedSolr(0.02, expected)
            results.append(search_with_workers(here, counted, workers, parallel, 0))
            counts.append(counted.most)
    assert results[0][:4] == ["complete", 400, 0, 0]
    assert len(results[0][4]) == 400
    assert results[0] == results[1]
    assert counts == [2, 3]  # what one worker sends, and what the endpoint answers at a time


def test_requests_per_minute_are_those_of_all_workers_together(here: Site) -> None:
    counted = CountedSolr(0.0)
    results = search_with_workers(here, counted, 2, 32, 6_000)
    assert results[:4] == ["complete", 400, 0, 0]
    # A request of another worker, or at the beginning of a part, must not come before its time: 100 a second.
    assert counted.times[-1] - counted.times[0] > 3.5


RATE = """
from itertools import count
who, doc = sys.argv[1:3]
rater = User.objects.get(name=who)
run = Run.objects.select_related("case__book").get(pk=sys.argv[3])
for query in run.case.book.queries.select_related("book").order_by("id")[:25]:
    for value in (2, 3):
        ratings.rate(query=query, doc_id=doc, value=value, by=rater)
        rescore(run, query.pk)
"""
MAKE_MANY = """
from relevancy import endpoints
owner = User.objects.filter(is_superuser=True).first() or make_user("Owner", superuser=True)
make_user("Ann"); make_user("Ben")
endpoint = make_endpoint(owner, engine="embedded", url="many")
docs = [{"id": doc_id, "title": "word " * n} for n, doc_id in enumerate("abc", 1)]
with endpoints.connect(endpoint) as engine:
    engine.load_documents(docs)
case = make_case([f"word {n}" for n in range(400)], owner=owner, measures=["nDCG@10", "P@10"])
attempt = make_attempt(case, endpoint, template='{"query": "#$query##", "fields": ["title"], "operator": "or"}')
run = run_now(attempt)
print(json.dumps([case.pk, run.pk, run.status, run.done]))
"""
CHECK = """
case, old = Case.objects.get(pk=sys.argv[1]), Run.objects.select_related("case__book").get(pk=sys.argv[2])
new = case.runs.first()
kept = stored_scores(old), stored_case_scores(old)
old.query_scores.all().delete()
old.case_scores.all().delete()
scores.rescore_run(old)
fresh = stored_scores(old), stored_case_scores(old)
rounded = [{name: [round(v, 6) for v in row if v is not None] for name, row in side[1].items()} for side in (kept, fresh)]
from relevancy.models import ScorerVersion, Rating, RatingChange
queries = case.book.queries
print(json.dumps({
    "ratings": Rating.objects.filter(query__book=case.book).count(),
    "changes": RatingChange.objects.filter(query__book=case.book).count(),
    "revisions": sorted(set(queries.order_by("id").values_list("revision", flat=True)[:25])),
    "others": sorted(set(queries.order_by("id").values_list("revision", flat=True)[25:])),
    "same": kept[0] == fresh[0] and rounded[0] == rounded[1],
    "new": [new.number, new.status, new.done, new.rankings.count(), new.query_scores.count()],
    "stale": scores.rescore_run(new) >= 0 and scores.count_stale(new, ScorerVersion.objects.used_by(case)[0]),
}))
"""


def test_three_writers_lose_nothing_and_wait_for_each_other(here: Site) -> None:
    case, run, status, done = here.ask(MAKE_MANY)
    assert (status, done) == ("complete", 400)
    processes = [
        here.start("Ann", "a", str(run), code=RATE),
        here.start("Ben", "b", str(run), code=RATE),
        here.start("evaluate", str(case), "--json", os.devnull),
    ]
    for process in processes:
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        assert "locked" not in out + err
    result = here.ask(CHECK, str(case), str(run))
    assert result == {
        "ratings": 50,
        "changes": 100,
        "revisions": [4],
        "others": [0],
        "same": True,
        "new": [2, "complete", 400, 400, 800],
        "stale": 0,
    }


class TestShell:
    """Exit status, one line on stderr, no traceback."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["evaluate", "Nope"], "There is no case 'Nope'"),
            (["export_run", "x"], "There is no run 'x'"),
            (["measure", "--qrels", "missing", "--run", "missing", "-m", "AP"], "missing cannot be read"),
            (["try_scorer", "--measure", "nDGC", "--grades", "1"], "Did you mean nDCG?"),
        ],
    )
    def test_mistakes(self, here: Site, words: list[str], message: str) -> None:
        done = here.run(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.startswith("Error: ")
        assert done.stderr.count("\n") == 1

    def test_bad_options(self, here: Site) -> None:
        done = here.run("evaluate", "x", "--attempt", "many")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "argument --attempt: invalid int value: 'many'" in done.stderr

    def test_worker_with_tasks_done_at_once(self, here: Site) -> None:
        done = Site(here.folder, {**here.environment, "RELEVANCY_TASKS": "immediate"}).run("worker")
        assert done.returncode == 2
        assert "RELEVANCY_TASKS=immediate" in done.stderr

    def test_without_a_database(self, here: Site, tmp_path: Path) -> None:
        nowhere = Site(
            here.folder, {**here.environment, "RELEVANCY_DATABASE_URL": "sqlite:////no/such/place/db.sqlite3"}
        )
        (tmp_path / "qrels").write_text("1 0 a 1\n")
        (tmp_path / "run").write_text("1 Q0 a 1 2 x\n")
        files = ("--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"))
        done = nowhere.run("measure", *files, "-m", "AP", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["measures"]["AP"]["mean"] == 1
        done = nowhere.run("try_scorer", "--measure", "P@2", "--grades", "1 0")
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "P@2: score 50.0, value 0.500000")
        done = nowhere.run("evaluate", "Films")
        assert done.returncode == 2
        assert done.stderr.startswith("Error: The database cannot be used: ")
        assert "Traceback" not in done.stderr


MAKE_RATED = """
case = make_case(3, {"query 1": {"a": 1}}, owner=make_user(sys.argv[1]))
print(case.pk)
"""
KILLED_IMPORT = """
import os, signal
from relevancy.ratings import imports
from tests.factories import import_csv

imports.MAX_AT_ONCE, imports.CHUNK = 1_000, 2_000
note_progress = imports.note_progress

def kill(record, **changes):
    note_progress(record, **changes)
    if sys.argv[2] in (str(changes.get("done")), str(changes.get("status"))):
        os.kill(os.getpid(), signal.SIGKILL)

imports.note_progress = kill
case = Case.objects.get(pk=sys.argv[1])
rows = "".join(f"imported {n % 50},{n},2\\n" for n in range(6000))
import_csv(case=case, text="query,docid,rating\\nquery 1,a,3\\n" + rows, by=case.owner)
"""
SEEN = """
from relevancy.models import *
from relevancy.formats.ratings import ratings_csv
case = Case.objects.get(pk=sys.argv[1])
lines = "".join(ratings_csv.export_ratings(case=case)).splitlines()
rows = [Rating.objects.filter(query__book=case.book), RatingChange.objects.filter(query__book=case.book), case.book.queries]
print(json.dumps([len(lines), lines[1], *(each.count() for each in rows)]))
"""
SWEEP = """
import os, signal
from relevancy.models import RatingImport
from relevancy.ratings import imports
undo_some = imports._undo_some

def die(record):
    undo_some(record)
    os.kill(os.getpid(), signal.SIGKILL)

imports.CHUNK = 1_500
if sys.argv[1] == "die":
    imports._undo_some = die
RatingImport.objects.unfinished().update(progressed_at="2026-01-01T00:00Z")
ratings.sweep_imports()
print(RatingImport.objects.unfinished().count())
"""
RATE_ONE = """
query = Case.objects.get(pk=sys.argv[1]).book.queries.first()
try:
    print(json.dumps(ratings.rate(query=query, doc_id="a", value=0, by=query.book.owner)))
except ratings.RatingRefused as refusal:
    print(json.dumps(str(refusal)))
"""


@pytest.mark.own_database
@pytest.mark.parametrize(("moment", "stored"), [("2000", 0), ("4000", 2000), ("complete", 6001)])
def test_a_killed_import_is_undone_although_undoing_it_is_killed_too(here: Site, moment: str, stored: int) -> None:
    """Killed in the first transaction, in the second, and in the last."""
    case = str(here.ask(MAKE_RATED, moment))
    assert here.run(case, moment, code=KILLED_IMPORT).returncode == -signal.SIGKILL
    assert here.ask(SEEN, case)[2:] == [max(1, stored), 1 + stored, 53]
    assert here.run("die", code=SWEEP).returncode == -signal.SIGKILL
    assert here.ask(RATE_ONE, case).startswith("Ratings are being imported into this book (")
    assert here.ask(SWEEP, "finish") == 0
    assert here.ask(SEEN, case) == [4, "query 1,a,1", 1, 1, 3]
    assert here.ask(RATE_ONE, case) == 1
