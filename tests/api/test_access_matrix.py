"""The access matrix of the API: every operation × every role and scope, for objects of one's team and of others, anonymous included.

An operation that is not in the table fails the test.
"""

import json
import re
from functools import cache

import pytest
from django.db import transaction

from relevancy.api.v1 import api as rest_api
from relevancy.models import ApiToken, Role, Run, User
from tests import leaks
from tests.factories import SCRIPT, make_attempt, run_now
from tests.formats import relevancy_files
from tests.optional import contributed
from tests.views.test_access_matrix import ROLES, made_once, make_world, rows_of

Scope = ApiToken.Scope
# Who gets the status of the row, as in tests/views/test_access_matrix.py.
PATTERNS = {
    #       anonymous outsider viewer rater editor owner former staff admin
    "all": "401       S        S      S     S      S     S      S     S",
    "see": "401       404      S      S     S      S     404    404   S",
    "rate": "401      404      403    S     S      S     404    404   S",
    "edit": "401      404      403    403   S      S     404    404   S",
    "own": "401       404      403    403   403    S     404    404   S",
    "create": "401    403      403    403   S      S     403    403   S",
}
TABLE = """
operation          pattern scope  status
read_me            all     read   200
list_teams         all     read   200
list_cases         all     read   200
read_case          see     read   200
create_case        all     write  201
change_case        edit    write  200
delete_case        own     write  204
copy_case          edit    write  201
list_case_scorers  see     read   200
choose_case_scorers edit   write  200
list_case_teams    own     read   200
share_case         own     write  204
unshare_case       own     write  204
list_endpoint_teams own    read   200
share_endpoint     own     write  204
unshare_endpoint   own     write  204
list_case_queries  see     read   200
add_queries        edit    write  201
read_case_query    see     read   200
change_case_query  edit    write  200
remove_case_query  edit    write  204
list_links         see     read   200
link_queries       edit    write  201
read_link          see     read   200
copy_linked_ratings edit   write  200
remove_link        edit    write  204
list_attempts      see     read   200
read_attempt       see     read   200
create_attempt     edit    write  201
change_attempt     edit    write  200
start_run          edit    write  200
list_annotations   see     read   200
add_annotation     edit    write  201
read_annotation    see     read   200
change_annotation  edit    write  200
remove_annotation  edit    write  204
list_runs          see     read   200
import_run         edit    write  201
read_run           see     read   200
cancel_run         edit    write  409
list_rankings      see     read   200
pin_run            edit    write  204
unpin_run          edit    write  204
compare_runs       see     read   202
read_gate          see     read   200
read_gate_junit    see     read   200
report_comparison  see     read   202
list_scorers       all     read   200
create_scorer      all     write  201
read_scorer        see     read   200
change_scorer      edit    write  200
add_scorer_version edit    write  201
try_scorer         all     write  200
list_endpoints     all     read   200
create_endpoint    create  write  201
read_endpoint      see     read   200
change_endpoint    edit    write  200
try_endpoint       edit    write  200
list_books         all     read   200
read_book          see     read   200
change_book        edit    write  200
delete_book        own     write  422
list_book_queries  see     read   200
copy_book          edit    write  201
read_grading       see     read   200
change_grading     edit    write  200
read_judging       see     read   200
change_judging     edit    write  200
next_pairs         rate    rate   200
read_query         see     read   200
change_query       edit    write  200
list_ratings       see     read   200
read_grades        see     read   200
rate_documents     rate    rate   200
rate_document      rate    rate   200
remove_rating      rate    rate   200
export_case_file   see     read   200
export_book_file   see     read   200
export_run_file    see     read   200
read_export        all     read   404
download_export    all     read   404
import_ratings     edit    write  200
read_rating_import see     read   200
import_queries     edit    write  200
import_runs        edit    write  201
import_case        all     write  201
import_book        all     write  201
"""
ROWS = [tuple(line.split()) for table in (TABLE, *contributed("OPERATIONS")) for line in table.strip().splitlines()[1:]]
PARAMETERS: dict[str, str] = {}
for _parameters in contributed("OPERATION_PARAMETERS"):
    PARAMETERS |= _parameters
SCHEMA = rest_api.get_openapi_schema()
OPERATIONS = {
    operation["operationId"]: (method, path.removeprefix("/api/v1"))
    for path, item in SCHEMA["paths"].items()
    for method, operation in item.items()
}


def make_world_with_runs(owner, name, script_owner):
    world = make_world(owner, name, script_owner)
    run_now(world.case.attempts.first())
    leaks.plant(name.lower())
    return world


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    with made_once(django_db_blocker, make_world_with_runs) as worlds:
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


@cache
def ids(world):
    newest, before = Run.objects.newest_for(world.case)[:2]
    return {
        "case_id": world.case.pk,
        "query_id": world.case.book.queries.first().pk,
        "doc_id": "a",
        "number": 1,
        "run_id": newest.pk,
        "other_id": before.pk,
        **world.optional_ids,
        "link_id": world.case.book.query_links.get().pk,
        "annotation_id": world.annotation.pk,
        "endpoint_id": world.endpoint.pk,
        "scorer_id": world.scorer.pk,
        "book_id": world.case.book_id,
        "team_id": world.team.pk,
        "name": "ratings",
        "export_id": world.ids["export_id"],
    }


def body(operation, world):
    """What is sent, so that nothing but the missing role or scope refuses it."""
    return {
        "create_case": {"name": "Markets"},
        "change_case": {"name": "Markets"},
        "copy_case": {"name": "A copy"},
        "choose_case_scorers": {"scorer_ids": [world.scorer.pk]},
        "add_queries": {"text": "a new one"},
        "change_case_query": {"weight": 2},
        "create_attempt": {"endpoint_id": world.endpoint.pk, "template": '{"q": "#$query##"}'},
        "change_attempt": {"name": "Named", "note": "Noted"},
        "add_annotation": {"run_id": ids(world)["run_id"], "text": "Another note"},
        "change_annotation": {"text": "Changed"},
        **{name: sent for bodies in contributed("OPERATION_BODIES") for name, sent in bodies.items()},
        "import_run": {"rankings": [{"query_id": ids(world)["query_id"], "hits": [{"doc_id": "a"}]}]},
        "change_query": {"notes": "Noted", "tags": ["films"]},
        "link_queries": {"query_ids": list(world.case.book.queries.values_list("pk", flat=True))},
        "copy_linked_ratings": {"query_id": world.case.case_queries.first().query_id},
        "change_book": {"guidelines": "3: what the user wanted."},
        "copy_book": {"name": "A copy"},
        "change_grading": {"scale": "0:3"},
        "change_judging": {"depth": 5},
        "create_scorer": {"name": "Another one", "measure": "nDCG@5"},
        "change_scorer": {"description": "Only the first row counts."},
        "add_scorer_version": {"measure": "nDCG@5"},
        "create_endpoint": {"name": "new", "engine": world.endpoint.engine, "url": world.endpoint.url},
        "change_endpoint": {"per_minute": 60},
        "try_scorer": {"measure": "nDCG@10", "grades": [3, None, 1]},
        "try_endpoint": {"text": "star"},
        "rate_documents": {"a": 2},
        "rate_document": {"value": 2},
    }.get(operation)


def file(operation, world):
    """The content of a file that is sent instead of a body."""
    text = world.case.book.queries.first().text
    return {
        "import_ratings": f"query,docid,rating\n{text},a,2\n",
        "import_queries": "a new one\n",
        "import_runs": f"query,docid,position\n{text},a,1\n",
        **{name: text for files in contributed("OPERATION_FILES") for name, text in files.items()},
        "import_case": json.dumps(relevancy_files.CASE),
        "import_book": json.dumps(relevancy_files.BOOK),
    }.get(operation)


def send(client, operation, world, *, sent=None, parameters="", hidden="canary-elsewhere", **changes):
    """The status of one request; what it changes is taken back. Every error is a problem.

    A request that is refused writes nothing, and what is not there (404) is not told. sent: another body. hidden: what no answer
    may contain.
    """
    method, path = OPERATIONS[operation]
    values = {**ids(world), **({"name": "csv"} if operation == "export_run_file" else {}), **changes}
    content = file(operation, world)
    with transaction.atomic(), leaks.written() as writes:
        if content is None:
            response = client.send(method, path.format(**values), sent or body(operation, world))
        else:
            response = client.upload(path.format(**values) + (parameters or PARAMETERS.get(operation, "")), content)
        answer = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    text = answer.decode(errors="replace")
    assert leaks.SECRET not in text, operation
    assert not re.search(r"rlv_[a-z0-9]{8}_", text), operation
    assert hidden is None or hidden not in text, operation
    if response.status_code in {401, 403, 404, 409, 422}:
        assert writes == [], operation
    if response.status_code in {401, 404}:
        assert "canary-" not in text, operation
    if response.status_code >= 400:
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.json()["status"] == response.status_code
    return response.status_code


def expected(pattern, status):
    return {
        role: int(status) if word == "S" else int(word)
        for role, word in zip(ROLES, PATTERNS[pattern].split(), strict=True)
    }


def test_every_operation_is_in_the_table():
    assert {row[0] for row in ROWS} == set(OPERATIONS)


@pytest.mark.parametrize("role", ROLES)
def test_own_objects(api, everyone, own, foreign, role):
    """Whatever those below an editor send, the server asks no engine."""
    client = api(everyone[role])
    searches_before = len(SCRIPT[own.endpoint.url].requests)
    hidden = None if role == "admin" else "canary-elsewhere"
    actual = {row: send(client, row[0], own, hidden=hidden) for row in ROWS}
    assert actual == {row: expected(row[1], row[3])[role] for row in ROWS}
    has_asked = len(SCRIPT[own.endpoint.url].requests) > searches_before
    assert has_asked == (role in {"editor", "owner", "admin"})


@pytest.mark.parametrize("role", ROLES)
def test_objects_of_others(api, everyone, own, foreign, role):
    """Only admins learn that objects of others exist."""
    client = api(everyone[role])
    with_ids = [row for row in ROWS if "{" in OPERATIONS[row[0]][1]]
    refused = {"anonymous": 401}.get(role, 404)
    wanted = {row: int(row[3]) if role == "admin" else refused for row in with_ids}
    hidden = None if role == "admin" else "canary-elsewhere"
    assert {row: send(client, row[0], foreign, hidden=hidden) for row in with_ids} == wanted


@pytest.mark.parametrize("scope", list(Scope))
def test_scopes(api, everyone, own, scope):
    """A token allows what its scope and those below allow, whatever the role."""
    client = api(everyone["admin"], scope)
    scopes = list(Scope)
    wanted = {row: int(row[3]) if scopes.index(Scope(row[2])) <= scopes.index(scope) else 403 for row in ROWS}
    assert {row: send(client, row[0], own, hidden=None) for row in ROWS} == wanted


@pytest.mark.parametrize("role", ["viewer", "rater", "editor", "owner"])
def test_run_of_others_as_the_baseline(api, everyone, own, foreign, role):
    assert send(api(everyone[role]), "compare_runs", own, other_id=ids(foreign)["run_id"]) == 404


# Operations on two objects: the role that they take on the first one, if there is one, and on the second one, and where its id is.
TWO_OBJECTS = """
operation            first  second  name
create_case          -      see     scorer_id
create_case          -      edit    book_id
create_case          -      edit    team_id
create_case          -      edit    endpoint_id
import_case          -      edit    endpoint_id
try_scorer           -      see     scorer_id
choose_case_scorers  edit   see     scorer_ids
create_attempt       edit   edit    endpoint_id
share_case           own    edit    team_id
share_endpoint       own    edit    team_id
"""
# Ids of parts of the first object: those of parts of another one are refused.
PARTS = """
operation               name
link_queries            query_ids
import_run              query_id
add_annotation          run_id
read_case_query         query_id
change_case_query       query_id
remove_case_query       query_id
read_link               link_id
copy_linked_ratings     link_id
copy_linked_ratings     query_id
remove_link             link_id
read_annotation         annotation_id
change_annotation       annotation_id
remove_annotation       annotation_id
compare_runs            other_id
report_comparison       other_id
unshare_case            team_id
unshare_endpoint        team_id
"""
ALL_PAIRS = [row for table in (TWO_OBJECTS, *contributed("OPERATION_PAIRS")) for row in rows_of(table)]
ALL_PARTS = [row for table in (PARTS, *contributed("OPERATION_PARTS")) for row in rows_of(table)]


def with_second(operation, name, world, second):
    """The arguments of `send` that name an object of the second world."""
    values = {
        **ids(second),
        "scorer_ids": [second.scorer.pk],
        "team_ids": [second.team.pk],
        "query_ids": body("link_queries", second)["query_ids"],
    }
    if f"{{{name}}}" in OPERATIONS[operation][1]:
        return {name: values[name]}
    if operation == "import_run":
        return {"sent": body("import_run", second)}
    if operation == "import_case":
        return {"parameters": f"?{name}={values[name]}"}
    minimal = {
        "try_scorer": {"grades": [1]},
        "create_case": {"name": "Markets", "queries": ["star"], "template": '{"q": "#$query##"}'},
    }
    return {"sent": {**minimal.get(operation, body(operation, world) or {}), name: values[name]}}


def test_every_id_is_in_a_table():
    """Those of bodies and of query strings, and the second ones of addresses."""
    with_ids = set()
    for operation, (method, path) in OPERATIONS.items():
        described = SCHEMA["paths"]["/api/v1" + path][method]
        query = {parameter["name"] for parameter in described.get("parameters", ()) if parameter["in"] == "query"}
        in_address = re.findall(r"{(\w+)}", path)[1:]
        names = {name for name in (declared(operation) or set()) | query if re.search(r"_ids?$", name)} | set(
            in_address
        )
        with_ids |= {(operation, name) for name in names - {"doc_id", "number", "name"}}
    assert with_ids == set(ALL_PARTS) | {(row[0], row[3]) for row in ALL_PAIRS}


@pytest.mark.parametrize(("operation", "first", "second", "name"), ALL_PAIRS)
def test_roles_on_two_objects(api, own, foreign, operation, first, second, name):
    """All pairs of roles. The same request is accepted with the roles of the row, so nothing but a role refuses it otherwise."""
    user = User.objects.create_user("both@example.org", name="Both")
    client = api(user)
    arguments = with_second(operation, name, own, foreign)
    needed = {"-": 0, "see": Role.VIEWER, "edit": Role.EDITOR, "own": Role.OWNER}
    wrong = {}
    for role in (None, *Role):
        for other in (None, *Role):
            user.memberships.all().delete()
            for world, given in ((own, role), (foreign, other)):
                if given is not None:
                    world.team.memberships.create(user=user, role=given)
            hidden = "canary-elsewhere" if other is None else None
            with leaks.written() as writes:
                status = send(client, operation, own, hidden=hidden, **arguments)
            allowed = (role or 0) >= needed[first] and (other or 0) >= needed[second]
            if allowed != (status < 300) or (writes and not allowed):
                wrong[role, other] = (status, writes)
    assert wrong == {}


@pytest.mark.parametrize("role", ["editor", "owner"])
def test_parts_of_others(api, everyone, own, foreign, role):
    """The id of a part of another object writes nothing and tells nothing."""
    client = api(everyone[role])
    for operation, name in ALL_PARTS:
        with leaks.written() as writes:
            status = send(client, operation, own, **with_second(operation, name, own, foreign))
        assert (status in {403, 404, 422}, writes) == (True, []), (operation, status)


@pytest.mark.parametrize("role", ["editor", "owner"])
def test_endpoint_that_only_an_admin_may_use(api, everyone, own, foreign, role):
    """The case belongs to an admin, who has run it on the endpoint of another team: its editors cannot use that endpoint."""
    attempt = make_attempt(own.case, foreign.endpoint)
    sent = {**body("create_attempt", own), "endpoint_id": foreign.endpoint.pk}
    client = api(everyone[role])
    before = len(SCRIPT[foreign.endpoint.url].requests)
    refused = [
        send(client, "create_attempt", own, sent=sent, hidden=None),
        send(client, "start_run", own, number=attempt.number, hidden=None),
    ]
    assert set(refused) <= {403, 404, 409, 422}
    assert len(SCRIPT[foreign.endpoint.url].requests) == before
    foreign.team.memberships.create(user=everyone[role], role=Role.EDITOR)
    assert send(client, "create_attempt", own, sent=sent, hidden=None) == 201
    assert send(client, "start_run", own, number=attempt.number, hidden=None) == 200


def declared(operation):
    """The members that the body of an operation may have, at any depth; `None` if it has no body of JSON."""
    method, path = OPERATIONS[operation]
    content = SCHEMA["paths"]["/api/v1" + path][method].get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is None or "additionalProperties" in schema:
        return None
    members, schemas = set(), [schema]
    for schema in schemas:
        parts = re.findall(r"#/components/schemas/(\w+)", json.dumps(schema))
        schemas += [SCHEMA["components"]["schemas"][part] for part in parts]
        members |= set(schema.get("properties", ()))
    return members


def test_members_that_an_operation_does_not_know_change_nothing(api, everyone, own, foreign):
    """Mass assignment: every body refuses members that it does not declare, one that names a field included."""
    for operation, (method, path) in OPERATIONS.items():
        content = SCHEMA["paths"]["/api/v1" + path][method].get("requestBody", {}).get("content", {})
        text = json.dumps(content.get("application/json", {}))
        for part in re.findall(r"#/components/schemas/(\w+)", text):
            assert SCHEMA["components"]["schemas"][part]["additionalProperties"] is False, (operation, part)
    client = api(everyone["owner"])
    for operation, _, _, status in ROWS:
        usual = body(operation, own)
        if isinstance(usual, dict) and declared(operation):
            for name, value in (("owner_id", foreign.case.owner_id), ("is_default", True), ("id", foreign.case.pk)):
                assert name not in declared(operation)
                with leaks.written() as writes:
                    actual = send(client, operation, own, sent={**usual, name: value})
                assert (actual, writes) == (422, []), (operation, name, status)


def test_lists_contain_nothing_of_others(api, everyone, own, foreign):
    client = api(everyone["editor"])
    hidden = {
        "cases": foreign.case,
        "books": foreign.case.book,
        "endpoints": foreign.endpoint,
        "scorers": foreign.scorer,
    }
    for path, row in hidden.items():
        ids = {item["id"] for item in client.items(f"/{path}")}
        assert ids
        assert row.pk not in ids
    assert {team["name"] for team in client.items("/teams")} == {"Search"}


def test_a_session_is_not_accepted(client, everyone, own):
    """Otherwise another site could send requests in the name of its visitors."""
    client.force_login(everyone["admin"])
    for method, path in OPERATIONS.values():
        response = client.generic(method.upper(), "/api/v1" + path.format(**ids(own)), "{}")
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_deactivated_user_is_refused_at_once(api, everyone, own):
    client = api(everyone["owner"])
    assert client.send("GET", "/me").status_code == 200
    User.objects.filter(pk=everyone["owner"].pk).update(is_active=False)
    assert {row: send(client, row[0], own) for row in ROWS} == dict.fromkeys(ROWS, 401)


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer rlv_00000000_" + "a" * 43, "token"])
def test_other_credentials_are_refused(api, everyone, header):
    assert api().send("GET", "/me", Authorization=header).status_code == 401
