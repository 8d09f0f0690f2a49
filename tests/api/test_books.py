"""Books: their grading, what is judged in them, their queries and copies."""

import pytest

from relevancy import cases
from relevancy.models import Activity, Book, JudgingQueue, Rating
from tests.factories import make_attempt, make_case, query_of, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(2, {"query 1": {"a": 3, "b": 1}})


@pytest.fixture
def client(api, case):
    return api(case.owner)


def test_book_and_its_queries(client, case):
    path = f"/books/{case.book_id}"
    book = client.get(path)
    listed = client.items("/books")[0]
    assert book.items() >= listed.items()
    assert (book["owner"], book["guidelines"], book["query_count"]) == (case.owner.name, "", 2)
    for _ in range(2):
        assert client.send("PATCH", path, {"guidelines": "3: perfect"}).json() == {**book, "guidelines": "3: perfect"}
    assert Activity.objects.filter(case=case, verb="book.guidelines").count() == 1
    assert client.send("PATCH", path, {"guidelines": "a\x00"}).json()["errors"][0]["field"] == "guidelines"
    first, second = client.items(f"{path}/queries", limit=1)
    assert (first["query_id"], first["text"], first["rated"]) == (query_of(case, "query 1").pk, "query 1", 2)
    assert second["rated"] == 0


def test_grading(client, case):
    run = run_now(make_attempt(case))
    path = f"/books/{case.book_id}/grading"
    for _ in range(2):
        changed = client.send(
            "PUT", path, {"scale": "0 Poor, 1 Fair, 3 Good, 9 Perfect", "relevant_from": 3, "rule": "mean"}
        )
        assert changed.json() == client.get(path)
    assert changed.json() == {
        "scale": [[0, "Poor"], [1, "Fair"], [3, "Good"], [9, "Perfect"]],
        "relevant_from": 3,
        "rule": "mean",
    }
    assert Activity.objects.filter(case=case, verb="book.changed").count() == 1
    assert client.get(f"/runs/{run.pk}")["scores"][0]["is_being_rescored"] is False
    assert set(Rating.objects.filter(query__book=case.book_id).values_list("value", flat=True)) == {1, 3}


def test_gradings_that_are_refused(client, case):
    path = f"/books/{case.book_id}/grading"
    before = client.get(path)
    wrong = [
        {"scale": "0:2"},  # a document is rated 3
        {"scale": "good"},
        {"scale": "0:3", "relevant_from": 7},
        {"scale": "0:3", "rule": "best"},
        {},
    ]
    for body in wrong:
        assert client.send("PUT", path, body).status_code == 422, body
    assert client.get(path) == before


def test_judging(client, case):
    path = f"/books/{case.book_id}/judging"
    assert client.get(path) == {"depth": 10, "ratings_per_pair": 1, "order": "query", "repeat_share": 0}
    wanted = {"depth": 5, "ratings_per_pair": 2, "order": "rank", "repeat_share": 10}
    for _ in range(2):
        assert client.send("PUT", path, wanted).json() == wanted == client.get(path)
    assert Activity.objects.filter(case=case, verb="book.changed").count() == 1
    assert JudgingQueue.objects.get(book=case.book).depth == 5
    for wrong in ({"depth": 0}, {"ratings_per_pair": 10}, {"order": "difference"}, {"repeat_share": 51}):
        assert client.send("PUT", path, wrong).status_code == 422
    assert client.get(path) == wanted


def test_copy(client, case):
    copy = client.send("POST", f"/books/{case.book_id}/copies", {"name": "A copy"})
    assert copy.status_code == 201
    book = client.get(copy.headers["Location"].removeprefix("/api/v1"))
    assert (book, book["name"], book["query_count"], book["role"]) == (copy.json(), "A copy", 2, "owner")
    assert Rating.objects.filter(query__book=book["id"]).count() == 2
    assert client.send("POST", f"/books/{case.book_id}/copies", {"name": " "}).status_code == 422
    assert Book.objects.count() == 2


def test_rename_and_delete(client, case):
    path = f"/books/{case.book_id}"
    tag = client.send("GET", path)["ETag"]
    assert client.send("PATCH", path, {"name": "Films"}).json()["name"] == "Films"
    assert client.send("PATCH", path, {"name": " "}).json()["errors"][0]["field"] == "name"
    assert client.send("DELETE", path).status_code == 422
    cases.delete(case=case, by=case.owner)
    assert client.send("DELETE", path, **{"If-Match": tag}).status_code == 412
    assert client.send("DELETE", path).status_code == 204
    assert not Book.objects.exists()
