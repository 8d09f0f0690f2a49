"""A run against the best order that today's ratings allow: which queries can gain most.

See docs/decisions/0081.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.exceptions import ValidationError

from relevancy import scores
from relevancy.models import CaseQuery, QueryScore, Run, ScorerVersion
from relevancy.scoring.rounding import format_rounded
from relevancy.statistics import TIE, Differences
from relevancy.wording import counted

from .comparisons import list_warnings
from .query_rows import QueryRow
from .score_tables import Floats, PresentScores, ScoreTable, present_links
from .summaries import MAX_NAMED, MISSING, Figure

BEST_ORDER = "Best order"
NOT_TESTED = (
    "There is no p and no interval: the best order never scores less than the run, so there is nothing to test."
)
MAX_TAGS = 100  # those that can gain most
IDEAL_LABELS = {
    "gain": "Can be gained",
    "counts": "Can gain · at their best",
    "carriers": "80 % made up by",
    "unrated": "Unrated",
    "left_out": "Left out",
}


@dataclass(frozen=True)
class IdealTag:
    """The compared queries with a tag. score, ideal: weighted means in points. share: of the points that the whole case can gain."""

    tag: str
    queries: int
    score: float
    ideal: float
    share: float

    @property
    def gain(self) -> float:
        """Points that the tag can gain."""
        return self.ideal - self.score


@dataclass(frozen=True)
class IdealComparison:
    """A run against the best order of the documents that are rated today, under one scorer version.

    rows: of all present queries in the order of the case: `score_a` is that of the run, `score_b` that of the best order, and
        `difference` what the query can gain; None unless the query counts. There are no result lists, so nothing of them is known.
    score, ideal: weighted means over the queries that count; None if there are none.
    carriers: texts of the queries that make up 80 % of what can be gained, largest first. Linked queries are one of them.
    tags: those whose queries can gain most first.
    left_out: texts of the present queries that have no score or no known best order, or the weight 0.
    unrated: documents that the scorer considers and nobody has rated, in the queries that count.
    """

    run: Run
    version: ScorerVersion
    rows: list[QueryRow]
    score: float | None
    ideal: float | None
    carriers: list[str]
    tags: list[IdealTag]
    left_out: list[str]
    unrated: int

    @property
    def gain(self) -> float | None:
        """Points that the case can gain."""
        return None if self.score is None or self.ideal is None else self.ideal - self.score

    @property
    def queries(self) -> int:
        """How many queries count."""
        return len(self.rows) - len(self.left_out)

    @property
    def gaining(self) -> list[QueryRow]:
        """The queries that can gain at least 0.05 points, most first."""
        rows = [row for row in self.rows if row.difference is not None and row.difference >= TIE]
        return sorted(rows, key=lambda row: -(row.difference or 0.0))

    @property
    def at_best(self) -> int:
        """How many queries have their best order already, within 0.05 points."""
        return sum(row.difference is not None and row.difference < TIE for row in self.rows)

    @property
    def warnings(self) -> list[str]:
        """What makes the figures less than they seem, in sentences."""
        return list_warnings([self.run], self.version)

    @property
    def sentence(self) -> str:
        """What can be gained, in one sentence."""
        if self.score is None or self.ideal is None or self.gain is None:
            return f"{self.run} has no query with a score and a known best order, so there is nothing to compare."
        on_queries = f"on {counted(self.queries, 'query', 'queries')}"
        if self.gain < TIE:
            return f"{self.run} has the best order that today’s ratings allow: {format_rounded(self.score, 1)} {on_queries}."
        return (
            f"With the best order that today’s ratings allow, {self.run} would score {format_rounded(self.ideal, 1)} instead of "
            f"{format_rounded(self.score, 1)}: {format_rounded(self.gain, 1)} points can be gained {on_queries}."
        )

    @property
    def details(self) -> list[str]:
        """What follows from it, and what it does not say, in sentences."""
        if self.gain is None:
            return []
        sentences = []
        if len(self.carriers) == 1:
            sentences.append(f"One query, “{self.carriers[0]}”, makes up 80 % of that.")
        elif self.carriers:
            sentences.append(f"{counted(len(self.carriers), 'query', 'queries')} make up 80 % of that.")
        if self.unrated:
            documents = counted(self.unrated, "document")
            sentences.append(
                f"The best order consists of rated documents only. {documents} that the scorer considers in {self.run} "
                f"{'has' if self.unrated == 1 else 'have'} no rating, which may change both scores."
            )
        return [*sentences, NOT_TESTED]


def compare_with_ideal(run: Run, version: ScorerVersion) -> IdealComparison:
    """Compares the stored scores of a run with the stored scores of the best orders. Two SQL statements.

    The scores must be up to date, see `scores.count_stale`. Raises ValidationError for a run that is not finished, and for a script,
    whose best order is not known.
    """
    check_ideal(run, version)
    table, tags, unrated = _read_table(run, version)
    present = table.present
    rows = [
        QueryRow(
            query_id=query_id,
            text=text,
            weight=weight,
            score_a=_points(score),
            score_b=_points(ideal),
            difference=ideal - score if counts else None,
            unrated_a=documents,
        )
        for query_id, text, weight, (score, ideal), counts, documents in zip(
            present.query_ids,
            present.texts,
            present.weights.tolist(),
            present.scores.tolist(),
            present.is_compared.tolist(),
            unrated,
            strict=True,
        )
    ]
    gains = Differences.build(table.scores[:, 1] - table.scores[:, 0], table.weights)
    means = np.average(table.scores, axis=0, weights=table.weights).tolist() if len(table) else [None, None]
    return IdealComparison(
        run=run,
        version=version,
        rows=rows,
        score=means[0],
        ideal=means[1],
        carriers=table.name_units(gains.merged(table.units).list_carriers()),
        tags=_compare_tags(table, tags, gains),
        left_out=table.left_out,
        unrated=sum(row.unrated_a or 0 for row in rows if row.difference is not None),
    )


def list_ideal_figures(result: IdealComparison) -> list[Figure]:
    """Returns the figures of a comparison with the best order, with their labels."""
    gain, carriers = result.gain, len(result.carriers)
    values = {
        "gain": MISSING if gain is None else format_rounded(gain, 1),
        "counts": f"{result.queries - result.at_best:,} · {result.at_best:,}",
        "carriers": counted(carriers, "query", "queries") if carriers else MISSING,
        "unrated": f"{result.unrated:,}",
        "left_out": f"{len(result.left_out):,}",
    }
    titles = {
        "gain": "The mean of the points that the queries can gain, weighted with the weights of the case",
        "carriers": ", ".join(f"“{text}”" for text in result.carriers[:MAX_NAMED]),
        "unrated": "Documents that the scorer considers and nobody has rated",
        "left_out": "Queries without a score or without a known best order, and those of weight 0",
    }
    return [Figure(key, label, values[key], titles.get(key, "")) for key, label in IDEAL_LABELS.items()]


def check_ideal(run: Run, version: ScorerVersion) -> None:
    """Raises ValidationError if a run cannot be compared with its best order."""
    if version.script:
        raise ValidationError(
            f"{version.scorer} is a script, so its best order is not known. Choose a scorer with a measure, such as nDCG@10."
        )
    if run.is_active:
        raise ValidationError(f"{run} of {run.case} is not finished. Wait until it is complete, or stop it.")


@dataclass(frozen=True)
class GainSplit:
    """What a query can gain, in points.

    by_order: if the documents that the run fetched stood in their best order. by_documents: the rest, if it also returned the rated
    documents that it did not fetch.
    """

    by_order: float
    by_documents: float


def split_gains(run: Run, version: ScorerVersion, rows: Iterable[QueryRow]) -> dict[int, GainSplit]:
    """Returns `{query id: what it can gain}` for those of the rows that count, and whose search did not fail.

    Reads the hits: ask for few queries at a time. Four SQL statements at most for up to 500 queries.
    """
    compared = {row.query_id: row for row in rows if row.difference is not None}
    reordered = _score_reordered(run, version, list(compared))
    splits = {}
    for query_id, row in compared.items():
        if query_id in reordered and row.difference is not None and row.score_a is not None:
            by_order = min(max(reordered[query_id] - row.score_a, 0.0), row.difference)
            splits[query_id] = GainSplit(by_order, row.difference - by_order)
    return splits


def _score_reordered(run: Run, version: ScorerVersion, query_ids: list[int]) -> dict[int, float]:
    inputs = scores.ranking_inputs(run.rankings.filter(query__in=query_ids))
    grades = scores.known_grades(run.case.book, query_ids)
    reordered = [ranking.reordered(best_order(ranking.doc_ids, grades[ranking.query_id])) for ranking in inputs]
    rows = scores.score_known(run, reordered, [version], scores.GradedQueries(run.case.book, grades))
    return {row.query_id: row.score for row in rows if row.score is not None}


def best_order(doc_ids: Sequence[str], grades: Mapping[str, float]) -> list[str]:
    """Returns the documents once each, those with the best grades first. Unrated documents count as grade 0; documents with the same
    grade keep their order."""
    return sorted(dict.fromkeys(doc_ids), key=lambda doc_id: -grades.get(doc_id, 0.0))


def _read_table(run: Run, version: ScorerVersion) -> tuple[ScoreTable, list[list[str]], list[int | None]]:
    """Returns scores with two columns, of the run and of the best order; the tags and the number of unrated documents of each present
    query."""
    case_queries = list(
        CaseQuery.objects.filter(case=run.case_id)
        .present()
        .order_by("position", "id")
        .values_list("query_id", "query__text", "weight", "query__tags", "query__link_id")
    )
    stored = QueryScore.objects.filter(run=run, version=version).values_list("query_id", "score", "ideal", "unrated")
    values_by_query = {query_id: (score, ideal, unrated) for query_id, score, ideal, unrated in stored}
    nothing = (None, None, None)
    columns = [values_by_query.get(query_id, nothing) for query_id, *_ in case_queries]
    present = PresentScores(
        query_ids=[query_id for query_id, *_ in case_queries],
        texts=[text for _, text, *_ in case_queries],
        weights=np.array([weight for _, _, weight, *_ in case_queries], dtype=np.float64),
        scores=np.array([column[:2] for column in columns], dtype=np.float64).reshape(-1, 2),
        links=present_links([link for *_, link in case_queries]),
    )
    return ScoreTable.build(present), [tags for *_, tags, _ in case_queries], [column[2] for column in columns]


def _compare_tags(table: ScoreTable, tags: Sequence[Sequence[str]], gains: Differences) -> list[IdealTag]:
    rows = np.flatnonzero(table.present.is_compared)
    positions: dict[str, list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        for tag in tags[int(row)]:
            positions[tag].append(position)
    weighted: Floats = gains.values * gains.weights
    total = float(weighted.sum())
    ideal_tags = []
    for tag, of_tag in positions.items():
        score, ideal = np.average(table.scores[of_tag], axis=0, weights=table.weights[of_tag]).tolist()
        share = float(weighted[of_tag].sum()) / total if total > 0 else 0.0
        ideal_tags.append(IdealTag(tag, len(of_tag), score, ideal, share))
    return sorted(ideal_tags, key=lambda ideal_tag: (-ideal_tag.share, ideal_tag.tag.casefold()))[:MAX_TAGS]


def _points(value: float) -> float | None:
    return None if np.isnan(value) else value
