"""The comparison of runs for each tag: which kinds of queries gained, and which lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.statistics import Differences, Interval, correct_holm, find_interval, randomisation_test

from .score_tables import ScoreTable, Units

MAX_TAGS = 100  # those with the most queries


@dataclass(frozen=True)
class TagFigures:
    """Run `other` against the baseline on the compared queries with a tag.

    other: position of the run in the comparison.
    score_a, score_b: weighted means in points. difference: `score_b − score_a`.
    interval: 95 %; None for a single query.
    p: of the randomisation test. p_holm: corrected for all tags and runs of the comparison. None for a single query.
    Linked queries count once in the interval and in p; wins, ties and losses are queries.
    """

    tag: str
    other: int
    queries: int
    score_a: float
    score_b: float
    difference: float
    interval: Interval | None
    p: float | None
    p_holm: float | None
    wins: int
    ties: int
    losses: int


def compare_tags(table: ScoreTable, runs: int) -> list[TagFigures]:
    """Compares each of the other runs with the first one, for each tag of the table's queries, in the order of the tags.

    p is corrected by Holm's method for all of them together. A query with several tags counts for each.
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
    units = {tag: _units_of(table, positions[tag]) for tag in chosen}
    merged = [of_tag.merged(units[tag]) for of_tag, (_, tag) in zip(differences, keys, strict=True)]
    p_values = [randomisation_test(of_tag) if len(of_tag) > 1 else None for of_tag in merged]
    corrected = iter(correct_holm([p for p in p_values if p is not None]))
    return [
        TagFigures(
            tag=tag,
            other=other,
            queries=len(of_tag),
            score_a=_mean(table, positions[tag], 0),
            score_b=_mean(table, positions[tag], other),
            difference=of_tag.mean,
            interval=find_interval(independent),
            p=p,
            p_holm=None if p is None else next(corrected),
            wins=of_tag.wins,
            ties=of_tag.ties,
            losses=of_tag.losses,
        )
        for (other, tag), of_tag, independent, p in zip(keys, differences, merged, p_values, strict=True)
    ]


def _units_of(table: ScoreTable, positions: Sequence[int]) -> Units | None:
    """Returns the units of some queries of the table, numbered without gaps."""
    return None if table.units is None else np.unique(table.units[positions], return_inverse=True)[1]


def _mean(table: ScoreTable, positions: Sequence[int], run: int) -> float:
    return float(np.average(table.scores[positions, run], weights=table.weights[positions]))
