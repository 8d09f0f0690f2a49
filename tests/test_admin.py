"""The administration site: every model opens, with a bounded number of statements and without secrets."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import CompositePrimaryKey
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from relevancy import accounts, ratings, teams
from relevancy.hooks import optional_apps
from relevancy.models import (
    Activity,
    Annotation,
    ApiToken,
    CaseScore,
    ComparedRun,
    Endpoint,
    Invitation,
    JudgingPair,
    JudgingQueue,
    Policy,
    Query,
    QueryLink,
    QueryScore,
    Ranking,
    Rating,
    RatingImport,
    RepeatedPair,
    RequiredProof,
    Run,
    RunComparison,
    RunPart,
    ScorerVersion,
    SignInCounter,
    StoredComparison,
    StoredExport,
    StoredIndex,
    Team,
    User,
)
from tests.optional import contributed
from tests.views.factories import make_case, make_endpoint, make_people, make_run

SECRETS = ("hunter2-secret", "key-secret-31", "header-secret-77")
OPTIONAL_MODELS = [model for app in optional_apps() for model in app.get_models()]
ALL_MODELS = sorted(
    [*apps.get_app_config("relevancy").get_models(), *OPTIONAL_MODELS], key=lambda model: model.__name__
)
# The administration site cannot show rows that have several columns as their key.
MODELS = [model for model in ALL_MODELS if not isinstance(model._meta.pk, CompositePrimaryKey)]
READ_ONLY_NAMES = (
    "activity",
    *("invitation", "requiredproof"),
    *("attempt", "casequery", "query"),
    *("caserevision", "casescore", "document", "ranking", "rating", "ratingchange", "run", "runpart"),
    *("judgingpair", "judgingqueue", "querylink"),
    *("comparedrun", "runcomparison", "scorerversion", "storedcomparison"),
    "ratingimport",
    "repeatedpair",
)
READ_ONLY = [
    *(f"relevancy.{name}" for name in READ_ONLY_NAMES),
    *sorted({model._meta.label_lower for model in OPTIONAL_MODELS} - set(contributed("EDITABLE"))),
]
MAX_STATEMENTS = 25


@pytest.fixture
def data(db):
    return make_one_of_each()


def make_one_of_each():
    """One row of every model; the endpoint has secrets. Returns the people."""
    people = make_people()
    endpoint = make_endpoint(
        people["owner"],
        credentials={"username": "u", "password": SECRETS[0], "api_key": SECRETS[1]},
        headers={"X-Key": SECRETS[2]},
    )
    case = make_case(people["owner"], endpoint=endpoint, team=Team.objects.get(name="Search"))
    endpoint.teams.add(Team.objects.get(name="Search"))
    grow(case, people["rater"], 1)
    Policy.objects.create()
    SignInCounter.objects.create(key="0" * 64, failures=1, expires_at=timezone.now())
    Invitation.objects.create(team=Team.objects.get(name="Search"), email="new@example.org", created_by=people["owner"])
    accounts.api_tokens.create(user=people["rater"], name="nightly", scope=ApiToken.Scope.READ, days=None)
    RequiredProof.objects.create(user=people["rater"], app="an_app")
    StoredIndex.objects.create(engine="embedded", name="films", owner=people["owner"])
    run = case.runs.get()
    Annotation.objects.create(case=case, run=run, text="New synonyms", created_by=people["rater"])
    StoredExport.objects.create(
        case=case, name="ratings", by=people["rater"], key="a key", progressed_at=timezone.now()
    )
    queue = JudgingQueue.objects.create(book=case.book)
    JudgingPair.objects.create(queue=queue, query=case.book.queries.first(), doc_id="1", run=run, rank=1, key=1)
    _import(case, people["rater"])
    for make_rows in contributed("make_rows"):
        make_rows(case, run, people["rater"])
    RepeatedPair.objects.create(query=case.book.queries.first(), doc_id="1", rater=people["rater"], wait=1)
    return people


def _import(case, rater):
    """An import that nobody has finished."""
    RatingImport.objects.create(book=case.book, case=case, by=rater, source="import", status="complete")


def grow(case, rater, count):
    """Adds runs with rankings and scores, and as many ratings."""
    version = ScorerVersion.objects.get(scorer=case.scorers.get())
    for number in range(count):
        run = make_run(case, 50.0)
        RunPart.objects.create(run=run, first=1, last=1000)
        for query in Query.objects.filter(book=case.book):
            ranking = Ranking.with_hits([[f"{run.pk}-{query.pk}", 1.0, {}]], run=run, query=query)
            Ranking.objects.store([ranking], endpoint=run.attempt.endpoint_id)
            QueryScore.objects.create(run=run, query=query, version=version, score=1, revision=0)
            for by in (rater, case.owner):
                ratings.rate(query=query, doc_id=f"{number}-{query.pk}", value=case.book.top, by=by)
        counts = {"compared": 1, "better": 1, "worse": 0, "newly_scored": 0, "no_longer_scored": 0}
        _import(case, rater)
        for grow_app in contributed("grow"):
            grow_app(case)
        query.link = QueryLink.objects.create(book=case.book)
        query.save(update_fields=["link"])
        RunComparison.objects.create(run=run, baseline=run, version=version, revision=0, **counts)
        stored = StoredComparison.objects.create(case=case, version=version, key=str(run.pk), figures={"p": 0.5})
        ComparedRun.objects.create(comparison=stored, run=run, position=0)


@pytest.fixture
def site(client, data):
    client.force_login(data["admin"])
    return client


def address(label, page, *args):
    """The address of a page about a model, which is named like `relevancy.run`."""
    return reverse(f"admin:{label.replace('.', '_')}_{page}", args=args)


def changelist(model):
    return address(model._meta.label_lower, "changelist")


def change(row):
    return address(row._meta.label_lower, "change", row.pk)


def open_page(site, url):
    """Returns the page and its number of SQL statements."""
    with CaptureQueriesContext(connection) as captured:
        response = site.get(url)
    assert response.status_code == 200, url
    return response.content.decode(), len(captured)


def test_every_model_is_registered():
    assert [model.__name__ for model in MODELS if not admin.site.is_registered(model)] == []


def test_index_has_sections_with_users_first(site):
    """G44: not one list of 60 tables in the order of the alphabet."""
    page, _ = open_page(site, reverse("admin:index"))
    captions = re.findall(r'class="section">([^<]+)</a>', page)
    assert captions == ["Users", "Scorers and site settings", "Work", "Data"]
    for section in ("users", "scorers", "work", "data"):
        assert f'<div id="{section}">' in page
    assert re.findall(r'<th scope="row" id="([\w-]+)"', page)[:4] == [
        *("users-user", "users-team", "users-membership", "users-invitation"),
    ]
    assert page.index("work-run") < page.index("data-book")
    assert "Groups of permissions" in page


def test_admin_looks_like_the_product(site):
    page, _ = open_page(site, reverse("admin:index"))
    assert 'rel="icon"' in page
    assert page.index("admin/css/base") < page.index("css/tokens") < page.index("css/admin.")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_changelist_opens_searches_and_hides_secrets(site, model):
    page, statements = open_page(site, changelist(model))
    assert statements <= MAX_STATEMENTS
    assert model.objects.exists()
    searched, _ = open_page(site, changelist(model) + "?q=star")
    assert not any(secret in page + searched for secret in SECRETS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_change_page_opens_and_hides_secrets(site, model):
    page, statements = open_page(site, change(model.objects.first()))
    assert statements <= MAX_STATEMENTS
    stored = Endpoint.objects.raw("SELECT id, url FROM relevancy_endpoint")[0].pk
    with connection.cursor() as cursor:
        cursor.execute("SELECT credentials, headers FROM relevancy_endpoint WHERE id = %s", [stored])
        encrypted = cursor.fetchone()
    assert all(encrypted)
    assert not any(secret in page for secret in (*SECRETS, *encrypted))


def test_statements_do_not_grow_with_the_rows(site, data):
    before = {model: open_page(site, changelist(model))[1] for model in MODELS}
    pages = {model: open_page(site, change(model.objects.first()))[1] for model in MODELS}
    case = Run.objects.first().case
    for number in range(5):
        user = User.objects.create_user(f"more{number}@example.org")
        teams.add_member(team=Team.objects.get(name="Search"), email=user.email, role=2)
        make_case(data["owner"], f"More {number}")
    grow(case, data["rater"], 5)
    for model in MODELS:
        assert open_page(site, changelist(model))[1] <= before[model], model
        assert open_page(site, change(model.objects.first()))[1] <= pages[model], model


@pytest.mark.parametrize("name", READ_ONLY)
def test_read_only_models_refuse_changes(site, name):
    model = apps.get_model(name)
    row = model.objects.first()
    assert site.get(address(name, "add")).status_code == 403
    assert site.post(change(row), {"value": 1}).status_code == 403
    assert site.post(address(name, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_endpoint_list_shows_whether_secrets_are_set(site, data):
    make_endpoint(data["owner"], "open")
    by_name = {row.name: row for row in site.get(changelist(Endpoint)).context["cl"].result_list}
    assert (by_name["films"].with_credentials, by_name["open"].with_credentials) == (1, 0)


def test_endpoint_change_keeps_secrets_and_address(site):
    endpoint = Endpoint.objects.get()
    team = Team.objects.get(name="Search")
    site.post(
        change(endpoint),
        {
            "name": "renamed",
            "url": "http://elsewhere",
            "parallel": 4,
            "per_minute": 0,
            "allowed_handlers": "browse",
            "allowed_indexes": "other  more",
            "owner": endpoint.owner_id,
            "teams": [team.pk],
        },
    )
    saved = Endpoint.objects.get()
    assert (saved.allowed_handlers, saved.allowed_indexes) == ("browse", "other more")
    assert (saved.name, saved.parallel, saved.url) == ("renamed", 4, endpoint.url)
    assert saved.credentials["password"] == SECRETS[0]


def test_endpoint_list_survives_a_lost_key(site, settings):
    settings.CREDENTIALS_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
    open_page(site, changelist(Endpoint))
    open_page(site, reverse("admin:relevancy_endpoint_change", args=[Endpoint.objects.values_list("pk", flat=True)[0]]))


def test_user_add_and_password(site):
    page, _ = open_page(site, reverse("admin:relevancy_user_add"))
    assert "username" not in page
    passwords = {"usable_password": "true", "password1": "long enough 12", "password2": "long enough 12"}
    fields = {"email": "New@Example.org", "name": "New", "kind": "person", **passwords}
    site.post(reverse("admin:relevancy_user_add"), fields)
    assert User.objects.get(email="new@example.org").check_password("long enough 12")
    again = site.post(reverse("admin:relevancy_user_add"), fields)
    assert "already has an account" in again.content.decode()


def test_user_page_shows_no_hash(site, data):
    data["admin"].set_password("long enough 12")
    data["admin"].save()
    site.force_login(data["admin"])
    page, _ = open_page(site, change(data["admin"]))
    assert data["admin"].password.rsplit("$", 1)[1] not in page


def test_case_score_rows_exist():
    labels = {Rating._meta.label_lower, CaseScore._meta.label_lower}
    assert {model._meta.label_lower for model in MODELS} >= {*READ_ONLY, *labels}


def test_admin_is_for_staff(client, data):
    client.force_login(data["owner"])
    assert client.get(reverse("admin:index")).status_code == 302


def make_staff(client, *permissions):
    """Signs in as a member of the staff who has only these permissions."""
    user = User.objects.create_user("staff@example.org", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return user


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_admin_staff_without_permissions_reaches_nothing(client, data, model):
    make_staff(client)
    name = model._meta.label_lower
    assert client.get(address(name, "changelist")).status_code == 403
    assert client.get(address(name, "add")).status_code == 403


def test_admin_staff_without_permissions_cannot_add_the_policy(client, data):
    Policy.objects.all().delete()
    make_staff(client)
    assert client.post(reverse("admin:relevancy_policy_add"), {"allow_user_scripts": ""}).status_code == 403
    assert not Policy.objects.exists()


def test_admin_staff_cannot_give_rights(client, data):
    """Permission to change users and teams is not permission to make an admin, or to let anybody create endpoints."""
    staff = make_staff(client, "view_user", "change_user", "view_team", "change_team")
    permissions = {"can_create_endpoints": "on", "is_superuser": "on", "is_staff": "on", "is_active": "on"}
    user_url = reverse("admin:relevancy_user_change", args=[staff.pk])
    assert (
        client.post(user_url, {"email": staff.email, "kind": "person", "name": "New", **permissions}).status_code == 302
    )
    staff.refresh_from_db()
    assert (staff.name, staff.can_create_endpoints, staff.is_superuser) == ("New", False, False)
    team = Team.objects.get(name="Others")
    inline = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    client.post(reverse("admin:relevancy_team_change", args=[team.pk]), {"name": "Mine", **permissions, **inline})
    team.refresh_from_db()
    assert (team.name, team.can_create_endpoints) == ("Mine", False)
    admin_url = reverse("admin:relevancy_user_change", args=[data["admin"].pk])
    assert client.post(admin_url, {"email": "mine@example.org", "kind": "person"}).status_code == 403
    assert client.post(reverse("admin:auth_user_password_change", args=[data["admin"].pk]), {}).status_code == 403


def test_admin_gives_the_right_to_create_endpoints(client, data):
    client.force_login(data["admin"])
    url = reverse("admin:relevancy_user_change", args=[data["viewer"].pk])
    page = client.get(url).content.decode()
    assert 'name="can_create_endpoints"' in page
    assert 'name="can_create_endpoints"' in client.get(reverse("admin:relevancy_team_add")).content.decode()
    team = Team.objects.get(name="Others")
    inline = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    for right in ({"can_create_endpoints": "on"}, {}, {}):
        client.post(reverse("admin:relevancy_team_change", args=[team.pk]), {"name": "Others", **right, **inline})
    recorded = Activity.objects.filter(team=team).order_by("pk").values_list("verb", "by__name")
    assert list(recorded) == [("team.allowed", "Admin"), ("team.disallowed", "Admin")]


def test_members_that_an_admin_changes_are_in_the_log_of_the_team(client, data):
    client.force_login(data["admin"])
    team, person = Team.objects.get(name="Others"), data["viewer"]
    client.post(reverse("admin:relevancy_membership_add"), {"team": team.pk, "user": person.pk, "role": "1"})
    member = team.memberships.get(user=person)
    url = reverse("admin:relevancy_membership_change", args=[member.pk])
    client.post(url, {"role": "1"})
    client.post(url, {"role": "3", "user": data["owner"].pk})
    member.refresh_from_db()
    assert (member.user, member.role) == (person, 3)
    client.post(reverse("admin:relevancy_membership_delete", args=[member.pk]), {"post": "yes"})
    lines = Activity.objects.filter(team=team, by=data["admin"], person=person).order_by("pk")
    assert list(lines.values_list("verb", flat=True)) == ["member.joined", "member.role", "member.removed"]


def test_an_id_that_no_row_can_have_is_a_bad_request(site):
    book = Query.objects.first().book
    pk = "9" * 30
    assert site.post(change(book), {"name": "x", "owner": pk, "teams": [pk]}).status_code in {200, 400}


@pytest.mark.parametrize("pk", ["inf", "1; --"])
def test_ids_that_are_no_numbers_are_errors_of_the_form(site, pk):
    data = {"team": pk, "user": pk, "role": "1"}
    assert site.post(reverse("admin:relevancy_membership_add"), data).status_code == 200
    book = Query.objects.first().book
    assert site.post(change(book), {"name": "x", "owner": pk, "teams": [pk]}).status_code == 200
