"""Data for the browser tests: people, an index, cases with runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from relevancy import cases, endpoints, queries, runs, scorers, scores
from relevancy.accounts.sessions import SessionStore
from relevancy.formats.documents import sample
from relevancy.models import Case, CaseScore, Endpoint, QueryScore, Role, Run, ScorerVersion, StoredIndex, Team, User
from tests import factories

PASSWORD = "a quiet evening"
TEMPLATE = '{\n  "query": "#$query##",\n  "fields": {"title": ##title_boost##, "overview": 1}\n}'
FIELDS = "id:id title:title year directors cast overview"


def make_people() -> dict[str, User]:
    """One person in each role of the team “Search”, and a stranger who owns another team."""
    people = {role.label.lower(): factories.make_user(role.label, password=PASSWORD) for role in Role}
    people["stranger"] = factories.make_user("Stranger", password=PASSWORD)
    team, other = Team.objects.create(name="Search"), Team.objects.create(name="Others")
    for role in Role:
        team.memberships.create(user=people[role.label.lower()], role=role)
    other.memberships.create(user=people["stranger"], role=Role.OWNER)
    return people


def session_of(user: User) -> dict[str, Any]:
    """The cookie of a session in which the user is signed in."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return {"name": settings.SESSION_COOKIE_NAME, "value": session.session_key, "httpOnly": True}


def index_films() -> str:
    """Build the embedded index “films”; needs no database."""
    endpoint = Endpoint(name="films", engine="embedded", url="films")
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(sample.read_films())
    return endpoint.url


def film_case(
    owner: User,
    texts: Sequence[str],
    *,
    team: str = "Search",
    ratings: Mapping[str, Mapping[str, float]] | None = None,
    knobs: Mapping[str, float] | None = None,
    run: bool = True,
) -> Case:
    """A case on the films, scale 1–10, scored by AvgEdit; shared with a team and run once."""
    result = Endpoint.objects.filter(name="films").first()
    StoredIndex.objects.get_or_create(engine="embedded", name="films", defaults={"owner": owner})
    endpoint = result or endpoints.create(name="films", engine="embedded", url="films", by=owner)
    return make_case(owner, endpoint, texts, TEMPLATE, FIELDS, team=team, ratings=ratings, knobs=knobs, run=run)


def make_case(
    owner: User,
    endpoint: Endpoint,
    texts: Sequence[str],
    template: str,
    fields: str,
    *,
    team: str = "Search",
    ratings: Mapping[str, Mapping[str, float]] | None = None,
    knobs: Mapping[str, float] | None = None,
    run: bool = True,
) -> Case:
    """A case with its first attempt, shared with a team and run once."""
    case = cases.create(name="Movies", owner=owner, scale=scorers.parse_scale("1:10"))
    queries.add(case=case, texts=texts)
    factories.rate_all(case, ratings or {}, owner)
    attempt = runs.attempts.save(
        case=case, endpoint=endpoint, template=template, fields=fields, knobs=knobs or {}, by=owner
    )
    if team:
        cases.share(case=case, team=Team.objects.get(name=team))
    if run:
        factories.run_now(attempt)
    return case


def newest_run(case: Case) -> Run:
    """The run that the workbench shows."""
    return Run.objects.filter(case=case).order_by("-number").select_related("case__book", "attempt")[0]


def case_score(case: Case) -> CaseScore:
    """The stored score of the newest run."""
    run = newest_run(case)
    return CaseScore.objects.get(run=run, version=ScorerVersion.objects.used_by(case)[0])


def query_score(case: Case, text: str) -> QueryScore:
    """The stored score of a query in the newest run."""
    run = newest_run(case)
    return QueryScore.objects.get(run=run, version=ScorerVersion.objects.used_by(case)[0], query__text=text)


def shown(value: float | None) -> str:
    """A score as pages display it. Python rounds halves differently, but no score of these tests is one."""
    return "–" if value is None else f"{value:.1f}"


def rate(case: Case, text: str, grades: Mapping[str, float]) -> None:
    """Ratings by the case's owner, and the newest run scored with them."""
    factories.rate_all(case, {text: grades}, case.owner)
    scores.rescore_run(newest_run(case))
