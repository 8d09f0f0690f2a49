"""Outcomes of online tests beside the verdicts of comparisons."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import comparison
from relevancy.activity.sentences import describe
from relevancy.models import Activity, ScorerVersion
from relevancy.optional.outcomes import outcomes
from relevancy.optional.outcomes.models import OnlineOutcome
from relevancy.optional.outcomes.statistics import Side
from tests.comparison.conftest import run_with
from tests.factories import make_case

pytestmark = pytest.mark.django_db
Method = OnlineOutcome.Method
WON_BY_B = {"method": Method.INTERLEAVING, "wins_a": 6, "wins_b": 18, "ties": 4}


@pytest.fixture
def twelve(script):
    """A case of 12 queries with three runs: the second one is better than the first one for all of them, the third one is like it."""
    texts = [f"query {number}" for number in range(1, 13)]
    case = make_case(12, {text: {"a": 3} for text in texts}, measures=("P@1",))
    lists = (dict.fromkeys(texts, "xa"), dict.fromkeys(texts, "ab"), dict.fromkeys(texts, "xa"))
    return case, [run_with(case, item) for item in lists]


def store(a, b, counts, name, by):
    outcome = OnlineOutcome(case=a.case, run_a=a, run_b=b, name=name, **counts)
    return outcomes.store_outcome(outcome=outcome, by=by)


def compute_all(case):
    for item in outcomes.compare_outcomes(case):
        if item.is_pending:
            comparison.stored.compute(item.stored.pk)
    return outcomes.compare_outcomes(case)


def test_offline_winners_are_counted_by_what_they_did_online(twelve):
    case, (first, second, third) = twelve
    store(first, second, WON_BY_B, "May", case.owner)
    # The baseline comes second here, and A wins: the offline winner loses online.
    store(second, third, WON_BY_B, "June", case.owner)
    store(third, first, WON_BY_B, "No difference offline", case.owner)
    ab = {"method": Method.AB, "wins_a": 50, "wins_b": 51, "sessions_a": 1_000, "sessions_b": 1_000}
    store(first, second, ab, "A/B", case.owner)
    assert [item.pair for item in outcomes.compare_outcomes(case)] == [None] * 4
    compared = compute_all(case)
    result = [(str(item.outcome), outcomes.offline_winner(item.pair), item.outcome.result.winner) for item in compared]
    assert result == [
        ("A/B", Side.B, None),
        ("No difference offline", None, Side.B),
        ("June", Side.A, Side.B),
        ("May", Side.B, Side.B),
    ]
    winners = outcomes.count_winners(compared)
    assert (winners.won, winners.lost, winners.undecided, winners.winners) == (1, 1, 1, 3)
    assert outcomes.describe_winners(winners).startswith("Of 3 offline winners 1 won online")


def test_the_activity_log_says_what_was_imported_and_deleted(twelve):
    case, (first, second, _) = twelve
    outcome = store(first, second, WON_BY_B, "May", case.owner)
    outcomes.delete_outcome(outcome=outcome, by=case.owner)
    lines = [describe(line) for line in case.activities.order_by("-pk")[:2]]
    text = "online outcome “May” of run 1 and run 2"
    assert lines == [f"Deleted the {text}", f"Imported the {text}"]


def test_ten_of_twelve():
    # Clopper and Pearson for 10 of 12: .5159 to .9791.
    sentence = outcomes.describe_winners(outcomes.WinnerCounts(10, 1, 1, 0.51586, 0.97914))
    assert sentence == (
        "Of 12 offline winners 10 won online (95 % interval of the share 52 % to 98 %); 1 lost and 1 has no winner online."
    )
    assert outcomes.count_winners([]).low is None


def test_an_outcome_replaces_that_of_the_same_runs_and_method_and_pins_them(twelve):
    case, (first, second, _) = twelve
    store(first, second, WON_BY_B, "May", case.owner)
    newer = {"method": Method.INTERLEAVING, "wins_a": 30, "wins_b": 10}
    assert str(outcomes.find_replaced(OnlineOutcome(run_a=second, run_b=first, **newer)).get()) == "May"
    store(second, first, newer, "June", case.owner)
    (only,) = OnlineOutcome.objects.all()
    assert (only.name, only.run_a_id) == ("June", second.pk)
    first.refresh_from_db()
    assert first.pinned_at is not None
    (outcome,) = outcomes.read_outcomes(a=first, b=second)
    assert (outcome, outcome.wins_a, outcome.wins_b) == (only, 10, 30)
    outcomes.delete_outcome(outcome=only, by=case.owner)
    assert not OnlineOutcome.objects.exists()
    verbs = Activity.objects.filter(verb__startswith="run.outcome").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["run.outcome_imported", "run.outcome_imported", "run.outcome_deleted"]


def test_outcomes_that_cannot_be_stored_change_nothing(twelve, monkeypatch):
    case, (first, second, third) = twelve
    other = make_case(1, {}, measures=("P@1",))
    elsewhere = run_with(other, {"query 1": "a"})
    bad = [
        (first, first, WON_BY_B, "itself"),
        (first, elsewhere, WON_BY_B, "two runs of one case"),
        (first, second, {**WON_BY_B, "wins_a": 10**13}, "too many"),
    ]
    for a, b, counts, message in bad:
        with pytest.raises(ValidationError, match=message):
            store(a, b, counts, "May", case.owner)
    monkeypatch.setattr(outcomes, "MAX_OUTCOMES", 1)
    store(first, second, WON_BY_B, "May", case.owner)
    store(first, second, WON_BY_B, "Again", case.owner)  # takes its place
    with pytest.raises(ValidationError, match="Delete some"):
        store(first, third, WON_BY_B, "June", case.owner)
    assert [str(outcome) for outcome in OnlineOutcome.objects.all()] == ["Again"]
    third.refresh_from_db()
    assert third.pinned_at is None


def test_sentences():
    names = ["Run 1", "Run 2"]
    assert outcomes.describe_outcome(OnlineOutcome(**WON_BY_B), names) == (
        "Run 2 won online: 18 sessions preferred Run 2, 6 Run 1; 4 ties (+21.4 percentage points, 95 %: 2.8 to 34.5; p = .023)."
    )
    assert outcomes.describe_outcome(OnlineOutcome(**{**WON_BY_B, "wins_a": 18, "wins_b": 6}), names).startswith(
        "Run 1 won online: 6 sessions preferred Run 2"
    )
    ab = OnlineOutcome(method=Method.AB, wins_a=480, wins_b=540, sessions_a=10_000, sessions_b=10_000)
    assert outcomes.describe_outcome(ab, names) == (
        "No run won online: success with Run 2 in 5.4 % of 10,000 sessions, with Run 1 in 4.8 % of 10,000 sessions "
        "(+0.6 percentage points, 95 %: 0.0 to 1.2; p = .054)."
    )
    assert (
        outcomes.describe_outcome(OnlineOutcome(**{**WON_BY_B, "wins_a": 0, "wins_b": 0}), names)
        == "No session has a preference."
    )
    assert "Too few sessions" in outcomes.describe_outcome(
        OnlineOutcome(**{**WON_BY_B, "wins_a": 1, "wins_b": 2}), names
    )
    agreements = [
        outcomes.describe_agreement(offline, now) for offline in (None, Side.A) for now in (None, Side.A, Side.B)
    ]
    assert agreements == [
        "Neither offline nor online has a winner.",
        "Offline, no run won.",
        "Offline, no run won.",
        "The offline winner is not confirmed.",
        "The offline winner also won online.",
        "The offline winner lost online.",
    ]


def test_a_case_without_a_scorer_has_no_offline_verdict(twelve):
    case, (first, second, _) = twelve
    store(first, second, WON_BY_B, "May", case.owner)
    case.case_scorers.all().delete()
    assert not ScorerVersion.objects.used_by(case).exists()
    (item,) = outcomes.compare_outcomes(case)
    assert (item.stored, item.agreement, item.is_pending) == (None, "", False)
