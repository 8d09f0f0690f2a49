"""What users decided online between two runs of a case, beside the verdict of their comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from relevancy import activity, runs
from relevancy.comparison import RunPair, describe_verdict, stored
from relevancy.formats.cells import MAX_COUNT
from relevancy.models import Case, Run, ScorerVersion, StoredComparison, User
from relevancy.models.saving import clean_and_save
from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import Verdict, sign_test
from relevancy.wording import counted

from .models import OnlineOutcome
from .statistics import OnlineResult, Side

MAX_OUTCOMES = 40  # of one case: the page shows the verdict of each, and the figures of 50 comparisons are kept
IMPORTED, DELETED = "run.outcome_imported", "run.outcome_deleted"  # verbs of the activity log
Method = OnlineOutcome.Method


@dataclass(frozen=True)
class ComparedOutcome:
    """An outcome with the verdict of the comparison of its runs under the primary scorer of the case.

    stored: the comparison; None if the case has no scorer, or the runs cannot be compared.
    pair: its figures; None as long as they are being computed.
    """

    outcome: OnlineOutcome
    stored: StoredComparison | None
    pair: RunPair | None

    @property
    def is_pending(self) -> bool:
        """Whether a worker has to compute the figures of the comparison."""
        return self.stored is not None and stored.needs_computing(self.stored)

    @property
    def online(self) -> str:
        """What users decided, in a sentence."""
        return describe_outcome(self.outcome, [str(self.outcome.run_a), str(self.outcome.run_b)])

    @property
    def offline(self) -> str:
        """The verdict of the comparison, or why there is none, in a sentence."""
        if self.pair is not None:
            return describe_verdict(self.pair)
        return "The figures are being computed." if self.is_pending else "The runs could not be compared."

    @property
    def agreement(self) -> str:
        """Whether both verdicts agree, in a sentence; empty as long as there is one only."""
        return describe_agreement(offline_winner(self.pair), self.outcome.result.winner) if self.pair else ""


@dataclass(frozen=True)
class WinnerCounts:
    """How many runs that won offline also won online: `won`, `lost`, or `undecided` there.

    low, high: 95 % interval of the share of those that won, by Clopper and Pearson; None without an offline winner.
    """

    won: int
    lost: int
    undecided: int
    low: float | None
    high: float | None

    @property
    def winners(self) -> int:
        """How many comparisons have an offline winner and an outcome."""
        return self.won + self.lost + self.undecided


def store_outcome(*, outcome: OnlineOutcome, by: User) -> OnlineOutcome:
    """Stores an outcome and pins both runs, so that their results stay. It replaces an outcome of the same runs and method.

    Raises `ValidationError` if the runs cannot be compared, or the counts cannot be stored.
    """
    check_outcome(outcome)
    a, b, outcome.created_by = outcome.run_a, outcome.run_b, by
    try:
        with transaction.atomic():
            # Two imports at once would both look for what they replace.
            Case.objects.select_for_update(no_key=True).filter(pk=a.case_id).values_list("pk").first()
            find_replaced(outcome).delete()
            if OnlineOutcome.objects.filter(case=a.case_id).count() >= MAX_OUTCOMES:
                raise ValidationError(f"The case has {MAX_OUTCOMES} outcomes. Delete some of them first.")
            for run in (a, b):
                runs.pin(run=run, by=by)
            clean_and_save(outcome)
            _record(IMPORTED, outcome, by)
    except runs.RunNotAllowed as error:
        raise ValidationError(str(error)) from error
    return outcome


def check_outcome(outcome: OnlineOutcome) -> None:
    """Raises `ValidationError` if the outcome cannot be stored."""
    a, b = outcome.run_a, outcome.run_b
    if a.case_id != b.case_id:
        raise ValidationError("Choose two runs of one case.")
    if a.pk == b.pk:
        raise ValidationError("A run cannot be compared with itself. Choose two runs.")
    for run in (a, b):
        if run.is_active:
            raise ValidationError(f"{run} is not finished. Wait until it is complete, or stop it.")
    numbers = (outcome.wins_a, outcome.wins_b, outcome.ties, outcome.sessions_a, outcome.sessions_b)
    if max(numbers) > MAX_COUNT:
        raise ValidationError(f"{max(numbers):,} sessions are too many; the maximum is {MAX_COUNT:,}.")


def find_replaced(outcome: OnlineOutcome) -> QuerySet[OnlineOutcome]:
    """Returns the stored outcomes, at most one, that this one would replace: of the same two runs in either order, and the same
    method."""
    compared = (outcome.run_a_id, outcome.run_b_id)
    return OnlineOutcome.objects.filter(run_a__in=compared, run_b__in=compared, method=outcome.method)


def delete_outcome(*, outcome: OnlineOutcome, by: User) -> None:
    """Deletes an outcome. Its runs stay pinned."""
    with transaction.atomic():
        _record(DELETED, outcome, by)
        OnlineOutcome.objects.filter(pk=outcome.pk).delete()


def read_outcomes(*, a: Run, b: Run) -> list[OnlineOutcome]:
    """Returns the outcomes of two runs, with `a` as the first one. One SQL statement."""
    outcomes = list(OnlineOutcome.objects.filter(run_a__in=(a, b), run_b__in=(a, b)).order_by("method"))
    for outcome in outcomes:
        if outcome.run_a_id != a.pk:
            outcome.run_a, outcome.run_b = a, b
            outcome.wins_a, outcome.wins_b = outcome.wins_b, outcome.wins_a
            outcome.sessions_a, outcome.sessions_b = outcome.sessions_b, outcome.sessions_a
    return outcomes


def compare_outcomes(case: Case) -> list[ComparedOutcome]:
    """Returns the outcomes of a case, the newest first, with the verdicts of their runs. A worker has to compute missing figures."""
    version = ScorerVersion.objects.used_by(case).first()
    outcomes = OnlineOutcome.objects.filter(case=case).select_related("run_a", "run_b", "created_by")
    return [_compare(case, outcome, version) for outcome in outcomes]


def _compare(case: Case, outcome: OnlineOutcome, version: ScorerVersion | None) -> ComparedOutcome:
    a, b = outcome.run_a, outcome.run_b
    a.case = b.case = case
    stored_comparison, pair = None, None
    if version is not None:
        try:
            stored_comparison = stored.find_or_create(runs=[a, b], version=version)
        except ValidationError:
            stored_comparison = None
        if stored_comparison is not None and stored_comparison.is_current and not stored.find_large(stored_comparison):
            pair = stored.load(stored_comparison, [a, b], {}).comparison.pairs[0]
    return ComparedOutcome(outcome, stored_comparison, pair)


def count_winners(outcomes: Sequence[ComparedOutcome]) -> WinnerCounts:
    """Counts how many offline winners also won online. Comparisons without a winner, or without figures yet, do not count."""
    verdicts = [(offline_winner(compared.pair), compared.outcome.result.winner) for compared in outcomes]
    winners = [(offline, online) for offline, online in verdicts if offline]
    won = sum(offline == online for offline, online in winners)
    undecided = sum(online is None for _, online in winners)
    share = sign_test(won, len(winners) - won)
    return WinnerCounts(won, len(winners) - won - undecided, undecided, share.low, share.high)


def offline_winner(pair: RunPair | None) -> Side | None:
    """Returns the run that the verdict of a comparison calls better."""
    if pair is None:
        return None
    return {Verdict.BETTER: Side.B, Verdict.WORSE: Side.A}.get(pair.verdict)


# --- in words ---


def describe_outcome(outcome: OnlineOutcome, names: Sequence[str]) -> str:
    """Returns one sentence: which run users preferred, by how much, and how sure that is. names: of the runs A and B."""
    result = outcome.result
    name_a, name_b = names
    if result.effect is None:
        return (
            "No session has a preference."
            if outcome.method == Method.INTERLEAVING
            else "One run has no session at all."
        )
    facts = _facts(outcome, name_a, name_b)
    figures = _figures(result)
    if not result.is_reliable:
        return f"Too few sessions to tell which run users prefer: {facts} ({figures})."
    if result.winner is None:
        return f"No run won online: {facts} ({figures})."
    return f"{name_b if result.winner == Side.B else name_a} won online: {facts} ({figures})."


def _facts(outcome: OnlineOutcome, name_a: str, name_b: str) -> str:
    if outcome.method == Method.AB:
        success = (
            f"{name} in {_percent(wins / sessions)} of {counted(sessions, 'session')}"
            for name, wins, sessions in (
                (name_b, outcome.wins_b, outcome.sessions_b),
                (name_a, outcome.wins_a, outcome.sessions_a),
            )
        )
        return f"success with {', with '.join(success)}"
    ties = f"; {counted(outcome.ties, 'tie')}" if outcome.ties else ""
    return f"{counted(outcome.wins_b, 'session')} preferred {name_b}, {outcome.wins_a:,} {name_a}{ties}"


def _figures(result: OnlineResult) -> str:
    assert result.effect is not None and result.low is not None and result.high is not None and result.p is not None
    low, high = (format_rounded(100 * bound, 1) for bound in (result.low, result.high))
    p = format_p(result.p)
    return f"{format_signed(100 * result.effect, 1)} percentage points, 95 %: {low} to {high}; p {p if p.startswith('<') else f'= {p}'}"


def describe_agreement(offline: Side | None, online: Side | None) -> str:
    """Returns whether both verdicts agree, in a sentence."""
    if offline is None and online is None:
        return "Neither offline nor online has a winner."
    if offline is None:
        return "Offline, no run won."
    if online is None:
        return "The offline winner is not confirmed."
    return "The offline winner also won online." if offline == online else "The offline winner lost online."


def describe_winners(winners: WinnerCounts) -> str:
    """Returns the sentence above the outcomes of a case: of so many offline winners, how many won online."""
    if not winners.winners or winners.low is None or winners.high is None:
        return "No comparison with an outcome has an offline winner."
    interval = f"95 % interval of the share {_percent(winners.low, 0)} to {_percent(winners.high, 0)}"
    rest = f"{winners.lost:,} lost and {winners.undecided:,} {'has' if winners.undecided == 1 else 'have'} no winner online"
    return f"Of {counted(winners.winners, 'offline winner')} {winners.won:,} won online ({interval}); {rest}."


def _percent(share: float, places: int = 1) -> str:
    return f"{format_rounded(100 * share, places)} %"


def _record(verb: str, outcome: OnlineOutcome, by: User) -> None:
    activity.record(
        verb,
        case=outcome.case_id,
        by=by,
        subject=outcome.name,
        object_id=outcome.pk,
        a=outcome.run_a.number,
        b=outcome.run_b.number,
    )
