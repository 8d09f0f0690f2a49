"""The tune pane: one attempt to be edited, and all attempts as a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format

from relevancy import cases, runs, scores
from relevancy.models import Attempt, Case, Run, ScorerVersion, User
from relevancy.views.requests import parse_number

from .attempt_form import KNOB_PREFIX, AttemptForm

DEFAULT_KNOB = 10  # the value of a knob that was not sent; see `runs.attempts.check`
SYNTAX_LABELS = {"json": "JSON", "params": "Parameters"}


@dataclass(frozen=True)
class Knob:
    """A knob with a slider, as `_ui/knob.html` draws it.

    field: name of its form field.
    value: the number shown, which may be any text if it was sent and refused.
    was: the number of the attempt; None for a knob that the attempt does not have.
    lowest, top, step: of the slider: the range that an editor has set, or one that fits the number of the attempt. The number is
        always within it.
    """

    name: str
    field: str
    value: float | str
    was: float | None
    lowest: float
    top: float
    step: float


@dataclass(frozen=True)
class AttemptNode:
    """An attempt in the tree.

    is_trunk: whether it is the newest attempt or one of its ancestors; others are drawn as side branches.
    changes: what it changed in its parent.
    scored_run: the number of its last complete run; None if none has a score.
    score: of that run under the primary scorer; None as long as it is being rescored.
    difference: between that run and the last one of its parent; None if one of them has no score, or is being rescored.
    is_being_rescored: whether the score, or the difference, is being computed from newer ratings.
    difference_title: what the difference is between. compare_url: where it is explained; both are empty without a difference.
    """

    attempt: Attempt
    is_trunk: bool
    is_first: bool
    is_last: bool
    changes: str
    scored_run: int | None
    score: float | None
    difference: float | None
    is_being_rescored: bool = False
    difference_title: str = ""
    compare_url: str = ""

    @property
    def title(self) -> str:
        """Who made the attempt and when, and its note."""
        made = f"{self.attempt.created_by}, {date_format(timezone.localtime(self.attempt.created_at), 'j M Y H:i')}"
        return f"{made}. {self.attempt.note}" if self.attempt.note else made


@dataclass(frozen=True)
class TunePane:
    """The attempt being edited, its form, and all attempts, newest first.

    attempt: None if the case has none. last_run: the number of its newest run; None without one.
    knobs: those of the attempt, then those that were entered in the template since.
    new_knob: what a knob looks like that is being typed into the template.
    attempts: those that are not archived, as a tree.
    archived: those that are.
    last_number: the number of the newest attempt, archived or not; 0 without one.
    """

    attempt: Attempt | None
    last_run: int | None
    form: AttemptForm
    syntax_label: str
    knobs: Sequence[Knob]
    new_knob: Knob
    attempts: Sequence[AttemptNode]
    archived: Sequence[scores.ScoredAttempt]
    last_number: int

    @property
    def is_being_rescored(self) -> bool:
        """Whether numbers of the tree are being computed from newer ratings."""
        return any(node.is_being_rescored for node in self.attempts)

    @property
    def title(self) -> str:
        return f"Attempt {self.attempt.number}" if self.attempt else "First attempt"

    @property
    def draft(self) -> "DraftLabels | None":
        """What the page says as soon as the attempt is edited. An attempt that was never run is changed in place."""
        if self.attempt is None:
            return None
        number = self.attempt.number
        if self.last_run is None:
            return DraftLabels(f"Attempt {number}", "not run yet", f"Run attempt {number}", f"Run attempt {number}")
        following = self.last_number + 1
        return DraftLabels(
            f"Attempt {following}",
            f"draft from {number}",
            f"Run attempt {following}",
            f"Run attempt {number} again",
        )


@dataclass(frozen=True)
class DraftLabels:
    """What the page says about an edited attempt.

    title: the heading while it is edited.
    pill: what it is made from.
    run, run_unchanged: the text of the button that runs it, edited and as it was.
    """

    title: str
    pill: str
    run: str
    run_unchanged: str


def tune_pane(
    case: Case,
    user: User,
    version: ScorerVersion,
    *,
    number: str = "",
    form: AttemptForm | None = None,
) -> TunePane:
    """Returns the tune pane of a case.

    version: the primary scorer's, for the scores in the tree.
    number: of the attempt to be edited; the newest that is not archived if no attempt has it.
    form: the form that was sent, with its errors.
    """
    attempts = scores.attempts_with_scores(case, version, also=parse_number(number))
    differences = scores.stored_differences(scores.compared_attempts(attempts), version)
    # None are listed in a case that only holds imported runs.
    newest = next((scored for scored in attempts if not scored.attempt.archived_at), None)
    edited = next((scored for scored in attempts if str(scored.attempt.number) == number), newest)
    attempt = edited.attempt if edited else None
    form = form or AttemptForm(case, user, attempt)
    return TunePane(
        attempt=attempt,
        last_run=edited.last_run if edited else None,
        form=form,
        syntax_label=SYNTAX_LABELS[runs.attempts.syntax(attempt.endpoint, attempt.template)] if attempt else "",
        knobs=_knobs(attempt.knobs, form.knob_values(), cases.list_knob_ranges(case)) if attempt else [],
        new_knob=_knob("", None, {}, {}),
        attempts=attempt_tree(attempts, differences),
        archived=[scored for scored in attempts if scored.attempt.archived_at],
        last_number=attempts[0].attempt.number if attempts else 0,
    )


def _knobs(values: Mapping[str, float], sent: Mapping[str, str], ranges: Mapping[str, cases.KnobRange]) -> list[Knob]:
    new_names = [name for name in sent if name not in values]
    return [
        *(_knob(name, value, sent, ranges) for name, value in values.items()),
        *(_knob(name, None, sent, ranges) for name in new_names),
    ]


def fitting_range(value: float) -> cases.KnobRange:
    """Returns the range of a slider that fits a value, for a knob without a range of its own."""
    is_small = abs(value) <= 1
    return cases.KnobRange(min(0, value), 1 if is_small else max(10, abs(value) * 3), 0.05 if is_small else 0.5)


def _knob(name: str, was: float | None, sent: Mapping[str, str], ranges: Mapping[str, cases.KnobRange]) -> Knob:
    value = DEFAULT_KNOB if was is None else was
    used = ranges.get(name) or fitting_range(value)
    return Knob(
        name=name,
        field=f"{KNOB_PREFIX}{name}",
        value=sent.get(name, value),
        was=was,
        lowest=min(used.lowest, value),
        top=max(used.highest, value),
        step=used.step,
    )


def attempt_tree(
    attempts: Sequence[scores.ScoredAttempt], differences: Mapping[tuple[int, int], scores.RunDifference]
) -> list[AttemptNode]:
    """Returns the tree of the attempts with the differences between them. Archived ones are left out."""
    listed = [scored for scored in attempts if not scored.attempt.archived_at]
    by_id = {scored.attempt.pk: scored for scored in attempts}
    trunk_ids: set[int] = set()
    ancestor = listed[0] if listed else None
    while ancestor is not None:
        trunk_ids.add(ancestor.attempt.pk)
        ancestor = by_id.get(ancestor.attempt.parent_id or 0)
    nodes = []
    for index, scored in enumerate(listed):
        attempt, parent = scored.attempt, by_id.get(scored.attempt.parent_id or 0)
        run = scored.case_score.run if scored.case_score else None
        baseline = parent.case_score.run if parent and parent.case_score else None
        difference = differences.get((run.pk, baseline.pk)) if run and baseline else None
        is_difference_pending = bool(run and baseline) and (difference is None or difference.is_being_rescored)
        nodes.append(
            AttemptNode(
                attempt=attempt,
                is_trunk=attempt.pk in trunk_ids,
                is_first=index == 0,
                is_last=index == len(listed) - 1,
                changes=runs.find_changes(attempt).summary,
                scored_run=run.number if run else None,
                score=scored.score,
                difference=difference.difference if difference else None,
                difference_title=_difference_title(attempt, run, difference) if run and difference else "",
                compare_url=_compare_url(attempt, run, difference) if run and difference else "",
                is_being_rescored=not scored.is_settled or is_difference_pending,
            )
        )
    return nodes


def _difference_title(attempt: Attempt, run: Run, difference: scores.RunDifference) -> str:
    assert attempt.parent is not None
    return (
        f"vs attempt {attempt.parent.number}: run {run.number} against run {difference.baseline.number}, "
        f"on the {difference.compared:,} queries scored in both"
    )


def _compare_url(attempt: Attempt, run: Run, difference: scores.RunDifference) -> str:
    numbers = [("run", difference.baseline.number), ("run", run.number)]
    return f"{reverse('compare', args=[attempt.case_id])}?{urlencode(numbers)}"
