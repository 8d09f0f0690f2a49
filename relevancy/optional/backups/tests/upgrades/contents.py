"""What a stored site contains, and what of it people see. Runs in processes of the site."""

import hashlib
import json
from itertools import product
from typing import Any

from django.db import connection
from django.test import Client

from relevancy import accounts, cases, comparison, endpoints, queries, ratings, runs, scorers, scores
from relevancy.models import ApiToken, Case, CaseScore, Endpoint, QueryScore, Ranking, Run, ScorerVersion, Team, User

CASE = "Garden furniture"
MATERIALS = ("oak", "steel", "bamboo", "willow", "rattan", "teak")
THINGS = ("bench", "table", "folding chair", "lantern", "bird house", "plant pot", "watering can")
TEXTS = (
    *("oak bench", "steel table", "bamboo lantern", "chair", "willow bird house", "watering can"),
    *("bench for two", "tëak pot", "rattan", "pot of steel", "hammock", "folding table teak"),
)
TEMPLATE = '{"query": "#$query##", "fields": {"title": ##title_boost##, "overview": 1}, "tie": 0.1}'
API = "/api/v1"


def fill() -> dict[str, Any]:
    """Adds a case to a site that has a team “Search” with an owner and a rater: queries with details, grades of two raters that differ,
    two attempts on an embedded index with a run each, their comparison. Returns `{token: of its owner, case: id}`."""
    owner, rater = (User.objects.get(email=f"{name}@example.org") for name in ("owner", "rater"))
    endpoint = endpoints.create(name="garden", engine="embedded", url="garden", by=owner, unrestricted=True)
    documents = [
        {
            "id": f"p{number}",
            "title": f"{material.title()} {thing}",
            "overview": f"A {thing} of {material}, No. {number}.",
        }
        for number, (material, thing) in enumerate(product(MATERIALS, THINGS))
    ]
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(documents)
    scorer_names = ("nDCG@10", "P@10")
    chosen = [ScorerVersion.objects.get(scorer__name=name).scorer for name in scorer_names]
    case = cases.create(name=CASE, owner=owner, scorers=chosen, scale=scorers.parse_scale("0:3"))
    cases.share(case=case, team=Team.objects.get(name="Search"))
    added = queries.add(case=case, texts=TEXTS, by=owner).added
    described = queries.QueryDetails(
        information_need="A bench of oak – “for outdoors”.", notes="*Seasonal*", tags=["furniture"]
    )
    queries.set_details(case=case, details={TEXTS[0]: described})
    for case_query in added:
        query = case_query.query
        for by, share in ((owner, 100), (rater, 50)):
            for document in documents:
                if _draw(query.text, document["id"], by.email) < share:
                    matches = sum(word in document["title"].lower() for word in query.text.split())
                    value = min(3, matches + (by == rater))
                    ratings.rate(
                        query=query, doc_id=document["id"], value=value, by=by, note="Ünsure 🪑" if value == 3 else None
                    )
    settings = {"case": case, "endpoint": endpoint, "by": owner, "fields": "id:id title:title highlight:overview"}
    first = runs.attempts.save(template='{"query": "#$query##", "fields": ["title"]}', name="Title", **settings)
    baseline = runs.finish_here(runs.start(attempt=first, by=owner))
    second = runs.attempts.save(template=TEMPLATE, knobs={"title_boost": 2}, parent=first, **settings)
    run = runs.finish_here(runs.start(attempt=second, by=owner))
    runs.pin(run=baseline, by=owner)
    scores.rescore_case(case, seconds=60)
    compared = [Run.objects.get(pk=each.pk) for each in (baseline, run)]
    comparison.stored.compute(comparison.stored.find_or_create(runs=compared, version=_primary(case)).pk)
    return {
        "token": accounts.api_tokens.create(user=owner, name="upgrade", scope=ApiToken.Scope.READ, days=None)[1],
        "case": case.pk,
    }


def _draw(*words: str) -> int:
    """Returns a number from 0 to 255 that depends only on the words."""
    return hashlib.sha256(" ".join(words).encode()).digest()[0]


def _primary(case: Case) -> ScorerVersion:
    return ScorerVersion.objects.used_by(case)[0]


def describe(*, token: str, case: int) -> dict[str, Any]:
    """Returns the number of rows of each table and what people see: responses of the API by their paths, the hits of every ranking,
    and the credentials of endpoints."""
    with connection.cursor() as cursor:
        tables = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            tables[table] = cursor.fetchone()[0]
    return {
        "tables": tables,
        "hits": {
            f"run {ranking.run_id}, query {ranking.query_id}": ranking.hits
            for ranking in Ranking.objects.order_by("pk")
        },
        "credentials": {
            endpoint.name: [endpoint.credentials, endpoint.headers] for endpoint in Endpoint.objects.order_by("pk")
        },
        "responses": {path: _get(path, token) for path in _paths(Case.objects.get(pk=case))},
    }


def _paths(case: Case) -> list[str]:
    """Of the case, its runs, its book and one of its queries; what lists have to say fits on one page."""
    first, second = case.runs.order_by("number")
    query = case.book.queries.get(text=TEXTS[0]).pk
    parts = ("", "/queries", "/scorers", "/attempts", "/runs", "/teams", "/export/case")
    return [
        *("/me", "/teams", "/books"),
        *(f"/cases/{case.pk}{part}" for part in parts),
        *(f"/runs/{run.pk}{part}" for run in (first, second) for part in ("", "/rankings")),
        f"/runs/{second.pk}/compare/{first.pk}",
        *(f"/queries/{query}{part}" for part in ("", "/ratings", "/grades")),
        f"/books/{case.book_id}",
    ]


def _get(path: str, token: str) -> Any:
    response = Client(SERVER_NAME="localhost").get(API + path, headers={"Authorization": f"Bearer {token}"})
    content = response.getvalue()
    assert response.status_code == 200, (path, response.status_code, content)
    return json.loads(content)


def work_on(*, case: int) -> dict[str, Any]:
    """Computes all scores again, searches once more, and rates a document. Returns what that results in."""
    found = Case.objects.select_related("book", "owner").get(pk=case)
    QueryScore.objects.filter(run__case=found).delete()
    CaseScore.objects.filter(run__case=found).delete()
    assert scores.rescore_case(found, seconds=60)
    computed = CaseScore.objects.filter(run__case=found).order_by("run__number", "version_id")
    results: dict[str, Any] = {
        "scores": [
            [row.run.number, row.version_id, row.score, row.low, row.high, row.unrated]
            for row in computed.select_related("run")
        ]
    }
    attempt = found.attempts.get(number=2)
    run = runs.finish_here(runs.start(attempt=attempt, by=found.owner))
    rankings = run.rankings.select_related("query").order_by("query_id")
    results["found"] = {ranking.query.text: [hit[0] for hit in ranking.hits] for ranking in rankings}
    query = found.book.queries.get(text=TEXTS[0])
    before = query.ratings.count()
    ratings.rate(query=query, doc_id="new", value=2, by=found.owner)
    results["added_ratings"] = query.ratings.count() - before
    return results
