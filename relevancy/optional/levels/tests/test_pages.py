"""What the history page says about changes of the level."""

from relevancy.models import ScorerVersion
from tests.factories import make_attempt, run_now
from tests.views.history.test_pages import case as case  # fixtures
from tests.views.history.test_pages import figure, rows
from tests.views.history.test_pages import runs as runs
from tests.views.workbench.example_cases import at, by_id, elements, words


def test_a_change_is_said_drawn_and_marked_in_the_table(sign_in, case, runs):
    client = sign_in("viewer")
    client.get(at(case, "history"))  # the differences under the second scorer are computed
    response = client.get(at(case, "history"))
    (level,) = [trace for trace in figure(response)["data"] if trace.get("name") == "Level"]
    assert level["x"] == [1, 6, None, 7, 12, None] * 2
    assert level["y"][:6] == [0, 0, None, 100, 100, None]
    assert "shapes" not in figure(response)["layout"]
    sentences = [words(item) for item in elements(by_id(response, "marks"), _name="li")]
    assert len(sentences) == 3
    assert sentences[0].startswith("P@1: from run 7 on, the level is 100.0 points higher: 100.0 instead of 0.0")
    assert "p is too small: with an autocorrelation of .5, 19 to 43 of 100 histories without a change" in sentences[2]
    assert [words(pill) for pill in elements(rows(response)["7"], cls="live")] == ["level +100.0", "level +50.0"]
    assert elements(rows(response)["8"], cls="live") == []


def test_too_few_runs_say_how_many_are_needed(sign_in, case):
    run_now(make_attempt(case))
    response = sign_in("viewer").get(at(case, "history"))
    assert "can be told from 8 complete runs on; so far, 1" in words(by_id(response, "marks"))


def test_only_chosen_scorers_have_levels(sign_in, case, runs):
    second = ScorerVersion.objects.used_by(case)[1]
    response = sign_in("viewer").get(at(case, "history", scorer=second.scorer_id))
    assert words(by_id(response, "marks")).startswith("RR@10")
    assert "autocorrelation" not in words(by_id(response, "marks"))
