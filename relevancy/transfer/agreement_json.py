"""The result of `agreement` as JSON data."""

from typing import TypedDict

from relevancy.judgments import BookAgreement, RaterPair
from relevancy.statistics import Coefficient


class PairResult(TypedDict):
    """Two raters by name, the number of documents that both rated, and Cohen's kappa with three kinds of weights."""

    a: str
    b: str
    items: int
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None


class AgreementResult(TypedDict):
    """A book. `pairs`: rated documents, once per query; `items`: those with two ratings or more.

    agreement: 0 to 1. commonest: the agreement of always giving the commonest grade. intervals: 95 %, by the names of the figures;
    null if there is none.
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
    by_pair: list[PairResult]


def build_agreement(result: BookAgreement) -> AgreementResult:
    """Returns the figures of a book."""
    agreement = result.agreement
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
        "by_pair": [_build_pair(pair) for pair in result.pairs],
    }


def _build_interval(coefficient: Coefficient) -> list[float] | None:
    return None if coefficient.low is None or coefficient.high is None else [coefficient.low, coefficient.high]


def _build_pair(pair: RaterPair) -> PairResult:
    return {
        "a": str(pair.a),
        "b": str(pair.b),
        "items": pair.figures.items,
        "kappa": pair.figures.kappa(),
        "kappa_linear": pair.figures.kappa("linear"),
        "kappa_quadratic": pair.figures.kappa("quadratic"),
    }
