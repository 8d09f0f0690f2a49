"""Parts of formulas that several measures share, as LaTeX for MathML. g_r is the grade at rank r."""

from __future__ import annotations

from .definition import Settings

_DIVISORS = {
    "log2": r"\log_2(r + 1)",
    "ln": r"\ln(r + 1)",
    "reciprocal": "r",
    "classic": r"\log_2(\max(r, 2))",
}
_DIVISOR_TITLES = {"log2": "log₂(r + 1)", "ln": "ln(r + 1)", "reciprocal": "r", "classic": "log₂ max(r, 2)"}


def gain_latex(settings: Settings, grade: str = "g_r") -> str:
    """What a grade is worth: 2^g − 1, or g itself."""
    return f"2^{{{grade}}} - 1" if settings.choice("gain") == "exp" else grade


def gain_title(settings: Settings) -> str:
    """The same in plain text."""
    return "2^g − 1" if settings.choice("gain") == "exp" else "g"


def discount_latex(settings: Settings) -> str:
    """How much rank r still counts."""
    return rf"\frac{{1}}{{{_DIVISORS[settings.choice('discount')]}}}"


def discount_title(settings: Settings) -> str:
    """The same in plain text."""
    return f"1 / {_DIVISOR_TITLES[settings.choice('discount')]}"


def discounted_latex(settings: Settings, grade: str = "g_r") -> str:
    """Gain over the divisor of the rank: one term of DCG."""
    return rf"\frac{{{gain_latex(settings, grade)}}}{{{_DIVISORS[settings.choice('discount')]}}}"


def relevant_latex(settings: Settings) -> str:
    """What rel_r is; a threshold that is left to the book is not given as a number."""
    given = settings.values.get("rel")
    if given is None:
        return r", \quad \text{rel}_r = 1 \text{ for a relevant document, else } 0"
    return rf", \quad \text{{rel}}_r = 1 \text{{ where }} g_r \ge {float(given):g} \text{{, else }} 0"


def skipped_latex(settings: Settings) -> str:
    """Says so where ranks are counted without the unrated documents."""
    skip = settings.values.get("unrated") == "skip"
    return r", \quad r \text{ counts rated documents only}" if skip else ""


def at_k(name: str, k: str) -> str:
    """The left side: the measure's name and its cutoff."""
    return rf"\text{{{name}@}}{k} = "
