"""Why the results of an opened query have their engine scores: a bar for each, and one legend."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from relevancy import runs
from relevancy.models import Ranking

MAX_TERMS = 24  # rows of the table


@dataclass(frozen=True)
class TermRow:
    """What one term contributed to each of the results, in their order; None where it did not match. colour: of its field."""

    label: str
    colour: int
    values: Sequence[float | None]


@dataclass(frozen=True)
class ScoreExplanations:
    """The explanations of an opened query.

    ranking: what the run returned; `results`: those that are shown.
    can_request: whether the user may ask the engine, and the engine explains scores.
    error: why the engine did not explain them.
    """

    ranking: Ranking
    results: Sequence[runs.Result]
    can_request: bool = False
    error: str = ""

    @property
    def are_stored(self) -> bool:
        return self.ranking.explanations != ""

    @property
    def must_load(self) -> bool:
        """Whether the page requests them as soon as it shows the query."""
        return not self.are_stored and not self.error and bool(self.results) and self.can_load

    @property
    def can_load(self) -> bool:
        """Whether one request explains all results."""
        return self.can_request and runs.abilities(self.ranking.run).explain_many

    @property
    def have_column(self) -> bool:
        """Whether rows keep a place for a bar."""
        return self.are_stored or self.can_load

    @cached_property
    def best_score(self) -> float:
        """The longest bar; the length of the others is relative to it."""
        scores = [result.score for result in self.results if result.score is not None]
        explained = [result.explanation.score for result in self.results if result.explanation]
        return max([*scores, *explained], default=0.0)

    @property
    def legend(self) -> list[tuple[int, str]]:
        """The colours of the bars, 1 to 5, and the field that each stands for. The last colour is that of everything else."""
        names: dict[int, set[str]] = {}
        for result in self.results:
            for item in result.explanation.slices if result.explanation else ():
                names.setdefault(item.colour, set()).add(item.field)
        return [
            (colour, next(iter(fields)) if len(fields) == 1 and "" not in fields else "other")
            for colour, fields in sorted(names.items())
        ]

    @property
    def explained(self) -> list[runs.Result]:
        """The results that have an explanation."""
        return [result for result in self.results if result.explanation]

    @property
    def terms(self) -> list[TermRow]:
        """The terms that contributed most to the results together, and what they contributed to each."""
        columns = [result.explanation for result in self.explained if result.explanation]
        values = [{part.label: part.value for part in column.parts} for column in columns]
        colours = {item.field: item.colour for column in columns for item in column.slices}
        fields = {part.label: part.field for column in columns for part in column.parts}
        totals = {label: sum(abs(column.get(label, 0.0)) for column in values) for label in fields}
        heaviest = sorted(totals, key=lambda label: (-totals[label], label))[:MAX_TERMS]
        return [
            TermRow(label, colours.get(fields[label], runs.COLOURS), [column.get(label) for column in values])
            for label in heaviest
        ]
