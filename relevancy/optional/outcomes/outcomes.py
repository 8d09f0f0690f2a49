"""What users decided online between two runs of a case, beside the verdict of their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from relevancy import activity, runs
from relevancy.comparison import RunPair, stored
from relevancy.formats.cells import MAX_COUNT
from relevancy.models import Case, Run, ScorerVersion, StoredComparison, User
from relevancy.models.saving import clean_and_save
from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import Verdict, sign_test
from relevancy.wording import counted

from .models import OnlineOutcome
from .statistics import OnlineResult, Side, measure_ab, measure_interleaving

MAX_OUTCOMES = 40  # of one case: the page shows the verdict of each, and the figures of 50 comparisons are kept
IMPORTED, DELETED = "run.outcome_imported", "run.outcome_deleted"  # verbs of the activity log
Method = OnlineOutcome.Method


@dataclass(frozen=True)
class SessionCounts:
    """The sessions of an interleaving or A/B test; see `OnlineOutcome`."""

    method: OnlineOutcome.Method
    wins_a: int
    wins_b: int
    ties: int = 0
    sessions_a: int = 0
    sessions_b: int = 0
    remarks: list[str] = field(default_factory=list)

    def measure(self) -> OnlineResult:
        """Returns what the sessions show."""
        if self.method == Method.INTERLEAVING:
            return measure_interleaving(self.wins_a, self.wins_b, self.ties)
        return measure_ab(self.sessions_a, self.wins_a, self.sessions_b, self.wins_b)

    def swapped(self) -> SessionCounts:
        """Returns the counts with A and B exchanged."""
        return SessionCounts(
            self.method, self.wins_b, self.wins_a, self.ties, self.sessions_b, self.sessions_a, self.remarks
        )


@dataclass(frozen=True)
class ComparedOutcome:
    """An outcome with the verdict of the comparison of its runs under the primary scorer of the case.

    counts: with `a` as the first run. stored: the comparison; None if the case has no scorer, or the runs cannot be compared.
    pair: its figures; None as long as they are being computed.
    """

    outcome: OnlineOutcome
    a: Run
    b: Run
    counts: SessionCounts
    result: OnlineResult
    stored: StoredComparison | None
    pair: RunPair | None

    @property
    def offline_winner(self) -> Side | None:
        """The run that the verdict of the comparison calls better."""
        return offline_winner(self.pair)

    @property
    def is_pending(self) -> bool:
        """Whether a worker has to compute the figures of the comparison."""
        return self.stored is not None and stored.needs_computing(self.stored)


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


def store_outcome(*, a: Run, b: Run, counts: SessionCounts, name: str, by: User) -> OnlineOutcome:
    """Stores an outcome and pins both runs, so that their results stay. It replaces an outcome of the same runs and method.

    Raises `ValidationError` if the runs cannot be compared, or the counts cannot be stored.
    """
    check_outcome(a=a, b=b, counts=counts)
    outcome = OnlineOutcome(
        case=a.case,
        run_a=a,
        run_b=b,
        method=counts.method,
        name=name,
        wins_a=counts.wins_a,
        wins_b=counts.wins_b,
        ties=counts.ties,
        sessions_a=counts.sessions_a,
        sessions_b=counts.sessions_b,
        remarks=counts.remarks,
        created_by=by,
    )
    try:
        with transaction.atomic():
            # Two imports at once would both look for what they replace.
            Case.objects.select_for_update(no_key=True).filter(pk=a.case_id).values_list("pk").first()
            _of_runs(a, b, counts.method).delete()
            if OnlineOutcome.objects.filter(case=a.case_id).count() >= MAX_OUTCOMES:
                raise ValidationError(f"The case has {MAX_OUTCOMES} outcomes. Delete some of them first.")
            for run in (a, b):
                runs.pin(run=run, by=by)
            clean_and_save(outcome)
            _record(IMPORTED, outcome, by)
    except runs.RunNotAllowed as error:
        raise ValidationError(str(error)) from error
    return outcome


def check_outcome(*, a: Run, b: Run, counts: SessionCounts) -> None:
    """Raises `ValidationError` if the outcome cannot be stored."""
    if a.case_id != b.case_id:
        raise ValidationError("Choose two runs of one case.")
    if a.pk == b.pk:
        raise ValidationError("A run cannot be compared with itself. Choose two runs.")
    for run in (a, b):
        if run.is_active:
            raise ValidationError(f"{run} is not finished. Wait until it is complete, or stop it.")
    numbers = (counts.wins_a, counts.wins_b, counts.ties, counts.sessions_a, counts.sessions_b)
    if max(numbers) > MAX_COUNT:
        raise ValidationError(f"{max(numbers):,} sessions are too many; the maximum is {MAX_COUNT:,}.")


def find_replaced(*, a: Run, b: Run, method: str) -> OnlineOutcome | None:
    """Returns the outcome that an import for these runs would replace."""
    outcome: OnlineOutcome | None = _of_runs(a, b, method).first()
    return outcome


def delete_outcome(*, outcome: OnlineOutcome, by: User) -> None:
    """Deletes an outcome. Its runs stay pinned."""
    with transaction.atomic():
        _record(DELETED, outcome, by)
        OnlineOutcome.objects.filter(pk=outcome.pk).delete()


def read_outcomes(*, a: Run, b: Run) -> list[tuple[OnlineOutcome, SessionCounts]]:
    """Returns the outcomes of two runs, with `a` as the first one. One SQL statement."""
    outcomes = OnlineOutcome.objects.filter(run_a__in=(a.pk, b.pk), run_b__in=(a.pk, b.pk)).order_by("method")
    return [(outcome, counts_of(outcome, first=a)) for outcome in outcomes]


def counts_of(outcome: OnlineOutcome, *, first: Run) -> SessionCounts:
    """Returns the sessions of an outcome, with the run `first` as A."""
    counts = SessionCounts(
        Method(outcome.method),
        outcome.wins_a,
        outcome.wins_b,
        outcome.ties,
        outcome.sessions_a,
        outcome.sessions_b,
        list(outcome.remarks),
    )
    return counts if outcome.run_a_id == first.pk else counts.swapped()


def compare_outcomes(case: Case) -> list[ComparedOutcome]:
    """Returns the outcomes of a case, the newest first, with the verdicts of their runs. A worker has to compute missing figures."""
    version = ScorerVersion.objects.used_by(case).first()
    outcomes = OnlineOutcome.objects.filter(case=case).select_related("run_a", "run_b", "created_by")
    return [_compare(case, outcome, version) for outcome in outcomes]


def _compare(case: Case, outcome: OnlineOutcome, version: ScorerVersion | None) -> ComparedOutcome:
    a, b = outcome.run_a, outcome.run_b
    a.case = b.case = case
    counts = counts_of(outcome, first=a)
    stored_comparison, pair = None, None
    if version is not None:
        try:
            stored_comparison = stored.find_or_create(runs=[a, b], version=version)
        except ValidationError:
            stored_comparison = None
        if stored_comparison is not None and stored_comparison.is_current:
            pair = stored.load(stored_comparison, [a, b], {}).comparison.pairs[0]
    return ComparedOutcome(outcome, a, b, counts, counts.measure(), stored_comparison, pair)


def count_winners(outcomes: Sequence[ComparedOutcome]) -> WinnerCounts:
    """Counts how many offline winners also won online. Comparisons without a winner, or without figures yet, do not count."""
    winners = [(outcome.offline_winner, outcome.result.winner) for outcome in outcomes if outcome.offline_winner]
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


def describe_outcome(counts: SessionCounts, names: Sequence[str]) -> str:
    """Returns one sentence: which run users preferred, by how much, and how sure that is. names: of the runs A and B."""
    result = counts.measure()
    name_a, name_b = names
    if result.effect is None:
        return (
            "No session has a preference." if counts.method == Method.INTERLEAVING else "One run has no session at all."
        )
    facts = _facts(counts, name_a, name_b)
    figures = _figures(result)
    if not result.is_reliable:
        return f"Too few sessions to tell which run users prefer: {facts} ({figures})."
    if result.winner is None:
        return f"No run won online: {facts} ({figures})."
    return f"{name_b if result.winner == Side.B else name_a} won online: {facts} ({figures})."


def _facts(counts: SessionCounts, name_a: str, name_b: str) -> str:
    if counts.method == Method.AB:
        success = (
            f"{name} in {_percent(wins / sessions)} of {counted(sessions, 'session')}"
            for name, wins, sessions in (
                (name_b, counts.wins_b, counts.sessions_b),
                (name_a, counts.wins_a, counts.sessions_a),
            )
        )
        return f"success with {', with '.join(success)}"
    ties = f"; {counted(counts.ties, 'tie')}" if counts.ties else ""
    return f"{counted(counts.wins_b, 'session')} preferred {name_b}, {counts.wins_a:,} {name_a}{ties}"


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


def _of_runs(a: Run, b: Run, method: str) -> QuerySet[OnlineOutcome]:
    either = Q(run_a=a, run_b=b) | Q(run_a=b, run_b=a)
    outcomes: QuerySet[OnlineOutcome] = OnlineOutcome.objects.filter(either, method=method)
    return outcomes


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
