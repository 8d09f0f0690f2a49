"""The parts of the history page, put together for one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.core.paginator import Page, Paginator
from django.http import QueryDict
from django.urls import reverse

from relevancy import cases, hooks, scores
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.views.charts import Chart
from relevancy.views.former_scores import FormerText, describe_former
from relevancy.views.requests import parse_number
from relevancy.views.workbench.access import CaseAccess

from .history_chart import build_chart

PAGE_SIZE = 50
MAX_SCORERS = 4
COLOURS = 6  # of attempts; the seventh has that of the first


@dataclass(frozen=True)
class ScoreCell:
    """What a row says about one scorer.

    score: None if the run has none. step: None for the first complete run, and for others. compare_url: of the step.
    marks: what optional apps say about it. former: what the score was, if it was another one.
    """

    score: scores.HistoryScore | None
    step: scores.RunStep | None
    compare_url: str
    marks: Sequence[hooks.HistoryMark]
    former: FormerText | None = None


@dataclass(frozen=True)
class HistoryRow:
    """A run of the table. colour: of its attempt, from 1. notes: its annotations."""

    entry: scores.HistoryRun
    colour: int
    notes: Sequence[cases.annotations.Mark]
    cells: Sequence[ScoreCell]

    @property
    def run(self) -> Run:
        return self.entry.run

    @property
    def coverage(self) -> scores.HistoryScore | None:
        """The score of the first scorer, which says how many queries were scored."""
        return self.cells[0].score if self.cells else None


class HistoryPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`."""

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.access = CaseAccess(case, user)
        self.all_versions = list(ScorerVersion.objects.used_by(case))
        chosen = {parse_number(text) for text in parameters.getlist("scorer")}
        named = [version for version in self.all_versions if version.scorer_id in chosen]
        self.versions = (named or self.all_versions)[:MAX_SCORERS]
        self._page = parameters.get("page", "1")

    @cached_property
    def history(self) -> scores.RunHistory:
        return scores.read_history(self.case, self.versions)

    @property
    def rescoring(self) -> int:
        """How many runs are being rescored."""
        return self.history.rescoring

    @property
    def has_runs(self) -> bool:
        return bool(self.history.runs)

    @property
    def shown_run(self) -> hooks.ShownRun:
        """What links of optional apps lead to."""
        return hooks.ShownRun(self.case)

    @property
    def choices(self) -> list[tuple[ScorerVersion, bool]]:
        """The scorers of the case, and whether the page shows each; more than one if there is something to choose."""
        return [(version, version in self.versions) for version in self.all_versions]

    @cached_property
    def annotations(self) -> list[cases.annotations.Mark]:
        """The annotations of the case, with letters."""
        return cases.annotations.marks(self.case, self.history.runs)

    @cached_property
    def notes_by_run(self) -> dict[int, list[cases.annotations.Mark]]:
        """The annotations of each run, by its id."""
        notes: dict[int, list[cases.annotations.Mark]] = {}
        for mark in self.annotations:
            notes.setdefault(mark.annotation.run_id, []).append(mark)
        return notes

    @cached_property
    def colours(self) -> dict[int, int]:
        """The colour of each attempt by its id, from 1, in the order of their first runs: neighbours differ."""
        attempts = dict.fromkeys(entry.run.attempt_id for entry in self.history.runs)
        return {attempt_id: number % COLOURS + 1 for number, attempt_id in enumerate(attempts)}

    def chart(self) -> Chart:
        return build_chart(self.history, self.annotations, self.marks, self.colours)

    @cached_property
    def marks(self) -> list[hooks.HistoryMark]:
        """What optional apps say about the scores."""
        return [mark for marks in hooks.history_marks(self.history) for mark in marks]

    @cached_property
    def page(self) -> Page[scores.HistoryRun]:
        """The runs of one page of the table, newest first."""
        return Paginator(list(reversed(self.history.runs)), PAGE_SIZE).get_page(self._page)

    @cached_property
    def _changes(self) -> dict[datetime, scores.ChangesSince]:
        """What has changed since the former scores of the page."""
        listed = [score.former for entry in self.page for score in entry.scores.values()]
        return scores.count_changes_since(self.case, [former.at for former in listed if former])

    def rows(self) -> list[HistoryRow]:
        return [
            HistoryRow(
                entry,
                self.colours[entry.run.attempt_id],
                self.notes_by_run.get(entry.run_id, []),
                [self._cell(entry, version) for version in self.versions],
            )
            for entry in self.page
        ]

    def _cell(self, entry: scores.HistoryRun, version: ScorerVersion) -> ScoreCell:
        step = entry.steps.get(version.pk)
        url = ""
        if step is not None and step.difference is not None:
            runs = {"run": [step.baseline, entry.run.number], "scorer": version.scorer_id}
            url = reverse("compare", args=[self.case.pk], query=runs)
        marks = [mark for mark in self.marks if (mark.version_id, mark.before) == (version.pk, entry.run.number)]
        score = entry.scores.get(version.pk)
        former = None
        if score and score.former:
            changes = self._changes[score.former.at]
            number, scorer = entry.run.number, version.scorer_id
            former = describe_former(self.case, score.former, changes, run=number, scorer=scorer)
        return ScoreCell(score, step, url, marks, former)
