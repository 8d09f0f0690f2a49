"""What operations return and change: the same as the pages and the commands."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from relevancy import judging, tasks
from relevancy.api import paging
from relevancy.models import Activity, CaseScore, JudgingQueue, Rating, RatingChange, Role, Run
from tests.factories import make_attempt, make_case, make_team, make_user, query_of, run_now, script_of, set_hits

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(script):
    return make_case(3, {"query 1": {"a": 3, "b": 1, "x": 2}, "query 2": {"b": 2}})


@pytest.fixture
def client(api, case):
    return api(case.owner)


def activity_of(case):
    """What was done in a case, newest first."""
    return list(Activity.objects.filter(case=case).order_by("-id").values_list("verb", flat=True))


def test_case_with_the_scores_of_its_newest_run(client, case):
    run = run_now(make_attempt(case))
    details = client.get(f"/cases/{case.pk}")
    stored = CaseScore.objects.get(run=run)
    (score,) = details["newest_run"]["scores"]
    assert (details["role"], details["query_count"], details["newest_run"]["id"]) == ("owner", 3, run.pk)
    assert (score["score"], score["low"], score["high"]) == (stored.score, stored.low, stored.high)
    assert (score["scored"], score["queries"], score["is_being_rescored"]) == (2, 3, False)


def test_lists_in_pages_are_complete_and_in_order(client, case):
    attempt = make_attempt(case)
    numbers = [run_now(attempt).number for _ in range(5)]
    assert [run["number"] for run in client.items(f"/cases/{case.pk}/runs")] == numbers[::-1]
    queries = client.items(f"/cases/{case.pk}/queries", limit=1)
    assert [query["text"] for query in queries] == ["query 1", "query 2", "query 3"]


@pytest.mark.parametrize("cursor", ["x", "W10", "WyJhIl0", "Wy0xLCAyXQ", "WzFlOTk5XQ", "bnVsbA", "é"])
def test_invalid_cursor(client, cursor):
    response = client.send("GET", f"/cases?cursor={cursor}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "cursor")


def test_rate_and_remove(client, case, django_capture_on_commit_callbacks):
    query = query_of(case, "query 3")
    path = f"/queries/{query.pk}/ratings"
    assert client.send("PUT", path, {"a": 3, "d/e f?": 1}).json() == {"changed": 2}
    assert client.send("PUT", path, {"a": 3}).json() == {"changed": 0}
    assert client.send("PUT", f"{path}/d%2Fe%20f%3F", {"value": 2}).json() == {"changed": 1}
    assert client.get(f"/queries/{query.pk}/grades") == {"grades": {"a": 3, "d/e f?": 2}}
    assert client.send("DELETE", f"{path}/d/e%20f%3F").json() == {"changed": 1}
    assert client.send("DELETE", f"{path}/d/e%20f%3F").json() == {"changed": 0}
    assert [item["doc_id"] for item in client.items(path)] == ["a"]
    assert set(RatingChange.objects.filter(query=query).values_list("source", flat=True)) == {"api"}


def test_raters_who_judge_blind_get_the_grades_of_what_they_have_judged(api, client, case):
    rater = make_user("Jonas")
    case.book.teams.add(make_team(Jonas=Role.RATER))
    query = query_of(case, "query 3")
    path = f"/queries/{query.pk}"
    client.send("PUT", f"{path}/ratings", {"a": 3, "b": 2})
    blind = api(rater)
    assert (blind.items(f"{path}/ratings"), blind.get(f"{path}/grades")) == ([], {"grades": {}})
    blind.send("PUT", f"{path}/ratings", {"a": 1})
    assert [item["doc_id"] for item in blind.items(f"{path}/ratings")] == ["a", "a"]
    assert blind.get(f"{path}/grades") == {"grades": {"a": 1}}
    assert (
        client.send("PATCH", f"/books/{case.book_id}", {"raters_are_blind": False}).json()["raters_are_blind"] is False
    )
    assert blind.get(f"{path}/grades") == {"grades": {"a": 1, "b": 2}}


def test_a_rating_changes_the_score_of_the_run(client, case):
    run = run_now(make_attempt(case))
    before = client.get(f"/runs/{run.pk}")["scores"][0]["score"]
    client.send("PUT", f"/queries/{query_of(case, 'query 1').pk}/ratings", {"c": 3})
    after = client.get(f"/runs/{run.pk}")["scores"][0]
    assert after["is_being_rescored"] is False
    assert after["score"] == CaseScore.objects.get(run=run).score != before


def test_no_outdated_score_is_returned(client, case, monkeypatch):
    run = run_now(make_attempt(case))
    monkeypatch.setattr("relevancy.tasks.send", lambda task, pk, **_: None)  # the worker has not begun
    client.send("PUT", f"/queries/{query_of(case, 'query 1').pk}/ratings", {"c": 3})
    score = client.get(f"/runs/{run.pk}")["scores"][0]
    assert (score["score"], score["low"], score["high"], score["is_being_rescored"]) == (None, None, None, True)
    rankings = client.get(f"/runs/{run.pk}/rankings")["items"]
    assert [ranking["scores"][0]["is_being_rescored"] for ranking in rankings] == [True, False, False]
    assert rankings[0]["scores"][0]["score"] is None


@pytest.mark.parametrize("value", [7, -1, "3", True, None, [], 1e400])
def test_value_that_cannot_be_stored_changes_nothing(client, case, value):
    path = f"/queries/{query_of(case, 'query 1').pk}/ratings"
    count = Rating.objects.count()
    response = client.send("PUT", path, {"new": 2, "a": value})
    assert response.status_code == 422
    assert response.json()["detail"]
    assert Rating.objects.count() == count


def test_if_match(client, case):
    path = f"/queries/{query_of(case, 'query 1').pk}/ratings"
    etag = client.send("GET", path).headers["ETag"]
    assert client.send("GET", path, **{"If-None-Match": etag}).status_code == 304
    assert client.send("PUT", path, {"a": 2}, **{"If-Match": etag}).status_code == 200
    assert client.send("GET", path, **{"If-None-Match": etag}).status_code == 200
    for method, address, body in (
        ("PUT", path, {"a": 1}),
        ("PUT", f"{path}/a", {"value": 1}),
        ("DELETE", f"{path}/a", None),
    ):
        refused = client.send(method, address, body, **{"If-Match": etag})
        assert (refused.status_code, refused.headers["Content-Type"]) == (412, "application/problem+json")
        assert client.send(method, address, body, **{"If-Match": '"x"'}).status_code == 412
    assert Rating.objects.get(query__text="query 1", doc_id="a").value == 2
    assert client.send("PUT", path, {"a": 1}, **{"If-Match": "*"}).status_code == 200


def test_add_queries(client, case):
    path = f"/cases/{case.pk}/queries"
    one = client.send("POST", path, {"text": " new one "})
    assert (one.status_code, one.json()["added"][0]["text"]) == (201, "new one")
    several = client.send("POST", path, [{"text": "two"}, {"text": "query 1"}, {"text": "bad\x07"}]).json()
    assert [row["text"] for row in several["added"]] == ["two"]
    assert several["repeated"] == ["query 1"]
    assert [row["number"] for row in several["rejected"]] == [3]
    refused = client.send("POST", path, {"text": "bad\x07"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "text")


def test_adding_queries_needs_the_book(api, case):
    """An editor of the case who is only a rater of the book may not add queries to it."""
    editor = make_user("editor")
    case.teams.add(make_team(editor=Role.EDITOR))
    refused = api(editor).send("POST", f"/cases/{case.pk}/queries", {"text": "new"})
    assert (refused.status_code, "Queries belong to the book." in refused.json()["detail"]) == (403, True)


def test_links(client, case):
    run = run_now(make_attempt(case))
    ids = [query_of(case, f"query {number}").pk for number in (1, 2, 3)]
    path = f"/cases/{case.pk}/links"
    assert client.get(path) == []
    linked = client.send("POST", path, {"query_ids": ids[1::-1]})
    assert linked.status_code == 201
    link = linked.json()
    texts = [{"query_id": pk, "text": f"query {number}"} for number, pk in enumerate(ids[:2], 1)]
    assert link["queries"] == texts
    more = client.send("POST", path, {"query_ids": ids[1:]}).json()
    assert (more["id"], len(more["queries"])) == (link["id"], 3)
    assert client.get(path) == [more]
    assert client.get(f"{path}/{link['id']}") == more
    source = {"query_id": ids[0], "dry_run": True}
    copied = client.send("POST", f"{path}/{link['id']}/copy", source).json()["copied"]
    assert copied > 0 and Rating.objects.filter(query=ids[2]).count() == 0
    answers = [client.send("POST", f"{path}/{link['id']}/copy", {"query_id": ids[0]}).json() for _ in range(2)]
    assert answers == [{"copied": copied}, {"copied": 0}]
    assert activity_of(case).count("rating.copied") == 1
    elsewhere = query_of(make_case(1, owner=case.owner), "query 1").pk
    assert client.send("POST", f"{path}/{link['id']}/copy", {"query_id": elsewhere}).status_code == 422
    assert client.send("DELETE", f"{path}/{link['id']}").status_code == 204
    assert client.get(path) == []
    score = client.get(f"/runs/{run.pk}")["scores"][0]
    assert (score["scored"], score["is_being_rescored"]) == (3, False)  # the third one by the ratings that were copied


def test_links_that_are_refused(client, api, case):
    ids = [query_of(case, f"query {number}").pk for number in (1, 2)]
    elsewhere = query_of(make_case(1, owner=case.owner), "query 1").pk
    path = f"/cases/{case.pk}/links"
    for wrong in ([ids[0], elsewhere], [ids[0], ids[0]], ids[:1], [*ids, 0], [*ids, 2**63]):
        assert client.send("POST", path, {"query_ids": wrong}).status_code == 422
    editor = make_user("editor")
    case.teams.add(make_team(editor=Role.EDITOR))  # who is only a rater of the book
    assert api(editor).send("POST", path, {"query_ids": ids}).status_code == 403
    assert client.get(path) == []


def test_change_query(client, case):
    query = query_of(case, "query 1")
    path = f"/queries/{query.pk}"
    before = client.get(path)
    texts = {"information_need": "Films", "reference_answer": "The first one", "notes": "Line 1\nline 2"}
    for _ in range(2):
        changed = client.send("PATCH", path, {**texts, "tags": ["head", " Films ", "films"]})
        assert (changed.status_code, changed.json()) == (200, {**before, **texts, "tags": ["Films", "head"]})
    assert activity_of(case).count("query.changed") == 2  # texts and tags, once each
    other = client.send("PATCH", f"/queries/{query_of(case, 'query 2').pk}", {"tags": ["FILMS"], "notes": None}).json()
    assert (other["tags"], other["notes"]) == (["Films"], "")  # in the spelling of the book
    cleared = client.send("PATCH", path, {"tags": [], "notes": ""}).json()
    assert cleared == {**before, **texts, "tags": [], "notes": ""} == client.get(path)


def test_changes_of_a_query_are_made_together(client, api, case):
    path = f"/queries/{query_of(case, 'query 1').pk}"
    before = client.get(path)
    wrong = [
        ("tags", {"notes": "Noted", "tags": [f"tag {number}" for number in range(21)]}),
        ("tags", {"notes": "Noted", "tags": ["x" * 51]}),
        ("tags", {"notes": "Noted", "tags": ["a\x00"]}),
        ("notes", {"notes": "\ud800", "tags": ["films"]}),
        ("information_need", {"information_need": "x" * 5_001}),
    ]
    for field, body in wrong:
        refused = client.send("PATCH", path, body)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    editor = make_user("editor")
    case.teams.add(make_team(editor=Role.EDITOR))  # who is only a rater of the book
    assert api(editor).send("PATCH", path, {"notes": "Noted"}).status_code == 403
    assert client.get(path) == before


def test_attempt_and_run(client, case):
    first = make_attempt(case)
    run_now(first)
    new = {"endpoint_id": first.endpoint_id, "template": '{"q": "#$query##", "boost": "##b##"}', "knobs": {"b": 2.5}}
    saved = client.send("POST", f"/cases/{case.pk}/attempts", {**new, "parent": 1, "name": "boosted"})
    assert saved.status_code == 201
    details = saved.json()
    assert (details["number"], details["parent"], details["knobs"]) == (2, 1, {"b": 2.5})
    assert client.get(f"/cases/{case.pk}/attempts/2") == details
    started = client.send("POST", f"/cases/{case.pk}/attempts/2/runs")
    assert started.status_code == 200  # tasks of tests are executed at once
    run = client.get(started.headers["Location"].removeprefix("/api/v1"))
    assert (run["id"], run["status"], run["done"], run["attempt"]) == (started.json()["id"], "complete", 3, 2)
    with_text = client.send("POST", f"/cases/{case.pk}/attempts", {**new, "knobs": {"b": "2<75%"}, "parent": 2}).json()
    assert client.get(f"/cases/{case.pk}/attempts/{with_text['number']}")["knobs"] == {"b": "2<75%"}
    invalid = client.send("POST", f"/cases/{case.pk}/attempts", {**new, "template": "{"})
    assert (invalid.status_code, invalid.json()["errors"][0]["field"]) == (422, "template")


def test_change_attempt(client, case):
    make_attempt(case)
    make_attempt(case)
    path = f"/cases/{case.pk}/attempts/1"
    for _ in range(2):  # the second time changes nothing
        described = client.send("PATCH", path, {"name": " Boost titles ", "note": "More recall."}).json()
        assert (described["name"], described["note"], described["archived_at"]) == (
            "Boost titles",
            "More recall.",
            None,
        )
        archived = client.send("PATCH", path, {"note": "", "archived": True}).json()
        assert (archived["name"], archived["note"]) == ("Boost titles", "")
        assert archived["archived_at"] == client.get(path)["archived_at"] is not None
        assert client.send("PATCH", path, {"archived": True}).json() == archived
        assert client.send("PATCH", path, {"archived": False}).json()["archived_at"] is None
        assert client.send("PATCH", path, {"name": None}).json()["name"] == "Boost titles"


def test_changes_of_an_attempt_are_made_together(client, case):
    make_attempt(case)
    path = f"/cases/{case.pk}/attempts/1"
    refused = client.send("PATCH", path, {"name": "The last one", "archived": True})
    assert (refused.status_code, client.get(path)["name"]) == (422, "")
    for wrong in ({"name": "a\x00"}, {"note": "\ud800"}, {"name": 3}, {"archived": 1}, {"note": "x" * 2_001}):
        refused = client.send("PATCH", path, wrong)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, next(iter(wrong)))


def test_annotations(client, case):
    first, second = (run_now(make_attempt(case)) for _ in range(2))
    path = f"/cases/{case.pk}/annotations"
    added = client.send("POST", path, {"run_id": first.pk, "text": " New synonyms "})
    assert added.status_code == 201
    note = added.json()
    assert (note["run_id"], note["run"], note["text"]) == (first.pk, first.number, "New synonyms")
    other = client.send("POST", path, {"run_id": second.pk, "text": "More documents"}).json()
    assert client.items(path, limit=1) == [note, other]
    changed = client.send("PATCH", f"{path}/{note['id']}", {"text": "Fewer synonyms"}).json()
    assert changed == {**note, "text": "Fewer synonyms"}
    for _ in range(2):
        assert client.send("DELETE", f"{path}/{note['id']}").status_code == 204
    assert client.items(path) == [other]
    assert client.send("PATCH", f"{path}/{note['id']}", {"text": "Back"}).status_code == 404
    assert activity_of(case)[:4] == ["annotation.removed", "annotation.changed", "annotation.added", "annotation.added"]


def test_annotations_that_are_refused(client, case):
    run = run_now(make_attempt(case))
    elsewhere = run_now(make_attempt(make_case(1, owner=case.owner)))
    path = f"/cases/{case.pk}/annotations"
    wrong = [
        ("run_id", {"run_id": elsewhere.pk, "text": "A note"}),
        ("text", {"run_id": run.pk, "text": " "}),
        ("text", {"run_id": run.pk, "text": "a\x00"}),
        ("text", {"run_id": run.pk, "text": "\ud800"}),
    ]
    for field, body in wrong:
        refused = client.send("POST", path, body)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    assert client.items(path) == []


def test_run_that_is_active_is_cancelled_and_not_pinned(client, case, monkeypatch):
    monkeypatch.setattr("relevancy.tasks.send", lambda task, pk, **_: None)
    make_attempt(case)
    started = client.send("POST", f"/cases/{case.pk}/attempts/1/runs").json()
    path = f"/runs/{started['id']}"
    assert client.send("POST", f"/cases/{case.pk}/attempts/1/runs").status_code == 409
    assert client.send("PUT", f"{path}/pin").status_code == 409
    cancelled = client.send("DELETE", path)
    assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelled")
    assert client.send("DELETE", path).status_code == 409


def test_pin_can_be_repeated(client, case):
    run = run_now(make_attempt(case))
    for method, is_pinned in (("PUT", True), ("PUT", True), ("DELETE", False), ("DELETE", False)):
        assert client.send(method, f"/runs/{run.pk}/pin").status_code == 204
        assert client.get(f"/runs/{run.pk}")["is_pinned"] is is_pinned


def test_import_run(client, case):
    first, second = (query_of(case, text).pk for text in ("query 1", "query 2"))
    rankings = [
        {"query_id": first, "hits": [{"doc_id": "a", "score": 2.5}, {"doc_id": " b "}]},
        {"query_id": second, "hits": []},
    ]
    path = f"/cases/{case.pk}/runs"
    pushed = client.send("POST", path, {"name": "candidate", "rankings": rankings})
    assert pushed.status_code == 201
    run = client.get(f"/runs/{pushed.json()['id']}")
    assert (run["name"], run["status"], run["is_pinned"], run["done"]) == ("candidate", "complete", True, 3)
    assert run["scores"][0]["score"] == CaseScore.objects.get(run=run["id"]).score
    stored = client.items(f"/runs/{run['id']}/rankings")
    assert [[hit["doc_id"] for hit in ranking["hits"]] for ranking in stored] == [["a", "b"], [], []]
    for wrong in ([rankings[0], rankings[0]], [{"query_id": 999999, "hits": []}]):
        refused = client.send("POST", path, {"rankings": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "query_id")
    blank = [{"query_id": first, "hits": [{"doc_id": " "}]}]
    assert client.send("POST", path, {"rankings": blank}).status_code == 422
    assert Run.objects.count() == 1


def test_rankings_end_a_page_early_rather_than_be_large(client, case, monkeypatch):
    run = run_now(make_attempt(case))
    for ranking in run.rankings.all():
        set_hits([ranking], [["a", 1.0, {"text": "x" * 1_000}]])
    count = run.rankings.count()
    assert count > 1
    path = f"/runs/{run.pk}/rankings"
    monkeypatch.setattr(paging, "MAX_CHARACTERS", 1_500)
    pages, cursor = [], ""
    while cursor is not None:
        page = client.get(f"{path}?fields=true&limit=200&cursor={cursor}")
        pages.append(page["items"])
        cursor = page["next"]
    assert [len(items) for items in pages] == [1] * count
    assert len({items[0]["query_id"] for items in pages}) == count
    monkeypatch.setattr(paging, "MAX_CHARACTERS", 10)  # less than one item
    assert len(client.get(path)["items"]) == 1


def test_rankings(client, case):
    run = run_now(make_attempt(case))
    rankings = client.items(f"/runs/{run.pk}/rankings", limit=1)
    assert [ranking["text"] for ranking in rankings] == ["query 1", "query 2", "query 3"]
    assert [hit["doc_id"] for hit in rankings[0]["hits"]] == ["a", "b", "c"]
    assert rankings[0]["hits"][0] == {"rank": 1, "doc_id": "a", "score": 3.0, "fields": None}
    stored = run.query_scores.get(query__text="query 1")
    assert rankings[0]["scores"][0]["score"] == stored.score
    assert rankings[2]["scores"][0]["score"] is None
    with_fields = client.get(f"/runs/{run.pk}/rankings?fields=true&limit=1")["items"]
    assert with_fields[0]["hits"][0]["fields"] == {"id": "a"}


def test_comparison_has_the_figures_of_the_command(client, case):
    attempt = make_attempt(case)
    before = run_now(attempt)
    script_of(attempt).default = ("b", "a", "c")
    after = run_now(attempt)
    path = f"/runs/{after.pk}/compare/{before.pk}"
    assert client.send("GET", path).status_code == 202
    figures = client.get(path)
    out = StringIO()
    call_command("compare", str(before.pk), str(after.pk), "--json", stdout=out)
    assert figures == json.loads(out.getvalue())
    assert figures["runs"][0]["run"] == before.pk
    assert client.get(f"{path}?scorer={case.scorers.get().pk}") == figures
    assert client.send("GET", f"{path}?scorer=999999").status_code == 404
    report = client.send("GET", f"{path}/report")
    assert (report.status_code, report["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert f"{case}: {before} and {after} compared" in report.content.decode()


def test_runs_that_cannot_be_compared(client, case):
    run = run_now(make_attempt(case))
    assert client.send("GET", f"/runs/{run.pk}/compare/{run.pk}").status_code == 422
    other = make_case(1, owner=case.owner)
    elsewhere = run_now(make_attempt(other))
    assert client.send("GET", f"/runs/{run.pk}/compare/{elsewhere.pk}").status_code == 422


def test_try_scorer_has_the_figures_of_the_command(client):
    body = {"measure": "nDCG@10", "grades": [3, 2, None, 1], "known": [3], "scale": "0:3"}
    out = StringIO()
    options = ["--measure", "nDCG@10", "--grades", "3 2 - 1", "--known", "3", "--scale", "0:3"]
    call_command("try_scorer", *options, "--json", stdout=out)
    response = client.send("POST", "/scorers/try", body)
    assert response.json() == json.loads(out.getvalue())


@pytest.mark.parametrize(
    "body",
    [
        {"grades": [1]},
        {"measure": "nDCG@10", "script": "x", "grades": [1]},
        {"measure": "no such measure", "grades": [1]},
        {"measure": "nDCG@10", "grades": [9], "scale": "0:3"},
        {"measure": "nDCG@10", "grades": [1], "scale": "x"},
        {"measure": "nDCG@10", "grades": []},
        {"script": "this is no script(", "grades": [1]},
    ],
)
def test_try_scorer_refuses(client, body):
    assert client.send("POST", "/scorers/try", body).status_code == 422


def test_try_endpoint(client, case):
    attempt = make_attempt(case)
    result = client.send("POST", f"/endpoints/{attempt.endpoint_id}/try", {"text": "star"}).json()
    assert (result["version"], result["total"], result["error"]) == ("Scripted 1.0", 3, "")
    assert [document["id"] for document in result["documents"]] == ["a", "b", "c"]


def test_next_pairs_and_rating_them(client, api, case):
    run_now(make_attempt(case))
    book = case.book_id
    response = client.send("GET", f"/books/{book}/next?count=20")
    assert response.headers["Cache-Control"] == "no-store"
    pairs = response.json()["items"]
    assert response.json()["is_being_chosen"] is False
    assert {pair["text"] for pair in pairs} <= {"query 1", "query 2", "query 3"}
    assert pairs
    first = pairs[0]
    assert first["fields"] == {"id": first["doc_id"]}
    client.send("PUT", f"/queries/{first['query_id']}/ratings/{first['doc_id']}", {"value": 1})
    left = client.get(f"/books/{book}/next?count=20")["items"]
    assert first not in left
    other = make_user("other")
    case.book.teams.add(make_team(other=Role.RATER))
    assert api(other).get(f"/books/{book}/next?count=20")["items"] == []  # the first rater has them


def test_next_pairs_are_chosen_when_they_are_asked_for_first(client, case, monkeypatch):
    run_now(make_attempt(case))
    assert not JudgingQueue.objects.exists()
    monkeypatch.setattr(tasks, "send", lambda *_, **__: None)  # the worker is busy
    answer = client.get(f"/books/{case.book_id}/next?count=20")
    assert answer == {"items": [], "is_being_chosen": True}
    judging.build_judging_queue(book=case.book)
    answer = client.get(f"/books/{case.book_id}/next?count=20")
    assert (len(answer["items"]), answer["is_being_chosen"]) == (6, False)  # three of nine are rated


def test_me(client, case):
    me = client.get("/me")
    assert (me["email"], me["is_admin"], me["token"]["scope"]) == (case.owner.email, False, "write")


def test_statements_of_lists_do_not_grow(client, case, django_assert_max_num_queries):
    attempt = make_attempt(case)
    run = run_now(attempt)
    for _ in range(4):
        run = run_now(attempt)
        make_case(1, owner=case.owner)
    paths = [
        "/cases",
        "/books",
        "/scorers",
        "/endpoints",
        "/teams",
        f"/cases/{case.pk}/runs",
        f"/runs/{run.pk}/rankings",
    ]
    paths += [f"/cases/{case.pk}/attempts", f"/cases/{case.pk}/queries", f"/cases/{case.pk}", f"/runs/{run.pk}"]
    client.get("/me")  # stores when the token was used
    for path in paths:
        with django_assert_max_num_queries(9):
            client.get(path)
    assert Run.objects.count() == 5
