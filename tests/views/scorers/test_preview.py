"""Scorer preview: unsaved definitions and scorers as they are, on typed grades and on real queries. Nothing is stored."""

import json
import re

import pytest

from relevancy import cases, queries, scorers
from relevancy.models import CaseScore, QueryScore, Scorer, ScorerDefinition, ScorerVersion
from tests.factories import make_attempt, make_case, run_now
from tests.markup import compact

from .example_scorers import SCALE, SCRIPT, at, house_measure, house_script

MEASURE = {"kind": "measure", "scale": "0:3", "measure": "nDCG", "cutoff": "6", "p_gain": "linear"}
AS_SCRIPT = {"kind": "script", "scale": "0:3", "script": SCRIPT, "output_range": "100", "cutoff": ""}
TYPED = {"on": "typed", "grades": "3 2 3 0 1 2", "known": "3 2"}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def mine(people):
    return house_measure(people["owner"])


@pytest.fixture
def script_scorer(people, team):
    return house_script(people["owner"], team)


@pytest.fixture
def shop(people, team, script):
    """A case of the team with a run: star wars returned a, b, c, of which two are rated."""
    ratings = {"star wars": {"a": 3, "b": 1, "x": 2}}
    case = make_case(["star wars", "star trek", "alien"], ratings, owner=people["owner"])
    cases.share(case=case, team=team)
    run_now(make_attempt(case))
    return case


def stored():
    return [model.objects.count() for model in (Scorer, ScorerVersion, QueryScore, CaseScore)]


def ask(client, **data):
    return client.post("/scorers/try/", data, headers=HTMX)


def test_try_needs_a_post(sign_in):
    assert sign_in("viewer").get("/scorers/try/").status_code == 405


def test_try_an_unsaved_measure(sign_in, people):
    before = stored()
    response = ask(sign_in("viewer"), **MEASURE, **TYPED)
    preview = response.context["result"].preview
    assert response.status_code == 200
    assert preview.value == pytest.approx(0.785002, abs=5e-7)
    text = response.content.decode()
    assert "<html" not in text
    assert "Copy as CSV" in text
    assert "value 0.7850" in text
    assert preview.reasons.sentence in text
    assert stored() == before


def test_try_an_unsaved_script(sign_in, people):
    response = ask(sign_in("viewer"), **AS_SCRIPT, **TYPED)
    assert response.context["result"].preview.score == 60
    assert "in 5" in compact(response.content.decode())


def test_try_a_script_that_throws_says_where(sign_in, people):
    response = ask(sign_in("viewer"), **{**AS_SCRIPT, "script": "console.log('before');\nnope();"}, **TYPED)
    text = response.content.decode()
    assert response.status_code == 200
    assert "before" in text
    assert 'data-script-line="2"' in text
    assert "nope is not defined" in text


def test_try_a_script_that_cannot_be_read_says_where(sign_in, people):
    response = ask(sign_in("viewer"), **{**AS_SCRIPT, "script": "let b = ;"}, **TYPED)
    assert response.status_code == 422
    assert 'data-script-line="1" data-script-column="9"' in compact(response.content.decode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grades": "3 x"}, "Grade 2 is &#x27;x&#x27;"),
        ({"grades": "4"}, "4 is not on the scale 0–3"),
        ({"grades": " ", "known": ""}, "Type grades in rank order"),
        ({"cutoff": "0"}, "whole number from 1"),
        ({"scale": "0, 2"}, "gap"),
        ({"scale": ""}, "Enter the grades"),
        ({"on": "neither"}, "neither"),
        ({"on": "query"}, "Choose a case"),
        ({"on": "query", "case": "999999"}, "not one of the available choices"),
        ({"compare": "999999"}, "not one of the available choices"),
    ],
)
def test_try_refuses(sign_in, people, change, message):
    response = ask(sign_in("viewer"), **{**MEASURE, **TYPED, **change})
    assert response.status_code == 422
    assert message in compact(response.content.decode())


def test_try_a_scorer_as_it_is(sign_in, mine, script_scorer):
    assert ask(sign_in("owner"), scorer=mine.pk, **TYPED).context["result"].preview.working is not None
    assert ask(sign_in("viewer"), scorer=mine.pk, **TYPED).status_code == 404
    assert ask(sign_in("viewer"), scorer=script_scorer.pk, **TYPED).context["result"].preview.score == 60


def test_try_without_javascript_is_a_page(sign_in, script_scorer):
    response = sign_in("viewer").post("/scorers/try/", {"scorer": script_scorer.pk, **TYPED})
    text = response.content.decode()
    assert "<html" in text
    assert 'value="3 2 3 0 1 2"' in text
    assert "in 5" in text


# --- a real query ---


def test_try_a_real_query(sign_in, shop):
    before = stored()
    query = shop.book.queries.get(text="star wars")
    result = ask(sign_in("viewer"), **MEASURE, on="query", case=shop.pk, find="WARS", query=query.pk).context["result"]
    assert (result.query, result.preview.text) == (query, "star wars")
    assert [(shown.doc_id, shown.grade) for shown in result.preview.documents] == [("a", 3), ("b", 1), ("c", None)]
    assert list(result.preview.best) == [3, 2, 1]
    assert result.preview.low < result.preview.high
    assert stored() == before


def test_try_finds_the_query_by_its_text(sign_in, shop):
    client = sign_in("viewer")
    data = {**MEASURE, "on": "query", "case": shop.pk}
    assert ask(client, **data, find="star").context["result"].query.text == "star wars"
    assert ask(client, **data, find="star trek").context["result"].query.text == "star trek"
    assert ask(client, **data).context["result"].query.text == "star wars"
    nothing = ask(client, **data, find="zebra")
    assert (nothing.status_code, "contains “zebra”" in nothing.content.decode()) == (422, True)


def test_try_a_query_of_a_case_one_does_not_see(sign_in, shop):
    response = ask(sign_in("stranger"), **MEASURE, on="query", case=shop.pk, find="star")
    assert response.status_code == 422
    assert "star wars" not in compact(response.content.decode())


def test_try_a_case_without_a_run(sign_in, people, script):
    case = make_case(["star wars"], owner=people["owner"])
    response = ask(sign_in("owner"), **MEASURE, on="query", case=case.pk)
    assert (response.status_code, "has no run yet" in response.content.decode()) == (422, True)


def test_try_a_query_that_was_not_searched(sign_in, people, shop):
    queries.add(case=shop, texts=["later"])
    response = ask(sign_in("owner"), **MEASURE, on="query", case=shop.pk, find="later")
    assert (response.status_code, "has no results for “later”" in response.content.decode()) == (422, True)


def test_queries_lists_what_matches(sign_in, shop):
    text = (
        sign_in("viewer").post("/scorers/queries/", {"on": "query", "case": shop.pk, "find": "star"}).content.decode()
    )
    assert [word in text for word in ("star wars", "star trek", "alien")] == [True, True, False]
    hidden = (
        sign_in("stranger").post("/scorers/queries/", {"on": "query", "case": shop.pk, "find": ""}).content.decode()
    )
    assert "star wars" not in hidden


def test_try_says_that_grades_are_mapped(sign_in, shop):
    response = ask(sign_in("viewer"), **{**AS_SCRIPT, "scale": "1:10"}, on="query", case=shop.pk, find="star wars")
    result = response.context["result"]
    assert result.preview.mapped == ((0, 3), (1, 10))
    assert "Different scale." in compact(response.content.decode())
    assert result.preview.score == 70  # 3 → 10 and 1 → 4: a mean of 7


# --- compared ---


def test_compare_typed_grades(sign_in, people):
    other = Scorer.objects.get(name="P@10")
    response = ask(sign_in("viewer"), **MEASURE, **TYPED, compare=other.pk)
    result = response.context["result"]
    assert (result.other_name, result.other.score) == ("P@10", pytest.approx(50))
    assert result.difference == pytest.approx(50 - 78.5002, abs=1e-3)
    assert "−28.5" in compact(response.content.decode())


def test_compare_a_real_query(sign_in, shop, script_scorer):
    result = ask(
        sign_in("viewer"), **MEASURE, on="query", case=shop.pk, find="star wars", compare=script_scorer.pk
    ).context["result"]
    assert result.other.score == 66


def test_compare_only_with_what_one_sees(sign_in, mine):
    response = ask(sign_in("viewer"), **MEASURE, **TYPED, compare=mine.pk)
    assert response.status_code == 422
    assert "House nDCG" not in compact(response.content.decode())


def test_compare_a_typed_ranking_with_a_script_of_another_scale(sign_in, people):
    definition = ScorerDefinition(script="setScore(avgRating100(10));")
    other = scorers.create(name="Ten", definition=definition, by=people["admin"], is_global=True)
    result = ask(sign_in("viewer"), **MEASURE, on="typed", grades="0 3", compare=other.pk).context["result"]
    assert result.other.mapped == ((0, 3), (1, 10))
    assert result.other.score == 55


def test_export_is_the_newest_version(sign_in, mine, people):
    scorers.change(scorer=mine, by=people["owner"], definition=ScorerDefinition(measure="P@7", scale=SCALE))
    response = sign_in("owner").get(at(mine, "export/"))
    assert json.loads(response.content)["measure"] == "P@7"
    assert response.headers["Content-Disposition"] == 'attachment; filename="house-ndcg.scorer.json"'
    assert sign_in("viewer").get(at(mine, "export/")).status_code == 404


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("DCG", "would give 9.914: the score is 69.2 % of that"),
        ("CG", "would give 18.000: the score is 61.1 % of that"),
    ],
)
def test_try_a_sum_says_what_it_is_per_cent_of(sign_in, measure, message):
    data = {"kind": "measure", "scale": "0:3", "measure": measure, "cutoff": "6", "p_gain": "linear"}
    assert message in " ".join(ask(sign_in("rater"), **data, on="typed", grades="3 2 3 0 1 2").content.decode().split())
    nothing = ask(sign_in("rater"), **data, on="typed", grades="0 0", known="3").content.decode()
    assert "would give" not in nothing
    assert "would give" not in ask(sign_in("rater"), **MEASURE, **TYPED).content.decode()


UNIT_SCRIPT = "setScore(avgRating() / max);\n"


@pytest.mark.parametrize(
    ("script", "chosen", "score", "note"),
    [
        (UNIT_SCRIPT, "100", 0.6111, 'data-range="wrong"'),
        (UNIT_SCRIPT, "1", 61.11, ""),
        (UNIT_SCRIPT, "", 61.11, 'data-range="taken"'),
        (SCRIPT, "", 60.0, 'data-range="taken"'),
        (SCRIPT, "1", 100.0, 'data-range="wrong"'),
    ],
)
def test_try_says_whether_the_range_of_a_script_fits(sign_in, script, chosen, score, note):
    data = {**AS_SCRIPT, "script": script, "output_range": chosen, **TYPED}
    response = ask(sign_in("rater"), **data)
    assert response.status_code == 200
    assert response.context["result"].preview.score == pytest.approx(score, abs=0.01)
    result = re.findall(r'data-range="\w+"', response.content.decode())
    assert result == ([note] if note else [])
