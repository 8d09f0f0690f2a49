"""What an attempt changed in its parent, in words and line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from relevancy.engines import knob_text
from relevancy.models import Attempt

MAX_LINES = 60  # of a difference of templates
MAX_SUMMARY_LINES = 2


@dataclass(frozen=True)
class ChangedLine:
    """A line of a template that was removed or added."""

    is_added: bool
    text: str


@dataclass(frozen=True)
class AttemptChanges:
    """What an attempt changed in its parent.

    settings: a sentence part for each knob and setting, such as `tie 0.3 → 0.15`.
    lines: of the template, in their order; what was replaced stands before what replaced it.
    omitted: how many further lines changed.
    """

    settings: Sequence[str]
    lines: Sequence[ChangedLine]
    omitted: int = 0

    @property
    def are_any(self) -> bool:
        return bool(self.settings or self.lines)

    @property
    def summary(self) -> str:
        """The settings and the first lines, such as `tie 0.3 → 0.15 · + pf=title^18`."""
        lines = [f"{'+' if line.is_added else '−'} {line.text.strip()}" for line in self.lines if line.text.strip()]
        return " · ".join([*self.settings, *lines[:MAX_SUMMARY_LINES]])


def find_changes(attempt: Attempt) -> AttemptChanges:
    """Returns the changes; none for an attempt without a parent. Its parent and both endpoints have been read."""
    parent = attempt.parent
    if parent is None:
        return AttemptChanges([], [])
    lines = _changed_lines(parent.template.splitlines(), attempt.template.splitlines())
    return AttemptChanges(
        [*_changed_knobs(parent, attempt), *_changed_settings(parent, attempt)],
        lines[:MAX_LINES],
        max(0, len(lines) - MAX_LINES),
    )


def _changed_lines(before: Sequence[str], after: Sequence[str]) -> list[ChangedLine]:
    lines = []
    for kind, start, stop, start_after, stop_after in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            lines += [ChangedLine(False, text) for text in before[start:stop]]
            lines += [ChangedLine(True, text) for text in after[start_after:stop_after]]
    return lines


def _changed_knobs(parent: Attempt, attempt: Attempt) -> list[str]:
    changes = []
    for name in dict.fromkeys([*parent.knobs, *attempt.knobs]):
        before, after = parent.knobs.get(name), attempt.knobs.get(name)
        if before is None:
            changes.append(f"new knob {name} {knob_text(after)}")
        elif after is None:
            changes.append(f"knob {name} removed")
        elif before != after:
            changes.append(f"{name} {knob_text(before)} → {knob_text(after)}")
    return changes


def _changed_settings(parent: Attempt, attempt: Attempt) -> list[str]:
    changes = []
    if parent.endpoint_id != attempt.endpoint_id:
        changes.append(f"endpoint {parent.endpoint} → {attempt.endpoint}")
    if parent.depth != attempt.depth:
        changes.append(f"results {parent.depth:,} → {attempt.depth:,}")
    if parent.fields != attempt.fields:
        changes.append(f"fields {parent.fields or 'id'} → {attempt.fields or 'id'}")
    if parent.escape != attempt.escape:
        changes.append(
            "escapes Lucene’s special characters" if attempt.escape else "does not escape special characters"
        )
    return changes
