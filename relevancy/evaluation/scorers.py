"""What a scorer version means for arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db.models import F

from relevancy import scoring
from relevancy.models import Book, Case, Run, ScorerVersion


@lru_cache(maxsize=500)
def measure_of(text: str) -> scoring.Measure:
    """The measure behind its name; read once."""
    return scoring.parse_measure(text)


@dataclass(frozen=True)
class Draft:
    """A definition of a scorer, stored or not: a measure in the field's notation, or a script. `scale`: `[[grade, label], …]`.

    `gives` ("100" or "1") and `depth` (results looked at, None: as many as are shown) are a script's own.
    """

    measure: str = ""
    script: str = ""
    scale: Sequence[Sequence[Any]] = field(default_factory=lambda: [[grade, ""] for grade in range(1, 11)])
    gives: str = "100"
    depth: int | None = None
    count_unscoreable_as_zero: bool = False

    @classmethod
    def of(cls, version: ScorerVersion) -> Draft:
        """The definition a version holds."""
        return cls(
            version.measure,
            version.script,
            version.scale,
            version.gives,
            version.depth,
            version.count_unscoreable_as_zero,
        )

    @property
    def grades(self) -> tuple[float, ...]:
        """The scale's numbers, ascending."""
        return tuple(float(grade) for grade, _ in self.scale)

    @property
    def cutoff(self) -> int | None:
        """How many results it looks at; None: as many as are shown."""
        return self.depth if self.script else measure_of(self.measure).cutoff

    def looks_at(self, shown: int) -> int:
        """How many results it looks at where `shown` are."""
        return self.cutoff or shown


def versions_of(case: Case) -> list[ScorerVersion]:
    """The version each of the case's scorers is used in, the primary first. One SQL statement."""
    entries = case.case_scorers.select_related("version__scorer").order_by("position", "id")
    return [entry.version for entry in entries]


def newer_versions(case: Case) -> list[ScorerVersion]:
    """The newest versions of the case's scorers that the case is not scored with yet. One SQL statement."""
    newer = ScorerVersion.objects.filter(
        scorer__case_scorers__case=case, number__gt=F("scorer__case_scorers__version__number")
    )
    newest = {version.scorer_id: version for version in newer.select_related("scorer").order_by("number")}
    return sorted(newest.values(), key=lambda version: version.scorer_id)


def depth_of(case: Case, shown: int) -> int:
    """How many hits a run has to fetch: as many as are shown, or as the deepest scorer looks at."""
    return deepest(versions_of(case), shown)


def deepest(versions: Iterable[ScorerVersion], shown: int) -> int:
    """How many hits these scorers look at together where `shown` are shown; never fewer than those."""
    return max([shown, *(Draft.of(version).looks_at(shown) for version in versions)])


def deepen(run: Run, versions: Iterable[ScorerVersion]) -> None:
    """Let a run that nobody has begun with fetch as many hits as these scorers look at, too."""
    rows = deepest(versions, run.rows)
    if rows > run.rows and Run.objects.filter(pk=run.pk, claimed_by="", started_at=None).update(rows=rows):
        run.rows = rows


def mapped(draft: Draft | ScorerVersion, book: Book) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """`((lowest, top) of the book, (lowest, top) of the script)` where a script's grades are mapped linearly, else None.

    The book's scale counts: built-in measures use it unmapped (scoring.md).
    """
    theirs = (float(draft.scale[0][0]), float(draft.scale[-1][0]))
    ours = (float(book.lowest), float(book.top))
    return (ours, theirs) if draft.script and ours != theirs else None


def differs(draft: Draft | ScorerVersion, book: Book) -> bool:
    """Whether a scorer was made for another scale than the book's."""
    return (float(draft.scale[0][0]), float(draft.scale[-1][0])) != (float(book.lowest), float(book.top))
