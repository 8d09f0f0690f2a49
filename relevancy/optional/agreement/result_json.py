"""The result of `agreement` as JSON data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator, Field

from relevancy.api.access import Name

from .agreement import BookAgreement, QueryRow, RaterPair, RaterRow
from .rater_scores import RaterScore
from .statistics import Coefficient

# The bounds of a coefficient or an interval, 95 %.
Bounds = Annotated[
    list[float] | None,
    BeforeValidator(lambda value: None if value is None or value.low is None else [value.low, value.high]),
]


def _count_grades(figures: Any, grades: Sequence[float]) -> dict[str, int]:
    """Returns how often each grade of the scale was given."""
    return {f"{grade:g}": count for grade, count in zip(grades, figures.grades.tolist(), strict=True)}


class PairResult(Schema):
    """Two raters by name, the number of documents that both rated, the share of those with the same grade, and Cohen's kappa with
    three kinds of weights.

    intervals: 95 %, by the names of the kappas. confusion: number of documents, a row for each grade by `a` and in it a column for
    each grade by `b`, ascending.
    """

    a: Name
    b: Name
    items: int = Field(validation_alias="figures.items")
    agreement: float = Field(validation_alias="figures.agreement")
    kappa: float | None = Field(validation_alias="kappas.none.value")
    kappa_linear: float | None = Field(validation_alias="kappas.linear.value")
    kappa_quadratic: float | None = Field(validation_alias="kappas.quadratic.value")
    intervals: dict[str, Bounds]
    confusion: list[list[int]]

    @staticmethod
    def resolve_intervals(pair: RaterPair) -> dict[str, Coefficient]:
        return dict(zip(("kappa", "kappa_linear", "kappa_quadratic"), pair.kappas.values(), strict=True))

    @staticmethod
    def resolve_confusion(pair: RaterPair) -> list[list[int]]:
        return [[int(count) for count in row] for row in pair.figures.confusion]


class ScoreResult(Schema):
    """A case in its newest finished run, by all ratings and by those of one rater alone, on the queries with a score in both ways.

    same_documents: by all ratings of the documents that the rater has rated. left_out: queries without a score in one of the ways.
    """

    case: Name
    scorer: str = Field(validation_alias="version.scorer.name")
    run: int = Field(validation_alias="run.number")
    queries: int
    left_out: int
    everyone: float | None
    same_documents: float | None
    alone: float | None
    difference: float | None
    interval: Bounds = Field(validation_alias="find_interval")

    @staticmethod
    def resolve_queries(score: RaterScore) -> int:
        return len(score.queries)


class RaterResult(Schema):
    """A rater by name. ratings: grades; items, queries: shared with others.

    grades: `{grade: how often}`. bias: mean of the rater's grades minus those of the others on the shared items, in grades.
    pace: median seconds between two ratings on pages.
    """

    rater: Name
    ratings: int = Field(validation_alias="figures.ratings")
    grades: dict[str, int]
    items: int = Field(validation_alias="figures.items")
    queries: int = Field(validation_alias="figures.queries")
    bias: float | None = Field(validation_alias="figures.bias.value")
    bias_interval: Bounds = Field(validation_alias="figures.bias")
    pace: float | None

    @staticmethod
    def resolve_grades(row: RaterRow, context: dict[str, Any]) -> dict[str, int]:
        return _count_grades(row.figures, context["grades"])


class ScoredRaterResult(RaterResult):
    """A rater with the scores by the ratings of this rater alone."""

    scores: list[ScoreResult]

    @staticmethod
    def resolve_scores(row: RaterRow, context: dict[str, Any]) -> Sequence[RaterScore]:
        scores: Sequence[RaterScore] = context["scores"][row.rater.pk]
        return scores


class QueryResult(Schema):
    """A query. items: documents with two ratings or more. agreement: share of pairs of ratings of one document with the same grade."""

    query: str = Field(validation_alias="query.text")
    items: int = Field(validation_alias="figures.items")
    agreement: float | None = Field(validation_alias="figures.agreement")
    grades: dict[str, int]

    @staticmethod
    def resolve_grades(row: QueryRow, context: dict[str, Any]) -> dict[str, int]:
        return _count_grades(row.figures, context["grades"])


class AgreeingResult(Schema):
    """How many items have `raters` ratings, `agree` of which are the same grade."""

    raters: int
    agree: int = Field(validation_alias="agreeing")
    items: int


class AgreementResult(Schema):
    """A book. `pairs`: rated documents, once per query; `items`: those with two ratings or more.

    agreement: 0 to 1. commonest: the agreement of always giving the commonest grade. intervals: 95 %, by the names of the figures;
    null if there is none. interval_queries: what the intervals draw; linked queries count as one.
    """

    raters: int
    pairs: int = Field(validation_alias="documents")
    items: int = Field(validation_alias="agreement.items")
    agreement: float | None = Field(validation_alias="agreement.agreement.value")
    commonest: float | None = Field(validation_alias="agreement.commonest")
    alpha_nominal: float | None = Field(validation_alias="agreement.alpha.nominal.value")
    alpha_ordinal: float | None = Field(validation_alias="agreement.alpha.ordinal.value")
    alpha_interval: float | None = Field(validation_alias="agreement.alpha.interval.value")
    fleiss_kappa: float | None = Field(validation_alias="agreement.fleiss_kappa.value")
    intervals: dict[str, Bounds]
    interval_queries: int = Field(validation_alias="agreement.queries")
    by_pair: list[PairResult] = Field(validation_alias="pairs")
    by_rater: list[RaterResult]
    by_query: list[QueryResult]
    agreeing: list[AgreeingResult]

    @staticmethod
    def resolve_raters(result: BookAgreement) -> int:
        return len(result.raters)

    @staticmethod
    def resolve_intervals(result: BookAgreement) -> dict[str, Coefficient]:
        figures = result.agreement
        alpha = {f"alpha_{level}": coefficient for level, coefficient in figures.alpha.items()}
        return {"agreement": figures.agreement, **alpha, "fleiss_kappa": figures.fleiss_kappa}

    @staticmethod
    def resolve_by_query(result: BookAgreement, context: dict[str, Any]) -> Sequence[QueryRow]:
        rows: Sequence[QueryRow] = context["queries"]
        return rows


class ScoredAgreementResult(AgreementResult):
    """A book with the scores by the ratings of single raters."""

    by_rater: list[ScoredRaterResult]  # type: ignore[assignment]


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
    if max_pairs is not None and len(result.pairs) > max_pairs:
        result = replace(result, pairs=sorted(result.pairs, key=lambda pair: -pair.figures.items)[:max_pairs])
    schema = AgreementResult if scores is None else ScoredAgreementResult
    return schema.from_orm(result, context={"grades": grades, "queries": queries, "scores": scores})
