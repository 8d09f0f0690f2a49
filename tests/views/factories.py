"""People, teams and cases with runs, as the tests of the pages need them."""

from datetime import timedelta

from django.utils import timezone

from relevancy import cases, queries, runs
from relevancy.models import (
    Attempt,
    CaseScore,
    Endpoint,
    Membership,
    Role,
    Run,
    RunComparison,
    ScorerVersion,
    Team,
    User,
)

ROLES = {"viewer": Role.VIEWER, "rater": Role.RATER, "editor": Role.EDITOR, "owner": Role.OWNER}


def make_people():
    """One person in each role of the team “Search”, which may create endpoints; a stranger in a team of their own; an admin."""
    team = Team.objects.create(name="Search", can_create_endpoints=True)
    other = Team.objects.create(name="Others")
    people = {name: User.objects.create_user(f"{name}@example.org", name=name.title()) for name in (*ROLES, "stranger")}
    people["admin"] = User.objects.create_superuser("admin@example.org", name="Admin")
    Membership.objects.bulk_create(Membership(team=team, user=people[name], role=role) for name, role in ROLES.items())
    Membership.objects.create(team=other, user=people["stranger"], role=Role.OWNER)
    return people


def make_endpoint(owner, name="films", **fields):
    return Endpoint.objects.create(
        name=name, owner=owner, **{"engine": "solr", "url": "http://127.0.0.1:1/solr/films", **fields}
    )


def make_case(owner, name="Movies", *, endpoint=None, texts=("star wars", "star trek"), team=None):
    """A case with its first attempt; shared with the team if one is given."""
    case = cases.create(name=name, owner=owner)
    queries.add(case=case, texts=texts)
    endpoint = endpoint or Endpoint.objects.filter(name="films").first() or make_endpoint(owner)
    Attempt.objects.create(case=case, number=1, endpoint=endpoint, template="q=#$query##", created_by=owner)
    if team:
        cases.share(case=case, team=team)
    return case


def compare(run, version):
    """Stores the difference between the run and the last complete one before it, as a worker does."""
    baseline = Run.objects.complete_before(run).first()
    score_of = {row.run_id: row.score for row in CaseScore.objects.filter(run__in=[run, baseline], version=version)}
    if baseline is not None and baseline.pk in score_of:
        means = {"run_score": score_of[run.pk], "baseline_score": score_of[baseline.pk]}
        counts = {"compared": 2, "better": 1, "worse": 0, "newly_scored": 0, "no_longer_scored": 0}
        RunComparison.objects.create(run=run, baseline=baseline, version=version, revision=0, **means, **counts)


def make_run(case, score=50.0, *, status="complete", days=0, **fields):
    """A run that is over, with a score of the primary scorer; `score` None: none is stored."""
    attempt = case.attempts.select_related("endpoint", "case").first()
    over = status not in Run.ACTIVE_STATUSES
    run = Run.objects.create(
        case=case,
        attempt=attempt,
        number=case.runs.count() + 1,
        status=status,
        config=runs.snapshot_config(attempt),
        rows=10,
        finished_at=timezone.now() - timedelta(days=days) if over else None,
        created_by=case.owner,
        **{"queries": 2, "done": 2, **fields},
    )
    if score is not None:
        version = ScorerVersion.objects.used_by(case)[0]
        counts = {"scored": 2, "queries": 2, "unrated": 3}
        bounds = {"low": score - 5, "high": score + 5}
        day = timezone.localdate()
        CaseScore.objects.create(run=run, version=version, day=day, score=score, revision=0, **bounds, **counts)
        compare(run, version)
    return run
