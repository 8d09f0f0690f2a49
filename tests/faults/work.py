"""What people do while processes are killed: each activity sends a request until it is acknowledged, as a browser and a script do.

An answer with a status below 400 is an acknowledgement. No answer, or 5xx, says nothing: the change may be stored or not.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import psycopg
import urllib3

from tests.faults.engine import doc_ids
from tests.faults.servers import FaultSite

CSRF = "a" * 32  # it only has to be the same in the cookie and the header
PAUSE = 0.1  # before something is sent again
UNKNOWN = (0, 500, 502, 503, 504)
BUSY = (*UNKNOWN, 409, 422)  # also: refused because of other work, such as an import into the same book
LARGE_IMPORT = 50_001  # ratings; the smallest file that a worker stores
SMALL_IMPORT = 2_000


@dataclass
class Answers:
    """Counts the answers by status; 0 is none. `wrong`: those that say that the server or the test has made a mistake."""

    by_status: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    def count(self, status: int, line: str) -> None:
        """Counts an answer."""
        self.by_status[status] += 1
        if status == 500 or (status >= 400 and status not in (*BUSY, 404)):
            self.wrong[f"{status} to {re.sub('[0-9]+', 'N', line)}"] += 1


class Client:
    """Sends requests as one user, over a connection of its own."""

    def __init__(self, address: str, headers: Mapping[str, str], answers: Answers) -> None:
        self.address = address
        self.headers = dict(headers)
        self.answers = answers
        self.pool = urllib3.PoolManager(1)
        self.body = b""

    def send(self, method: str, path: str, **content: Any) -> int:
        """Returns the status of the answer; 0 if there is none. `body` is what it said."""
        timeout = urllib3.Timeout(connect=2.0, read=60.0)
        try:
            answer = self.pool.request(
                method, self.address + path, headers=self.headers, retries=False, timeout=timeout, **content
            )
        except urllib3.exceptions.HTTPError:
            self.body, status = b"", 0
        else:
            self.body, status = answer.data, answer.status
        self.answers.count(status, f"{method} {path}")
        return status

    def post_form(self, path: str, fields: Mapping[str, Any]) -> int:
        """Posts a form as a page does."""
        return self.send("POST", path, fields=dict(fields), encode_multipart=False)

    def send_json(self, method: str, path: str, value: Any) -> int:
        """Sends JSON."""
        return self.send(method, path, json=value)


type Key = tuple[int, int, str]
"""The ids of the rater, the query and the document."""


@dataclass
class Ledger:
    """The acknowledged ratings. values: of each rating, in order. sent: when the last acknowledged one was sent."""

    values: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    sent: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, key: Key, value: float, sent: float) -> None:
        """Adds an acknowledged rating."""
        with self.lock:
            self.values[key].append(value)
            self.sent = max(self.sent, sent)

    def snapshot(self) -> dict[Key, list[float]]:
        """Returns a copy."""
        with self.lock:
            return {key: list(values) for key, values in self.values.items()}

    @property
    def count(self) -> int:
        with self.lock:
            return sum(map(len, self.values.values()))


@dataclass
class World:
    """The site, who works on it, and what was acknowledged.

    made: the ids that `MAKE` has printed. hurries: makes claims and marks of lost tasks old before all work is awaited, instead of
    waiting for a minute until they are.
    """

    site: FaultSite
    made: dict[str, Any]
    chance: random.Random
    hurries: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    answers: Answers = field(default_factory=Answers)

    def client(self, rater: Mapping[str, Any], *, of_page: bool = False) -> Client:
        """Returns a client with the token of a rater or, for pages, with the session."""
        headers = {"authorization": f"Bearer {rater['token']}"}
        if of_page:
            cookies = f"sessionid={rater['session']}; csrftoken={CSRF}"
            headers = {"cookie": cookies, "x-csrftoken": CSRF}
        return Client(self.site.address, headers, self.answers)


def until_acknowledged(send: Callable[[], int], stop: threading.Event, *, seconds: float = 180.0) -> int:
    """Sends again until the answer is neither missing nor "try again", and returns its status; 0 if it never came.

    After `stop`, something that may be stored or not is still sent to its end.
    """
    begun = time.monotonic()
    status = send()
    while status in BUSY and time.monotonic() < begun + seconds:
        if status not in UNKNOWN and stop.is_set():
            return status  # refused: nothing is stored
        time.sleep(PAUSE)
        status = send()
    return status


MAKE = """
from django.test import Client
from relevancy import teams
from relevancy.accounts import api_tokens
from relevancy.models import *
url, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
owner = make_user("Owner", superuser=True)

def person(user):
    client = Client()
    client.force_login(user)
    _, token = api_tokens.create(user=user, name="faults", scope=ApiToken.Scope.WRITE, days=1)
    return {"id": user.pk, "token": token, "session": client.cookies["sessionid"].value}

def add_case(name, number):
    case = make_case([f"{name} {n}" for n in range(number)], owner=owner, measures=["nDCG@10", "P@10"])
    attempt = make_attempt(case, endpoint, template="q=#$query##", fields="id:id title:title")
    return case, attempt

endpoint = make_endpoint(owner, engine="solr", url=f"{url}/solr/healthy", parallel=4)
case, attempt = add_case("storm", size)
run_case, run_attempt = add_case("run", 3 * size)
import_case, _ = add_case("import", 10)
for made in (attempt, run_attempt):
    assert run_now(made).status == "complete"
team = teams.create(name="Raters", by=owner)
raters = []
for number in range(count):
    user = make_user(f"Rater {number}")
    teams.add_member(team=team, email=user.email, role=Role.RATER, by=owner)
    raters.append(person(user))
cases.share(case=case, team=team, by=owner)
judging.build_judging_queue(book=case.book)
rows = case.case_queries.order_by("position").values_list("query_id", "pk", "query__text")
pairs = JudgingPair.objects.filter(queue__book=case.book).order_by("id").values_list("query_id", "doc_id", "pk")
print(json.dumps({
    "owner": person(owner), "raters": raters, "case": case.pk, "book": case.book_id, "queries": list(map(list, rows)),
    "pairs": list(map(list, pairs)), "run_case": run_case.pk, "import_case": import_case.pk, "import_book": import_case.book_id,
    "scorers": list(Scorer.objects.filter(name__in=["nDCG@10", "P@10"]).order_by("name").values_list("pk", flat=True)),
    "endpoint": endpoint.pk,
}))
"""


class Activity:
    """Something that is done over and over during a round. Subclasses: `work`, and `problems` after everything has settled."""

    name: ClassVar[str]

    def __init__(self, world: World) -> None:
        self.world = world
        self.done = 0

    def prepare(self) -> None:
        """Makes what the activity needs, before anything is killed."""

    def work(self, stop: threading.Event) -> None:
        """Works until `stop` is set."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """Returns what is lost or doubled."""
        return []


class Rating(Activity):
    """One rater, who gives the results of the storm's case other grades again and again; every second one by the page."""

    name = "rating"

    def __init__(self, world: World, number: int) -> None:
        super().__init__(world)
        self.rater = world.made["raters"][number]
        self.of_page = number % 2 == 0
        self.chance = random.Random(world.chance.random())

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.rater, of_page=self.of_page)
        while not stop.is_set():
            query_id, case_query_id, text = self.chance.choice(self.world.made["queries"])
            doc_id = self.chance.choice(doc_ids(text))
            self.rate(client, stop, query_id, doc_id, f"/cases/{self.world.made['case']}/queries/{case_query_id}/rate/")
            time.sleep(0.05)

    def rate(self, client: Client, stop: threading.Event, query_id: int, doc_id: str, page: str) -> None:
        """Rates with another grade than before, until it is acknowledged."""
        key = (self.rater["id"], query_id, doc_id)
        former = self.world.ledger.snapshot().get(key, [])[-1:]
        value = self.chance.choice([grade for grade in (0.0, 1.0, 2.0, 3.0) if [grade] != former])
        sent = [0.0]

        def send() -> int:
            sent[0] = time.monotonic()
            if self.of_page:
                return client.post_form(page, self.fields(query_id, doc_id, value))
            return client.send_json("PUT", f"/api/v1/queries/{query_id}/ratings/{doc_id}", {"value": value})

        status = until_acknowledged(send, stop)
        if status in (200, 302):
            self.world.ledger.add(key, value, sent[0])
            self.done += 1

    def fields(self, query_id: int, doc_id: str, value: float) -> dict[str, Any]:
        """The fields of the form."""
        return {"doc_id": doc_id, "value": f"{value:g}"}


class Judging(Rating):
    """One rater on the page Judge."""

    name = "judging"

    def __init__(self, world: World, number: int) -> None:
        super().__init__(world, number)
        self.of_page = True
        self.cards = {(query_id, doc_id): card for query_id, doc_id, card in world.made["pairs"]}

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.rater, of_page=True)
        while not stop.is_set():
            query_id, doc_id = self.chance.choice(list(self.cards))
            self.rate(client, stop, query_id, doc_id, f"/books/{self.world.made['book']}/judge/rate/")
            time.sleep(0.05)

    def fields(self, query_id: int, doc_id: str, value: float) -> dict[str, Any]:
        return {
            "query": query_id,
            "doc_id": doc_id,
            "grade": f"{value:g}",
            "card": self.cards[query_id, doc_id],
        }


class Running(Activity):
    """Runs of a case, one after the other."""

    name = "run"

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"])
        case = self.world.made["run_case"]
        while not stop.is_set():
            if (
                until_acknowledged(lambda: client.send_json("POST", f"/api/v1/cases/{case}/attempts/1/runs", {}), stop)
                == 202
            ):
                self.done += 1
            stop.wait(1)


class Rescoring(Activity):
    """The scorers of the storm's case change places, and all runs are scored again."""

    name = "rescoring"

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"])
        path = f"/api/v1/cases/{self.world.made['case']}/scorers"
        scorer_ids = list(self.world.made["scorers"])
        for chosen in _forever(scorer_ids[:1], scorer_ids, scorer_ids[1:], scorer_ids[::-1]):
            if stop.is_set():
                return
            status = until_acknowledged(partial(client.send_json, "PUT", path, {"scorer_ids": chosen}), stop)
            self.done += status == 200
            self.last = (status, chosen)
            stop.wait(0.5)

    def problems(self) -> list[str]:
        client = self.world.client(self.world.made["owner"])
        status = client.send("GET", f"/api/v1/cases/{self.world.made['case']}/scorers")
        present = [row["id"] for row in json.loads(client.body)] if status == 200 else []
        return [] if self.last in {200: [(200, present)]}.get(status, []) else [f"scorers {present} after {self.last}"]


class Importing(Activity):
    """Files of ratings, small ones and one that a worker stores. Each names documents of its own."""

    name = "import"

    def prepare(self) -> None:
        self.files: dict[str, tuple[int, bool]] = {}  # by prefix of the documents: ratings, whether it must be stored
        self.mark = f"{self.world.chance.randrange(10**9)}"

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"])
        path = f"/api/v1/cases/{self.world.made['import_case']}/import/ratings"
        for number in range(1_000):
            if stop.is_set():
                return
            size = LARGE_IMPORT if number == 1 else SMALL_IMPORT
            prefix = f"file{self.mark}-{number}-"
            rows = "".join(f"import {n % 10},{prefix}{n},{n % 4}\n" for n in range(size))
            content = {"file": ("ratings.csv", "query,docid,rating\n" + rows, "text/csv")}
            self.files[prefix] = (size, False)
            if until_acknowledged(partial(client.send, "POST", path, fields=content), stop) == 200:
                self.files[prefix] = (size, bool(json.loads(client.body)["is_stored"]))
                self.done += 1
            stop.wait(0.3)

    def problems(self) -> list[str]:
        found = []
        with self.world.site.postgres.connect() as connection:
            for prefix, (size, is_stored) in self.files.items():
                counts = [
                    int(str(connection.execute(statement, [f"{prefix}%"]).fetchall()[0][0]))
                    for statement in (
                        "SELECT count(*) FROM relevancy_rating WHERE doc_id LIKE %s",
                        "SELECT count(*) FROM relevancy_ratingchange WHERE doc_id LIKE %s",
                    )
                ]
                if counts not in ([[size, size]] if is_stored else [[size, size], [0, 0]]):
                    found.append(f"of {size} ratings of a file, {counts[0]} are stored and {counts[1]} are in the log")
        return found


MAKE_BOOKS = """
owner = User.objects.get(name="Owner")
made = []
for number in range(int(sys.argv[1])):
    texts = [f"storm {n}" for n in range(5)] + [f"merged {sys.argv[2]} {number} {n}" for n in range(5)]
    case = make_case(texts, {text: {f"m{sys.argv[2]}-{number}-{n}": 2 for n in range(6)} for text in texts}, owner=owner)
    made.append([case.pk, case.book_id])
print(json.dumps(made))
"""


class Merging(Activity):
    """Books that are merged into the book of the storm, one after the other. Half of their queries are in both."""

    name = "merge"
    BOOKS, RATINGS = 6, 60

    def prepare(self) -> None:
        self.mark = str(self.world.chance.randrange(10**9))
        self.books = self.world.site.site.ask(MAKE_BOOKS, str(self.BOOKS), self.mark)
        self.merged: dict[int, bool] = {}

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"], of_page=True)
        for number, (_, other) in enumerate(self.books):
            if stop.is_set():
                return
            self.merged[number] = until_acknowledged(partial(self._merge, client, other), stop) == 302
            self.done += self.merged[number]
            stop.wait(1)

    def _merge(self, client: Client, other: int) -> int:
        status = client.post_form(f"/books/{self.world.made['book']}/merge/", {"other": other})
        # After an answer was lost, the form no longer knows the book. Its message is an ordinary page.
        return {True: 302, False: 422, None: 0}[self._is_gone(other)] if status in (200, 422) else status

    def _is_gone(self, book: int) -> bool | None:
        try:
            with self.world.site.postgres.connect() as connection:
                return not connection.execute("SELECT 1 FROM relevancy_book WHERE id = %s", [book]).fetchall()
        except psycopg.Error:
            return None

    def problems(self) -> list[str]:
        found = []
        with self.world.site.postgres.connect() as connection:
            for number, (_, book) in enumerate(self.books):
                rows = connection.execute(
                    "SELECT book_id, count(*), count(DISTINCT (query_id, doc_id)), (SELECT count(*) FROM relevancy_ratingchange "
                    "WHERE doc_id LIKE %(like)s) FROM relevancy_rating JOIN relevancy_query ON relevancy_query.id = query_id "
                    "WHERE doc_id LIKE %(like)s GROUP BY book_id",
                    {"like": f"m{self.mark}-{number}-%"},
                ).fetchall()
                merged = (self.world.made["book"], self.RATINGS, self.RATINGS, self.RATINGS)
                expected = [merged] if self.merged.get(number) else [merged, (book, *merged[1:])]
                if len(rows) != 1 or rows[0] not in expected:
                    found.append(f"ratings of a merged book: {rows} instead of {expected}")
        return found


MAKE_CASES = """
owner = User.objects.get(name="Owner")
made = []
for number in range(int(sys.argv[1])):
    case = make_case([f"deleted {n}" for n in range(50)], {f"deleted {n}": {"a": 1, "b": 2} for n in range(50)}, owner=owner)
    for name in ("one", "two"):
        hits = {pk: [(d, 1.0, {}) for d in "abc"] for pk in case.book.queries.values_list("pk", flat=True)}
        (run,) = runs.import_rankings(case=case, rankings=[runs.ImportedRankings(name, "", "id:id", hits)], by=owner)
        scores.rescore_run(run)
    made.append([case.pk, case.book_id])
print(json.dumps(made))
"""


class Deleting(Activity):
    """Cases that are deleted with their books, runs and scores."""

    name = "deleting"
    CASES = 6

    def prepare(self) -> None:
        self.cases = self.world.site.site.ask(MAKE_CASES, str(self.CASES))
        self.deleted: set[int] = set()

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"])
        for case, _ in self.cases:
            if stop.is_set():
                return
            status = until_acknowledged(partial(client.send, "DELETE", f"/api/v1/cases/{case}?with_book=true"), stop)
            if status in (204, 404):
                self.deleted.add(case)
                self.done += 1
            stop.wait(1)

    def problems(self) -> list[str]:
        found = []
        with self.world.site.postgres.connect() as connection:
            for case, book in self.cases:
                counts = [
                    int(str(connection.execute(statement, [pk]).fetchall()[0][0]))
                    for statement, pk in (
                        ("SELECT count(*) FROM relevancy_case WHERE id = %s", case),
                        ("SELECT count(*) FROM relevancy_run WHERE case_id = %s", case),
                        ("SELECT count(*) FROM relevancy_casequery WHERE case_id = %s", case),
                        ("SELECT count(*) FROM relevancy_query WHERE book_id = %s", book),
                        (
                            "SELECT count(*) FROM relevancy_rating JOIN relevancy_query ON relevancy_query.id = query_id "
                            "WHERE book_id = %s",
                            book,
                        ),
                    )
                ]
                if case in self.deleted and any(counts[:3]):
                    found.append(f"a deleted case has left {counts}")
                elif case not in self.deleted and counts[3:] not in ([50, 100], [0, 0]):
                    found.append(f"a book that was not deleted has {counts[3]} queries and {counts[4]} ratings")
        return found


MAKE_STUDY_CASE = """
from relevancy.models import Endpoint
from tests.faults.engine import doc_ids
owner = User.objects.get(name="Owner")
texts = [f"tuned {sys.argv[1]} {n}" for n in range(30)]
case = make_case(texts, {text: {doc_id: n % 4 for n, doc_id in enumerate(doc_ids(text))} for text in texts}, owner=owner)
endpoint = Endpoint.objects.get(pk=int(sys.argv[2]))
make_attempt(case, endpoint, template="q=#$query##&ps=##ps##&tie=##tie##", fields="id:id", knobs={"ps": 2.0, "tie": 0.1})
print(json.dumps(case.pk))
"""
# Prints what is wrong with the studies of a case: a study that goes on, trials out of order, other settings than its seed leads to,
# trials without an answer to each query, and answers that the engine has not given.
CHECK_STUDIES = """
from relevancy.models import Query
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.samplers import Samplers, plan_trial
from tests.faults.engine import doc_ids
problems = []
for study in Study.objects.filter(case=int(sys.argv[1])):
    trials = list(study.trials.order_by("number"))
    texts = [Query.objects.get(pk=pk).text for pk in study.query_ids]
    answers = {answer.pk: answer for answer in study.answers.all()}
    samplers = Samplers(study.knobs, study.seed, study.parent_settings)
    if study.is_active:
        problems.append(f"{study} is {study.status}")
    if study.status == "failed" and not study.reason:
        problems.append(f"{study} has failed and does not say why")
    numbers = [trial.number for trial in trials]
    if numbers != list(range(len(trials))) or (study.status == "complete" and len(trials) != study.trials_wanted):
        problems.append(f"{study} is {study.status} with trials {numbers}")
    for trial in trials:
        plan = plan_trial(study.knobs, study.trials_wanted, trial.number)
        if plan.origin in ("parent", "sobol") and trial.settings != samplers.propose(plan, trial.number, []):
            problems.append(f"{trial} of {study} has other settings than its seed leads to")
        ids = trial.answer_ids.tolist()
        if not (trial.error or trial.stopped) and 0 in ids:
            problems.append(f"{trial} of {study} lacks answers and does not say why")
        if any(pk and answers[pk].position != place for place, pk in enumerate(ids)):
            problems.append(f"{trial} of {study} has answers to other queries")
    if any(answer.doc_ids != doc_ids(texts[answer.position]) for answer in answers.values()):
        problems.append(f"{study} has answers that the engine has not given")
    if study.requests < len(answers):
        problems.append(f"{study} counts {study.requests} requests and has {len(answers)} answers")
print(json.dumps(problems))
"""


class Tuning(Activity):
    """Studies of a case, one after the other: each is started when the one before has ended."""

    name = "study"
    STUDY: ClassVar = {"attempt": 1, "knobs": ["ps=0:9", "tie=0:1"], "trials": 12}

    def prepare(self) -> None:
        mark = str(self.world.chance.randrange(10**9))
        self.case = self.world.site.site.ask(MAKE_STUDY_CASE, mark, str(self.world.made["endpoint"]))

    def work(self, stop: threading.Event) -> None:
        client = self.world.client(self.world.made["owner"])
        path = f"/api/v1/cases/{self.case}/studies"
        while not stop.is_set():
            if until_acknowledged(partial(client.send_json, "POST", path, self.STUDY), stop) == 201:
                self.done += 1
                study = f"/api/v1/studies/{json.loads(client.body)['id']}"
                while not stop.wait(1) and not self._has_ended(client, study):
                    pass

    def _has_ended(self, client: Client, study: str) -> bool:
        return client.send("GET", study) == 200 and json.loads(client.body)["status"] not in ("waiting", "running")

    def problems(self) -> list[str]:
        return list(self.world.site.site.ask(CHECK_STUDIES, str(self.case)))


def _forever[T](*items: T) -> Iterator[T]:
    while True:
        yield from items


ACTIVITIES: tuple[type[Activity], ...] = (Running, Importing, Rescoring, Merging, Deleting, Tuning)
