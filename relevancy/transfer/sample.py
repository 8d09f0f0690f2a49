"""The sample: a catalogue of films, the case "Movies" with ratings, and two attempts already run."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from relevancy import cases, engines, evaluation, judging
from relevancy.models import Attempt, Case, Endpoint, Role, Run

from . import documents

FOLDER = Path(__file__).parent / "sample_data"
CASE = "Movies"
ENDPOINT = "films"
# Accounts of a demonstration, with a password that everybody knows.
PEOPLE = (("demo@example.com", "Mira Okafor", Role.OWNER), ("rater@example.com", "Jonas Weber", Role.RATER))
PASSWORD = "relevancy"
FIELDS = "id:id title:title year directors cast genres highlight:overview"
FIRST = """{
  "query": "#$query##",
  "fields": ["title"]
}"""
SECOND = """{
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
KNOBS = {"title_boost": 3, "cast_boost": 2, "tie": 0.3}


def films() -> Iterator[dict[str, Any]]:
    """The catalogue: `{id, title, year, directors, cast, genres, overview}` each."""
    for line in (FOLDER / "films.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n"):
        yield json.loads(line)


def load(*, owner: Any) -> Case:
    """The sample for a user: endpoint, case, ratings, two finished runs. Done before, it is left as it is; what an
    interruption left half done is finished."""
    case: Case | None = Case.objects.select_related("book").filter(name=CASE, owner=owner).first()
    if case is not None and case.runs.order_by().values("attempt").distinct().count() > 1:
        return case
    endpoint = _endpoint(owner)
    case = case or _make(endpoint, owner)
    first = case.attempts.get(number=1)
    _run(first, owner)
    second = case.attempts.filter(number=2).first() or cases.attempts.save(
        case=case,
        endpoint=endpoint,
        template=SECOND,
        fields=FIELDS,
        knobs=KNOBS,
        by=owner,
        parent=first,
        name="People and overview, boosted",
    )
    _run(second, owner)
    return case


def _make(endpoint: Endpoint, owner: Any) -> Case:
    with transaction.atomic():
        case = cases.create(name=CASE, owner=owner, scale=cases.parse_scale("1:10"))
        _add_queries(case, owner)
        cases.attempts.save(case=case, endpoint=endpoint, template=FIRST, fields=FIELDS, by=owner, name="Title only")
    return case


def load_into(*, engine: str, url: str, by: Any) -> int:
    """The catalogue into a real engine. Returns the number of films."""
    return documents.put(engine=engine, url=url, documents=films(), by=by)


def _endpoint(owner: Any) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=ENDPOINT, engine="embedded").first()
    if endpoint is None:
        endpoint = cases.endpoints.create(name=ENDPOINT, engine="embedded", url="films", by=owner)
    engines.load_documents(evaluation.connection(endpoint), films())
    return endpoint


def _add_queries(case: Case, owner: Any) -> None:
    described = json.loads((FOLDER / "queries.json").read_text(encoding="utf-8"))
    added = cases.queries.add(case=case, texts=[entry["text"] for entry in described])
    for entry, about in zip(added.new, described, strict=True):
        cases.queries.edit(
            entry=entry,
            text=about["text"],
            information_need=about["information_need"],
            notes=about["notes"],
            tags=about["tags"],
        )
    ids = {entry.query.text: entry.query_id for entry in added.new}
    values: dict[int, dict[str, float]] = {}
    with (FOLDER / "ratings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values.setdefault(ids[row["query"]], {})[row["docid"]] = float(row["rating"])
    judging.rate_book(book=case.book, values=values, rater=owner, by=owner, source="sample")


def _run(attempt: Attempt, owner: Any) -> Run:
    there = attempt.runs.order_by("-number").first()
    if there is not None and not there.under_way:
        return there
    return evaluation.finish_here(there or evaluation.start(attempt=attempt, by=owner))
