"""The workbench's page: who may do what at every address, the list of queries, the head, the scorer."""

import re
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import cases, endpoints, engines, queries, ratings, scorers, scores, tasks
from relevancy.models import CaseScore, Endpoint, QueryScore, Rating, Run, Scorer, ScorerVersion
from relevancy.views.workbench import query_list, urls
from tests.factories import make_endpoint, make_scorer, make_team, query_of, rate_all, rescore_query, run_now, script_of

from .example_cases import (
    AFTER_RATINGS,
    HTMX,
    LIST,
    SCRIPT,
    at,
    attributes,
    big_case,
    by_id,
    case_query_of,
    elements,
    head_after,
    make_workbench_case,
    set_hits,
    shown,
    start,
    tree,
    words,
)

ROLES = ("viewer", "rater", "editor", "owner", "admin")
# name, method, the lowest role, what it then answers; entry and run: in its address
ADDRESSES = [
    ("case", "GET", "viewer", 200),
    ("run_state", "GET", "viewer", 200),
    ("case_changes", "GET", "viewer", 200),
    ("case_scorers", "GET", "viewer", 200),
    ("case_scorer", "POST", "editor", 302),
    ("case_scorer_add", "POST", "editor", 302),
    ("case_scorer_remove", "POST", "editor", 302),
    ("case_scorer_restore", "POST", "editor", 302),
    ("case_scorer_adopt", "POST", "editor", 302),
    ("case_score_again", "POST", "editor", 302),
    ("queries_add", "POST", "editor", 302),
    ("query", "GET", "viewer", 302),
    ("query_edit", "GET", "editor", 200),
    ("query_edit", "POST", "editor", 302),
    ("query_remove", "POST", "editor", 302),
    ("query_restore", "POST", "editor", 302),
    ("query_search", "POST", "editor", 302),
    ("query_request", "GET", "viewer", 200),
    ("document", "GET", "viewer", 200),
    ("query_working", "GET", "viewer", 200),
    ("rate", "POST", "rater", 302),
    ("rate_shown", "POST", "rater", 302),
    ("run", "POST", "editor", 302),
    ("attempts", "GET", "viewer", 200),
    ("attempt_edit", "GET", "editor", 200),
    ("attempt_edit", "POST", "editor", 302),
    ("attempt_archive", "POST", "editor", 302),
    ("attempt_restore", "POST", "editor", 302),
    ("rating_undo", "POST", "rater", 302),
    ("attempt_preview", "POST", "editor", 200),
    ("attempt_try", "POST", "editor", 200),
    ("run_cancel", "POST", "editor", 302),
    ("run_complete", "POST", "editor", 302),
]
MODULES = ("pages", "attempts", "case_scorers", "queries", "working", "ratings", "runs", "trials", "others")
ENTRY = {"query", "query_edit", "query_remove", "query_restore", "query_search", "query_request", "document", "rate"}
ENTRY |= {"rate_shown", "query_working"}
RUN = {"run_cancel", "run_complete", "attempt_edit", "attempt_archive", "attempt_restore"}
SCORER = {"case_scorer_remove", "case_scorer_restore", "case_scorer_adopt"}


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def address(case, name, entry=None, number=1):
    if name in ENTRY:
        return at(case, name, (entry or case_query_of(case, "query 1")).pk)
    if name in SCORER:
        return at(case, name, case.case_scorers.first().scorer_id)
    return at(case, name, number) if name in RUN else at(case, name)


def body(case, name):
    """What a user would send there."""
    endpoint = case.attempts.first().endpoint_id
    return {
        "case_scorer": {"scorer": case.case_scorers.first().scorer_id},
        "case_scorer_add": {"scorer": Scorer.objects.get(name="RR@10").pk},
        "queries_add": {"queries": "a new one"},
        "attempt_edit": {"name": "A"},
        "query_edit": {"text": "query 1", "weight": "1"},
        "rate": {"doc_id": "a", "value": "2"},
        "rate_shown": {"value": "1"},
        "run": {"parent": "1", "endpoint": endpoint, "template": '{"q": "#$query##"}', "depth": "10"},
        "attempt_try": {"parent": "1", "endpoint": endpoint, "template": '{"q": "#$query##"}', "depth": "10"},
        "attempt_preview": {"parent": "1", "endpoint": endpoint, "template": '{"q": "#$query##"}', "depth": "10"},
    }.get(name, {})


def answer(client, case, name, method, headers=None, **where):
    send = client.get if method == "GET" else client.post
    return send(address(case, name, **where), body(case, name) if method == "POST" else {}, headers=headers or {})


# --- who may what ---


def test_addresses_are_all_in_the_table():
    modules = {f"relevancy.views.workbench.{name}" for name in MODULES}
    names = {pattern.name for pattern in urls.urlpatterns if pattern.callback.__module__ in modules}
    assert {name for name, *_ in ADDRESSES} == names


@pytest.mark.parametrize(("name", "method", "lowest", "status"), ADDRESSES)
def test_access(client, people, case, name, method, lowest, status):
    if name == "run_cancel":
        Run.objects.update(status="waiting")
    for who in ROLES:
        client.force_login(people[who])
        expected = status if ROLES.index(who) >= ROLES.index(lowest) else 403
        with transaction.atomic():
            assert answer(client, case, name, method).status_code == expected, who
            transaction.set_rollback(True)


@pytest.mark.parametrize(("name", "method"), sorted({(name, method) for name, method, *_ in ADDRESSES}))
def test_access_stranger_and_signed_out(client, people, case, name, method):
    back = address(case, name) if method == "GET" else "/"  # what is only posted to is no page to come back to
    response = answer(client, case, name, method)
    assert (response.status_code, response.headers["Location"]) == (302, f"/login/?next={back}")
    response = answer(client, case, name, method, HTMX)
    assert response.status_code == 401
    assert "signed out" in response.content.decode()
    client.force_login(people["stranger"])
    for headers in ({}, HTMX):
        assert answer(client, case, name, method, headers).status_code == 404


@pytest.mark.parametrize("name", sorted({name for name, *_ in ADDRESSES} - {"query_edit", "attempt_edit"}))
def test_other_method_is_not_allowed(sign_in, case, name):
    wrong = "GET" if (name, "POST") in {(name, method) for name, method, *_ in ADDRESSES} else "POST"
    assert answer(sign_in("admin"), case, name, wrong).status_code == 405
    assert case.runs.count() == case.attempts.count() == 1


@pytest.mark.parametrize("name", sorted(ENTRY | RUN))
def test_what_belongs_to_another_case_is_not_found(sign_in, people, team, case, name):
    other = make_workbench_case(people, team)
    run_now(case.attempts.select_related("case", "endpoint").get())  # a number that the other case does not have
    method = next(method for address_name, method, *_ in ADDRESSES if address_name == name)
    where = {"entry": case_query_of(case, "query 1"), "number": 2}
    client = sign_in("admin")
    for headers in ({}, HTMX):
        assert answer(client, other, name, method, headers, **where).status_code == 404
    assert answer(client, other, name, method, entry=case_query_of(other, "query 1")).status_code != 404


def test_access_follows_the_team_at_once(sign_in, case, team):
    client = sign_in("editor")
    assert client.get(at(case, "case")).status_code == 200
    cases.unshare(case=case, team=team)
    assert client.get(at(case, "case")).status_code == 404


def test_page_opens_no_more_queries_than_it_can_show(sign_in, case, monkeypatch):
    ids = [case_query_of(case, f"query {number}").pk for number in (1, 2)]
    position = f"{at(case, 'case')}?open={ids[0]}&open={ids[1]}"
    opened = sign_in("viewer").get(position).content.decode().count('aria-expanded="true"')
    monkeypatch.setattr(query_list, "MAX_OPEN_CHARACTERS", 3)
    assert sign_in("viewer").get(position).content.decode().count('aria-expanded="true"') == opened - 1


def test_page_shows_only_what_the_role_may(sign_in, case):
    position = at(case, "case", open=case_query_of(case, "query 1").pk)
    result = {}
    for who in ("viewer", "rater", "editor"):
        page = tree(sign_in(who).get(position))
        forms = {attributes(form).get("action", "") for form in elements(page, _name="form")}
        result[who] = {name for name, *_ in ADDRESSES if any(re.fullmatch(pattern(case, name), form) for form in forms)}
    assert result["viewer"] == {"case"}  # the filter sends to the page itself
    assert result["rater"] == {"case", "rate", "rate_shown", "rating_undo"}
    editor = {"run", "case_scorer", "case_scorer_add", "queries_add", "query_search", "query_remove"}
    assert result["editor"] == result["rater"] | editor
    pane = by_id(sign_in("rater").get(position), "tune")
    assert [elements(pane, _name=name) for name in ("form", "fieldset", "input", "textarea", "button")] == [[]] * 5
    text = words(by_id(pane, "attempt-text"))
    assert "Your role here is rater." in text
    assert words(elements(pane, _name="pre")[0]) == case.attempts.get().template


def pattern(case, name):
    return re.escape(address(case, name)) + r"(\?.*)?"


# --- the list ---


@pytest.fixture
def films(people, team, script):
    """Queries whose names say what they are for; nothing has been run."""
    texts = ["Star Wars", "star trek", "100% wool", "under_score", 'say "hi"', "it's", SCRIPT, "a\\b"]
    return make_workbench_case(people, team, texts, None, run=False)


@pytest.mark.parametrize(
    ("entered", "expected"),
    [
        ("STAR", ["Star Wars", "star trek"]),
        ("  star t ", ["star trek"]),
        ("%", ["100% wool"]),
        ("_", ["under_score"]),
        ('"', ['say "hi"', SCRIPT]),
        ("'", ["it's"]),
        ("\\", ["a\\b"]),
        ("<script>", [SCRIPT]),
        ("", ["Star Wars", "star trek", "100% wool", "under_score", 'say "hi"', "it's", SCRIPT, "a\\b"]),
    ],
)
def test_list_filter(sign_in, films, entered, expected):
    client = sign_in("viewer")
    assert shown(client.get(at(films, "case"), {"q": entered})) == expected
    assert shown(client.get(at(films, "case"), {"q": entered}, headers=LIST)) == expected


def test_list_filter_without_hits_says_so_and_keeps_the_text(sign_in, films):
    page = sign_in("viewer").get(at(films, "case"), {"q": "<b>nothing"})
    assert "No query contains “&lt;b&gt;nothing”" in page.content.decode()
    assert attributes(by_id(page, "filter"))["value"] == "<b>nothing"
    page = sign_in("viewer").get(at(films, "case"), {"state": "failed"})
    assert "No query is in this state" in page.content.decode()


def test_list_fragment_is_the_list_of_the_page(sign_in, case):
    client = sign_in("editor")
    for query in ({}, {"sort": "-score"}, {"q": "2"}, {"open": case_query_of(case, "query 2").pk}):
        position = at(case, "case", **query)
        fragment = client.get(position, headers=LIST)
        assert by_id(fragment, "queries") == by_id(client.get(position), "queries")
        assert "<html" not in fragment.content.decode()
        assert "HX-Request" in fragment.headers["Vary"]


@pytest.fixture
def mixed(people, team, script):
    """A run with every state: scored, not scoreable, failed, empty; then one more query, and one that was edited."""
    texts = ["good", "bad", "blank", "broken", "empty", "old text"]
    case = make_workbench_case(
        people, team, texts, {"good": {"a": 3}, "bad": {"a": 0, "z": 3}, "empty": {"z": 3}}, run=False
    )
    attempt = case.attempts.select_related("case", "endpoint").get()
    answers = script_of(attempt).answers
    answers |= {"broken": engines.EngineError(f"No such parser. {SCRIPT}"), "empty": (), "bad": ("a", "b", "c", "d")}
    run_now(attempt)
    queries.add(case=case, texts=["late"])
    case_query = case_query_of(case, "old text")
    queries.edit(case_query=case_query, text="new text", weight=2.5, tags=["one", "two", "three", "four"])
    return case


def row_of(response, case, text):
    return by_id(response, f"query-row-{case_query_of(case, text).pk}")


def pills(row):
    return [words(pill) for pill in elements(row, _name="span", cls="pill")]


@pytest.mark.parametrize(
    ("text", "message", "numbers"),
    [
        ("good", [], ["", "", "3", "2", True]),
        ("bad", [], ["", "100.0", "4", "3", True]),
        ("blank", [], ["", "", "3", "3", True]),
        ("empty", ["no results"], ["", "100.0", "0", "", True]),
        ("late", ["not searched"], ["", "", "", "", ""]),
        ("new text", ["four", "one", "three", "edited", "×2.5"], ["", "", "3", "3", True]),
    ],
)
def test_row_states(sign_in, mixed, text, message, numbers):
    row = row_of(sign_in("viewer").get(at(mixed, "case")), mixed, text)
    assert pills(row) == message
    cells = [words(cell) for cell in elements(row, _name="td", cls="num")]
    assert [bool(cell) if wanted is True else cell for cell, wanted in zip(cells, numbers, strict=True)] == numbers


def test_row_scores(sign_in, mixed):
    page = sign_in("viewer").get(at(mixed, "case"))
    score = {text: words(elements(row_of(page, mixed, text), cls="score")[0]) for text in ("good", "bad", "empty")}
    assert score["good"].startswith("100.0")
    assert score["bad"].startswith("0.0")
    assert score["empty"] == "0.0"
    assert "Not scoreable" in words(row_of(page, mixed, "blank"))
    assert "Not searched yet" in words(row_of(page, mixed, "late"))


def test_row_failed_shows_the_engine_in_its_own_words(sign_in, mixed):
    page = sign_in("editor").get(at(mixed, "case"))
    row = row_of(page, mixed, "broken")
    assert pills(row) == ["failed"]
    assert f"No such parser. {SCRIPT}" in words(row)
    assert [attributes(form)["action"] for form in elements(row, _name="form")] == [
        address(mixed, "query_search", case_query_of(mixed, "broken"))
    ]
    assert elements(row_of(sign_in("rater").get(at(mixed, "case")), mixed, "broken"), _name="form") == []


def test_row_never_run_and_waiting(sign_in, films):
    client = sign_in("viewer")
    assert "Nothing has been run yet" in words(row_of(client.get(at(films, "case")), films, "it's"))
    start(films)
    page = client.get(at(films, "case"))
    assert elements(row_of(page, films, "it's"), cls="skeleton")
    assert "waiting" in attributes(by_id(page, f"query-{case_query_of(films, 'it' + chr(39) + 's').pk}"))["class"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("unrated", ["good", "bad", "blank", "new text"]),
        ("failed", ["broken"]),
        ("empty", ["empty"]),
        ("unscored", ["blank", "broken", "new text", "late"]),
        ("nonsense", ["good", "bad", "blank", "broken", "empty", "new text", "late"]),
    ],
)
def test_list_states(sign_in, mixed, state, expected):
    assert shown(sign_in("viewer").get(at(mixed, "case"), {"state": state})) == expected


def test_list_state_without_a_run(sign_in, films):
    for state, count in (("unrated", 0), ("failed", 0), ("empty", 0), ("unscored", 8)):
        assert len(shown(sign_in("viewer").get(at(films, "case"), {"state": state}))) == count


@pytest.mark.parametrize("sort", ["score", "difference", "gap", "hits", "unrated", "ms"])
def test_list_sort_missing_values_are_last_both_ways(sign_in, mixed, sort):
    run = mixed.runs.get()
    for position, ranking in enumerate(run.rankings.filter(error_kind="")):
        run.rankings.filter(pk=ranking.pk).update(total=100 + position, took_ms=position)
    second = run_now(mixed.attempts.select_related("case", "endpoint").get())
    rate_all(mixed, {"good": {"b": 2}}, mixed.owner)
    rescore_query(second, query_of(mixed, "good").pk)
    client = sign_in("viewer")
    values = {}
    for down in ("", "-"):
        page = client.get(at(mixed, "case"), {"sort": down + sort})
        key = {"ms": "took_ms"}.get(sort, sort)
        values[down] = [getattr(row.case_query, key) for row in page.context["rows"]]
        head = elements(tree(page), **{"aria-sort": "descending" if down else "ascending"})
        assert len(head) == 1
    known = {down: [value for value in listed if value is not None] for down, listed in values.items()}
    assert known[""] == sorted(known[""]) == sorted(known["-"])
    assert known["-"] == sorted(known["-"], reverse=True)
    assert len(known[""]) < len(values[""])
    for down in ("", "-"):
        assert values[down][: len(known[down])] == known[down]


def test_list_sort_position_and_query(sign_in, mixed):
    client = sign_in("viewer")
    order = ["good", "bad", "blank", "broken", "empty", "new text", "late"]
    assert shown(client.get(at(mixed, "case"), {"sort": "nonsense"})) == order
    assert shown(client.get(at(mixed, "case"), {"sort": "-place"})) == order[::-1]
    assert shown(client.get(at(mixed, "case"), {"sort": "query"})) == sorted(order)
    assert shown(client.get(at(mixed, "case"), {"sort": "-query"})) == sorted(order, reverse=True)


def test_list_sort_links_reverse_the_order(sign_in, case):
    page = sign_in("viewer").get(at(case, "case"), {"sort": "score", "q": "query"})
    links = {words(link).strip(" ↑↓"): attributes(link)["href"] for link in elements(tree(page), cls="sort")}
    assert links["Score"] == at(case, "case", q="query", sort="-score")
    assert links["Hits"] == at(case, "case", q="query", sort="-hits")
    assert links["Query"] == at(case, "case", q="query", sort="query")


def test_list_pages(sign_in, people, team, script):
    case = make_workbench_case(people, team, 120, None, run=False)
    client = sign_in("viewer")
    for page, first, count in (
        ("1", 1, 50),
        ("3", 101, 20),
        ("999", 101, 20),
        ("0", 101, 20),
        ("x", 1, 50),
        ("", 1, 50),
    ):
        response = client.get(at(case, "case"), {"page": page})
        texts = shown(response)
        assert (texts[0], len(texts)) == (f"query {first}", count)
        places = [words(cell) for cell in elements(tree(response), _name="td", cls="position")]
        assert places[0] == str(first)
    page = client.get(at(case, "case"), {"page": "2", "q": "query"})
    links = {
        attributes(link)["rel"]: attributes(link)["href"]
        for link in elements(tree(page), _name="a")
        if "rel" in attributes(link)
    }
    assert links == {"prev": at(case, "case", q="query", page=1), "next": at(case, "case", q="query", page=3)}
    # While a run continues, the list is fetched again, with its page: otherwise it would jump back to the first one.
    assert attributes(by_id(page, "queries"))["hx-get"] == at(case, "case", q="query", page=2)


def test_list_shows_the_number_of_a_query_however_it_is_filtered_and_sorted(sign_in, case):
    client = sign_in("viewer")
    for parameters in ({"q": "query 3"}, {"sort": "-query"}):
        response = client.get(at(case, "case"), parameters)
        assert words(elements(tree(response), _name="td", cls="position")[0]) == "3"


@pytest.mark.parametrize(
    ("who", "entries"),
    [
        ("editor", "Rename, Duplicate"),
        ("owner", "Rename, Duplicate, Archive, Delete"),
    ],
)
def test_the_head_leads_to_the_book_and_to_what_can_be_done_with_the_case(sign_in, people, team, script, who, entries):
    case = make_workbench_case(people, team)
    client = sign_in(who)
    page = tree(client.get(at(case, "case")))
    (book,) = elements(by_id(page, "case-facts"), _name="a")
    assert client.get(attributes(book)["href"]).status_code == 200
    (head,) = elements(page, cls="noun-bar")
    (menu,) = elements(head, cls="menu-button")
    shown = [part for part in elements(menu, cls="popover")[0].children if words(part)]
    assert ", ".join(map(words, shown)) == entries
    for part in shown:
        if link := attributes(part).get("href"):
            assert client.get(link).status_code == 200, link


def test_poll_updates_the_version_of_the_engine(sign_in, case):
    response = sign_in("viewer").get(at(case, "run_state"), headers=HTMX)
    facts = by_id(response, "case-facts")
    assert "Scripted 1.0" in words(facts)
    assert "hx-swap-oob" in attributes(facts)


def test_query_link_leads_to_the_page_of_the_list_where_it_stands(sign_in, people, team, script):
    case = make_workbench_case(people, team, 120, None, run=False)
    client = sign_in("viewer")
    for text, page in (("query 1", None), ("query 50", None), ("query 51", 2), ("query 120", 3)):
        case_query = case_query_of(case, text)
        response = client.get(address(case, "query", case_query))
        wanted = at(case, "case", open=case_query.pk, **({"page": page} if page else {}))
        assert response.headers["Location"] == f"{wanted}#query-{case_query.pk}"
        assert len(elements(tree(client.get(response.headers["Location"])), cls="is-open")) == 1


def test_open_at_most_five_and_never_those_of_other_cases(sign_in, people, team, case):
    many = make_workbench_case(people, team, 8, None)
    ids = list(many.case_queries.values_list("pk", flat=True))
    client = sign_in("viewer")
    opened = elements(tree(client.get(at(many, "case"), {"open": ids})), cls="is-open")
    assert [attributes(part)["id"] for part in opened] == [f"query-{pk}" for pk in ids[:5]]
    words_of_it = ["x", "-1", "9" * 5000, str(case_query_of(case, "query 1").pk)]
    assert elements(tree(client.get(at(many, "case"), {"open": words_of_it})), cls="is-open") == []


def test_odd_addresses_are_the_usual_page(sign_in, case):
    client = sign_in("viewer")
    plain = shown(client.get(at(case, "case")))
    for query in (
        {"page": "9" * 5000},
        {"run": "7"},
        {"run": "x"},
        {"attempt": "x"},
        {"attempt": "99"},
        {"sort": "--score"},
    ):
        assert shown(client.get(at(case, "case"), query)) == plain


# --- the head ---


def head_of(response):
    return words(by_id(response, "case-score"))


def test_head_score_difference_and_counts(sign_in, case):
    client = sign_in("editor")
    first = case.runs.get()
    script_of(first.attempt).answers["query 1"] = ("x", "b")
    run_now(case.attempts.select_related("case", "endpoint").get())
    page = client.get(at(case, "case"))
    head = head_of(page)
    points = scores.recent_case_scores(case, ScorerVersion.objects.used_by(case)[0])
    assert points[1].score < points[0].score
    whole, _, tenth = f"{points[1].score:.1f}".partition(".")
    assert head.startswith(f"{whole} .{tenth}")
    assert f"▼ −{points[0].score - points[1].score:.1f} vs run 1 on the same 2" in head
    assert "2 of 3 scored" in head
    assert "Run 2 · attempt 1" in head
    assert "vs run 1" in words(by_id(page, "queries"))


def counts_of(page):
    """The counts under the score: `{state: (text, queries that the link lists)}`."""
    links = [link for link in elements(by_id(page, "case-score"), _name="a") if "data-count" in attributes(link)]
    return {attributes(link)["data-count"]: (words(link), attributes(link)["href"]) for link in links}


def test_head_compares_the_queries_that_are_scored_in_both(sign_in, case):
    """Query 1 gets worse, query 2 is not scored any more, and query 3, whose search failed before, is scored now."""
    script = script_of(case.attempts.get())
    rate_all(case, {"query 3": {"a": 3}}, case.owner)
    script.answers |= {"query 3": engines.EngineError("Down."), "query 1": ("a", "b")}
    second = run_now(case.attempts.select_related("case", "endpoint").get())
    Run.objects.filter(pk=second.pk).update(status="complete")
    script.answers |= {"query 3": ("a",), "query 1": ("b", "a"), "query 2": engines.EngineError("Down.")}
    run_now(case.attempts.select_related("case", "endpoint").get())
    client = sign_in("viewer")
    page = client.get(at(case, "case"))
    difference = page.context["panel"].difference
    assert (difference.baseline.number, difference.compared) == (2, 1)
    scores_of_1 = (
        QueryScore.objects.filter(query__text="query 1").order_by("run__number").values_list("score", flat=True)
    )
    assert difference.difference == pytest.approx(scores_of_1[2] - scores_of_1[1])
    assert "vs run 2 on the same 1" in head_of(page)
    counts = counts_of(page)
    assert {state: text for state, (text, _) in counts.items()} == {
        "worse": "1 worse",
        "dropped": "1 not scored any more",
        "gained": "1 newly scored",
    }
    listed = {state: shown(client.get(url)) for state, (_, url) in counts.items()}
    assert listed == {
        "worse": ["query 1"],
        "dropped": ["query 2"],
        "gained": ["query 3"],
    }


def test_head_baseline_is_the_last_complete_run(sign_in, case):
    script = script_of(case.attempts.get())
    script.answers["query 1"] = engines.EngineError("Down.")
    incomplete = run_now(case.attempts.select_related("case", "endpoint").get())
    script.answers.clear()
    run_now(case.attempts.select_related("case", "endpoint").get())
    assert incomplete.status == Run.Status.INCOMPLETE
    page = sign_in("viewer").get(at(case, "case"))
    assert "0.0 vs run 1 on the same 2" in head_of(page)
    assert "vs run 1" in words(by_id(page, "queries"))


def test_page_says_being_rescored_instead_of_a_difference(sign_in, case, monkeypatch):
    run_now(case.attempts.select_related("case", "endpoint").get())
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)
    monkeypatch.setattr("relevancy.views.workbench.stale_scores.MAX_INLINE_SCORES", 0)
    rate_all(case, {"query 1": {"b": 3}}, case.owner)
    client = sign_in("viewer")
    page = client.get(at(case, "case"))
    assert "vs run 1: being rescored" in head_of(page)
    assert counts_of(page) == {}
    assert attributes(by_id(page, "case-score"))["hx-get"] == at(case, "run_state", only="head")
    row = by_id(page, f"query-row-{case_query_of(case, 'query 1').pk}")
    assert elements(row, data_rescoring="")
    assert len(elements(by_id(page, "case-score"), cls="pending")) == 3  # two points and their line
    assert "being rescored" in words(by_id(page, "case-score"))
    exported = b"".join(client.get(at(case, "queries_csv"))).decode().splitlines()
    assert [line.split(",")[5] for line in exported] == ["change", "", "0.0", ""]
    scores.rescore_case(case, seconds=60)
    page = client.get(at(case, "case"))
    assert "0.0 vs run 1 on the same 2" in head_of(page)
    assert attributes(by_id(page, "case-score"))["hx-trigger"] == AFTER_RATINGS
    assert elements(by_id(page, "case-score"), cls="pending") == []


def test_rating_updates_the_run_before_at_once(sign_in, case, monkeypatch):
    for _ in range(2):
        run_now(case.attempts.select_related("case", "endpoint").get())
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)
    case_query = case_query_of(case, "query 1")
    client = sign_in("rater")
    client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "3"}, headers=HTMX)
    head = head_after(client, case)
    assert "0.0 vs run 2 on the same 2" in words(head)
    pending = elements(head, cls="dot")
    assert ["pending" in attributes(dot)["class"] for dot in pending] == [True, False]


def test_head_without_a_run_or_a_score(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, None, run=False)
    client = sign_in("editor")
    assert "Not run yet" in head_of(client.get(at(case, "case")))
    run_now(case.attempts.select_related("case", "endpoint").get())
    head = head_of(client.get(at(case, "case")))
    assert head.startswith("–")
    assert "0 of 1 scored" in head


def test_state_polls_while_a_run_is_active_and_then_stops(sign_in, case):
    client = sign_in("editor")
    run = start(case)
    Run.objects.filter(pk=run.pk).update(done=2, failed=1, status="running", started_at=timezone.now())
    response = client.get(at(case, "run_state"), headers=HTMX)
    head = by_id(response, "case-score")
    assert attributes(head)["hx-trigger"] == "every 1s"
    poll_url = attributes(head)["hx-get"]
    assert poll_url.startswith(at(case, "run_state") + "?")
    assert "HX-Trigger" not in client.get(poll_url, headers=HTMX).headers, "Nothing was searched since the last poll."
    Run.objects.filter(pk=run.pk).update(done=2, failed=1)
    response = client.get(poll_url.replace("done=2", "done=1"), headers=HTMX)
    assert response.headers["HX-Trigger"] == "run-progress"
    assert "Run 2, attempt 1" in words(head)
    assert "2 of 3" in words(head)
    assert "1 failed" in words(head)
    assert "70 .9 running" in words(head)  # the last run's score stays
    assert [attributes(form)["action"] for form in elements(head, _name="form")][-1] == at(case, "run_cancel", 2)
    Run.objects.filter(pk=run.pk).update(status="complete", finished_at=timezone.now())
    response = client.get(at(case, "run_state"), headers=HTMX)
    assert response.headers["HX-Trigger"] == "run-finished"
    assert attributes(by_id(response, "case-score"))["hx-trigger"] == AFTER_RATINGS


def test_head_is_the_same_on_the_page_and_from_state(sign_in, case):
    client = sign_in("editor")
    for _ in range(2):
        heads = [by_id(client.get(at(case, name)), "case-score") for name in ("run_state", "case")]
        for head in heads:  # each poll says when the page looked for the first time
            head.attributes = [(name, value) for name, value in head.attributes if name != "hx-get"]
        assert heads[0] == heads[1]
        if not case.runs.active().exists():
            start(case)


# --- notices ---


def notices(response):
    return [words(part) for part in elements(by_id(response, "queries"), cls="notice")]


@pytest.mark.parametrize(
    ("status", "message", "button"),
    [
        ("incomplete", "Run 1 is incomplete:", "Try them again"),
        ("failed", "Run 1 failed:", "Search the rest"),
        ("cancelled", "Run 1 was stopped:", "Search the rest"),
    ],
)
def test_notice_of_an_unfinished_run(sign_in, case, status, message, button):
    Run.objects.update(status=status, failed=2, reason=f"Because. {SCRIPT}")
    (notice,) = notices(sign_in("editor").get(at(case, "case")))
    assert notice.startswith(f"{message} Because. {SCRIPT}")
    assert notice.endswith(button)
    assert button not in notices(sign_in("viewer").get(at(case, "case")))[0]


def test_notice_of_new_and_edited_queries(sign_in, case):
    client = sign_in("editor")
    assert notices(client.get(at(case, "case"))) == []
    queries.add(case=case, texts=["late"])
    notice = "1 query is new since run 1. It is not included in the score yet."
    assert notices(client.get(at(case, "case")))[0].startswith(notice)
    queries.edit(case_query=case_query_of(case, "query 1"), text="query one")
    notice = notices(client.get(at(case, "case")))[0]
    assert "1 query is new and 1 query was edited since run 1." in notice
    client.post(at(case, "run_complete", 1))
    assert notices(client.get(at(case, "case"))) == []


def test_notice_that_no_document_returned_is_known(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, {"query 1": {f"film-{number}": 1 for number in range(10)}})
    (notice,) = notices(sign_in("viewer").get(at(case, "case")))
    assert notice.startswith("No returned document has a rating,")


def test_notice_of_an_older_run(sign_in, case):
    run_now(case.attempts.select_related("case", "endpoint").get())
    page = sign_in("editor").get(at(case, "case"), {"run": "1"})
    assert "You are viewing run 1" in notices(page)[0]
    assert attributes(by_id(page, "queries"))["hx-get"] == at(case, "case", run=1)
    assert notices(sign_in("editor").get(at(case, "case"), {"run": "2"})) == []


@pytest.fixture
def failing(case):
    """Run 1 is complete, run 2 of the same attempt failed before its first search."""
    run = start(case)
    Run.objects.filter(pk=run.pk).update(status="failed", reason="Nobody there.", finished_at=timezone.now())
    run.parts.all().delete()
    return case


def test_failed_run_does_not_hide_the_last_complete_one(sign_in, case):
    client = sign_in("editor")
    before = client.get(at(case, "case"))
    run = start(case)
    Run.objects.filter(pk=run.pk).update(status="failed", reason=f"Nobody there. {SCRIPT}", finished_at=timezone.now())
    page = client.get(at(case, "case"))
    assert "Run 1 · attempt 1" in head_of(page)
    assert [words(row) for row in elements(by_id(page, "queries"), _name="tr")] == [
        words(row) for row in elements(by_id(before, "queries"), _name="tr")
    ]
    assert "run=" not in attributes(by_id(page, "queries"))["hx-get"]
    (notice,) = elements(by_id(page, "queries"), cls="notice")
    assert words(notice) == (
        f"Run 2 failed: Nobody there. {SCRIPT} This page shows run 1, the last complete one. Show run 2 Run again"
    )
    assert attributes(elements(notice, _name="a")[0])["href"] == at(case, "case", run=2)
    assert attributes(elements(notice, _name="form")[0])["action"] == at(case, "run_complete", 2)
    assert words(elements(by_id(sign_in("viewer").get(at(case, "case")), "queries"), cls="notice")[0]).endswith(
        "Show run 2"
    )


def test_failed_run_can_be_shown(sign_in, failing):
    page = sign_in("editor").get(at(failing, "case"), {"run": "2"})
    assert "Run 2 · attempt 1" in head_of(page)
    assert attributes(by_id(page, "queries"))["hx-get"] == at(failing, "case", run=2)
    assert attributes(elements(by_id(page, "list-run"), name="run")[0])["value"] == "2"
    (notice,) = elements(by_id(page, "queries"), cls="notice")
    assert words(notice) == "Run 2 failed: Nobody there. Back to run 1 Run again"
    assert attributes(elements(notice, _name="a")[0])["href"] == at(failing, "case")


def test_failed_run_is_run_again_from_its_notice(sign_in, failing, django_capture_on_commit_callbacks):
    client = sign_in("editor")
    with django_capture_on_commit_callbacks(execute=True):
        client.post(at(failing, "run_complete", 2))
    page = client.get(at(failing, "case"))
    assert ("Run 2 · attempt 1" in head_of(page), notices(page)) == (True, [])


def test_ratings_after_a_failed_run_are_scored_in_the_run_shown(sign_in, failing):
    client, case_query = sign_in("rater"), case_query_of(failing, "query 1")
    client.post(at(failing, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "3"}, headers=HTMX)
    score = QueryScore.objects.get(run__number=1, query=case_query.query_id)
    assert score.revision == query_of(failing, "query 1").revision
    assert "Run 1 · attempt 1" in words(head_after(client, failing))


@pytest.mark.parametrize(("done", "number"), [(0, 1), (2, 2)])
def test_run_that_was_stopped_is_shown_if_it_has_results(sign_in, case, done, number):
    run = start(case)
    Run.objects.filter(pk=run.pk).update(status="cancelled", done=done, finished_at=timezone.now())
    page = sign_in("editor").get(at(case, "case"))
    assert f"Run {number} · attempt 1" in head_of(page)
    assert notices(page)[0].startswith("Run 2 was stopped:")


def test_stale_scores_are_rescored(sign_in, case, monkeypatch):
    client = sign_in("viewer")
    before = head_of(client.get(at(case, "case")))
    rate_all(case, {"query 1": {"b": 3, "c": 3}}, case.owner)
    assert head_of(client.get(at(case, "case"))) != before
    # Too many for one request: in the background, and the page says so.
    rate_all(case, {"query 1": {"b": 1}}, case.owner)
    monkeypatch.setattr("relevancy.views.workbench.stale_scores.MAX_INLINE_SCORES", 0)
    assert notices(client.get(at(case, "case"))) == ["Updating 1 score: ratings or scorers have changed."]
    assert notices(client.get(at(case, "case"))) == []


def test_missing_packages_are_notices(sign_in, case):
    run = case.runs.get()
    Run.objects.update(config={**run.config, "engine": "uninstalled"})
    version = case.case_scorers.get().version
    type(version).objects.filter(pk=version.pk).update(measure="Uninstalled@10")
    response = sign_in("viewer").get(at(case, "case", open=case_query_of(case, "query 1").pk))
    assert response.status_code == 200
    result = {attributes(part).get("data-notice") for part in elements(by_id(response, "queries"), cls="notice")}
    assert {"engine-missing", "measure-missing"} <= result


@pytest.fixture
def uninstalled(case):
    """A case scored by a measure, and run on an engine, whose packages have been uninstalled since."""
    run = case.runs.get()
    Run.objects.update(config={**run.config, "engine": "uninstalled"})
    Endpoint.objects.filter(attempts__case=case).update(engine="uninstalled")
    ScorerVersion.objects.filter(case_scorers__case=case).update(measure="Uninstalled@10")
    return case


def kinds_of_notices(page):
    return {attributes(part).get("data-notice") for part in elements(by_id(page, "queries"), cls="notice")}


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_rate_without_the_package_of_the_measure(sign_in, uninstalled, headers):
    client, case_query = sign_in("rater"), case_query_of(uninstalled, "query 1")
    url = at(uninstalled, "rate", case_query.pk, rank=2)
    response = client.post(url, {"doc_id": "b", "value": "2"}, headers=headers)
    assert response.status_code == (200 if headers else 302)
    assert Rating.objects.get(query=case_query.query_id, doc_id="b").value == 2
    if headers:
        row = by_id(response, f"query-row-{case_query.pk}")
        assert attributes(row)["data-state"] == "scorer"
        assert "Uninstalled" in words(row)
    page = client.get(at(uninstalled, "case", open=case_query.pk))
    assert page.status_code == 200
    assert {"engine-missing", "measure-missing"} <= kinds_of_notices(page)


def test_rate_shown_without_the_package_of_the_measure(sign_in, uninstalled):
    case_query = case_query_of(uninstalled, "query 1")
    response = sign_in("rater").post(at(uninstalled, "rate_shown", case_query.pk), {"value": "1"}, headers=HTMX)
    assert response.status_code == 200
    assert Rating.objects.filter(query=case_query.query_id, value=1).exists()


@pytest.mark.parametrize("headers", [HTMX, {}])
@pytest.mark.parametrize(
    "name", ["query", "query_request", "query_unretrieved", "query_best_order", "query_working", "document"]
)
def test_parts_of_a_run_without_its_packages(sign_in, uninstalled, name, headers):
    case_query = case_query_of(uninstalled, "query 1")
    response = sign_in("viewer").get(
        at(uninstalled, name, case_query.pk), {"doc_id": "a"}, headers=headers, follow=True
    )
    assert response.status_code == 200


def test_explain_without_the_package_of_the_engine(sign_in, uninstalled):
    case_query = case_query_of(uninstalled, "query 1")
    response = sign_in("editor").get(at(uninstalled, "query_explain", case_query.pk, doc_id="a"), headers=HTMX)
    assert response.status_code == 200
    assert "uninstalled" in words(tree(response))


@pytest.mark.parametrize("headers", [HTMX, {}])
@pytest.mark.parametrize("name", ["run", "attempt_preview"])
def test_run_without_the_package_of_the_engine(sign_in, uninstalled, name, headers):
    response = sign_in("editor").post(at(uninstalled, name), body(uninstalled, name), headers=headers)
    assert response.status_code in {409, 422}
    assert "uninstalled" in response.content.decode()
    assert uninstalled.runs.count() == 1


@pytest.mark.parametrize(
    ("name", "arguments"), [("run_complete", [1]), ("query_search", ["entry"]), ("case_score_again", [])]
)
def test_search_again_without_the_package_of_the_engine(sign_in, uninstalled, name, arguments):
    pk = case_query_of(uninstalled, "query 1").pk
    url = at(uninstalled, name, *(pk if argument == "entry" else argument for argument in arguments))
    assert sign_in("editor").post(url, headers=HTMX).status_code in {200, 409}


# --- scorer ---


def test_choose_scorer_scores_the_history_and_searches_nothing(sign_in, case):
    run_now(case.attempts.select_related("case", "endpoint").get())
    script = script_of(case.attempts.get())
    searches_before = len(script.requests)
    chosen = make_scorer("P@3", "Precision of three")
    client = sign_in("editor")
    assert client.post(at(case, "case_scorer"), {"scorer": chosen.pk}).headers["Location"] == at(case, "case")
    assert len(script.requests) == searches_before
    points = scores.recent_case_scores(case, ScorerVersion.objects.used_by(case)[0])
    assert [(point.run.number, point.version.scorer.name) for point in points] == [(1, chosen.name), (2, chosen.name)]
    assert points[0].score == pytest.approx(100 / 3)
    head = by_id(client.get(at(case, "case")), "case-score")
    assert [words(option) for option in elements(head, _name="option") if "selected" in attributes(option)] == [
        chosen.name
    ]
    response = client.post(at(case, "case_scorer"), {"scorer": chosen.pk}, headers=HTMX)
    assert response.headers["HX-Redirect"] == at(case, "case")


@pytest.mark.parametrize("sent", ["", "x", "0", "99999", "9" * 5000])
def test_choose_scorer_refuses_what_is_not_on_offer(sign_in, case, sent):
    client = sign_in("editor")
    response = client.post(at(case, "case_scorer"), {"scorer": sent}, headers=HTMX)
    assert response.status_code == 409
    assert "no longer available" in response.content.decode()
    assert case.case_scorers.get().scorer.name == "nDCG@10"


def test_choose_scorer_not_retired_nor_of_others_nor_without_a_measure(sign_in, people, case):
    retired = make_scorer("P@1", "Retired")
    Scorer.objects.filter(pk=retired.pk).update(retired_at=timezone.now())
    private = make_scorer("P@2", "Private")
    Scorer.objects.filter(pk=private.pk).update(owner=people["rater"])
    empty = Scorer.objects.create(name="Empty")
    client = sign_in("editor")
    for scorer in (retired, private, empty):
        assert client.post(at(case, "case_scorer"), {"scorer": scorer.pk}, headers=HTMX).status_code == 409
    # In use, it is shown as what is chosen, whoever looks.
    scorers.make_primary(case=case, scorer=private)
    head = by_id(client.get(at(case, "case")), "case-score")
    assert [words(option) for option in elements(head, _name="option") if "selected" in attributes(option)] == [
        "Private"
    ]


# --- escaping ---


def test_every_text_is_escaped(sign_in, people, team, script):
    case = make_workbench_case(people, make_team(f"T{SCRIPT}"), [SCRIPT], None, run=False)
    cases.share(case=case, team=team)
    cases.rename(case=case, name=f"C{SCRIPT}")
    people["rater"].name = f"N{SCRIPT}"
    people["rater"].save()
    case_query = case_query_of(case, SCRIPT)
    texts = {"text": SCRIPT, "tags": [f"T{SCRIPT}"], "notes": SCRIPT, "information_need": SCRIPT}
    queries.edit(case_query=case_query, **texts)
    attempt = case.attempts.select_related("case", "endpoint").get()
    type(attempt.endpoint).objects.filter(pk=attempt.endpoint_id).update(name=f"E{SCRIPT}")
    make_scorer("P@1", f"S{SCRIPT}")
    attempt.refresh_from_db()
    run = run_now(attempt)
    fields = {
        "id": f"d{SCRIPT}",
        "title": SCRIPT,
        "long": SCRIPT * 9,
        "items": [SCRIPT],
        "deep": {"a": SCRIPT},
        SCRIPT: "x",
    }
    Run.objects.update(config={**run.config, "fields": "id:id, title:title, long, items"})
    set_hits(Run.objects.get(), SCRIPT, [(f"d{SCRIPT}", fields)])
    case_query.query.book = case.book
    ratings.rate(query=case_query.query, doc_id=f"d{SCRIPT}", value=2, by=people["rater"], note=SCRIPT)
    client = sign_in("editor")
    places = [
        at(case, "case", open=case_query.pk, q="script"),
        address(case, "query_request", case_query),
        address(case, "query_edit", case_query),
    ]
    places += [
        at(case, "document", case_query.pk, doc_id=f"d{SCRIPT}"),
        at(case, "document", case_query.pk, doc_id=SCRIPT),
    ]
    for position in places:
        for headers in ({}, HTMX):
            text = client.get(position, headers=headers).content.decode()
            assert "&lt;script&gt;alert(" in text, position
            assert '<script>alert("' not in text, position


# --- statements and size ---


def statements(client, position, data=None, headers=None):
    with CaptureQueriesContext(connection) as queries:
        response = (
            client.get(position, headers=headers or {})
            if data is None
            else client.post(position, data, headers=headers or {})
        )
    assert response.status_code == 200
    return len(queries)


def test_list_does_not_read_the_history(sign_in, people, team, script):
    """The list is what shows a run that has just ended: it reads neither the scores of the case nor its attempts."""
    client, case = sign_in("editor"), make_workbench_case(people, team)
    run_now(case.attempts.get())
    client.get(at(case, "case"), headers=LIST)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(at(case, "case"), headers=LIST)
    assert response.status_code == 200
    tables = [re.search(r'FROM "relevancy_(\w+)"', query["sql"]) for query in queries]
    assert not {"casescore", "attempt"} & {table[1] for table in tables if table}
    assert len(queries) <= 17


@pytest.mark.parametrize("other", [{"count": 60}, {"count": 3, "attempts": 20}])
def test_statements_do_not_grow(sign_in, people, team, script, other, monkeypatch):
    client = sign_in("editor")
    small, large = big_case(people, team, 3, attempts=2), big_case(people, team, **{"attempts": 2, **other})
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)  # the worker's part
    result = []
    for case in (small, large):
        case_query_id = case_query_of(case, "query 2").pk
        rate = at(case, "rate", case_query_id, rank=1)
        result.append(
            (
                statements(client, at(case, "case")),
                statements(client, at(case, "case"), headers=LIST),
                statements(client, at(case, "case", open=case_query_id)),
                statements(client, rate, {"doc_id": "a", "value": "2"}, HTMX),
                statements(client, rate, {"doc_id": "a", "value": ""}, HTMX),
                statements(client, at(case, "run_state")),
            )
        )
    assert result[0] == result[1]
    assert max(result[0]) < 45


def test_five_thousand_queries(sign_in, people, team, script):
    case = big_case(people, team, 5000)
    rate_all(case, {"query 4999": {"a": 3, "x": 3}, "query 17": {"c": 1}}, case.owner)
    client = sign_in("editor")
    page = client.get(at(case, "case"))
    assert "1–50 of 5,000 queries" in words(by_id(page, "queries"))
    assert "2 of 5,000 scored" in head_of(page)
    assert shown(client.get(at(case, "case"), {"q": "QUERY 499"}, headers=LIST)) == [
        "query 499",
        *(f"query {n}" for n in range(4990, 5000)),
    ]
    assert shown(client.get(at(case, "case"), {"sort": "score"}))[:2] == ["query 17", "query 4999"]
    assert shown(client.get(at(case, "case"), {"sort": "-score"}))[:2] == ["query 4999", "query 17"]
    last = client.get(at(case, "case"), {"page": "100", "sort": "place"})
    assert shown(last)[-1] == "query 5000"
    case_query = case_query_of(case, "query 4999")
    answer = client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "3"}, headers=HTMX)
    assert answer.status_code == 200
    assert by_id(answer, f"rating-{case_query.pk}-2")


def test_history_holds_one_point_a_run(sign_in, case):
    score = CaseScore.objects.get()
    CaseScore.objects.filter(pk=score.pk).update(day=score.day - timedelta(days=3), score=10)
    scores.score_case(case.runs.select_related("case").get(), ScorerVersion.objects.used_by(case))
    assert CaseScore.objects.count() == 2
    page = sign_in("viewer").get(at(case, "case"))
    assert len(elements(by_id(page, "case-score"), _name="circle")) == 1
    assert head_of(page).startswith("70 .9")


def test_endpoint_that_is_archived_stays_readable(sign_in, people, case):
    endpoint = case.attempts.get().endpoint
    endpoints.archive(endpoint=endpoint)
    make_endpoint(people["stranger"])
    pane = by_id(sign_in("editor").get(at(case, "case")), "tune")
    chosen = [attributes(option)["value"] for option in elements(by_id(pane, "endpoint"), _name="option")]
    assert chosen == [str(endpoint.pk)]
