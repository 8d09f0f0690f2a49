"""The scores of a case in the run shown: the primary scorer's with its change, and those of secondary scorers."""

from functools import cached_property

from relevancy import scores
from relevancy.models import Case, CaseScore, Scorer, ScorerVersion, User
from relevancy.views.former_scores import FormerText, describe_former

from .difference import DifferenceText, describe_difference
from .history_chart import HistoryChart
from .run_selection import RunSelection
from .scale_notes import ScaleNote, scale_note


class ScorePanel:
    """The case's scorers and their scores in the run shown."""

    def __init__(
        self, case: Case, user: User, selection: RunSelection, versions: list[ScorerVersion], chart: HistoryChart
    ) -> None:
        self.versions = versions
        self._case = case
        self._user = user
        self._selection = selection
        self._chart = chart

    @property
    def primary(self) -> ScorerVersion:
        return self.versions[0]

    @property
    def scorers(self) -> list[Scorer]:
        """The case's scorers, the primary first; retired ones and those of other users included."""
        return [version.scorer for version in self.versions]

    @cached_property
    def available_scorers(self) -> list[Scorer]:
        """Scorers that the user could add to the case."""
        offered = Scorer.objects.offered(self._user, self._case).exclude(versions=None)
        return list(offered.exclude(pk__in=[scorer.pk for scorer in self.scorers]))

    @property
    def score(self) -> CaseScore | None:
        """The score of the run shown; None if it has none."""
        run = self._selection.run
        return next((row for row in self._chart.case_scores if run and row.run_id == run.pk), None)

    @property
    def is_score_current(self) -> bool:
        """Whether the score of the run shown is based on the present ratings, or can no longer be."""
        return self.score is None or scores.is_settled(self.score)

    @cached_property
    def former(self) -> FormerText | None:
        """What the score of the run shown was, if it was another one; None while it is being rescored, or the run is active."""
        run, score = self._selection.finished_run, self.score
        former = scores.former_score(score.score, score.former_score, score.former_at) if score else None
        if run is None or former is None or not self.is_score_current:
            return None
        changes = scores.count_changes_since(self._case, [former.at])[former.at]
        return describe_former(self._case, former, changes, run=run.number, scorer=self.primary.scorer_id)

    @cached_property
    def difference(self) -> scores.RunDifference | None:
        """The difference between the run shown and its baseline; None while the run is active, or if there is no baseline."""
        run, baseline = self._selection.finished_run, self._selection.baseline
        if run is None or baseline is None:
            return None
        if self._selection.is_summed_by_worker and not self.is_score_current:
            return scores.RunDifference(baseline, pending=1)  # a worker sums the scores of both runs
        if run.is_large:
            stored = scores.stored_differences([(run, baseline)], self.primary).get((run.pk, baseline.pk))
            has_dropped_fields = bool(run.fields_dropped_at or baseline.fields_dropped_at)
            can_be_rescored = not (self.primary.script and has_dropped_fields)
            return stored or scores.RunDifference(baseline, pending=1, can_be_rescored=can_be_rescored)
        return scores.compare_runs(run, baseline, self.primary)

    @cached_property
    def difference_text(self) -> DifferenceText | None:
        """The difference in words; None if there is nothing to compare."""
        return describe_difference(self._selection, self.difference) if self.difference else None

    @property
    def is_being_rescored(self) -> bool:
        """Whether a score on the page, or one of the chart, is being computed from newer ratings in the background."""
        return self._chart.is_being_rescored or bool(self.difference and self.difference.is_being_rescored)

    @cached_property
    def secondary_scores(self) -> list[tuple[scores.SecondaryScore, ScaleNote | None]]:
        """The scores under the case's other scorers, each with the note about its scale if there is one."""
        secondary = scores.secondary_scores(self._case, self.versions[1:], self._selection.run)
        return [(score, scale_note(score.version, self._case.book)) for score in secondary]

    @cached_property
    def scale_note(self) -> ScaleNote | None:
        """The note about the primary scorer's scale."""
        return scale_note(self.primary, self._case.book)

    @cached_property
    def largest_gap(self) -> scores.LargestGap | None:
        """The query with the largest gap between its score and its best possible one; None while a run is active, and in a large
        case, whose list can be sorted by it."""
        run = self._selection.finished_run
        return scores.largest_gap(run, self.primary) if run and not run.is_large else None

    def ids_look_wrong(self) -> bool:
        """Returns whether no returned document is rated although the book has ratings."""
        run = self._selection.finished_run
        # The list of queries has no history, and it is not read for this.
        return run is not None and scores.ids_look_wrong(run, self.score if self._chart.is_read else None)
