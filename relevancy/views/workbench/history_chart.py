"""The history of a case's score: one point per run, with annotations."""

from functools import cached_property

from django.urls import reverse

from relevancy import cases, scores
from relevancy.models import Case, CaseScore, Run, ScorerVersion
from relevancy.templatetags import numbers
from relevancy.views.former_scores import describe_day


class HistoryChart:
    """The scores of a case's last runs under its primary scorer, as `{% history_chart %}` draws them.

    shown_run: the run that the page shows.
    """

    def __init__(self, case: Case, version: ScorerVersion, shown_run: Run | None = None) -> None:
        self._case = case
        self._version = version
        self._shown_run_id = shown_run.pk if shown_run else 0

    @cached_property
    def case_scores(self) -> list[CaseScore]:
        """The newest score of each run, oldest run first."""
        return scores.recent_case_scores(self._case, self._version)

    @property
    def is_read(self) -> bool:
        """Whether the scores have been read from the database."""
        return "case_scores" in vars(self)

    @property
    def is_being_rescored(self) -> bool:
        """Whether some of the scores are being computed from newer ratings in the background."""
        return not all(scores.is_settled(case_score) for case_score in self.case_scores)

    @property
    def last_score(self) -> CaseScore | None:
        """The score of the last run that has one stored; shown while a newer run is active."""
        return self.case_scores[-1] if self.case_scores else None

    @cached_property
    def annotations(self) -> list[cases.annotations.Mark]:
        """The annotations of the case; those at a point of the chart have a letter."""
        return cases.annotations.marks(self._case, self.case_scores)

    def points(self) -> list[dict[str, object]]:
        """Returns the points of the chart."""
        case_url, points = reverse("case", args=[self._case.pk]), self.plain_points()
        for point, case_score in zip(points, self.case_scores, strict=True):
            run, attempt = case_score.run, case_score.run.attempt
            made = f"attempt {attempt.number} {attempt.name}".rstrip()
            point["title"] = f"Run {run.number} · {made} · {_score_text(case_score)}"
            point["href"] = f"{case_url}?run={run.number}"
        return points

    def plain_points(self) -> list[dict[str, object]]:
        """Returns the points without links and without names of attempts, as they may be public."""
        return [
            {
                "label": f"run {case_score.run.number}",
                "when": case_score.day,
                "score": case_score.score,
                "former": case_score.former_score,
                "low": case_score.low,
                "high": case_score.high,
                "pending": not scores.is_settled(case_score),
                "title": f"Run {case_score.run.number} · {_score_text(case_score)}",
                "is_shown": case_score.run_id == self._shown_run_id,
            }
            for case_score in self.case_scores
        ]

    def notes(self) -> list[dict[str, object]]:
        """Returns the annotations that have a point on the chart."""
        url = reverse("annotations", args=[self._case.pk])
        return [
            {"at": mark.point, "text": mark.annotation.text, "letter": mark.letter, "href": url}
            for mark in self.annotations
            if mark.point is not None
        ]


def _score_text(case_score: CaseScore) -> str:
    if not scores.is_settled(case_score):
        return "being rescored"
    former = scores.former_score(case_score.score, case_score.former_score, case_score.former_at)
    was = f", was {numbers.score(former.score)} {describe_day(former.at)}" if former else ""
    return f"{numbers.score(case_score.score)}{was} · {case_score.scored} of {case_score.queries}"
