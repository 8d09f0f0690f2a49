"""Names that an operation does not know are refused, and nothing is changed."""

import pytest

from relevancy.models import Endpoint
from tests.factories import make_case, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return make_user("ann")


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "nearest"),
    [
        ("PATCH", "", {"nam": "x"}, "nam", "name"),
        ("POST", "/queries", {"text": "a", "txt": "b"}, "txt", "text"),
        ("POST", "/queries", [{"text": "a"}, {"text": "b", "{x}": 1}], "1.{x}", "text"),
        ("GET", "/queries?limt=2", None, "limt", "limit"),
        ("GET", "?limit=2", None, "limit", "none"),
        ("PATCH", "?archved=true", {"name": "x"}, "archved", "none"),
    ],
)
def test_unknown_name_is_refused_with_the_nearest(api, ann, method, path, body, field, nearest):
    case = make_case(owner=ann)
    response = api(ann).send(method, f"/cases/{case.pk}{path}", body)
    assert response.status_code == 422, response.content
    assert field in [error["field"] for error in response.json()["errors"]]
    assert nearest in response.json()["detail"]
    case.refresh_from_db()
    assert case.name != "x"
    assert case.case_queries.count() == 3


def test_unknown_parameter_of_a_list(api, ann):
    response = api(ann).send("GET", "/cases?txt=star")
    assert response.status_code == 422
    assert response.json()["errors"] == [{"field": "txt", "message": "There is no 'txt' here. Did you mean text?"}]


def test_names_of_types_are_not_part_of_a_field(api, ann):
    response = api(ann).send("POST", f"/cases/{make_case(owner=ann).pk}/queries", {})
    assert response.status_code == 422
    assert {error["field"] for error in response.json()["errors"]} <= {"text", ""}


def test_unknown_option_of_an_endpoint(api):
    caller = api(make_user("root", superuser=True))
    new = {"name": "shop", "engine": "solr", "url": "http://127.0.0.1:1/solr/films", "options": {"read_timout": 5}}
    wrong = {"field": "options.read_timout", "message": "There is no 'read_timout' here. Did you mean read_timeout?"}
    refused = caller.send("POST", "/endpoints", new)
    assert (refused.status_code, refused.json()["errors"]) == (422, [wrong])
    assert not Endpoint.objects.exists()
    created = caller.send("POST", "/endpoints", {**new, "options": {"read_timeout": 5}})
    assert created.status_code == 201, created.content
    address = f"/endpoints/{created.json()['id']}"
    refused = caller.send("PATCH", address, {"options": {"read_timout": 5}})
    assert (refused.status_code, refused.json()["errors"]) == (422, [wrong])
    assert Endpoint.objects.get().options == {"read_timeout": 5}
    Endpoint.objects.update(options={"read_timeout": 5, "verify": "x"})  # of a file of another version
    changed = caller.send("PATCH", address, {"options": {"read_timeout": 6, "verify": "x"}})
    assert changed.json()["options"] == {"read_timeout": 6, "verify": "x"}
