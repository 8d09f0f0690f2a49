"""Rows for tests, made by plain functions; a search engine that does what a test tells it to."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar
from unittest.mock import patch
from uuid import uuid4

from relevancy import books, cases, engines, ratings, runs, scorers, scores
from relevancy.engines import registry
from relevancy.engines.types import Syntax
from relevancy.formats.ratings import ratings_import
from relevancy.models import (
    Attempt,
    Book,
    Case,
    CaseScore,
    Endpoint,
    Query,
    QueryScore,
    Ranking,
    Role,
    Run,
    Scorer,
    ScorerVersion,
    Team,
    User,
    pack_hits,
)
from relevancy.queries import add as add_queries

_number = count(1_000_000)  # of one length: lists are in the order of names
TEMPLATE = '{"query": "#$query##"}'

Outcome = Sequence[str] | engines.EngineError | Exception


@dataclass
class Scripted:
    """What the scripted engine returns: per query the ids it returns, an error, or a function of the request."""

    answers: dict[str, Outcome | Callable[[engines.Request], Outcome]] = field(default_factory=dict)
    default: Outcome | Callable[[engines.Request], Outcome] = ("a", "b", "c")
    version: str | engines.EngineError = "Scripted 1.0"
    requests: list[engines.Request] = field(default_factory=list)
    before: Callable[[engines.Request], None] = lambda request: None

    @property
    def texts(self) -> list[str]:
        """The queries that were searched, in order."""
        return [request.query for request in self.requests]


SCRIPT: dict[str, Scripted] = {}  # by address


class ScriptedEngine(engines.Engine):
    """Returns what `SCRIPT` contains; registered by the fixture `script`."""

    key: ClassVar[str] = "scripted"
    label: ClassVar[str] = "Scripted"
    syntax: ClassVar[Syntax] = "json"
    abilities: ClassVar[engines.Abilities] = engines.Abilities()
    address: ClassVar[engines.AddressField] = engines.AddressField("folder", "Name", "Any name.", "x")
    example_template: ClassVar[str] = TEMPLATE

    @property
    def _script(self) -> Scripted:
        return SCRIPT[self.connection.url]

    def search(self, request: engines.Request) -> engines.Page:
        script = self._script
        script.before(request)
        script.requests.append(request)
        answer = script.answers.get(request.query, script.default)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        ids = list(answer)[: request.rows]
        hits = tuple(
            engines.Hit(doc_id, float(len(ids) - position), {"id": doc_id}) for position, doc_id in enumerate(ids)
        )
        return engines.Page(hits, len(answer), 1, {})

    def search_many(
        self, requests: Sequence[engines.Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, engines.Page | engines.EngineError]]:
        for number, request in enumerate(requests):
            if stop():
                return
            try:
                answer: engines.Page | engines.EngineError = self.search(request)
            except engines.EngineError as error:
                answer = error
            yield number, answer

    def lookup(self, ids: Sequence[str], fields: engines.FieldSpec) -> list[engines.Hit]:
        return []

    def explain(self, request: engines.Request, doc_id: str) -> Mapping[str, Any]:
        return {}

    def fields(self) -> list[str]:
        return ["id"]

    def version(self) -> str:
        if isinstance(self._script.version, Exception):
            raise self._script.version
        return self._script.version

    def render(self, request: engines.Request) -> Mapping[str, Any]:
        return {"query": request.query}


@contextmanager
def scripted_engine() -> Iterator[dict[str, Scripted]]:
    """Registers the engine `scripted`. Yields its scripts by address."""
    with patch.object(registry, "BUILT_IN", (*registry.BUILT_IN, ScriptedEngine)):
        registry.available.cache_clear()
        SCRIPT.clear()
        yield SCRIPT
    registry.available.cache_clear()


def make_user(name: str = "", *, superuser: bool = False, **fields: Any) -> User:
    """A person who may create endpoints; without a name a new one each time, without a `password` one that cannot sign in by
    the form (hashing takes time)."""
    name = name or f"user{next(_number)}"
    fields.setdefault("can_create_endpoints", True)
    make = User.objects.create_superuser if superuser else User.objects.create_user
    return make(f"{name.lower()}@example.com", fields.pop("password", None), name=name, **fields)


def make_team(name: str = "", **members: Role) -> Team:
    """A team; `members`: names of users, made where missing, and their roles."""
    team = Team.objects.create(name=name or f"Team {next(_number)}")
    for who, role in members.items():
        user = User.objects.filter(name=who).first() or make_user(who)
        team.memberships.create(user=user, role=role)
    return team


def make_scorer(measure: str, name: str = "", **version: Any) -> Scorer:
    """A global scorer with one version."""
    scorer = Scorer.objects.create(name=name or f"{measure} {next(_number)}")
    ScorerVersion.objects.create(scorer=scorer, number=1, measure=measure, scale=[[0, ""], [3, ""]], **version)
    return scorer


def make_endpoint(owner: User, *, engine: str = "scripted", url: str = "", **fields: Any) -> Endpoint:
    """An endpoint; a scripted one has a script of its own unless `url` names an existing one."""
    url = url or f"script{next(_number)}"
    if engine == "scripted":
        SCRIPT.setdefault(url, Scripted())
    return Endpoint.objects.create(name=f"endpoint {uuid4().hex[:8]}", engine=engine, url=url, owner=owner, **fields)


def make_case(
    queries: Sequence[str] | int = 3,
    ratings: Mapping[str, Mapping[str, float]] | None = None,
    *,
    owner: User | None = None,
    measures: Sequence[str] = ("nDCG@10",),
    scale: str = "0:3",
    book_of: Case | None = None,
) -> Case:
    """A case with queries (texts, or how many), `ratings` by its owner (`{text: {document: grade}}`), and scorers."""
    owner = owner or make_user()
    case_scorers = [
        Scorer.objects.filter(name=measure).first() or make_scorer(measure, measure) for measure in measures
    ]
    case = cases.create(
        name=f"Case {next(_number)}",
        owner=owner,
        scorers=case_scorers,
        scale=scorers.parse_scale(scale),
        book=book_of.book if book_of else None,
    )
    texts = [f"query {number}" for number in range(1, queries + 1)] if isinstance(queries, int) else list(queries)
    add_queries(case=case, texts=texts)
    rate_all(case, ratings or {}, owner)
    return case


def as_values(grades: Mapping[str, Mapping[str, float]]) -> dict[str, list[ratings.GivenGrade]]:
    """`{query text: {document: grade}}` as `ratings.import_ratings` takes it, all by one rater."""
    return {
        text: [(doc_id, "", float(value)) for doc_id, value in documents.items()] for text, documents in grades.items()
    }


def rate_all(case: Case, grades: Mapping[str, Mapping[str, float]], by: User) -> None:
    """Rates documents in the case's book: `{query text: {document: grade}}`."""
    values = {query_of(case, text).pk: documents for text, documents in grades.items()}
    ratings.rate_book(book=case.book, values=values, rater=by, by=by)


def set_rule(*, book: Book, rule: str, by: User | None = None) -> None:
    """Changes the rule that combines ratings."""
    settings = books.book_settings(rule=rule, scale=book.scale, relevant_from=book.relevant_from)
    books.change_settings(book=book, settings=settings, by=by or book.owner)


def set_scale(
    *, book: Book, scale: list[list[Any]], relevant_from: float | None = None, by: User | None = None
) -> None:
    """Changes the rating scale; ratings keep their grades."""
    settings = books.book_settings(rule=book.rule, scale=scale, relevant_from=relevant_from)
    books.change_settings(book=book, settings=settings, by=by or book.owner)


def remap(case: Case) -> None:
    """Gives the book of a case, which has the scale 0–3, the scale 0–1. A 1 meant something else before."""
    settings = books.book_settings(rule="latest", scale=[[0, "no"], [1, "yes"]])
    books.change_settings(
        book=case.book, settings=settings, new_grades={0: 0, 1: 0, 2: 1, 3: 1}, can_merge_grades=True, by=case.owner
    )


def make_attempt(case: Case, endpoint: Endpoint | None = None, **fields: Any) -> Attempt:
    """An attempt on a scripted endpoint of its own, unless one is given."""
    fields = {"template": TEMPLATE, **fields}
    return runs.attempts.save(case=case, endpoint=endpoint or make_endpoint(case.owner), by=case.owner, **fields)


def script_of(attempt: Attempt) -> Scripted:
    """The script of the attempt's engine."""
    return SCRIPT[attempt.endpoint.url]


def run_now(attempt: Attempt) -> Run:
    """A run of the attempt, finished."""
    return runs.finish_here(runs.start(attempt=attempt, by=attempt.created_by))


def set_hits(rankings: Iterable[Ranking], hits: list[Any] | None = None, **changes: Any) -> None:
    """Stores other hits for rankings, or those that a test has changed."""
    for ranking in rankings:
        ranking.hits = ranking.hits if hits is None else hits
        pack_hits([ranking], endpoint=ranking.run.attempt.endpoint_id)
        for name, value in changes.items():
            setattr(ranking, name, value)
        ranking.save()


def query_of(case: Case, text: str) -> Query:
    """The case's query with a text."""
    query: Query = case.book.queries.select_related("book").get(text=text)
    return query


def stored_scores(run: Run) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """`{(scorer, query): (value, score, low, high, unrated)}` as stored."""
    rows = QueryScore.objects.filter(run=run).select_related("version__scorer", "query")
    return {
        (row.version.scorer.name, row.query.text): (row.value, row.score, row.low, row.high, row.unrated)
        for row in rows
    }


def rescore_query(run: Run, query_id: int, *, baseline: Run | None = None) -> None:
    """Scores a query after a rating, as a rater's page does."""
    runs = [run] if baseline is None else [run, baseline]
    query = Query.objects.select_related("book").get(pk=query_id)
    rankings = Ranking.objects.filter(run__in=runs, query=query).select_related("run")
    scores.rescore_query(query, rankings, ScorerVersion.objects.used_by(run.case_id))


def rescore(run: Run, query_id: int, *, baseline: Run | None = None) -> None:
    """Scores a query and the case after a rating, as the requests of a rater's page do."""
    rescore_query(run, query_id, baseline=baseline)
    versions = list(ScorerVersion.objects.used_by(run.case_id))
    scores.sum_outdated([(run, version) for version in versions] + ([(baseline, versions[0])] if baseline else []))


def stored_case_scores(run: Run) -> dict[str, tuple[Any, ...]]:
    """`{scorer: (score, low, high, scored, queries, unrated)}`, of the newest day."""
    rows = CaseScore.objects.filter(run=run).select_related("version__scorer").order_by("day")
    return {
        row.version.scorer.name: (row.score, row.low, row.high, row.scored, row.queries, row.unrated) for row in rows
    }


def import_csv(*, case: Case, text: str, by: User, rater: User | None = None) -> ratings_import.ImportedRatings:
    """Imports ratings as CSV."""
    source = ratings_import.open_source(case=case, file=io.BytesIO(text.encode()), format="csv")
    return ratings_import.import_ratings(case=case, source=source, by=by, rater=rater)
