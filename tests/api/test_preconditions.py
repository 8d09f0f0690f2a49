"""ETags and If-Match: nobody overwrites a change that they have not seen, and an unchanged answer is not sent again."""

import pytest

from relevancy import cases, queries, ratings, scorers
from relevancy.api.preconditions import PreconditionFailed, check_if_match, read_if_match
from relevancy.models import Scorer, ScorerDefinition
from tests.factories import make_attempt, make_case, query_of, run_now
from tests.optional import contributed

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(script):
    case = make_case(3, {"query 1": {"a": 3}})
    queries.link(queries=list(case.book.queries.order_by("pk")[1:]))
    run = run_now(make_attempt(case))
    cases.annotations.add(case=case, run=run, text="New synonyms", by=case.owner)
    return case


@pytest.fixture
def client(api, case):
    return api(case.owner)


def changes_of(case):
    """For each address whose object can be changed: the method, and two different bodies."""
    annotation = case.annotations.get()
    query = query_of(case, "query 1")
    endpoint = case.attempts.get().endpoint
    scorer = scorers.create(name="Of the shop", definition=ScorerDefinition(measure="nDCG@5"), by=case.owner)
    scorer_ids = list(Scorer.objects.values_list("pk", flat=True)[:2])
    return {
        f"/queries/{query.pk}": ("PATCH", {"notes": "One"}, {"notes": "Two"}),
        f"/cases/{case.pk}/queries/{query.pk}": ("PATCH", {"weight": 2}, {"weight": 3}),
        f"/books/{case.book_id}": ("PATCH", {"guidelines": "One"}, {"guidelines": "Two"}),
        f"/books/{case.book_id}/grading": ("PUT", {"scale": "0:5"}, {"scale": "0:4"}),
        f"/books/{case.book_id}/judging": ("PUT", {"depth": 5}, {"depth": 6}),
        f"/endpoints/{endpoint.pk}": ("PATCH", {"per_minute": 1, "archived": True}, {"parallel": 2, "archived": False}),
        f"/scorers/{scorer.pk}": ("PATCH", {"description": "One", "retired": True}, {"retired": False}),
        f"/cases/{case.pk}/scorers": ("PUT", {"scorer_ids": scorer_ids}, {"scorer_ids": scorer_ids[::-1]}),
        f"/cases/{case.pk}": ("PATCH", {"name": "One"}, {"name": "Two"}),
        f"/cases/{case.pk}/attempts/1": ("PATCH", {"note": "One"}, {"note": "Two"}),
        f"/cases/{case.pk}/annotations/{annotation.pk}": ("PATCH", {"text": "One"}, {"text": "Two"}),
        **{path: rows for added in contributed("changes_of") for path, rows in added(case).items()},
    }


def test_a_change_that_was_not_seen_is_not_overwritten(client, case):
    for path, (method, first, second) in changes_of(case).items():
        read = client.send("GET", path)
        etag = read.headers["ETag"]
        assert client.send("GET", path, **{"If-None-Match": etag}).status_code == 304, path
        changed = client.send(method, path, first, **{"If-Match": etag})
        assert changed.status_code == 200, path
        present = client.get(path)
        refused = client.send(method, path, second, **{"If-Match": etag})
        assert (refused.status_code, refused.headers["Content-Type"]) == (412, "application/problem+json"), path
        assert client.send(method, path, second, **{"If-Match": '"x"'}).status_code == 412, path
        assert client.get(path) == present, path
        again = client.send(method, path, second, **{"If-Match": changed.headers["ETag"]})
        assert again.status_code == 200, path
        assert client.send(method, path, first, **{"If-Match": "*"}).status_code == 200, path


def test_an_object_that_was_changed_is_not_removed(client, case):
    query = query_of(case, "query 1")
    kept = {f"/cases/{case.pk}/attempts/1", f"/cases/{case.pk}/scorers", f"/queries/{query.pk}"}
    changes = changes_of(case)
    for path, (method, first, second) in changes.items():
        if path in kept or path.startswith(("/books/", "/endpoints/", "/scorers/")):
            continue
        etag = client.send(method, path, first).headers["ETag"]
        newer = client.send(method, path, second).headers["ETag"]
        assert client.send("DELETE", path, **{"If-Match": etag}).status_code == 412, path
        assert client.send("GET", path).status_code == 200, path
        if not any(other.startswith(f"{path}/") for other in changes):  # which are part of it
            assert client.send("DELETE", path, **{"If-Match": newer}).status_code == 204, path
            assert client.send("GET", path).status_code == 404, path


def test_scores_and_ratings_are_no_changes(client, case):
    """They change what is answered, and not what is changed at the address."""
    query = query_of(case, "query 1")
    paths = {
        f"/queries/{query.pk}": {"notes": "One"},
        f"/cases/{case.pk}": {"name": "One"},
    }
    etags = {path: client.send("GET", path).headers["ETag"] for path in paths}
    ratings.rate(query=query, doc_id="b", value=1, by=case.owner)
    run_now(case.attempts.get())
    for path, body in paths.items():
        assert client.send("GET", path, **{"If-None-Match": etags[path]}).status_code == 200, path
        assert client.send("PATCH", path, body, **{"If-Match": etags[path]}).status_code == 200, path


@pytest.mark.parametrize(
    "sent", ["", "*", '"7-00000000000000000000000000000000"', 'W/"7-00000000000000000000000000000000"']
)
def test_the_state_that_is_named(sent):
    check_if_match(sent, state=7)


@pytest.mark.parametrize("sent", ["7", '"7"', '"-"', '"7-0", "8-0"', "x" * 5_000])
def test_if_match_that_is_no_etag(sent):
    with pytest.raises(PreconditionFailed):
        read_if_match(sent)
