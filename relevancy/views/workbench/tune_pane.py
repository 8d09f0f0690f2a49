"""The tune pane: one attempt to be edited, and all attempts as a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from relevancy import runs, scores
from relevancy.models import Attempt, Case, ScorerVersion, User

from .attempt_form import KNOB_PREFIX, AttemptForm

DEFAULT_KNOB = 10  # the value of a knob that was not sent; see `runs.attempts.check`
SYNTAX_LABELS = {"json": "JSON", "params": "Parameters"}


@dataclass(frozen=True)
class Knob:
    """A knob with a slider, as `_ui/knob.html` draws it.

    field: name of its form field.
    value: the number shown, which may be any text if it was sent and refused.
    was: the number of the attempt; None for a knob that the attempt does not have.
    lowest, top, step: of the slider, so that its range fits the number of the attempt.
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
    score: of its last complete run under the primary scorer; None as long as it is being rescored.
    difference: between that run and the last one of its parent; None if one of them has no score, or is being rescored.
    is_being_rescored: whether the score, or the difference, is being computed from newer ratings.
    difference_title: what the difference is between. compare_url: where it is explained; both are empty without a difference.
    """

    attempt: Attempt
    is_trunk: bool
    is_first: bool
    is_last: bool
    changes: str
    score: float | None
    difference: float | None
    is_being_rescored: bool = False
    difference_title: str = ""
    compare_url: str = ""


@dataclass(frozen=True)
class TunePane:
    """The attempt being edited, its form, and all attempts, newest first.

    attempt: None if the case has none. `attempt.last_run` is the number of its newest run; None without one.
    knobs: those of the attempt, then those that were entered in the template since.
    new_knob: what a knob looks like that is being typed into the template.
    attempts: those that are not archived, as a tree.
    archived: those that are.
    last_number: the number of the newest attempt, archived or not; 0 without one.
    """

    attempt: Attempt | None
    form: AttemptForm
    syntax_label: str
    knobs: Sequence[Knob]
    new_knob: Knob
    attempts: Sequence[AttemptNode]
    archived: Sequence[Attempt]
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
        if not vars(self.attempt).get("last_run"):
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
    attempts = scores.attempts_with_scores(case, version)
    differences = scores.stored_differences(scores.compared_attempts(attempts), version)
    listed = [attempt for attempt in attempts if not attempt.archived_at]
    newest = next(iter(listed), None)  # none in a case that only holds imported runs
    attempt = next((attempt for attempt in attempts if str(attempt.number) == number), newest)
    form = form or AttemptForm(case, user, attempt)
    return TunePane(
        attempt=attempt,
        form=form,
        syntax_label=SYNTAX_LABELS[runs.attempts.syntax(attempt.endpoint, attempt.template)] if attempt else "",
        knobs=_knobs(attempt.knobs, form.knob_values()) if attempt else [],
        new_knob=_knob("", None, {}),
        attempts=attempt_tree(attempts, differences),
        archived=[attempt for attempt in attempts if attempt.archived_at],
        last_number=attempts[0].number if attempts else 0,
    )


def _knobs(values: Mapping[str, float], sent: Mapping[str, str]) -> list[Knob]:
    new_names = [name for name in sent if name not in values]
    return [
        *(_knob(name, value, sent) for name, value in values.items()),
        *(_knob(name, None, sent) for name in new_names),
    ]


def _knob(name: str, was: float | None, sent: Mapping[str, str]) -> Knob:
    value = DEFAULT_KNOB if was is None else was
    is_small = abs(value) <= 1
    return Knob(
        name=name,
        field=f"{KNOB_PREFIX}{name}",
        value=sent.get(name, value),
        was=was,
        lowest=min(0, value),
        top=1 if is_small else max(10, abs(value) * 3),
        step=0.05 if is_small else 0.5,
    )


def attempt_tree(
    attempts: Sequence[Any], differences: Mapping[tuple[int, int], scores.RunDifference]
) -> list[AttemptNode]:
    """Returns the tree of the attempts, which are those of `scores.attempts_with_scores`, with the differences between them.
    Archived ones are left out."""
    listed = [attempt for attempt in attempts if not attempt.archived_at]
    by_id = {attempt.pk: attempt for attempt in attempts}
    trunk_ids: set[int] = set()
    ancestor = listed[0] if listed else None
    while ancestor is not None:
        trunk_ids.add(ancestor.pk)
        ancestor = by_id.get(ancestor.parent_id or 0)
    nodes = []
    for index, attempt in enumerate(listed):
        case_score = attempt.case_score
        parent_score = getattr(by_id.get(attempt.parent_id or 0), "case_score", None)
        pair = (case_score.run_id, parent_score.run_id) if case_score and parent_score else None
        difference = differences.get(pair) if pair else None
        is_settled = case_score is None or scores.is_settled(case_score)
        nodes.append(
            AttemptNode(
                attempt=attempt,
                is_trunk=attempt.pk in trunk_ids,
                is_first=index == 0,
                is_last=index == len(listed) - 1,
                changes=runs.attempts.describe_changes(attempt),
                score=case_score.score if case_score and is_settled else None,
                difference=difference.difference if difference else None,
                difference_title=_difference_title(attempt, difference) if difference else "",
                compare_url=_compare_url(attempt, difference) if difference else "",
                is_being_rescored=not is_settled
                or (pair is not None and (difference is None or difference.is_being_rescored)),
            )
        )
    return nodes


def _difference_title(attempt: Any, difference: scores.RunDifference) -> str:
    return (
        f"vs attempt {attempt.parent.number}: run {attempt.case_score.run.number} against run {difference.baseline.number}, "
        f"on the {difference.compared:,} queries scored in both"
    )


def _compare_url(attempt: Any, difference: scores.RunDifference) -> str:
    numbers = [("run", difference.baseline.number), ("run", attempt.case_score.run.number)]
    return f"{reverse('compare', args=[attempt.case_id])}?{urlencode(numbers)}"
