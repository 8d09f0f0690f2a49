"""The tune pane: one attempt to be edited, and all attempts as a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format

from relevancy import cases, runs, scores
from relevancy.models import Attempt, Case, Run, ScorerVersion, User
from relevancy.views.requests import parse_number
from relevancy.wording import counted

from .attempt_form import KNOB_PREFIX, AttemptForm

DEFAULT_KNOB = 10  # the value of a knob that was not sent; see `runs.attempts.check`
SYNTAX_LABELS = {"json": "JSON", "params": "Parameters"}


@dataclass(frozen=True)
class AttemptNode:
    """An attempt in the tree.

    is_trunk: whether it is the newest attempt or one of its ancestors; others are drawn as side branches.
    run, baseline: the last complete runs of the attempt and of its parent; None without a score.
    difference: between these runs; None if it is not known.
    """

    scored: scores.ScoredAttempt
    is_trunk: bool
    run: Run | None
    baseline: Run | None
    difference: scores.RunDifference | None

    @property
    def attempt(self) -> Attempt:
        return self.scored.attempt

    @property
    def changes(self) -> str:
        """What the attempt changed in its parent."""
        return runs.find_changes(self.attempt).summary

    @property
    def is_being_rescored(self) -> bool:
        """Whether the score, or the difference, is being computed from newer ratings."""
        if self.run and self.baseline and (self.difference is None or self.difference.is_being_rescored):
            return True
        return not self.scored.is_settled

    @property
    def title(self) -> str:
        """Who made the attempt and when, and its note."""
        made = f"{self.attempt.created_by}, {date_format(timezone.localtime(self.attempt.created_at), 'j M Y H:i')}"
        return f"{made}. {self.attempt.note}" if self.attempt.note else made

    @property
    def difference_title(self) -> str:
        """What the difference is between."""
        assert self.run and self.baseline and self.difference and self.attempt.parent
        return (
            f"vs attempt {self.attempt.parent.number}: run {self.run.number} against run {self.baseline.number}, "
            f"on the {counted(self.difference.compared, 'query', 'queries')} scored in both"
        )

    @property
    def compare_url(self) -> str:
        """Where the difference is explained."""
        assert self.run and self.baseline
        numbers = [self.baseline.number, self.run.number]
        return reverse("compare", args=[self.attempt.case_id], query={"run": numbers})


@dataclass(frozen=True)
class TunePane:
    """The attempt being edited, its form, and all attempts, newest first.

    attempt: None if the case has none. last_run: the number of its newest run; None without one.
    form: None for a user who cannot edit the case.
    knobs: those of the attempt, then those that were entered in the template since, as `_ui/knob.html` draws them.
    new_knob: what a knob looks like that is being typed into the template.
    attempts: those that are not archived, as a tree.
    archived: those that are.
    last_number: the number of the newest attempt, archived or not; 0 without one.
    """

    attempt: Attempt | None
    last_run: int | None
    form: AttemptForm | None
    syntax_label: str
    knobs: Sequence[Mapping[str, object]]
    new_knob: Mapping[str, object]
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
    def draft(self) -> dict[str, str]:
        """What the page says as soon as the attempt is edited: its heading, what it is made from, and the text of the button that
        runs it, edited and as it was. An attempt that was never run is changed in place."""
        if self.attempt is None:
            run = "Run attempt 1"
            return {"title": self.title, "pill": "not run yet", "run": run, "run_unchanged": run}
        number = self.attempt.number
        if self.last_run is None:
            run = f"Run attempt {number}"
            return {"title": self.title, "pill": "not run yet", "run": run, "run_unchanged": run}
        return {
            "title": f"Attempt {self.last_number + 1}",
            "pill": f"draft from {number}",
            "run": f"Run attempt {self.last_number + 1}",
            "run_unchanged": f"Run attempt {number} again",
        }


def tune_pane(
    case: Case,
    user: User,
    version: ScorerVersion,
    *,
    can_edit: bool,
    number: str = "",
    form: AttemptForm | None = None,
) -> TunePane:
    """Returns the tune pane of a case.

    version: the primary scorer's, for the scores in the tree.
    can_edit: whether the user can edit the case; there is no form otherwise.
    number: of the attempt to be edited; the newest that is not archived if no attempt has it.
    form: the form that was sent, with its errors.
    """
    attempts = scores.attempts_with_scores(case, version, also=parse_number(number))
    # None are listed in a case that only holds imported runs.
    newest = next((scored for scored in attempts if not scored.attempt.archived_at), None)
    edited = next((scored for scored in attempts if str(scored.attempt.number) == number), newest)
    attempt = edited.attempt if edited else None
    if can_edit:
        form = form or AttemptForm(case, user, attempt)
    sent = form.knob_values() if form else {}
    values, ranges = attempt.knobs if attempt else {}, cases.list_knob_ranges(case)
    return TunePane(
        attempt=attempt,
        last_run=edited.last_run if edited else None,
        form=form,
        syntax_label=SYNTAX_LABELS[runs.attempts.syntax(attempt.endpoint, attempt.template)] if attempt else "",
        knobs=[_knob(name, values.get(name), sent, ranges) for name in dict.fromkeys([*values, *sent])],
        new_knob=_knob("", None, {}, {}),
        attempts=_tree(attempts, version),
        archived=[scored for scored in attempts if scored.attempt.archived_at],
        last_number=attempts[0].attempt.number if attempts else 0,
    )


def fitting_range(value: float) -> cases.KnobRange:
    """Returns the range of a slider that fits a value, for a knob without a range of its own."""
    is_small = abs(value) <= 1
    return cases.KnobRange(min(0, value), 1 if is_small else max(10, abs(value) * 3), 0.05 if is_small else 0.5)


def _knob(
    name: str, was: float | str | None, sent: Mapping[str, str], ranges: Mapping[str, cases.KnobRange]
) -> Mapping[str, object]:
    """Returns a knob with the value that was sent, and its slider, which a text hides: in the range that an editor has set, or one
    that fits the number of the attempt, which is always within it. was: its value; None if the attempt does not have the knob."""
    number = DEFAULT_KNOB if was is None or isinstance(was, str) else was
    value = sent.get(name, DEFAULT_KNOB if was is None else was)
    used = ranges.get(name) or fitting_range(number)
    return {
        "name": name,
        "field": f"{KNOB_PREFIX}{name}",
        "value": value,
        "was": was,
        "is_text": isinstance(was, str),
        "lowest": min(used.lowest, number),
        "top": max(used.highest, number),
        "step": used.step,
    }


def _tree(attempts: Sequence[scores.ScoredAttempt], version: ScorerVersion) -> list[AttemptNode]:
    """Returns the tree of the attempts that are not archived."""
    differences = scores.stored_differences(scores.compared_attempts(attempts), version)
    by_id = {scored.attempt.pk: scored for scored in attempts}
    listed = [scored for scored in attempts if not scored.attempt.archived_at]
    trunk_ids: set[int] = set()
    ancestor = listed[0] if listed else None
    while ancestor is not None:
        trunk_ids.add(ancestor.attempt.pk)
        ancestor = by_id.get(ancestor.attempt.parent_id or 0)
    nodes = []
    for scored in listed:
        parent = by_id.get(scored.attempt.parent_id or 0)
        run, baseline = (each.case_score.run if each and each.case_score else None for each in (scored, parent))
        difference = differences.get((run.pk, baseline.pk)) if run and baseline else None
        nodes.append(AttemptNode(scored, scored.attempt.pk in trunk_ids, run, baseline, difference))
    return nodes
