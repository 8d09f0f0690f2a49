"""Sample data: a catalogue of films and the case "Movies" with ratings and three attempts, each with a run."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from relevancy import cases, comparison, endpoints, queries, ratings, runs, scorers
from relevancy.models import Attempt, Case, Endpoint, Role, Run, ScorerVersion, StoredComparison, User

from . import documents_file

FOLDER = Path(__file__).parent / "sample_data"
CASE = "Movies"
ENDPOINT = "films"
# Accounts of the demo, with a public password.
PEOPLE = (("demo@example.com", "Mira Okafor", Role.OWNER), ("rater@example.com", "Jonas Weber", Role.RATER))
PASSWORD = "relevancy"
FIELDS = "id:id title:title year directors cast genres highlight:overview"
FIRST_TEMPLATE = """{
  "query": "#$query##",
  "fields": ["title"]
}"""
SECOND_TEMPLATE = """{
  "query": "#$query##",
  "fields": {
    "title": ##title_boost##,
    "cast": ##cast_boost##,
    "directors": 2,
    "overview": 1,
    "genres": 1
  },
  "phrase": {"title": 4, "cast": 2},
  "tie": ##tie##,
  "minimum_should_match": "2<75%"
}"""
FUZZY_TEMPLATE = SECOND_TEMPLATE.replace('"fields"', '"fuzzy": 1,\n  "fields"')
FUZZY_NAME = "Misspelt words as well"
KNOBS = {"title_boost": 3, "cast_boost": 2, "tie": 0.3}


def read_films() -> Iterator[dict[str, Any]]:
    """Yields the films of the catalogue: `{id, title, year, directors, cast, genres, overview}`."""
    for line in (FOLDER / "films.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n"):
        yield json.loads(line)


def load(*, owner: User) -> Case:
    """Creates the sample's endpoint, case, ratings, three runs and the comparison of the last two for a user. Returns the case.

    Does nothing if they exist, or if the user has added attempts; completes what an interrupted call has left.
    """
    case: Case | None = Case.objects.select_related("book").filter(name=CASE, owner=owner).first()
    if case is not None and not _is_unfinished(case):
        return case
    endpoint = _load_endpoint(owner)
    case = case or _create_case(endpoint, owner)
    first = case.attempts.get(number=1)
    _run_once(first, owner)
    second = case.attempts.filter(number=2).first() or runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template=SECOND_TEMPLATE,
        fields=FIELDS,
        knobs=KNOBS,
        by=owner,
        parent=first,
        name="People and overview, boosted",
    )
    before = _run_once(second, owner)
    third = case.attempts.filter(number=3).first() or runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template=FUZZY_TEMPLATE,
        fields=FIELDS,
        knobs=KNOBS,
        by=owner,
        parent=second,
        name=FUZZY_NAME,
    )
    _compare(case, before, _run_once(third, owner))
    return case


def _is_unfinished(case: Case) -> bool:
    """Whether a call was interrupted: attempts of the sample are missing, or its newest run is not finished, and nobody has added
    an attempt."""
    names = dict(case.attempts.values_list("number", "name"))
    if max(names, default=0) > 3 or names.get(3, FUZZY_NAME) != FUZZY_NAME:
        return False
    finished = case.runs.finished().order_by().values("attempt").distinct().count()
    return finished < 3 or not StoredComparison.objects.filter(case=case).exists()


def _compare(case: Case, baseline: Run, run: Run) -> None:
    """Computes the comparison of two runs, which the first visitor finds ready."""
    version = ScorerVersion.objects.used_by(case)[0]
    for compared in (baseline, run):
        compared.case = case
    stored = comparison.stored.find_or_create(runs=[baseline, run], version=version)
    comparison.stored.compute(stored.pk)


def _create_case(endpoint: Endpoint, owner: User) -> Case:
    with transaction.atomic():
        case = cases.create(name=CASE, owner=owner, scale=scorers.parse_scale("1:10"))
        _add_queries(case, owner)
        runs.attempts.save(
            case=case, endpoint=endpoint, template=FIRST_TEMPLATE, fields=FIELDS, by=owner, name="Title only"
        )
    return case


def load_into(*, engine: str, url: str, by: User) -> int:
    """Loads the catalogue into a search engine. Returns the number of films."""
    return documents_file.load_documents(engine=engine, url=url, documents=read_films(), by=by)


def _load_endpoint(owner: User) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=ENDPOINT, engine="embedded").first()
    if endpoint is None:
        endpoint = endpoints.create(name=ENDPOINT, engine="embedded", url="films", by=owner, unrestricted=True)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(read_films())
    return endpoint


def _add_queries(case: Case, owner: User) -> None:
    descriptions = json.loads((FOLDER / "queries.json").read_text(encoding="utf-8"))
    case_queries = queries.add(case=case, texts=[description["text"] for description in descriptions], by=owner).added
    details = {
        description["text"]: queries.QueryDetails(
            information_need=description["information_need"], notes=description["notes"], tags=description["tags"]
        )
        for description in descriptions
    }
    queries.set_details(case=case, details=details)
    ids = {case_query.query.text: case_query.query_id for case_query in case_queries}
    values: dict[int, dict[str, float]] = {}
    with (FOLDER / "ratings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values.setdefault(ids[row["query"]], {})[row["docid"]] = float(row["rating"])
    ratings.rate_book(book=case.book, values=values, rater=owner, by=owner, source="sample")


def _run_once(attempt: Attempt, owner: User) -> Run:
    """Finishes the attempt's newest run, or a new one if it has none."""
    newest = attempt.runs.order_by("-number").first()
    if newest is not None and not newest.is_active:
        return newest
    return runs.finish_here(newest or runs.start(attempt=attempt, by=owner))
