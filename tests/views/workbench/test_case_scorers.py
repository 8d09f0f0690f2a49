"""The scorers of a case on its workbench: made primary, added, removed, updated; gaps, scales, scripts that fail."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import models, scorers, scores, tasks
from relevancy.models import QueryScore, Run, Scorer, ScorerVersion
from relevancy.scores import scripts
from tests.factories import make_case, make_scorer, rate_all, run_now, script_of

from .example_cases import (
    HTMX,
    LIST,
    SCRIPT,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    make_workbench_case,
    shown,
    words,
)

MEASURES = ["nDCG@10", "P@10", "RR@10"]
FAILS_ON_TWO = 'if (query.text.indexOf("2") > 0) { nobody.there(); }\nsetScore(40);'


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, measures=MEASURES)


def names(case):
    return [version.scorer.name for version in ScorerVersion.objects.used_by(case)]


def scorer(name):
    return Scorer.objects.get(name=name)


def scripted(text, name="a script", scale=((0, ""), (3, ""))):
    made = Scorer.objects.create(name=name)
    ScorerVersion.objects.create(scorer=made, number=1, script=text, scale=[list(step) for step in scale])
    return made


def secondary_scores(response):
    """The lines of the other scorers, as words."""
    lists = elements(by_id(response, "case-score"), _name="ul", cls="secondary-scores")
    return [words(line) for score_list in lists for line in elements(score_list, _name="li")]


def notices(response):
    return [words(part) for part in elements(by_id(response, "queries"), cls="notice")]


def head_of(response):
    return words(by_id(response, "case-score"))


def attempt_of(case):
    return case.attempts.select_related("case", "endpoint").first()


# --- secondary scorers ---


def test_secondary_scorers_are_listed_with_their_score_and_page(sign_in, case):
    run_now(attempt_of(case))
    page = sign_in("editor").get(at(case, "case"))
    assert [line.split()[0] for line in secondary_scores(page)] == ["P@10", "RR@10"]
    for line, version in zip(secondary_scores(page), ScorerVersion.objects.used_by(case)[1:], strict=True):
        score = version.case_scores.get(run__number=2)
        assert f" {score.score:.1f} " in line
    links = elements(elements(by_id(page, "case-score"), cls="secondary-scores")[0], _name="a")
    assert [attributes(link)["href"] for link in links] == [f"/scorers/{scorer(name).pk}/" for name in MEASURES[1:]]
    labels = [attributes(spark)["aria-label"] for spark in elements(by_id(page, "case-score"), cls="sparkline")]
    assert all(label.startswith("Last 2 runs") for label in labels)
    assert len(labels) == 2


def test_secondary_scorers_are_missing_for_one_scorer_and_have_no_buttons_for_a_viewer(sign_in, people, team, case):
    alone = make_workbench_case(people, team)
    assert secondary_scores(sign_in("editor").get(at(alone, "case"))) == []
    page = sign_in("viewer").get(at(case, "case"))
    assert len(secondary_scores(page)) == 2
    assert elements(by_id(page, "case-score"), _name="button") == []


def test_make_primary_computes_nothing_and_searches_nothing(sign_in, case, monkeypatch):
    searches_before = len(script_of(attempt_of(case)).requests)
    before = list(QueryScore.objects.order_by("pk").values_list("pk", "score", "revision"))
    monkeypatch.setattr(
        "relevancy.scores.rescoring.score_known", lambda *arguments, **options: pytest.fail("scores are there")
    )
    client = sign_in("editor")
    response = client.post(at(case, "case_scorer"), {"scorer": scorer("RR@10").pk})
    assert response.headers["Location"] == at(case, "case")
    assert names(case) == ["RR@10", "nDCG@10", "P@10"]
    assert list(QueryScore.objects.order_by("pk").values_list("pk", "score", "revision")) == before
    assert len(script_of(attempt_of(case)).requests) == searches_before
    page = client.get(at(case, "case"), {"sort": "-score"})
    result = [row.case_query.score for row in page.context["rows"]]
    stored = QueryScore.objects.filter(version__scorer__name="RR@10", score__isnull=False).order_by("-score")
    assert result[:2] == [score.score for score in stored]


def test_add_scores_the_history_without_searching(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    run_now(attempt_of(case))
    searches_before = len(script_of(attempt_of(case)).requests)
    client = sign_in("editor")
    options = elements(by_id(client.get(at(case, "case")), "add-scorer"), _name="option")
    assert "RR@10" in [words(option) for option in options]
    assert "nDCG@10" not in [words(option) for option in options]
    response = client.post(at(case, "case_scorer_add"), {"scorer": scorer("RR@10").pk}, headers=HTMX)
    assert response.headers["HX-Redirect"] == at(case, "case")
    assert names(case) == ["nDCG@10", "RR@10"]
    assert len(script_of(attempt_of(case)).requests) == searches_before
    assert scorer("RR@10").versions.get().case_scores.count() == 2


@pytest.mark.parametrize("name", ["case_scorer_add", "case_scorer"])
def test_add_refuses_the_eleventh(sign_in, case, name):
    for number in range(7):
        scorers.add_scorer(case=case, scorer=make_scorer(f"P@{number + 1}", f"P {number}"))
    assert len(names(case)) == 10
    response = sign_in("editor").post(at(case, name), {"scorer": scorer("ERR@10").pk}, headers=HTMX)
    assert response.status_code == 409
    assert response.content.decode() == "A case can have at most 10 scorers. Remove one of them first."
    assert len(names(case)) == 10


@pytest.mark.parametrize("sent", ["", "0", "x", "99999"])
def test_add_refuses_what_is_not_on_offer(sign_in, case, sent):
    response = sign_in("editor").post(at(case, "case_scorer_add"), {"scorer": sent}, headers=HTMX)
    assert response.status_code == 409
    assert names(case) == MEASURES


def test_offered_only_in_the_case_it_was_made_for(sign_in, people, team, case):
    own = make_scorer("P@3", "only here")
    Scorer.objects.filter(pk=own.pk).update(only_for=case)
    other = make_workbench_case(people, team)
    client = sign_in("editor")
    assert client.post(at(other, "case_scorer_add"), {"scorer": own.pk}, headers=HTMX).status_code == 409
    assert client.post(at(case, "case_scorer_add"), {"scorer": own.pk}, headers=HTMX).status_code == 200


@pytest.mark.parametrize(("name", "left"), [("nDCG@10", ["P@10", "RR@10"]), ("P@10", ["nDCG@10", "RR@10"])])
def test_remove_and_undo_brings_it_back_to_its_place(sign_in, case, name, left):
    client = sign_in("editor")
    before = QueryScore.objects.count()
    page = client.post(at(case, "case_scorer_remove", scorer(name).pk), follow=True)
    assert names(case) == left
    assert QueryScore.objects.count() == before
    (undo,) = [form for form in elements(by_id(page, "toasts"), _name="form") if "action" in attributes(form)]
    client.post(attributes(undo)["action"])
    assert names(case) == MEASURES
    assert QueryScore.objects.count() == before


def test_remove_and_undo_keeps_the_version(sign_in, case):
    ScorerVersion.objects.create(scorer=scorer("P@10"), number=2, measure="P@2", scale=[[0, ""], [1, ""]])
    client = sign_in("editor")
    page = client.post(at(case, "case_scorer_remove", scorer("P@10").pk), follow=True)
    (undo,) = [form for form in elements(by_id(page, "toasts"), _name="form") if "action" in attributes(form)]
    client.post(attributes(undo)["action"])
    assert [version.number for version in ScorerVersion.objects.used_by(case)] == [1, 1, 1]
    client.post(at(case, "case_scorer_remove", scorer("P@10").pk))
    client.post(at(case, "case_scorer_restore", scorer("P@10").pk, position=1, version=99))
    assert [version.number for version in ScorerVersion.objects.used_by(case)] == [1, 2, 1]


@pytest.mark.parametrize("parameters", [{"position": "-1"}, {"position": "second"}, {"version": "0"}, {"version": "x"}])
def test_restore_refuses_what_is_not_a_position_or_version(sign_in, case, parameters):
    client = sign_in("editor")
    client.post(at(case, "case_scorer_remove", scorer("P@10").pk))
    response = client.post(at(case, "case_scorer_restore", scorer("P@10").pk, **parameters), headers=HTMX)
    assert response.status_code == 409
    assert names(case) == ["nDCG@10", "RR@10"]


def test_restore_of_a_scorer_of_another_case_is_not_found(sign_in, people, team, case):
    own = make_scorer("P@2", "Of the other")
    Scorer.objects.filter(pk=own.pk).update(only_for=make_workbench_case(people, team), owner=people["editor"])
    assert sign_in("editor").post(at(case, "case_scorer_restore", own.pk, position=1)).status_code == 404
    assert names(case) == MEASURES


def test_remove_refuses_the_last_one_and_one_that_is_not_there(sign_in, people, team, case):
    alone = make_workbench_case(people, team)
    client = sign_in("editor")
    response = client.post(at(alone, "case_scorer_remove", scorer("nDCG@10").pk), headers=HTMX)
    assert (response.status_code, response.content.decode()) == (409, "A case needs at least one scorer.")
    response = client.post(at(case, "case_scorer_remove", scorer("ERR@10").pk), headers=HTMX)
    assert response.status_code == 409
    assert names(case) == MEASURES


def test_restore_of_another_users_scorer_only_where_it_scored(sign_in, people, team, case):
    private = make_scorer("P@2", "Private")
    scorers.add_scorer(case=case, scorer=private)
    scores.rescore_run(case.runs.select_related("case__book").get())
    Scorer.objects.filter(pk=private.pk).update(owner=people["stranger"])
    scorers.drop_scorer(case=case, scorer=private)
    client = sign_in("editor")
    assert client.post(at(case, "case_scorer_restore", private.pk, position=1)).status_code == 302
    assert names(case)[1] == "Private"
    other = make_workbench_case(people, team)
    assert client.post(at(other, "case_scorer_restore", private.pk)).status_code == 404


# --- another version ---


def test_newer_version_is_mentioned_and_adopted_by_editors(sign_in, case):
    ScorerVersion.objects.create(scorer=scorer("P@10"), number=2, measure="P@2", scale=[[0, ""], [1, ""]])
    notice = "P@10 has a newer version (2); this case is scored with version 1."
    assert notices(sign_in("viewer").get(at(case, "case"))) == [notice]
    client = sign_in("editor")
    assert notices(client.get(at(case, "case"))) == [f"{notice} Score with version 2"]
    client.post(at(case, "case_scorer_adopt", scorer("P@10").pk))
    assert notices(client.get(at(case, "case"))) == []
    assert names(case) == MEASURES
    counts = {version.number: version.query_scores.count() for version in scorer("P@10").versions.all()}
    assert counts == {1: 3, 2: 3}  # what the old version scored stays


def test_adopt_a_scorer_that_is_not_on_the_case_is_not_found(sign_in, case):
    assert sign_in("editor").post(at(case, "case_scorer_adopt", scorer("ERR@10").pk)).status_code == 404


# --- stale scores ---


def test_page_rescores_under_every_scorer(sign_in, case):
    rate_all(case, {"query 3": {"a": 1}}, case.owner)
    run = case.runs.select_related("case__book").get()
    assert scores.count_stale(run, *ScorerVersion.objects.used_by(case)) == 3
    sign_in("viewer").get(at(case, "case"))
    assert scores.count_stale(run, *ScorerVersion.objects.used_by(case)) == 0


def test_many_are_scored_in_the_background_and_the_page_follows(sign_in, case, monkeypatch):
    monkeypatch.setattr("relevancy.views.workbench.stale_scores.MAX_INLINE_SCORES", 0)
    enqueued = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: enqueued.append((task.name, pk)))
    rate_all(case, {"query 3": {"a": 1}}, case.owner)
    client = sign_in("viewer")
    (notice,) = elements(by_id(client.get(at(case, "case")), "queries"), cls="notice")
    assert "Updating 3 scores" in words(notice)
    assert attributes(notice)["hx-trigger"] == "every 2s"
    assert attributes(notice)["hx-get"] == at(case, "run_state")
    assert enqueued == [("rescore_run", case.runs.get().pk), ("rescore_book", case.book_id)]
    client.get(at(case, "case"), headers=LIST)
    assert client.get(at(case, "run_state"), headers=HTMX).headers["HX-Trigger"] == "run-progress"
    assert "HX-Trigger" not in client.get(at(case, "run_state", only="head"), headers=HTMX).headers
    assert len(enqueued) == 2  # only opening the page asks for it
    scores.rescore_run(case.runs.select_related("case__book").get())
    assert client.get(at(case, "run_state"), headers=HTMX).headers["HX-Trigger"] == "run-finished"
    assert notices(client.get(at(case, "case"))) == []


# --- an opened query ---


def test_opened_query_says_why_and_what_the_others_give(sign_in, case):
    case_query = case_query_of(case, "query 1")
    part = by_id(sign_in("viewer").get(at(case, "case", open=case_query.pk)), f"query-scores-{case_query.pk}")
    first, *others = [words(line) for line in elements(part, _name="div")]
    run = case.runs.select_related("case__book").get()
    tried = scores.preview_query(
        models.ScorerDefinition.of(ScorerVersion.objects.used_by(case)[0]), run=run, query_id=case_query.query_id
    )
    assert first == f"{tried.reasons.sentence} Show the working of nDCG@10"
    assert [line.split()[0] for line in others] == ["P@10", "RR@10"]
    for line, name in zip(others, MEASURES[1:], strict=True):
        score = QueryScore.objects.get(query=case_query.query_id, version__scorer__name=name)
        assert f" {score.score:.1f} " in line
        assert "2 unrated" in line
    links = [attributes(link)["href"] for link in elements(part, _name="a") if "working" in attributes(link)["href"]]
    assert links == [f"{at(case, 'query_working', case_query.pk)}?scorer={scorer(name).pk}" for name in MEASURES]


def test_rating_brings_every_score_of_the_query_along(sign_in, case):
    case_query = case_query_of(case, "query 1")
    position = at(case, "rate", case_query.pk, rank=2)
    client = sign_in("rater")
    response = client.post(position, {"doc_id": "b", "value": "3"}, headers=HTMX)
    part = by_id(response, f"query-scores-{case_query.pk}")
    assert attributes(part)["hx-swap-oob"] == "true"
    for name in MEASURES[1:]:
        score = QueryScore.objects.get(query=case_query.query_id, version__scorer__name=name)
        assert f"{name} {score.score:.1f} " in words(part)
        assert score.unrated == 1
    assert len(secondary_scores(client.get(at(case, "run_state", only="head"), headers=HTMX))) == 2


def test_opening_a_query_runs_no_script(sign_in, case, monkeypatch):
    scorers.make_primary(case=case, scorer=scripted("setScore(40);"))
    client = sign_in("editor")
    client.get(at(case, "case"))
    monkeypatch.setattr(scripts.sandbox, "score", lambda *arguments, **options: pytest.fail("a script was run"))
    case_query = case_query_of(case, "query 1")
    page = client.get(at(case, "case", open=case_query.pk))
    assert "Scored by a script" in words(by_id(page, f"query-scores-{case_query.pk}"))
    assert "Scored by a script" in client.get(at(case, "query", case_query.pk), headers=HTMX).content.decode()


# --- the gap ---


def test_gap_is_shown_sorted_and_named_in_the_head(sign_in, people, team, script):
    ratings = {"good": {"a": 3}, "worse": {"a": 1, "b": 3}, "worst": {"x": 3}}
    case = make_workbench_case(people, team, ["good", "worse", "worst", SCRIPT], ratings)
    make_case(["worst", "good"], book_of=case)
    client = sign_in("viewer")
    page = client.get(at(case, "case"), {"sort": "-gap"})
    assert shown(page) == ["worst", "worse", "good", SCRIPT]
    assert "Most to gain: “worst” could gain 100.0" in head_of(page)
    (link,) = [result for result in elements(by_id(page, "case-score"), _name="a") if "Most to gain" in words(result)]
    opened = client.get(attributes(link)["href"], follow=True)
    assert [attributes(part)["id"] for part in elements(by_id(opened, "queries"), cls="is-open")] == [
        f"query-{case_query_of(case, 'worst').pk}"
    ]
    gaps = {row.case_query.query.text: row.case_query.gap for row in page.context["rows"]}
    assert gaps["good"] == 0
    assert gaps["worst"] == 100
    assert 0 < gaps["worse"] < 100
    assert shown(client.get(at(case, "case"), {"sort": "gap"}))[-1] == SCRIPT  # without a score, last both ways


def test_most_to_gain_is_missing_without_a_gap(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, {"query 1": {"a": 3}})
    assert "Most to gain" not in head_of(sign_in("viewer").get(at(case, "case")))


# --- columns of the list ---


def secondary_cells(row):
    return [words(cell) for cell in elements(row, _name="td", cls="secondary")]


def test_secondary_scorers_are_columns_that_sort_the_list(sign_in, case):
    client = sign_in("rater")
    page = client.get(at(case, "case", sort="-scorer2"))
    headings = elements(by_id(page, "queries"), _name="th", cls="secondary")
    assert [words(heading).removesuffix(" ↓") for heading in headings] == MEASURES[1:]
    assert attributes(headings[1])["aria-sort"] == "descending"
    cells = {}
    for case_query in case.case_queries.select_related("query"):
        cells[case_query.pk] = secondary_cells(by_id(page, f"query-row-{case_query.pk}"))
        stored = QueryScore.objects.filter(run=case.runs.latest("number"), query=case_query.query)
        expected = [stored.get(version__scorer__name=name).score for name in MEASURES[1:]]
        assert cells[case_query.pk] == ["–" if score is None else f"{score:.1f}" for score in expected]
    listed = [attributes(element)["id"] for element in elements(by_id(page, "queries"), _name="tbody")]
    values = [cells[int(name.removeprefix("query-"))][1] for name in listed]
    assert values == sorted(values, key=lambda text: (text == "–", -float(text.replace("–", "0"))))


def test_a_rating_changes_the_columns_of_secondary_scorers(sign_in, case):
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    before = secondary_cells(by_id(client.get(at(case, "case")), f"query-row-{case_query.pk}"))
    response = client.post(at(case, "rate", case_query.pk, rank=1), {"doc_id": "a", "value": "0"}, headers=HTMX)
    scores_now = QueryScore.objects.filter(run=case.runs.latest("number"), query=case_query.query)
    expected = [scores_now.get(version__scorer__name=name).score for name in MEASURES[1:]]
    cells = secondary_cells(by_id(response, f"query-row-{case_query.pk}"))
    assert cells == [f"{score:.1f}" for score in expected] != before
    assert cells == secondary_cells(by_id(client.get(at(case, "case")), f"query-row-{case_query.pk}"))


def test_column_of_a_scorer_that_was_removed_does_not_sort(sign_in, case):
    client = sign_in("editor")
    client.post(at(case, "case_scorer_remove", scorer("RR@10").pk), headers=HTMX)
    page = client.get(at(case, "case", sort="scorer2"))
    assert page.status_code == 200
    assert len(elements(by_id(page, "queries"), _name="th", cls="secondary")) == 1


# --- scales ---


def test_scale_of_a_script_that_is_mapped_is_a_notice(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, {"query 1": {"a": 10}}, scale="1:10")
    scorers.make_primary(case=case, scorer=scripted("setScore(docRating(0) * 10);"))
    client = sign_in("viewer")
    notice = "Made for 0–3: grades of the book, 1–10, are mapped linearly to 0–3."
    assert f"a script has another scale. {notice}" in notices(client.get(at(case, "case")))
    assert QueryScore.objects.get(version__scorer__name="a script").score == 30  # 10 of 1–10 is 3 of 0–3
    scorers.make_primary(case=case, scorer=scorer("nDCG@10"))
    page = client.get(at(case, "case"))
    assert f"a script has another scale. {notice}" in notices(page)
    assert "maps to 0–3" in secondary_scores(page)[0]


def test_scale_of_a_measure_counts_by_the_book(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, {"query 1": {"a": 10}}, scale="1:10", measures=["P@3", "P@4"])
    page = sign_in("viewer").get(at(case, "case"))
    notice = "Made for 0–3: here it uses the scale of the book, 1–10; grades are not mapped"
    assert notice in head_of(page)
    assert secondary_scores(page)[0].startswith(f"P@4 scale 0–3 . {notice}")
    assert notices(page) == []


def test_scale_that_fits_is_not_mentioned(sign_in, case):
    ScorerVersion.objects.filter(scorer__name__in=MEASURES).update(scale=[[0, ""], [1, ""], [2, ""], [3, ""]])
    page = sign_in("viewer").get(at(case, "case"))
    assert "Made for" not in page.content.decode()


# --- scripts that fail ---


@pytest.fixture
def failing(people, team, script):
    case = make_workbench_case(people, team)
    scorers.make_primary(case=case, scorer=scripted(FAILS_ON_TWO))
    scores.rescore_run(case.runs.select_related("case__book").get())
    return case


def test_script_that_fails_is_reported_in_row_head_and_state(sign_in, failing):
    page = sign_in("editor").get(at(failing, "case"))
    row = by_id(page, f"query-row-{case_query_of(failing, 'query 2').pk}")
    assert "Scorer: Line 1: nobody is not defined" in words(row)
    assert "scorer failed" in words(row)
    assert [attributes(form)["action"] for form in elements(row, _name="form")] == [at(failing, "case_score_again")]
    body = by_id(page, f"query-{case_query_of(failing, 'query 2').pk}")
    assert "failed" in attributes(body)["class"].split()
    assert "data-failed" in attributes(body)
    assert "1 query: the scorer failed" in head_of(page)
    assert "2 of 3 scored" in head_of(page)
    assert shown(sign_in("viewer").get(at(failing, "case"), {"state": "scorer"})) == ["query 2"]
    assert shown(sign_in("viewer").get(at(failing, "case"), {"state": "failed"})) == []


def test_secondary_script_that_fails_is_reported_in_head_and_opened_query(sign_in, failing):
    scorers.make_primary(case=failing, scorer=scorer("nDCG@10"))
    case_query = case_query_of(failing, "query 2")
    page = sign_in("viewer").get(at(failing, "case", open=case_query.pk))
    assert secondary_scores(page)[0].startswith("a script 1 failed")
    assert "Scorer: Line 1: nobody is not defined" in words(by_id(page, f"query-scores-{case_query.pk}"))
    assert "the scorer failed" not in words(by_id(page, f"query-row-{case_query.pk}"))


def test_score_again_tries_only_what_failed(sign_in, failing, monkeypatch):
    searched = []
    score = scripts.sandbox.score

    def seen(script, queries, **options):
        searched.append([query.text for query in queries])
        return score(script, queries, **options)

    monkeypatch.setattr(scripts.sandbox, "score", seen)
    client = sign_in("editor")
    assert client.post(at(failing, "case_score_again")).headers["Location"] == at(failing, "case")
    assert searched == [["query 2"]]
    response = client.post(at(failing, "case_score_again"), headers=HTMX, follow=True)
    assert response.status_code == 200
    assert searched == [["query 2"]] * 2
    Run.objects.update(status="running")
    assert client.post(at(failing, "case_score_again"), headers=HTMX).status_code == 409


# --- statements ---


def test_statements_do_not_grow_with_the_scorers(sign_in, people, team, script, monkeypatch):
    few = make_workbench_case(people, team, measures=MEASURES[:2])
    many = make_workbench_case(people, team, measures=[*MEASURES, "ERR@10", "CG@10", "DCG@10"])
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)  # the worker's part
    client = sign_in("editor")
    result = []
    for case in (few, many):
        case_query_id = case_query_of(case, "query 1").pk
        result.append(
            (
                statements(client.get, at(case, "case", open=case_query_id)),
                statements(client.get, at(case, "case"), headers=LIST),
                statements(
                    client.post, at(case, "rate", case_query_id, rank=1), {"doc_id": "a", "value": "2"}, headers=HTMX
                ),
            )
        )
    assert result[0] == result[1]


def statements(send, *what, **how):
    with CaptureQueriesContext(connection) as captured:
        assert send(*what, **how).status_code == 200
    return len(captured)


def test_the_page_of_the_scorers_changes_them_and_stays(sign_in, case):
    url = at(case, "case_scorers")
    client = sign_in("editor")
    listed = elements(by_id(client.get(url), "case-scorers"), _name="tr")[1:]
    assert [words(row).split()[0] for row in listed] == MEASURES
    made = client.post(at(case, "case_scorer"), {"scorer": scorer("RR@10").pk, "back": "settings"})
    removed = client.post(at(case, "case_scorer_remove", scorer("P@10").pk), {"back": "settings"})
    assert (made["Location"], removed["Location"]) == (url, url)
    assert names(case) == ["RR@10", "nDCG@10"]
    page = sign_in("viewer").get(url)
    assert elements(by_id(page, "case-scorers"), _name="button") == []
