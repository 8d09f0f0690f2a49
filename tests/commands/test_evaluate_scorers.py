"""`evaluate --scorer`: scorers of the case, other scorers, and scripts that fail."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import engines, scorers
from relevancy.models import Case, CaseScore, Run, Scorer, ScorerVersion
from tests.factories import make_attempt, make_case, make_scorer, make_user, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
FAILS_ON_TWO = 'if (query.text.indexOf("2") > 0) { nobody.there(); }\nsetScore(40);'


@pytest.fixture
def case() -> Case:
    case = make_case(3, {"query 1": {"a": 3}, "query 2": {"b": 3}})
    make_attempt(case, depth=5)
    return case


def report(case: Case, *names: str) -> dict[str, Any]:
    """What `evaluate --json -` prints."""
    out = io.StringIO()
    scorers = [word for name in names for word in ("--scorer", name)]
    call_command("evaluate", str(case.pk), *scorers, "--json", "-", stdout=out, stderr=io.StringIO())
    evaluation: dict[str, Any] = json.loads(out.getvalue())
    return evaluation


def refused(case: Case, *names: str, out: io.StringIO | None = None) -> str:
    scorers = [word for name in names for word in ("--scorer", name)]
    with pytest.raises(CommandError) as caught:
        call_command(
            "evaluate", str(case.pk), *scorers, "--json", "-", stdout=out or io.StringIO(), stderr=io.StringIO()
        )
    assert caught.value.returncode == 2
    return str(caught.value)


def test_evaluate_another_scorer_computes_it_without_adding_it(case: Case) -> None:
    result = report(case, "RR@10", "nDCG@10")
    assert [(row["name"], row["score"], row["scored"]) for row in result["scorers"]] == [
        ("RR@10", 75, 2),
        ("nDCG@10", pytest.approx(81.5, abs=0.1), 2),
    ]
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == ["nDCG@10"]
    assert CaseScore.objects.filter(version__scorer__name="RR@10").count() == 1


def test_evaluate_searches_as_deep_as_the_deepest_scorer(case: Case) -> None:
    make_scorer("P@50", "deep")
    script_of(case.attempts.get()).default = [f"d{number}" for number in range(60)]
    report(case, "deep")
    assert Run.objects.get().rows == 50
    assert {len(ranking.hits) for ranking in Run.objects.get().rankings.all()} == {50}


def test_evaluate_with_the_version_the_case_is_scored_with(case: Case) -> None:
    scorer = Scorer.objects.get(name="nDCG@10")
    ScorerVersion.objects.create(scorer=scorer, number=2, measure="P@1", scale=[[0, ""], [3, ""]])
    assert report(case, "nDCG@10")["scorers"][0]["score"] != 50
    scorers.adopt(scorer=scorer, cases=[case])
    assert report(case, "nDCG@10")["scorers"][0]["score"] == 50


def test_evaluate_a_retired_scorer_only_where_the_case_has_it(case: Case) -> None:
    for name in ("nDCG@10", "RR@10"):
        scorers.retire(scorer=Scorer.objects.get(name=name))
    assert report(case, "nDCG@10")["scorers"][0]["name"] == "nDCG@10"
    assert "There is no scorer 'RR@10' that " in refused(case, "RR@10")


def test_evaluate_an_unknown_scorer_names_those_most_like_it(case: Case) -> None:
    assert "can use. Did you mean 'nDCG@10' or " in refused(case, "ndgc@10")
    for number in range(30):
        make_scorer("P@2", f"P {number:02}")
    message = refused(case, "zzzzzz")
    assert "Scorers: AP, AP@10, AvgEdit, " in message
    assert message.endswith(f" and {Scorer.objects.count() - 30} more.")


def test_evaluate_refuses_scorers_of_other_users(case: Case) -> None:
    private = make_scorer("P@2", "private")
    Scorer.objects.filter(pk=private.pk).update(owner=make_user())
    message = refused(case, "private")
    assert "There is no scorer 'private' that " in message
    assert "private" not in message.partition("Scorers:")[2]
    assert Run.objects.count() == 0


def test_evaluate_with_a_failing_script_does_not_succeed(case: Case) -> None:
    scorers.add_scorer(case=case, scorer=make_scorer("", "broken", script=FAILS_ON_TWO))
    script_of(case.attempts.get()).answers["query 3"] = ()
    out = io.StringIO()
    message = refused(case, out=out)
    assert message.startswith("A scorer failed for 1 of 3 queries. broken on “query 2”: ")
    assert "nobody is not defined" in message
    by_name = {row["name"]: row for row in json.loads(out.getvalue())["scorers"]}
    assert "nobody is not defined" in by_name["broken"]["per_query"]["query 2"]["error"]
    assert by_name["broken"]["per_query"]["query 1"]["error"] is None
    assert by_name["nDCG@10"]["per_query"]["query 2"]["error"] is None
    assert report(case, "nDCG@10")["complete"]  # only the scorers that were named count


def test_evaluate_a_failed_search_is_reported_before_a_failed_script(case: Case) -> None:
    scorers.add_scorer(case=case, scorer=make_scorer("", "broken", script=FAILS_ON_TWO))
    script_of(case.attempts.get()).answers["query 2"] = engines.BadQuery("No such parser.")
    out = io.StringIO()
    assert "1 of 3 searches failed" in refused(case, out=out)
    errors = {row["name"]: row["per_query"]["query 2"]["error"] for row in json.loads(out.getvalue())["scorers"]}
    assert errors == {"nDCG@10": "No such parser.", "broken": "No such parser."}
