"""The comparison of runs for each tag: which kinds of queries gained, and which lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics import ALPHA, Differences, Interval, Verdict, compare_several

from .score_tables import Floats, ScoreTable

MAX_TAGS = 100  # those with the most queries


@dataclass(frozen=True)
class TagDifference:
    """The difference on the queries with a tag, in points.

    interval: 95 %. p: of the randomisation test. p_holm: corrected for all tags that are tested together. None if there are too few
        queries for p_holm ever to be below .05.
    """

    tag: str
    queries: int
    difference: float
    interval: Interval | None
    p: float | None
    p_holm: float | None

    @property
    def reason(self) -> str:
        """Why there is no p and no interval; empty if there are."""
        return "" if self.p is not None else Verdict.TOO_FEW.value

    @property
    def is_shown(self) -> bool:
        """Whether the difference can be told from chance, after the correction."""
        return self.p_holm is not None and self.p_holm < ALPHA

    @property
    def order(self) -> tuple[float, float]:
        """Sorts the surest first, and of those that are equally sure the one with the largest difference."""
        return 2.0 if self.p_holm is None else self.p_holm, -abs(self.difference)


@dataclass(frozen=True)
class TagFigures(TagDifference):
    """Run `other` against the baseline on the compared queries with a tag.

    other: position of the run in the comparison. p_holm: corrected for all tags and runs of the comparison.
    score_a, score_b: weighted means in points; their difference is `score_b − score_a`.
    gain: points that the queries can gain in run `other` with their best order; None unless that is known for all of them.
    Linked queries count once in the interval and in p; wins, ties and losses are queries.
    """

    other: int
    score_a: float
    score_b: float
    wins: int
    ties: int
    losses: int
    gain: float | None


def compare_tags(table: ScoreTable, runs: int) -> list[TagFigures]:
    """Compares each of the other runs with the first one, for each tag of the table's queries, in the order of the tags.

    p is corrected by Holm's method for all of them together but those with too few queries. A query with several tags counts for each.
    """
    counts = Counter(tag for tags in table.tags for tag in tags)
    chosen = sorted((tag for tag, _ in counts.most_common(MAX_TAGS)), key=str.casefold)
    positions: dict[str, list[int]] = {tag: [] for tag in chosen}
    for position, tags in enumerate(table.tags):
        for tag in tags:
            if tag in positions:
                positions[tag].append(position)
    keys = [(other, tag) for other in range(1, runs) for tag in chosen]
    differences = [
        Differences.build(
            table.scores[positions[tag], other] - table.scores[positions[tag], 0], table.weights[positions[tag]]
        )
        for other, tag in keys
    ]
    # The units of the queries of each tag, numbered without gaps.
    units = {
        tag: None if table.units is None else np.unique(table.units[positions[tag]], return_inverse=True)[1]
        for tag in chosen
    }
    tested = compare_several([tagged.merged(units[tag]) for tagged, (_, tag) in zip(differences, keys, strict=True)])
    gains = table.best - table.scores
    return [
        TagFigures(
            tag=tag,
            other=other,
            queries=len(tagged),
            score_a=_mean(table.scores[:, 0], table, positions[tag]),
            score_b=_mean(table.scores[:, other], table, positions[tag]),
            difference=tagged.mean,
            interval=of_test[0].interval if of_test else None,
            p=of_test[0].p if of_test else None,
            p_holm=of_test[1] if of_test else None,
            wins=tagged.wins,
            ties=tagged.ties,
            losses=tagged.losses,
            gain=None
            if np.isnan(gains[positions[tag], other]).any()
            else _mean(gains[:, other], table, positions[tag]),
        )
        for (other, tag), tagged, of_test in zip(keys, differences, tested, strict=True)
    ]


def _mean(points: Floats, table: ScoreTable, positions: Sequence[int]) -> float:
    return float(np.average(points[positions], weights=table.weights[positions]))
