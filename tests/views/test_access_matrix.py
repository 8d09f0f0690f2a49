"""The access matrix: every address × every role, for objects that are shared with one's team and for those of others.

A route that is not in the table fails the test.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.cookies import SimpleCookie

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.forms import Form, ModelChoiceField, ModelForm
from django.urls import URLPattern, get_resolver, reverse

from relevancy import accounts, cases, queries, runs, scorers, teams
from relevancy.formats import stored_exports
from relevancy.models import (
    ApiToken,
    Attempt,
    Endpoint,
    Invitation,
    Membership,
    Role,
    Run,
    Scorer,
    StoredExport,
    StoredIndex,
    Team,
    User,
)
from tests import leaks
from tests.factories import SCRIPT, make_attempt, make_case, make_endpoint, run_now, scripted_engine
from tests.optional import contributed

from .factories import make_people
from .scorers.example_scorers import SCRIPT as SCRIPT_CODE
from .scorers.example_scorers import house_script

ROLES = ("anonymous", "outsider", "viewer", "rater", "editor", "owner", "former", "staff", "admin")
# Who gets the status of the row. The others: anonymous users are sent to the sign-in page, 404 hides what one cannot see, 403
# names the role that is missing. “former” has left the team, “staff” may open the administration site but has no permission there.
PATTERNS = {
    #            anonymous outsider viewer rater editor owner former staff admin
    "public": "  S         S        S      S     S      S     S      S     S",
    "all": "     302       S        S      S     S      S     S      S     S",
    "see": "     302       404      S      S     S      S     404    404   S",
    "rate": "    302       404      403    S     S      S     404    404   S",
    "edit": "    302       404      403    403   S      S     404    404   S",
    "own": "     302       404      403    403   403    S     404    404   S",
    "admin": "   302       403      403    403   403    403   403    403   S",
    "create": "  302       403      403    403   S      S     403    403   S",
    "mine": "    302       404      404    404   404    404   404    404   S",
    "link": "    200       S        S      S     S      S     S      S     S",
    "nobody": "  302       403      403    403   403    403   403    403   403",
}
TABLE = """
route                  method pattern status
healthz                GET    public  200
readyz                 GET    public  200
api_docs               GET    public  302
api_unknown            GET    public  404
login                  GET    public  200
logout                 POST   all     302
account                GET    all     200
account                POST   all     302
account_delete         GET    all     200
account_delete         POST   all     422
account_tokens         GET    all     200
account_tokens         POST   all     200
account_token_revoke   POST   mine    302
password_change        GET    all     200
password_change        POST   all     422
password_change_done   GET    all     200
admin_login            GET    public  200
admin_password_change  GET    all     200
admin_password_change  POST   all     422
account_sessions       GET    all     200
account_sessions_end   POST   all     302
account_session_end    POST   all     404
sign_up                GET    public  404
sign_up                POST   public  404
password_reset         GET    public  200
password_reset         POST   public  200
password_reset_done    GET    public  200
password_reset_confirm GET    public  200
password_reset_confirm POST   public  200
password_message_confirm GET  public  200
password_message_confirm POST public  200
password_reset_complete GET   public  200
home                   GET    all     200
jump                   GET    all     200
help                   GET    all     200
guide                  GET    all     200
ticks_hide             POST   all     302
active_cases           GET    all     200
new_case               GET    all     302
new_case_start_over    POST   all     302
new_case_step          GET    all     200
new_case_step          POST   all     302
case_share             GET    own     200
case_share             POST   own     302
case_rename            GET    edit    200
case_rename            POST   edit    302
case_archive           POST   own     302
case_restore           POST   own     302
case_duplicate         GET    edit    200
case_duplicate         POST   edit    302
case_files             GET    see     200
case_import            GET    all     200
case_import            POST   all     200
case_download          GET    see     200
run_download           GET    see     200
export                 GET    all     404
export_file            GET    all     404
export_again           POST   all     404
ratings_import         POST   edit    302
queries_import         POST   edit    302
runs_import            POST   edit    302
case_delete            GET    own     200
case_delete            POST   own     302
case                   GET    see     200
run_state              GET    see     200
case_changes           GET    see     200
case_scorers           GET    see     200
case_scorer            POST   edit    302
case_scorer_add        POST   edit    302
case_score_again       POST   edit    302
case_scorer_remove     POST   edit    302
case_scorer_restore    POST   edit    302
case_scorer_adopt      POST   edit    302
queries_add            POST   edit    302
queries_csv            GET    see     200
segments               GET    see     200
autocomplete           GET    edit    200
query                  GET    see     302
query_edit             GET    edit    200
query_edit             POST   edit    302
query_remove           POST   edit    302
query_restore          POST   edit    302
query_search           POST   edit    302
query_request             GET    see     200
document               GET    see     200
query_working          GET    see     200
rate                   POST   rate    302
rate_shown             POST   rate    302
query_move             POST   edit    302
query_about            GET    see     302
query_notes            GET    edit    200
query_notes            POST   edit    302
query_tag              POST   edit    302
query_links            GET    see     200
query_links_add        POST   edit    302
query_links_remove     POST   edit    302
query_links_copy       GET    edit    200
query_links_copy       POST   edit    302
query_unlink           POST   edit    302
query_explain          GET    edit    200
query_explain_difference   GET    see     200
query_explanations     GET    edit    302
query_unretrieved          GET    see     200
query_unretrieved?look     GET    edit    200
query_best_order           GET    see     200
query_find                 GET    edit    200
query_interpretation       GET    edit    200
annotations            GET    see     200
annotations            POST   edit    302
annotation_change      POST   edit    302
annotation_remove      POST   edit    302
annotation_restore     POST   edit    302
attempts               GET    see     200
attempt_edit           GET    edit    200
attempt_edit           POST   edit    302
attempt_archive        POST   edit    302
attempt_restore        POST   edit    302
rating_undo            POST   rate    302
run                    POST   edit    302
attempt_preview        POST   edit    200
attempt_try            POST   edit    200
knob_ranges            GET    edit    200
knob_ranges            POST   edit    302
run_cancel             POST   edit    302
run_complete           POST   edit    302
compare                GET    see     200
compare_state          GET    see     200
compare_rate           POST   rate    302
compare_csv            GET    see     302
compare_json           GET    see     302
compare_report         GET    see     302
attempt_list           GET    see     200
attempt_compare        GET    see     302
attempt_duplicate      POST   edit    302
history                GET    see     200
history_state          GET    see     200
changed_score          GET    edit    200
history_csv            GET    see     200
run_pin                POST   edit    302
run_unpin              POST   edit    302
run_details            GET    edit    200
run_details            POST   edit    302
books                  GET    all     200
book_import            GET    all     200
book_import            POST   all     200
book                   GET    see     200
book_settings          GET    edit    302
book_change            GET    edit    302
book_new               GET    all     200
book_new               POST   all     302
book_queries           GET    see     200
book_judging           GET    edit    200
book_judging           POST   edit    302
book_files             GET    see     200
book_raters            GET    see     200
book_decided           GET    see     200
book_undo_decision     POST   edit    302
book_rename            GET    edit    200
book_rename            POST   edit    302
book_delete            GET    own     200
book_delete            POST   own     422
book_merge             GET    own     200
book_merge             POST   own     422
book_conflicts         GET    see     200
book_adjudicate        POST   edit    302
book_ratings_csv       GET    see     200
book_download          GET    see     200
book_rating_import     GET    see     200
book_rater             GET    edit    200
book_rater             POST   edit    302
judging_work           GET    all     200
judge                  GET    rate    200
judge_rate             POST   rate    302
judge_list             GET    rate    200
judge_list_rate        POST   rate    302
judge_pause            GET    rate    200
judge_pause            POST   rate    302
judge_undo             POST   rate    302
endpoints              GET    all     200
endpoint_new           GET    create  200
endpoint_new           POST   create  302
endpoint_edit          GET    see     200
endpoint_edit          POST   edit    302
endpoint_try           GET    edit    200
endpoint_try           POST   edit    200
endpoint_share         GET    own     200
endpoint_share         POST   own     302
endpoint_archive       POST   edit    302
endpoint_restore       POST   edit    302
scorers                GET    all     200
scorer_new             GET    all     200
scorer_new             POST   all     422
scorer_measure         POST   all     200
scorer_try             POST   all     422
scorer_queries         POST   all     200
scorer_import          GET    all     200
scorer_import          POST   all     422
scorer_policy          GET    admin   200
scorer_policy          POST   admin   302
scorer                 GET    see     200
scorer_edit            GET    edit    200
scorer_edit            POST   edit    422
scorer_duplicate       POST   see     302
scorer_share           GET    own     200
scorer_share           POST   own     302
scorer_retire          POST   own     302
scorer_restore         POST   own     302
scorer_default         POST   admin   302
scorer_make_global     POST   admin   302
scorer_delete          GET    own     200
scorer_delete          POST   own     302
scorer_adopt           POST   see     302
scorer_replace         GET    see     200
scorer_replace         POST   see     422
scorer_export          GET    see     200
teams                  GET    all     200
team_new               GET    all     200
team_new               POST   all     302
team                   GET    see     200
team_invite            POST   own     302
invitation_withdraw    POST   own     302
team_member_role       POST   own     302
team_member_remove     GET    own     200
team_member_remove     POST   own     302
invitation             GET    link    403
invitation             POST   nobody  403
invitation?open        GET    public  200
invitation?open        POST   all     302
invitation_sign_up     POST   public  422
"""
ROWS = [tuple(line.split()) for table in (TABLE, *contributed("PAGES")) for line in table.strip().splitlines()[1:]]


@dataclass(eq=False)
class World:
    """What one person or team owns: the ids that addresses are made of, and what is posted there."""

    case: object
    endpoint: Endpoint
    team: Team
    scorer: Scorer
    member: Membership
    invitation: Invitation
    open_invitation: Invitation
    annotation: object
    api_token: ApiToken
    run: Run
    other_run: Run
    optional_ids: dict[str, int | str]
    run_number: int = 1
    bodies: dict = field(default_factory=dict)

    @cached_property
    def ids(self) -> dict[str, object]:
        """The arguments of addresses by their names in the routes."""
        return {
            "case_id": self.case.pk,
            "book_id": self.case.book_id,
            "case_query_id": self.case.case_queries.first().pk,
            "scorer_id": self.scorer.pk,
            "annotation_id": self.annotation.pk,
            "number": self.run_number,
            "endpoint_id": self.endpoint.pk,
            "team_id": self.team.pk,
            "member_id": self.member.pk,
            "token_id": self.api_token.pk,
            "export_id": StoredExport.objects.get(case=self.case).pk,
            "external_id": 0,
            "invitation_id": self.invitation.pk,
            "token": self.invitation.token,
            "query_id": self.case.book.queries.first().pk,
            "rater_id": self.case.owner_id,
            "link_id": self.case.case_queries.first().query.link_id,
            **self.optional_ids,
            "step": "scale",
            "guide": "judging",
            "key": "case-1",
            "reference": "0" * 32,
            "uidb64": "MA",
            "name": "ratings",
            "kind": "csv",
        }


def make_world(owner, name, script_owner):
    """A team with a case, its run and annotation, an endpoint, a scorer of the case, a member and two invitations."""
    canary = f"canary-{name.lower()}"
    team = Team.objects.filter(name=name).first() or teams.create(name=f"{canary} team", by=owner)
    user = User.objects.create_user(f"{canary}-member@example.org", name=f"{canary} member")
    member = team.memberships.create(user=user, role=Role.RATER)
    case = make_case(["query 1", f"{canary} query"], {"query 1": {"a": 3, f"{canary}-document": 1}}, owner=owner)
    cases.share(case=case, team=team)
    queries.link(queries=list(case.book.queries.all()))
    endpoint = make_endpoint(owner)
    endpoint.teams.add(team)
    run = run_now(make_attempt(case, endpoint, template=f'{{"q": "#$query##", "filter": "{canary}"}}'))
    scorer = house_script(script_owner, team)
    scorer.versions.update(script=f"// {canary}\n{SCRIPT_CODE}")
    Scorer.objects.filter(pk=scorer.pk).update(name=f"House script of {name}")
    scorers.add_scorer(case=case, scorer=scorer)
    annotation = cases.annotations.add(case=case, run=run, text="A note", by=owner)
    other_run = run_now(make_attempt(case, endpoint))
    optional_ids = {}
    for make_objects in contributed("make_objects"):
        optional_ids |= make_objects(case, run, other_run)
    world = World(
        case=case,
        endpoint=endpoint,
        team=team,
        scorer=scorer,
        member=member,
        invitation=teams.invitations.invite(team=team, role=Role.RATER, by=owner, email=f"{team.pk}@example.net"),
        open_invitation=teams.invitations.invite(team=team, role=Role.VIEWER, by=owner),
        annotation=annotation,
        api_token=accounts.api_tokens.create(user=member.user, name="mine", scope=ApiToken.Scope.READ, days=1)[0],
        run=run,
        other_run=other_run,
        optional_ids=optional_ids,
    )
    # Only the member who has asked for a file gets it.
    stored_exports.ask(row=case, name="case", by=member.user)
    leaks.plant(name.lower())
    world.case.refresh_from_db()
    world.endpoint.refresh_from_db()
    world.bodies = bodies(world)
    return world


def bodies(world):
    """What is posted to an address, so that nothing but the missing role refuses it."""
    default = Scorer.objects.get(is_default=True).pk
    attempt = {"parent": "1", "endpoint": world.endpoint.pk, "template": '{"q": "#$query##"}', "depth": "10"}
    share = {"team": world.team.pk, "do": "unshare"}
    endpoint = {"engine": "solr", "url": "http://127.0.0.1:1/solr/x", "parallel": "8", "per_minute": "0"}
    unchanged = {**endpoint, "engine": world.endpoint.engine, "url": world.endpoint.url}
    added = [bodies_of(world) for bodies_of in contributed("bodies")]
    return {
        **{name: body for bodies_of_app in added for name, body in bodies_of_app.items()},
        "account": {"name": "Another"},
        "account_tokens": {"name": "nightly", "scope": "read", "days": "7"},
        "new_case_step": {"name": "New", "scale_from": "scorer", "scorer": default, "do": "next"},
        "case_share": share,
        "judge_list_rate": {"doc_id": "a", "value": "1"},
        "endpoint_share": share,
        "scorer_share": share,
        "case_rename": {"name": "Renamed"},
        "book_rename": {"name": "Renamed"},
        "case_duplicate": {"name": "Copy", "ratings": "copy"},
        "ratings_import": {
            "do": "import",
            "file": SimpleUploadedFile("ratings.csv", b"query,docid,rating\nquery 1,a,2\n"),
        },
        "runs_import": {"file": SimpleUploadedFile("run.csv", b"query,docid,position\nquery 1,a,1\n")},
        "queries_import": {"do": "import", "file": SimpleUploadedFile("queries.txt", b"a new query\n")},
        "book_import": {
            "do": "preview",
            "file": SimpleUploadedFile("book.json", b'{"name": "Shop", "query_doc_pairs": []}'),
        },
        "case_import": {
            "do": "preview",
            "file": SimpleUploadedFile("case.json", b'{"case_name": "Shop", "queries": []}'),
        },
        "case_scorer": {"scorer": world.scorer.pk},
        "case_scorer_add": {"scorer": Scorer.objects.get(name="RR@10").pk},
        "queries_add": {"queries": "a new one"},
        "query_edit": {"text": "query 1", "weight": "1"},
        "query_move": {"steps": "1"},
        "query_notes": {"notes": "noted"},
        "query_links_add": {"queries": list(world.case.case_queries.values_list("pk", flat=True))},
        "query_links_copy": {"query": world.case.case_queries.first().query_id},
        "query_tag": {"tag": "films", "add": "films"},
        "rate": {"doc_id": "a", "value": "2"},
        "compare_rate": {"doc_id": "a", "value": "2"},
        "run_details": {"name": "Named", "note": "Noted"},
        "book_new": {"name": "New", "scale": "0:3", "queries": ""},
        "book_judging": {
            "depth": "10",
            "ratings_per_pair": "1",
            "order": "query",
            "repeat_share": "0",
            "rule": "mean",
            "scale": "0:3",
        },
        "book_merge": {"other": world.case.book_id},
        "book_rater": {
            "action": "remove",
            "seen": str(world.case.owner.ratings.filter(query__book=world.case.book).count()),
        },
        "book_adjudicate": {"doc_id": "a", "value": "2"},
        "judge_rate": {"query": world.case.book.queries.first().pk, "doc_id": "a", "grade": "2"},
        "rate_shown": {"value": "1"},
        "annotations": {"at": "1", "text": "Another note"},
        "annotation_change": {"text": "Changed"},
        "attempt_edit": {"name": "Named", "note": "Noted"},
        "run": attempt,
        "attempt_preview": attempt,
        "attempt_try": attempt,
        "endpoint_new": {**endpoint, "name": "new one"},
        "endpoint_edit": {**unchanged, "name": "renamed"},
        "endpoint_try": {"text": "star"},
        **{key: {"name": ""} for key in ("scorer_new", "scorer_edit", "scorer_import", "scorer_replace")},
        "scorer_policy": {"allow_user_scripts": "on", "default": default},
        "team_new": {"name": "A new team"},
        "team_invite": {"email": "third@example.org", "role": "2"},
        "team_member_role": {"role": "1"},
        "invitation": {"do": "accept"},
    }


def make_everyone():
    """A person for each role; `None` for anonymous users."""
    others = {
        name: User.objects.create_user(f"{name}@example.org", name=name.title()) for name in ("former", "outsider")
    }
    others["staff"] = User.objects.create_user("staff@example.org", name="Staff", is_staff=True)
    return {**make_people(), **others, "anonymous": None}


@contextmanager
def made_once(django_db_blocker, make=None):
    """Yields everyone, what is shared with the team “Search”, in which the people have their roles (the former member has left
    it), and what another team has, which none of the people can see.

    They are made once for all tests of a module, which take back what they write.
    """
    make = make or make_world
    with django_db_blocker.unblock(), scripted_engine(), transaction.atomic():
        everyone = make_everyone()
        elsewhere = User.objects.create_user(
            "elsewhere@example.org", name="canary-elsewhere user", can_create_endpoints=True
        )
        membership = Team.objects.get(name="Search").memberships.create(user=everyone["former"], role=Role.EDITOR)
        own = make(everyone["admin"], "Search", everyone["owner"])
        membership.delete()
        yield everyone, own, make(elsewhere, "Elsewhere", elsewhere)
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    with made_once(django_db_blocker) as worlds:
        yield worlds


@pytest.fixture
def everyone(worlds, db):
    return worlds[0]


@pytest.fixture
def own(worlds, db):
    return worlds[1]


@pytest.fixture
def foreign(worlds, db):
    return worlds[2]


def routes(patterns=None, prefix=""):
    """Yields the name and the names of the arguments of every route, but for those of the administration site, and those of the
    API, which `tests/api/test_access_matrix.py` has."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLPattern):
            yield prefix + pattern.name, tuple(pattern.pattern.converters)
        elif pattern.namespace not in {"admin", "api"}:
            yield from routes(pattern.url_patterns, prefix)


ARGUMENTS = dict(routes())


def expected(pattern, status):
    words = PATTERNS[pattern].split()
    return {role: int(status) if word == "S" else int(word) for role, word in zip(ROLES, words, strict=True)}


def sign_in(client, user):
    """Each `send` begins with this session, whatever became of it in those before."""
    client.logout()
    if user is not None:
        client.force_login(user)
    client.session_cookies = {name: morsel.value for name, morsel in client.cookies.items()}


def send(client, row, world, *, body=None, hidden="canary-elsewhere", **changes):
    """The status of one request; what it changes is taken back.

    A request that is refused writes nothing and contains no canary of the objects that were asked for, if these are hidden (404).
    body: other parameters. hidden: what no answer may contain. changes: other ids in the address than those of `world`.
    """
    name, _, variant = row[0].partition("?")
    ids = {**world.ids, **changes}
    if variant == "open":
        ids["token"] = world.open_invitation.token
    url = reverse(name, kwargs={argument: ids[argument] for argument in ARGUMENTS[name]})
    data = world.bodies.get(name, {}) if row[1] == "POST" else {}
    if row[1] == "GET":
        runs_compared = {"a": world.run.pk, "b": world.other_run.pk}
        parameters = {"doc_id": "a", "endpoint": world.endpoint.pk, "other": "doc:b", **runs_compared}
        data = {**parameters, "look": "1"} if variant == "look" else parameters
    data = body or data
    for value in data.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    client.cookies = SimpleCookie(client.session_cookies)
    with transaction.atomic(), leaks.written() as writes:
        response = client.get(url, data) if row[1] == "GET" else client.post(url, data)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    text = content.decode(errors="replace")
    assert leaks.SECRET not in text, row
    assert hidden is None or hidden not in text, row
    if response.status_code in {403, 404} or "/login" in response.headers.get("Location", ""):
        assert writes == [], row
    if response.status_code == 404:
        assert "canary-" not in text, row
    return response.status_code


def test_every_route_is_in_the_table():
    assert {row[0].partition("?")[0] for row in ROWS} == set(ARGUMENTS)
    assert {row[2] for row in ROWS} <= set(PATTERNS)


@pytest.mark.parametrize("role", ROLES)
def test_own_objects(client, everyone, own, foreign, role):
    """For what is shared with the team by its role. Whatever those below an editor open or post, the server asks no engine."""
    sign_in(client, everyone[role])
    searches_before = len(SCRIPT[own.endpoint.url].requests)
    hidden = None if role == "admin" else "canary-elsewhere"
    actual = {row: send(client, row, own, hidden=hidden) for row in ROWS}
    assert actual == {row: expected(row[2], row[3])[role] for row in ROWS}
    has_asked = len(SCRIPT[own.endpoint.url].requests) > searches_before
    assert has_asked == (role in {"editor", "owner", "admin"})


@pytest.mark.parametrize("role", ROLES)
def test_objects_of_others(client, everyone, own, foreign, role):
    """Only admins learn that objects of others exist; links of invitations and public links are for whoever has them."""
    arguments = {row: set(ARGUMENTS[row[0].partition("?")[0]]) for row in ROWS}
    with_ids = [
        row
        for row in ROWS
        if arguments[row] - {"step", "guide", "token", "uidb64"} and "link_token" not in arguments[row]
        if arguments[row] - {"step", "key", "token", "uidb64"} and "link_token" not in arguments[row]
    ]
    sign_in(client, everyone[role])
    hidden = None if role == "admin" else "canary-elsewhere"
    actual = {row: send(client, row, foreign, hidden=hidden) for row in with_ids}
    status = {"anonymous": 302}.get(role, 404)
    wanted = {row: int(row[3]) if role == "admin" else status for row in with_ids}
    if role not in {"anonymous", "admin"}:
        # Only for admins, whatever the scorer.
        wanted |= {row: 403 for row in with_ids if row[2] == "admin"}
    assert actual == wanted


@pytest.mark.parametrize("role", ["viewer", "rater", "editor", "owner", "admin"])
def test_parts_of_others_within_ones_own(client, everyone, own, foreign, role):
    """An id of another case or team in an address of one's own is not there, for admins either; a lower role gets its 403."""
    sign_in(client, everyone[role])
    parts = ("case_query_id", "annotation_id", "member_id", "invitation_id", *contributed("PART_ID"))
    both = [(part, row) for part in parts for row in ROWS if part in ARGUMENTS[row[0].partition("?")[0]]]
    assert {part for part, _ in both} == set(parts)
    actual = {(part, row): send(client, row, own, **{part: foreign.ids[part]}) for part, row in both}
    statuses = {(part, row): expected(row[2], row[3])[role] for part, row in both}
    # Views that answer 404 before 403 do not tell more than those that answer 403.
    wanted = {
        key: actual[key] if status == 403 and actual[key] in {403, 404} else 404 for key, status in statuses.items()
    }
    assert actual == wanted


# Actions on two objects: the role that they take on the one in the address and on the one in the form, and its fields there.
TWO_OBJECTS = """
route            first  second  fields
case_share       own    edit    team
endpoint_share   own    edit    team
scorer_share     own    edit    team
case_scorer      edit   see     scorer
case_scorer_add  edit   see     scorer
book_merge       own    own     other
scorer_replace   see    edit    case
run              edit   edit    endpoint
attempt_preview  edit   edit    endpoint
attempt_try      edit   edit    endpoint
"""
# Fields that name a part of the object in the address: the id of a part of another one is refused.
PARTS = """
route              fields
query_links_add    queries
judge_rate         query
query_links_copy   query
query_move         after
"""
# The choices of these fields are people, parts of the object in the address, or objects available to all users.
OTHER_FIELDS = {
    "at",
    "attempt",
    "baseline",
    "compare",
    "default",
    "default_scorer",
    "first",
    "person",
}
OTHER_FIELDS |= {"before", "recipients", "replacement", "run_a", "run_b", "second", "version"}
# Fields of “New case”, which `test_objects_in_a_new_case` sends.
NEW_FIELDS = {"book", "endpoint_id"}


def rows_of(table):
    """The rows of a table; its last column may have several words."""
    head, *lines = table.strip().splitlines()
    return [tuple(line.split(maxsplit=len(head.split()) - 1)) for line in lines]


ALL_PAIRS = [row for table in (TWO_OBJECTS, *contributed("FORM_PAIRS")) for row in rows_of(table)]
OPTIONAL_PARTS = [row for table in contributed("FORM_PARTS") for row in rows_of(table)]


def second_object(name, world):
    """What the fields of a form contain that names an object of this world."""
    return {
        "team": world.team.pk,
        "teams": [world.team.pk],
        "scorer": world.scorer.pk,
        "case": world.case.pk,
        "other": world.case.book_id,
        "endpoint": world.endpoint.pk,
        "queries": list(world.case.case_queries.values_list("pk", flat=True)),
        "query": world.case.book.queries.first().pk,
        "after": world.case.case_queries.last().pk,
        "a": world.run.pk,
        "b": world.other_run.pk,
    }[name]


def test_every_field_that_names_an_object_is_in_a_table():
    classes, names = [ModelForm, Form], set()
    while classes:
        form = classes.pop()
        classes += form.__subclasses__()
        if form.__module__.startswith("relevancy.views"):
            names |= {name for name, field in form.base_fields.items() if isinstance(field, ModelChoiceField)}
    named = {name for row in (*ALL_PAIRS, *rows_of(PARTS)) for name in row[-1].split()}
    assert names - named - OTHER_FIELDS - NEW_FIELDS == set()


def attempt_two_objects(client, route, own, foreign, body, *, hidden):
    """Whether an action on both worlds was done: what it wrote or which engine it asked, and the status."""
    searches_before = len(SCRIPT[foreign.endpoint.url].requests)
    of_first = next((tables[route] for tables in contributed("FORM_TABLES") if route in tables), None)
    with leaks.written() as writes:
        status = send(client, next(row for row in ROWS if row[:2] == (route, "POST")), own, body=body, hidden=hidden)
    return status, any(table != of_first for table, _ in writes) or len(
        SCRIPT[foreign.endpoint.url].requests
    ) > searches_before


@pytest.mark.parametrize(("route", "first", "second", "names"), ALL_PAIRS)
def test_roles_on_two_objects(client, own, foreign, route, first, second, names):
    """All pairs of roles. The same form is accepted with the roles of the row, so nothing but a role refuses it otherwise."""
    user = User.objects.create_user("both@example.org", name="Both")
    scorers.add_scorer(case=foreign.case, scorer=own.scorer)
    body = {**own.bodies.get(route, {}), **{name: second_object(name, foreign) for name in names.split()}}
    body |= {"case_share": {"do": "share"}, "endpoint_share": {"do": "share"}, "scorer_share": {"do": "share"}}.get(
        route, {}
    )
    if route == "scorer_replace":
        body = {"case": [foreign.case.pk], "replacement": Scorer.objects.get(name="RR@10").pk}
    needed = {"see": Role.VIEWER, "edit": Role.EDITOR, "own": Role.OWNER}
    sign_in(client, user)
    wrong = {}
    for role in (None, *Role):
        for other in (None, *Role):
            user.memberships.all().delete()
            Scorer.objects.filter(pk=own.scorer.pk).update(owner=user if role == Role.OWNER else own.case.owner)
            for world, given in ((own, role), (foreign, other)):
                if given is not None:
                    world.team.memberships.create(user=user, role=given)
            hidden = "canary-elsewhere" if other is None else None
            status, done = attempt_two_objects(client, route, own, foreign, body, hidden=hidden)
            allowed = (role or 0) >= needed[first] and (other or 0) >= needed[second]
            wanted = status in {200, 302} and (done or route == "attempt_preview")
            if allowed != wanted or (done and not allowed):
                wrong[role, other] = (status, done)
    assert wrong == {}


@pytest.mark.parametrize("role", ["editor", "owner"])
def test_parts_of_others_in_a_form(client, everyone, own, foreign, role):
    """The id of a part of another object, in a form that is accepted with one of the object's own, writes nothing."""
    sign_in(client, everyone[role])
    accepted = set()
    for route, names in [*rows_of(PARTS), *OPTIONAL_PARTS]:
        usual = {name: value for name, value in own.bodies[route].items() if route != "query_move"}
        for world in (own, foreign):
            body = {**usual, **{name: second_object(name, world) for name in names.split()}}
            status, done = attempt_two_objects(client, route, own, foreign, body, hidden="canary-elsewhere")
            assert world is own or not done, (route, status)
            if done:
                accepted.add(route)
    assert accepted - {route for route, _ in OPTIONAL_PARTS} == {route for route, _ in rows_of(PARTS)}


@pytest.mark.parametrize("role", ["editor", "owner"])
def test_endpoint_that_only_an_admin_may_use(client, everyone, own, foreign, role):
    """The case belongs to an admin, who has run it on the endpoint of another team: its editors cannot use that endpoint."""
    attempt = make_attempt(own.case, foreign.endpoint)
    run = run_now(attempt)
    rows = [row for row in ROWS if "case_id" in ARGUMENTS[row[0].partition("?")[0]]]
    chosen = {"endpoint": foreign.endpoint.pk, "parent": str(attempt.number)}

    def searches():
        before = len(SCRIPT[foreign.endpoint.url].requests)
        for row in rows:
            data = own.bodies.get(row[0], {}) if row[1] == "POST" else {"doc_id": "a", "other": "doc:b", "look": "1"}
            changes = {"number": run.number} if "number" in ARGUMENTS[row[0].partition("?")[0]] else {}
            send(client, row, own, body={**data, **chosen, "run": run.number}, hidden=None, **changes)
        return len(SCRIPT[foreign.endpoint.url].requests) - before

    assert own.case.owner.is_superuser
    sign_in(client, everyone[role])
    assert searches() == 0
    foreign.team.memberships.create(user=everyone[role], role=Role.EDITOR)
    assert searches() > 0


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_parameters_of_others(client, everyone, own, foreign, role):
    """Ids of another team's objects in a query string tell nothing, and ask no engine of theirs."""
    sign_in(client, everyone[role])
    before = len(SCRIPT[foreign.endpoint.url].requests)
    world = foreign.ids
    parameters = {
        **dict.fromkeys(("a", "run", "baseline"), foreign.run.pk),
        **dict.fromkeys(("b", "with"), foreign.other_run.pk),
        **dict.fromkeys(("query", "open"), world["case_query_id"]),
        "endpoint": foreign.endpoint.pk,
        "case": foreign.case.pk,
        "scorer": foreign.scorer.pk,
        "team": foreign.team.pk,
        "book": foreign.case.book_id,
        "doc_id": "a",
    }
    for row in ROWS:
        if row[1] == "GET":
            assert send(client, row, own, body=parameters) < 500, row
    assert len(SCRIPT[foreign.endpoint.url].requests) == before


@pytest.mark.parametrize("role", ROLES[1:])
def test_objects_in_a_new_case(client, everyone, own, foreign, role):
    """The wizard accepts endpoints and books on which the user is an editor."""
    statuses, of_books = {}, {}
    for name, world in (("own", own), ("foreign", foreign)):
        client.force_login(everyone[role])
        data = {**own.bodies["new_case_step"], "scale_from": "book", "book": world.case.book_id}
        of_books[name] = client.post(reverse("new_case_step", args=["scale"]), data).status_code
        client.post(reverse("new_case_start_over"))
    for name, endpoint in (("own", own.endpoint), ("foreign", foreign.endpoint)):
        client.force_login(everyone[role])
        client.post(reverse("new_case_step", args=["scale"]), own.bodies["new_case_step"])
        data = {"endpoint_id": endpoint.pk, "do": "skip"}
        statuses[name] = client.post(reverse("new_case_step", args=["endpoint"]), data).status_code
        client.post(reverse("new_case_start_over"))
    uses = role in {"editor", "owner", "admin"}
    assert statuses == of_books == {"own": 302 if uses else 422, "foreign": 302 if role == "admin" else 422}


@pytest.mark.parametrize("role", ROLES[1:])
def test_index_of_others(client, everyone, own, role):
    """An endpoint on an embedded index of another team is refused, whoever may create endpoints."""
    StoredIndex.objects.create(engine="embedded", name="secret", owner=User.objects.get(email="admin@example.org"))
    User.objects.filter(pk=everyone[role].pk).update(can_create_endpoints=True)
    client.force_login(User.objects.get(pk=everyone[role].pk))
    data = {"name": "mine", "engine": "embedded", "url": "secret", "parallel": "8", "per_minute": "0"}
    response = client.post(reverse("endpoint_new"), data)
    assert response.status_code == (302 if role == "admin" else 422)
    assert Endpoint.objects.filter(url="secret").exists() == (role == "admin")


def test_former_member_cannot_search_their_own_case(client, everyone, own):
    """A case of one's own whose endpoint belongs to a team that one has left is viewed, but not searched."""
    case = make_case(2, owner=everyone["former"])
    content = {"endpoint": own.endpoint, "template": '{"q": "#$query##"}', "created_by": everyone["former"]}
    attempt = Attempt.objects.create(case=case, number=1, **content)
    finished = run_now_unrestricted(attempt)
    searches_before = len(SCRIPT[own.endpoint.url].requests)
    client.force_login(everyone["former"])
    case_query_id = case.case_queries.first().pk
    page = client.get(reverse("case", args=[case.pk])).content.decode()
    assert 'data-notice="endpoint-not-usable"' in page
    body = {**own.bodies["run"], "parent": "1"}
    refused = {
        "run": client.post(reverse("run", args=[case.pk]), body),
        "attempt_try": client.post(reverse("attempt_try", args=[case.pk]), body),
        "run_complete": client.post(reverse("run_complete", args=[case.pk, finished.number])),
        "query_search": client.post(
            reverse("query_search", args=[case.pk, case_query_id]), headers={"HX-Request": "true"}
        ),
        "query_explain": client.get(reverse("query_explain", args=[case.pk, case_query_id]), {"doc_id": "a"}),
        "query_explanations": client.get(
            reverse("query_explanations", args=[case.pk, case_query_id]), headers={"HX-Request": "true"}
        ),
        "query_unretrieved": client.get(reverse("query_unretrieved", args=[case.pk, case_query_id]), {"look": "1"}),
        "query_find": client.get(reverse("query_find", args=[case.pk, case_query_id]), {"text": "star"}),
        "query_interpretation": client.get(reverse("query_interpretation", args=[case.pk, case_query_id])),
        "autocomplete": client.get(reverse("autocomplete", args=[case.pk]), {"endpoint": own.endpoint.pk}),
        "endpoint_try": client.post(reverse("endpoint_try", args=[own.endpoint.pk]), {"text": "star"}),
    }
    statuses = {name: response.status_code for name, response in refused.items()}
    assert statuses == {
        "run": 422,
        "attempt_try": 422,
        "run_complete": 302,
        "query_search": 409,
        "query_explain": 200,
        "query_explanations": 200,
        "query_unretrieved": 200,
        "query_find": 200,
        "query_interpretation": 200,
        "autocomplete": 200,
        "endpoint_try": 403,
    }
    asking = (
        "query_search",
        "query_explain",
        "query_explanations",
        "query_unretrieved",
        "query_find",
        "query_interpretation",
        "autocomplete",
    )
    for name in ("run", "attempt_try", *asking):
        assert "Former may not use the endpoint" in refused[name].content.decode(), name
    assert len(SCRIPT[own.endpoint.url].requests) == searches_before
    assert Run.objects.filter(case=case).count() == 1


def run_now_unrestricted(attempt):
    """A finished run of the attempt, as it was allowed once."""
    return runs.finish_here(runs.start(attempt=attempt, by=attempt.created_by, unrestricted=True))
