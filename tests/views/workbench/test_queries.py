"""Queries on the workbench: opened, added, edited, removed, searched again, and what was sent for them."""

import json

import pytest
from django.contrib.messages import get_messages

from relevancy import engines, queries, runs
from relevancy.models import CaseScore, Endpoint, Run
from tests.factories import make_attempt, make_case, make_endpoint, make_user, query_of, run_now, script_of

from .example_cases import (
    HTMX,
    SCRIPT,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    make_workbench_case,
    same,
    set_hits,
    shown,
    start,
    tree,
    words,
)


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def toasts(response):
    return [str(message) for message in get_messages(response.wsgi_request)]


def texts(case):
    return list(case.case_queries.present().order_by("position").values_list("query__text", flat=True))


def score_of(case):
    return CaseScore.objects.get(run__case=case)


# --- opened ---


def test_show_opens_and_closes_in_place(sign_in, case):
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")
    position = at(case, "query", case_query.pk)
    opened = by_id(client.get(position, {"position": "1"}, headers=HTMX), f"query-{case_query.pk}")
    assert same(opened, by_id(client.get(at(case, "case", open=case_query.pk)), f"query-{case_query.pk}"))
    link = elements(opened, _name="a", **{"data-key-open": ""})[0]
    assert attributes(link)["aria-expanded"] == "true"
    closed = by_id(
        client.get(attributes(link)["href"], {"closed": "1", "position": "1"}, headers=HTMX), f"query-{case_query.pk}"
    )
    assert same(closed, by_id(client.get(at(case, "case")), f"query-{case_query.pk}"))


def test_show_says_why_there_are_no_results(sign_in, case):
    client = sign_in("editor")
    run = case.runs.get()
    case_query = case_query_of(case, "query 1")

    def inside():
        return words(by_id(client.get(at(case, "query", case_query.pk), headers=HTMX), f"query-{case_query.pk}"))

    set_hits(run, "query 1", [], total=0)
    assert "The engine returned no results for this query." in inside()
    run.rankings.filter(query=case_query.query).update(error_kind="bad query", error=f"No parser {SCRIPT}")
    assert f"The search failed (bad query): No parser {SCRIPT}" in inside()
    run.rankings.filter(query=case_query.query).delete()
    assert "Run 1 has no results for this query." in inside()
    start(case)
    assert "Not searched yet: the run is still active." in inside()
    Run.objects.all().delete()
    assert "Nothing has been run yet." in inside()


@pytest.mark.parametrize(
    ("total", "kept", "line"),
    [
        (1204, 3, "Shown to rank 2 · 1,202 more results"),
        (3, 3, "Shown to rank 2 · 1 more result"),
        (None, 3, "Shown to rank 2 · 1 more result"),
        (2, 2, "All 2 results"),
        (None, 2, "All 2 results"),
    ],
)
def test_show_says_how_many_more_there_are(sign_in, case, total, kept, line):
    run = case.runs.get()
    Run.objects.update(config={**run.config, "depth": 2})
    set_hits(run, "query 1", ["a", "b", "c"][:kept], total=total)
    case_query = case_query_of(case, "query 1")
    page = by_id(sign_in("viewer").get(at(case, "case", open=case_query.pk)), f"query-{case_query.pk}")
    assert words(elements(page, cls="cutoff")[0]) == line


def test_show_how_documents_moved(sign_in, case):
    script_of(case.attempts.get()).answers["query 1"] = ("c", "a", "d")
    run_now(case.attempts.select_related("case", "endpoint").get())
    case_query = case_query_of(case, "query 1")
    page = sign_in("viewer").get(at(case, "case", open=case_query.pk))
    ranks = [words(elements(by_id(page, f"result-{case_query.pk}-{rank}"), cls="rank")[0]) for rank in (1, 2, 3)]
    assert ranks == ["1 ▲2", "2 ▼1", "3 new"]


# --- one document ---


def test_document_shows_every_field(sign_in, case):
    fields = {
        "id": "a",
        "items": ["one", 2],  # a field may be called like a method of a dict
        "deep": {"x": [1, {"y": None}]},
        "lines": "first\nsecond",
        "empty": None,
        SCRIPT: SCRIPT,
    }
    set_hits(case.runs.get(), "query 1", [("a", fields)])
    client = sign_in("viewer")
    position = at(case, "document", case_query_of(case, "query 1").pk, doc_id="a")
    for headers in ({}, HTMX):
        response = client.get(position, headers=headers)
        names = [words(name) for name in elements(tree(response), _name="dt")]
        assert names == ["document id", *sorted(fields.keys() - {"id"})], "The id stands there once."
        text = words(tree(response))
        assert "one, 2" in text
        assert '"y": null' in text
        assert "first<br>second" in response.content.decode()
    assert "Admin" in text  # who rated it


def test_document_shows_its_fields_in_the_order_of_the_attempt(sign_in, case):
    run = case.runs.get()
    run.config |= {"fields": "id:sku title:name year about"}
    run.save()
    set_hits(run, "query 1", [("a", {"about": "x", "year": 1, "name": "A", "sku": "a", "zz": 1})])
    page = sign_in("viewer").get(at(case, "document", case_query_of(case, "query 1").pk, doc_id="a"), headers=HTMX)
    assert [words(name) for name in elements(tree(page), _name="dt")] == ["document id", "name", "year", "about", "zz"]


def test_document_steps_and_rates(sign_in, case):
    case_query = case_query_of(case, "query 1")
    set_hits(case.runs.get(), "query 1", [("a", {}), ("b", {}), ("c", {})])
    client = sign_in("rater")
    for doc_id, steps in (("a", {"next": "b"}), ("b", {"prev": "a", "next": "c"}), ("c", {"prev": "b"})):
        page = client.get(at(case, "document", case_query.pk, doc_id=doc_id), headers=HTMX)
        links = {
            attributes(link)["rel"]: attributes(link)["hx-get"]
            for link in elements(tree(page), _name="a", cls="button")
        }
        assert links == {rel: at(case, "document", case_query.pk, doc_id=other) for rel, other in steps.items()}
    (form,) = elements(tree(page), _name="form", **{"data-rate": "c"})
    assert attributes(form)["hx-target"] == f"#rating-{case_query.pk}-3"
    (bar,) = elements(tree(client.get(at(case, "document", case_query.pk, doc_id="c"))), cls="document-bar")
    assert "hx-disable" in attributes(bar), "As a page of its own it has no row to replace."
    (bar,) = elements(
        tree(sign_in("viewer").get(at(case, "document", case_query.pk, doc_id="c"), headers=HTMX)), cls="document-bar"
    )
    assert elements(bar, _name="form") == []


def test_document_leads_to_the_engine(sign_in, people, case):
    case_query = case_query_of(case, "query 1")
    position = at(case, "document", case_query.pk, doc_id="a")
    client = sign_in("viewer")
    assert "Open in the engine" not in words(tree(client.get(position)))
    secret = {"credentials": {"username": "keeper", "password": "hunter2-secret"}}
    endpoint = make_endpoint(people["editor"], engine="solr", url="http://127.0.0.1:1/solr/films", **secret)
    attempt = make_attempt(case, endpoint, template="q=#$query##")
    Run.objects.filter(case=case).update(attempt=attempt, config=runs.snapshot_config(attempt))
    page = client.get(position)
    (link,) = [link for link in elements(tree(page), _name="a") if words(link) == "Open in the engine"]
    assert attributes(link)["href"].startswith("http://127.0.0.1:1/solr/films/select?q=")
    assert "hunter2" not in page.content.decode()
    endpoint.url = "http://127.0.0.1:1/solr/other"
    endpoint.save()
    assert "Open in the engine" not in words(tree(client.get(position))), "The document was in another index."


def test_document_not_among_the_results(sign_in, case):
    client = sign_in("viewer")
    for query in ({}, {"doc_id": "unknown"}):
        response = client.get(at(case, "document", case_query_of(case, "query 1").pk), query)
        assert response.status_code == 200
        assert "This document is not among the results shown." in words(tree(response))


# --- what was sent ---


def test_as_sent(sign_in, case):
    client = sign_in("viewer")
    case_query = case_query_of(case, "query 1")
    queries.edit(case_query=case_query, text="another text")
    text = words(tree(client.get(at(case, "query_request", case_query.pk), headers=HTMX)))
    assert '"query": "query 1"' in text
    queries.add(case=case, texts=["late"])
    response = client.get(at(case, "query_request", case_query_of(case, "late").pk))
    assert "has not been searched in this run." in words(tree(response))
    Run.objects.update(config={**case.runs.get().config, "engine": "gone"})
    assert "gone" in words(elements(tree(client.get(at(case, "query_request", case_query.pk))), cls="bad")[0])


@pytest.mark.parametrize(
    ("engine", "template"),
    [("solr", "q=#$query##&qf=title^##boost##"), ("elasticsearch", '{"query": {"match": {"title": "#$query##"}}}')],
)
def test_as_sent_and_preview_never_show_credentials(sign_in, people, case, engine, template):
    url = {"solr": "http://127.0.0.1:1/solr/films", "elasticsearch": "http://127.0.0.1:1/films"}[engine]
    secret = {
        "credentials": {"username": "keeper", "password": "hunter2-secret"},
        "headers": {"X-Key": "header-secret"},
    }
    endpoint = make_endpoint(people["editor"], engine=engine, url=url, **secret)
    attempt = make_attempt(case, endpoint, template=template)
    Run.objects.filter(case=case).update(attempt=attempt, config=runs.snapshot_config(attempt))
    client = sign_in("editor")
    sent = client.get(at(case, "query_request", case_query_of(case, "query 1").pk))
    shape = {"parent": "2", "endpoint": endpoint.pk, "template": template, "depth": "10"}
    preview = client.post(at(case, "attempt_preview"), shape)
    page = client.get(at(case, "case"))
    for response in (sent, preview, page):
        assert response.status_code == 200
        assert not any(word in response.content.decode() for word in ("hunter2-secret", "header-secret", "keeper"))
    assert "query 1" in words(elements(tree(sent), cls="sent-request")[0])
    assert "query 1" in words(elements(tree(preview), cls="console")[0])


# --- added ---


def test_add(sign_in, case):
    client = sign_in("editor")
    response = client.post(at(case, "queries_add"), {"queries": "  new one \r\n\r\nquery 1\nñandú 🦊\nnew one"})
    assert response.headers["Location"] == at(case, "case")
    assert toasts(response) == ["2 queries added; 2 already in the case: new one, query 1"]
    assert texts(case) == ["query 1", "query 2", "query 3", "new one", "ñandú 🦊"]
    assert score_of(case).queries == 5
    response = client.post(at(case, "queries_add"), {"queries": SCRIPT}, headers=HTMX)
    assert response.headers["HX-Redirect"] == at(case, "case")
    assert f"“{SCRIPT}” added" in words(tree(client.get(at(case, "case"))))


def test_add_names_rejected_lines_and_keeps_the_rest(sign_in, case):
    client = sign_in("editor")
    long, control = "x" * 2049, "bad\x07bell"
    for headers, wanted in (({}, "one"), (HTMX, "two")):
        pasted = f"{wanted}\r\n{long}\r\n{control}"
        response = client.post(at(case, "queries_add"), {"queries": pasted}, headers=headers)
        assert response.status_code == 422
        text = words(by_id(response, "pasted-hint"))
        assert "Line 2:" in text
        assert "2,049 characters" in text
        assert "Line 3:" in text
        assert "U+0007" in text
        assert f"“{wanted}” added; 2 not added, see above" in words(tree(response))
        left = words(by_id(response, "pasted"))
        assert long in left
        assert wanted not in left
    assert response.headers["HX-Trigger"] == '{"run-progress": {}}'
    assert texts(case)[-2:] == ["one", "two"]


def test_add_to_an_empty_case_keeps_the_form_in_place(sign_in, people, team, script):
    case = make_workbench_case(people, team, [], None, run=False)
    client = sign_in("editor")
    page = client.get(at(case, "case"))
    assert "has no queries yet" in words(tree(page))
    assert len(elements(tree(page), cls="add-queries")) == 1
    response = client.post(at(case, "queries_add"), {"queries": "good\nbad\x07"}, headers=HTMX)
    assert response.status_code == 422
    assert "HX-Trigger" not in response.headers
    assert texts(case) == ["good"]
    assert "disabled" in attributes(elements(by_id(page, "case-score"), data_key_run="")[0])
    assert (
        elements(
            tree(sign_in("rater").get(at(make_workbench_case(people, team, [], None, run=False), "case"))),
            cls="add-queries",
        )
        == []
    )


@pytest.mark.parametrize(
    ("pasted", "summary"),
    [
        ("", "0 queries added"),
        ("\n \n", "0 queries added"),
        ("query 1\nquery 2", "0 queries added; 2 already in the case: query 1, query 2"),
    ],
)
def test_add_nothing_new_says_so(sign_in, case, pasted, summary):
    response = sign_in("editor").post(at(case, "queries_add"), {"queries": pasted}, headers=HTMX)
    assert response.status_code == 422
    assert summary in words(tree(response))


def test_add_too_many_at_once(sign_in, case):
    many = "\n".join(f"q{number}" for number in range(20_002))
    response = sign_in("editor").post(at(case, "queries_add"), {"queries": many}, headers=HTMX)
    assert response.status_code == 409
    assert "There are more than 20,000 queries, too many to add at once." in response.content.decode()
    assert len(texts(case)) == 3


def test_add_ten_thousand(sign_in, case):
    many = "\r\n".join(f"q{number}" for number in range(10_000))
    response = sign_in("editor").post(at(case, "queries_add"), {"queries": many})
    assert toasts(response) == ["10,000 queries added"]


def test_add_brings_a_removed_one_back_with_its_score(sign_in, case):
    client = sign_in("editor")
    before = score_of(case).score
    client.post(at(case, "query_remove", case_query_of(case, "query 2").pk))
    assert score_of(case).score != before
    client.post(at(case, "queries_add"), {"queries": "query 2"})
    assert score_of(case).score == before


def test_changes_to_the_book_need_its_editor(sign_in, people, script):
    """Who edits a case on another user's book may run it and take queries out, but not change the book's queries."""
    theirs = make_case(owner=make_user())
    mine = make_case(0, owner=people["editor"], book_of=theirs)
    make_attempt(mine)
    mine.case_queries.create(query=query_of(theirs, "query 1"), position=1)
    client = sign_in("editor")
    case_query = case_query_of(mine, "query 1")
    for response in (
        client.post(at(mine, "queries_add"), {"queries": "new"}),
        client.get(at(mine, "query_edit", case_query.pk)),
        client.post(at(mine, "query_edit", case_query.pk), {"text": "x", "weight": "1"}),
    ):
        assert response.status_code == 403
        assert "book" in response.content.decode()
    page = client.get(at(mine, "case", open=case_query.pk)).content.decode()
    assert "/edit/" not in page
    assert 'id="add-queries"' not in page
    assert client.post(at(mine, "query_remove", case_query.pk)).status_code == 302


# --- edited ---

FORM = {"text": "query 1", "information_need": "", "tags": "", "notes": "", "weight": "1", "options": ""}


def edit(client, case, text, headers=None, **fields):
    return client.post(
        at(case, "query_edit", case_query_of(case, text).pk), {**FORM, "text": text, **fields}, headers=headers or {}
    )


def test_edit(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    fields = {
        "information_need": "need",
        "tags": "b, a,, b",
        "notes": "note",
        "weight": "2.5",
        "options": '{"lang": "en"}',
    }
    response = edit(client, case, "query 1", **fields)
    assert response.headers["Location"] == at(case, "case", open=case_query.pk) + f"#query-{case_query.pk}"
    case_query.refresh_from_db()
    query = query_of(case, "query 1")
    assert (query.information_need, query.notes, query.tags) == ("need", "note", ["a", "b"])
    assert (case_query.weight, case_query.options) == (2.5, {"lang": "en"})
    page = by_id(client.get(at(case, "query_edit", case_query.pk), headers=HTMX), "dialog-title")
    assert words(page) == "Edit query"
    form = tree(client.get(at(case, "query_edit", case_query.pk)))
    values = {attributes(field).get("name"): attributes(field).get("value") for field in elements(form, _name="input")}
    assert (values["text"], values["tags"], values["weight"]) == ("query 1", "a, b", "2.5")


def test_edit_weight_changes_the_case_score_at_once(sign_in, case):
    scores = {row.query.text: row.score for row in case.runs.get().query_scores.select_related("query")}
    edit(sign_in("editor"), case, "query 1", weight="3")
    assert score_of(case).score == pytest.approx((3 * scores["query 1"] + scores["query 2"]) / 4)
    edit(sign_in("editor"), case, "query 1", weight="0")
    assert score_of(case).score == pytest.approx(scores["query 2"])


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("text", "", "required"),
        ("text", "x" * 2049, "2,049 characters"),
        ("text", "query 2", "already"),
        ("text", "a\x07b", "U+0007"),
        ("text", "a\0b", "Null"),
        ("weight", "-1", "greater than or equal to 0"),
        ("weight", "x", "number"),
        ("weight", "nan", "number"),
        ("weight", "1e9", "weight"),
        ("options", "{", "line 1, column 2"),
        ("options", "[1]", "JSON object"),
        ("options", '{"a": NaN}', "NaN"),
        ("options", "[" * 100_000, "deep"),
    ],
)
def test_edit_refused_at_its_field_with_what_was_typed(sign_in, case, field, value, reason):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    for headers in ({}, HTMX):
        response = client.post(
            at(case, "query_edit", case_query.pk), {**FORM, "notes": SCRIPT, field: value}, headers=headers
        )
        assert response.status_code == 422
        assert reason in words(by_id(response, f"id_{field}_error"))
        assert SCRIPT in words(by_id(response, "id_notes"))
    case_query.refresh_from_db()
    assert (case_query.weight, case_query.options, query_of(case, "query 1").notes) == (1, {}, "")


def test_edit_with_nothing_sent(sign_in, case):
    response = sign_in("editor").post(at(case, "query_edit", case_query_of(case, "query 1").pk))
    assert response.status_code == 422
    assert texts(case) == ["query 1", "query 2", "query 3"]


# --- removed and restored ---


def test_remove_and_undo(sign_in, case):
    client = sign_in("editor")
    before = score_of(case)
    case_query = case_query_of(case, "query 1")
    response = client.post(at(case, "query_remove", case_query.pk), headers=HTMX)
    toast = json.loads(response.headers["HX-Trigger"])["toast"]
    assert toast["text"] == "“query 1” removed from this case; its ratings stay in the book"
    assert toast["undo"] == at(case, "query_restore", case_query.pk)
    assert elements(tree(response), _name="tbody") == []
    assert same(by_id(response, "case-score"), by_id(client.get(at(case, "case")), "case-score"))
    assert texts(case) == ["query 2", "query 3"]
    assert query_of(case, "query 1").ratings.count() == 2
    assert (score_of(case).queries, score_of(case).scored) == (2, 1)
    for name in ("query", "query_remove", "query_search", "rate"):
        send = client.get if name == "query" else client.post
        assert send(at(case, name, case_query.pk)).status_code == 404
    response = client.post(toast["undo"], headers=HTMX)
    assert response.headers["HX-Redirect"] == at(case, "case")
    assert texts(case) == ["query 1", "query 2", "query 3"]
    assert (score_of(case).score, score_of(case).queries) == (before.score, 3)


def test_remove_without_htmx_offers_undo_on_the_page(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    page = client.post(at(case, "query_remove", case_query.pk), follow=True)
    assert shown(page) == ["query 2", "query 3"]
    toasts = elements(by_id(page, "toasts"), _name="form")
    assert [attributes(form)["action"] for form in toasts] == [at(case, "query_restore", case_query.pk)]


# --- searched again ---


def test_search_again(sign_in, case):
    client = sign_in("editor")
    script = script_of(case.attempts.get())
    script.answers["query 1"] = ("x", "y")
    searches_before = len(script.requests)
    case_query = case_query_of(case, "query 1")
    response = client.post(at(case, "query_search", case_query.pk), {"position": "1"}, headers=HTMX)
    assert len(script.requests) == searches_before + 1
    page = client.get(at(case, "case", open=case_query.pk))
    for name in (f"query-{case_query.pk}", "case-score"):
        assert same(by_id(response, name), by_id(page, name)), name
    assert [part.name for part in tree(response).children if hasattr(part, "name")] == ["tbody", "template"]
    response = client.post(at(case, "query_search", case_query.pk))
    assert response.headers["Location"] == at(case, "case", open=case_query.pk) + f"#query-{case_query.pk}"


def test_search_again_completes_an_incomplete_run(sign_in, case):
    script = script_of(case.attempts.get())
    script.answers["query 2"] = engines.EndpointUnreachable("Down.")
    run = run_now(case.attempts.select_related("case", "endpoint").get())
    assert run.status == "incomplete"
    script.answers.clear()
    sign_in("editor").post(at(case, "query_search", case_query_of(case, "query 2").pk), headers=HTMX)
    run.refresh_from_db()
    assert (run.status, run.failed) == ("complete", 0)


def test_search_again_failing_keeps_what_was_there(sign_in, case):
    script_of(case.attempts.get()).answers["query 1"] = engines.EndpointUnreachable(f"Down. {SCRIPT}")
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    hits = case.runs.get().rankings.get(query=case_query.query).hits
    response = client.post(at(case, "query_search", case_query.pk), headers=HTMX)
    assert (response.status_code, response.headers["Content-Type"]) == (409, "text/plain; charset=utf-8")
    assert response.content.decode() == f"“query 1” was not searched: Down. {SCRIPT}"
    response = client.post(at(case, "query_search", case_query.pk))
    assert toasts(response) == [f"“query 1” was not searched: Down. {SCRIPT}"]
    assert case.runs.get().rankings.get(query=case_query.query).hits == hits


def test_search_again_is_refused_before_and_during_a_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    client = sign_in("editor")
    position = at(case, "query_search", case_query_of(case, "query 1").pk)
    assert "Nothing has been run yet" in client.post(position, headers=HTMX).content.decode()
    start(case)
    response = client.post(position, headers=HTMX)
    assert response.status_code == 409
    assert "Run 1 is waiting" in response.content.decode()
    Endpoint.objects.update(url="elsewhere")
    Run.objects.update(status="complete")
    assert "no results can be added to the run" in client.post(position, headers=HTMX).content.decode()


def test_add_recognizes_a_pasted_file(sign_in, case):
    client = sign_in("editor")
    pasted = {"queries": "query,docid,rating\nlaptop,1229111,0"}
    response = client.post(at(case, "queries_add"), pasted, headers=HTMX)
    assert response.status_code == 422
    assert "ratings as CSV" in words(by_id(response, "looks-like-file"))
    assert len(texts(case)) == 3
    client.post(at(case, "queries_add"), pasted | {"is_list": "on"}, headers=HTMX)
    assert texts(case)[3:] == ["query,docid,rating", "laptop,1229111,0"]
