"""The result of `agreement` as JSON data."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from .agreement import BookAgreement, QueryRow, RaterPair, RaterRow
from .rater_scores import RaterScore
from .statistics import Coefficient, estimate_kappas


class PairResult(TypedDict):
    """Two raters by name, the number of documents that both rated, the share of those with the same grade, and Cohen's kappa with
    three kinds of weights.

    intervals: 95 %, by the names of the kappas. confusion: number of documents, a row for each grade by `a` and in it a column for
    each grade by `b`, ascending.
    """

    a: str
    b: str
    items: int
    agreement: float
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None
    intervals: dict[str, list[float] | None]
    confusion: list[list[int]]


class ScoreResult(TypedDict):
    """A case in its newest finished run, by all ratings and by those of one rater alone, on the queries with a score in both ways.

    same_documents: by all ratings of the documents that the rater has rated. left_out: queries without a score in one of the ways.
    """

    case: str
    scorer: str
    run: int
    queries: int
    left_out: int
    everyone: float | None
    same_documents: float | None
    alone: float | None
    difference: float | None
    interval: list[float] | None


class RaterResult(TypedDict):
    """A rater by name. ratings: grades; items, queries: shared with others.

    grades: `{grade: how often}`. bias: mean of the rater's grades minus those of the others on the shared items, in grades.
    pace: median seconds between two ratings on pages. scores: only with `--scores`.
    """

    rater: str
    ratings: int
    grades: dict[str, int]
    items: int
    queries: int
    bias: float | None
    bias_interval: list[float] | None
    pace: float | None
    scores: NotRequired[list[ScoreResult]]


class QueryResult(TypedDict):
    """A query. items: documents with two ratings or more. agreement: share of pairs of ratings of one document with the same grade."""

    query: str
    items: int
    agreement: float | None
    grades: dict[str, int]


class AgreeingResult(TypedDict):
    """How many items have `raters` ratings, `agree` of which are the same grade."""

    raters: int
    agree: int
    items: int


class AgreementResult(TypedDict):
    """A book. `pairs`: rated documents, once per query; `items`: those with two ratings or more.

    agreement: 0 to 1. commonest: the agreement of always giving the commonest grade. intervals: 95 %, by the names of the figures;
    null if there is none. interval_queries: what the intervals draw; linked queries count as one.
    """

    raters: int
    pairs: int
    items: int
    agreement: float | None
    commonest: float | None
    alpha_nominal: float | None
    alpha_ordinal: float | None
    alpha_interval: float | None
    fleiss_kappa: float | None
    intervals: dict[str, list[float] | None]
    interval_queries: int
    by_pair: list[PairResult]
    by_rater: list[RaterResult]
    by_query: list[QueryResult]
    agreeing: list[AgreeingResult]


def build_agreement(
    result: BookAgreement,
    queries: Sequence[QueryRow],
    grades: Sequence[float],
    scores: Mapping[int, Sequence[RaterScore]] | None = None,
    *,
    max_pairs: int | None = None,
) -> AgreementResult:
    """Returns the figures of a book.

    grades: of its scale. scores: by rater's id, if they were asked for. max_pairs: only the pairs of raters with most documents in
    common, because each takes a bootstrap; None: all, in the order of the raters.
    """
    agreement = result.agreement
    pairs = result.pairs
    if max_pairs is not None and len(pairs) > max_pairs:
        pairs = sorted(pairs, key=lambda pair: -pair.figures.items)[:max_pairs]
    coefficients = {
        "agreement": agreement.agreement,
        "alpha_nominal": agreement.alpha["nominal"],
        "alpha_ordinal": agreement.alpha["ordinal"],
        "alpha_interval": agreement.alpha["interval"],
        "fleiss_kappa": agreement.fleiss_kappa,
    }
    return {
        "raters": len(result.raters),
        "pairs": result.documents,
        "items": agreement.items,
        "agreement": agreement.agreement.value,
        "commonest": agreement.commonest,
        "alpha_nominal": agreement.alpha["nominal"].value,
        "alpha_ordinal": agreement.alpha["ordinal"].value,
        "alpha_interval": agreement.alpha["interval"].value,
        "fleiss_kappa": agreement.fleiss_kappa.value,
        "intervals": {name: _build_interval(coefficient) for name, coefficient in coefficients.items()},
        "interval_queries": agreement.queries,
        "by_pair": [_build_pair(pair) for pair in pairs],
        "by_rater": [_build_rater(row, grades, scores) for row in result.by_rater],
        "by_query": [
            {
                "query": row.query.text,
                "items": row.figures.items,
                "agreement": row.figures.agreement,
                "grades": _build_grades(grades, row.figures.grades.tolist()),
            }
            for row in queries
        ],
        "agreeing": [{"raters": row.raters, "agree": row.agreeing, "items": row.items} for row in result.agreeing],
    }


def _build_interval(coefficient: Coefficient) -> list[float] | None:
    return None if coefficient.low is None or coefficient.high is None else [coefficient.low, coefficient.high]


def _build_pair(pair: RaterPair) -> PairResult:
    kappas = estimate_kappas(pair.figures)
    names = {"none": "kappa", "linear": "kappa_linear", "quadratic": "kappa_quadratic"}
    return {
        "a": str(pair.a),
        "b": str(pair.b),
        "items": pair.figures.items,
        "agreement": pair.figures.agreement,
        "kappa": kappas["none"].value,
        "kappa_linear": kappas["linear"].value,
        "kappa_quadratic": kappas["quadratic"].value,
        "intervals": {names[weights]: _build_interval(kappa) for weights, kappa in kappas.items()},
        "confusion": [[int(count) for count in row] for row in pair.figures.confusion],
    }


def _build_rater(
    row: RaterRow, grades: Sequence[float], scores: Mapping[int, Sequence[RaterScore]] | None
) -> RaterResult:
    figures = row.figures
    built: RaterResult = {
        "rater": str(row.rater),
        "ratings": figures.ratings,
        "grades": _build_grades(grades, figures.grades.tolist()),
        "items": figures.items,
        "queries": figures.queries,
        "bias": figures.bias.value,
        "bias_interval": _build_interval(figures.bias),
        "pace": None if row.pace is None else row.pace.seconds,
    }
    if scores is not None:
        built["scores"] = [_build_score(score) for score in scores[row.rater.pk]]
    return built


def _build_score(score: RaterScore) -> ScoreResult:
    interval = score.find_interval()
    return {
        "case": str(score.case),
        "scorer": score.version.scorer.name,
        "run": score.run.number,
        "queries": len(score.queries),
        "left_out": score.left_out,
        "everyone": score.everyone,
        "same_documents": score.same_documents,
        "alone": score.alone,
        "difference": score.difference,
        "interval": None if interval is None else [interval.low, interval.high],
    }


def _build_grades(grades: Sequence[float], counts: Sequence[int]) -> dict[str, int]:
    return {f"{grade:g}": count for grade, count in zip(grades, counts, strict=True)}
