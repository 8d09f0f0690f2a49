"""The scores of a case as its page shows them: the primary scorer's with its history, and the others' beside it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from relevancy import cases, evaluation
from relevancy.models import Run, Scorer, ScorerVersion
from relevancy.templatetags import numbers

from .bench_run import RunShown


@dataclass(frozen=True)
class ScaleNote:
    """A scorer that was made for another scale than the book's: a few words for a list, and the whole sentence."""

    short: str
    long: str
    mapped: bool


class ScoresShown(RunShown):
    """The case's scorers and what they say of the run shown."""

    @cached_property
    def versions(self) -> list[ScorerVersion]:
        return evaluation.versions_of(self.case)

    @cached_property
    def version(self) -> ScorerVersion:
        return self.versions[0]

    @cached_property
    def own_scorers(self) -> list[Scorer]:
        """The case's, the primary first; they stay choosable when they are retired or somebody else's."""
        return [version.scorer for version in self.versions]

    @cached_property
    def other_scorers(self) -> list[Scorer]:
        """Those on offer that the case has not."""
        offered = Scorer.objects.offered(self.user, self.case).exclude(versions=None)
        return list(offered.exclude(pk__in=[scorer.pk for scorer in self.own_scorers]))

    @cached_property
    def newer_versions(self) -> dict[int, ScorerVersion]:
        """`{scorer id: its newest version}` where the case is still scored with an older one."""
        return {version.scorer_id: version for version in evaluation.newer_versions(self.case)}

    @cached_property
    def behind(self) -> list[tuple[ScorerVersion, ScorerVersion]]:
        """`[(the version the case is scored with, the newest one)]` where the two differ."""
        newer = self.newer_versions
        return [(version, newer[version.scorer_id]) for version in self.versions if version.scorer_id in newer]

    @cached_property
    def points(self) -> list[Any]:
        return evaluation.history(self.case, self.version)

    @cached_property
    def standing(self) -> evaluation.Standing:
        return evaluation.standing(self.points, self.run) if self.run else evaluation.Standing(None, None)

    @cached_property
    def before(self) -> Run | None:
        """The last run before the one shown that has a score."""
        return self.standing.before.run if self.standing.before else None

    @cached_property
    def beside(self) -> list[tuple[evaluation.Beside, ScaleNote | None]]:
        """The scores under the other scorers, each with what there is to say about its scale."""
        found = evaluation.beside(self.case, self.versions[1:], self.run)
        return [(each, self.scale_note(each.version)) for each in found]

    @cached_property
    def chart(self) -> list[dict[str, Any]]:
        return [
            {
                "label": f"run {row.run.number}",
                "when": row.day,
                "score": row.score,
                "low": row.low,
                "high": row.high,
                "title": self._hover(row),
                "href": f"{self.case_url}?run={row.run.number}",
            }
            for row in self.points
        ]

    @cached_property
    def marks(self) -> list[cases.annotations.Mark]:
        """What is written on the history, with letters where its run has a point."""
        return cases.annotations.marks(self.case, self.points)

    @cached_property
    def notes(self) -> list[dict[str, Any]]:
        """The annotations that have a point, for the chart."""
        href = reverse("annotations", args=[self.case.pk])
        return [
            {"at": mark.at, "text": mark.annotation.text, "letter": mark.letter, "href": href}
            for mark in self.marks
            if mark.at is not None
        ]

    @staticmethod
    def _hover(row: Any) -> str:
        name = f" {row.run.attempt.name}" if row.run.attempt.name else ""
        shown = f"{numbers.score(row.score)} · {row.scored} of {row.queries}"
        return f"Run {row.run.number} · attempt {row.run.attempt.number}{name} · {shown}"

    @cached_property
    def most_to_gain(self) -> evaluation.Gain | None:
        """The query with the largest gap between what it scores and what it could; None while a run is under way."""
        if self.run is None or self.run.under_way:
            return None
        return evaluation.most_to_gain(self.run, self.version)

    @cached_property
    def ids_look_wrong(self) -> bool:
        return bool(self.run and not self.run.under_way and evaluation.ids_look_wrong(self.run, self.standing.now))

    @cached_property
    def looks_deeper(self) -> list[tuple[ScorerVersion, int]]:
        """Scorers that look at more hits than the run fetched, and at how many."""
        if self.run is None:
            return []
        depths = [(version, evaluation.Draft.of(version).cutoff or 0) for version in self.versions]
        return [(version, depth) for version, depth in depths if depth > self.run.rows]

    @cached_property
    def primary_scale_note(self) -> ScaleNote | None:
        return self.scale_note(self.version)

    @cached_property
    def mapped(self) -> list[tuple[ScorerVersion, ScaleNote]]:
        """The case's scripts that are given grades on another scale than they were rated on."""
        notes = [(version, self.scale_note(version)) for version in self.versions]
        return [(version, note) for version, note in notes if note and note.mapped]

    def scale_note(self, version: ScorerVersion) -> ScaleNote | None:
        """What to say about a scorer made for another scale than the book's; None for one made for it."""
        book = self.case.book
        if not evaluation.differs(version, book):
            return None
        ours, theirs = _span(book.lowest, book.top), _span(version.lowest, version.top)
        if evaluation.mapped(version, book):
            text = f"Made for {theirs}: the book’s grades, {ours}, are mapped linearly to {theirs} for the script"
            return ScaleNote(f"→ {theirs}", text, mapped=True)
        text = f"Made for {theirs}: the book’s scale, {ours}, counts and nothing is mapped"
        return ScaleNote(theirs, text, mapped=False)


def _span(lowest: float, top: float) -> str:
    return f"{numbers.grade_text(lowest)}–{numbers.grade_text(top)}"
