"""Embedded indexes and uploaded files have an owner; endpoints of other users cannot name them."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, endpoints, engines
from relevancy.formats.documents import documents_file, sample
from relevancy.models import Endpoint, Membership, Role, StoredIndex, User
from tests.factories import make_case, make_endpoint, make_team, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
CSV = b"query,docid,position\nstar wars,1,1\n"
EMBEDDED = {"engine": "embedded", "url": "products"}
SETTINGS: dict[str, Any] = {"name": "e", "credentials": {}, "headers": {}, "parallel": 8, "per_minute": 0}


def load(by: User, **values: Any) -> None:
    documents_file.load_documents(
        engine="embedded", url="products", documents=[{"id": "1", "title": "secret"}], by=by, **values
    )


def search(endpoint: Endpoint) -> endpoints.ConnectionTest:
    return endpoints.test_connection(endpoint=endpoint, text="secret")


def test_create_on_an_index_of_another_user() -> None:
    owner, other = make_user("Ann"), make_user("Ben")
    load(owner)
    with pytest.raises(ValidationError, match="“products” belongs to someone else") as error:
        endpoints.create(name="mine", by=other, **EMBEDDED)
    assert list(error.value.message_dict) == ["url"]
    assert endpoints.create(name="own", by=owner, **EMBEDDED).owner == owner
    assert endpoints.create(name="admins", by=make_user(superuser=True), **EMBEDDED)


def test_build_endpoint_of_the_wizard_is_refused_before_it_is_tried() -> None:
    load(make_user("Ann"))
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.build_endpoint(name="mine", by=make_user("Ben"), **EMBEDDED)


def test_connect_checks_again() -> None:
    """However the endpoint was created: what it names must belong to its owner whenever it is searched."""
    owner, other = make_user("Ann"), make_user("Ben")
    load(owner)
    assert search(endpoints.create(name="own", by=owner, **EMBEDDED)).page is not None
    foreign = make_endpoint(other, **EMBEDDED)
    with pytest.raises(engines.EngineError, match="belongs to someone else"):
        endpoints.connect(foreign)
    connection_test = search(foreign)
    assert (connection_test.page, connection_test.fields, connection_test.version) == (None, [], "")
    assert "belongs to someone else" in connection_test.error


def test_index_of_a_team_is_for_its_present_editors() -> None:
    team = make_team("Shop", Edda=Role.EDITOR, Ralf=Role.RATER)
    load(make_user("Ann"), team=team)
    edda, ralf = User.objects.get(name="Edda"), User.objects.get(name="Ralf")
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.create(name="no", by=ralf, **EMBEDDED)
    endpoint = endpoints.create(name="team's", by=edda, **EMBEDDED)
    assert search(endpoint).page is not None
    Membership.objects.filter(user=edda).delete()
    assert "belongs to someone else" in search(endpoint).error


def test_update_to_an_index_of_another_user() -> None:
    """An editor of an endpoint sees what it finds, so it must not lead to an index of its owner that is not shared."""
    ann, ben = make_user("Ann"), make_user("Ben")
    load(ann)
    endpoint = endpoints.create(name="e", engine="embedded", url="open", by=ann)
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.update(endpoint=endpoint, by=ben, **EMBEDDED, **SETTINGS)
    endpoints.update(endpoint=endpoint, by=ben, engine="embedded", url="open", **{**SETTINGS, "name": "renamed"})
    endpoints.update(endpoint=endpoint, by=ann, **EMBEDDED, **SETTINGS)
    assert endpoint.url == "products"


def test_name_that_is_free_belongs_to_the_first_endpoint() -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    endpoints.create(name="e", by=ann, **EMBEDDED)
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.create(name="f", by=ben, **EMBEDDED)
    with pytest.raises(ValidationError, match="belongs to someone else"):
        load(ben)
    load(ann)


def test_index_whose_owner_is_not_known_is_for_admins(data_dir: Path) -> None:
    (data_dir / "embedded" / "products").mkdir(parents=True)
    with pytest.raises(ValidationError, match="its owner is not known"):
        endpoints.create(name="e", by=make_user(), **EMBEDDED)
    admin = make_user(superuser=True)
    endpoints.create(name="e", by=admin, **EMBEDDED)
    assert StoredIndex.objects.get().owner == admin


@pytest.mark.parametrize("name", ["../embedded", "..", ".", "a/b", ""])
def test_name_outside_the_folder_says_nothing_about_files(data_dir: Path, name: str) -> None:
    (data_dir / "embedded").mkdir()
    assert endpoints.indexes.why_not_usable(engine="embedded", name=name, by=make_user()) == ""


def test_uploaded_file_belongs_to_who_uploaded_it() -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    stored = endpoints.uploads.store(engine="static", content=CSV, name="old.csv", by=ann)
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.create(name="mine", engine="static", url=stored, by=ben)
    endpoint = endpoints.create(name="mine", engine="static", url=stored, by=ann)
    assert endpoints.known_queries(endpoint) == ["star wars"]
    assert endpoints.known_queries(make_endpoint(ben, engine="static", url=stored)) == []


def test_uploaded_file_of_an_editor_is_transferred_to_the_owner_of_the_endpoint() -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    first = endpoints.uploads.store(engine="static", content=CSV, name="old.csv", by=ann)
    endpoint = endpoints.create(name="mine", engine="static", url=first, by=ann)
    second = endpoints.uploads.store(engine="static", content=CSV, name="new.csv", by=ben)
    endpoints.update(endpoint=endpoint, by=ben, engine="static", url=second, **SETTINGS)
    assert StoredIndex.objects.get(name=second).owner == ann
    assert endpoints.known_queries(endpoint) == ["star wars"]


def test_new_case_on_an_index_that_was_taken_meanwhile() -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    scorer = make_case(1).scorers.get()
    endpoint = endpoints.build_endpoint(name="mine", by=ben, **EMBEDDED)
    load(ann)
    setup = cases.CaseSetup("New", scorer, endpoint, '{"query": "#$query##"}', "", ["a"])
    with pytest.raises(ValidationError, match="belongs to someone else"):
        cases.create_from_setup(setup=setup, by=ben)
    assert not Endpoint.objects.exists()


def test_sample_belongs_to_its_owner() -> None:
    owner = make_user("Ann")
    sample.load(owner=owner)
    assert [(index.name, index.owner) for index in StoredIndex.objects.all()] == [("films", owner)]
    with pytest.raises(ValidationError, match="belongs to someone else"):
        endpoints.create(name="f", engine="embedded", url="films", by=make_user())
