"""Parts of formulas that several measures share, as LaTeX. g_r is the grade at rank r."""

from __future__ import annotations

from relevancy.scoring.definition import Settings

_DIVISORS = {
    "log2": r"\log_2(r + 1)",
    "ln": r"\ln(r + 1)",
    "reciprocal": "r",
    "classic": r"\log_2(\max(r, 2))",
}
_DIVISOR_TITLES = {"log2": "log₂(r + 1)", "ln": "ln(r + 1)", "reciprocal": "r", "classic": "log₂ max(r, 2)"}


def gain_latex(settings: Settings, grade: str = "g_r") -> str:
    """Returns the gain of a grade: 2^g − 1, or g."""
    return f"2^{{{grade}}} - 1" if settings.choice("gain") == "exp" else grade


def gain_title(settings: Settings) -> str:
    """Returns the gain of a grade in plain text."""
    return "2^g − 1" if settings.choice("gain") == "exp" else "g"


def discount_latex(settings: Settings) -> str:
    """Returns the discount of rank r."""
    return rf"\frac{{1}}{{{_DIVISORS[settings.choice('discount')]}}}"


def discount_title(settings: Settings) -> str:
    """Returns the discount of rank r in plain text."""
    return f"1 / {_DIVISOR_TITLES[settings.choice('discount')]}"


def discounted_gain_latex(settings: Settings, grade: str = "g_r") -> str:
    """Returns one term of DCG: the gain of a grade divided by the divisor of its rank."""
    return rf"\frac{{{gain_latex(settings, grade)}}}{{{_DIVISORS[settings.choice('discount')]}}}"


def relevance_latex(settings: Settings) -> str:
    """Returns the definition of rel_r; without a number where the threshold is that of the book."""
    threshold = settings.values.get("rel")
    if threshold is None:
        return r", \quad \text{rel}_r = 1 \text{ if the document is relevant, else } 0"
    return rf", \quad \text{{rel}}_r = 1 \text{{ if }} g_r \ge {float(threshold):g} \text{{, else }} 0"


def skipping_latex(settings: Settings) -> str:
    """Returns a note where ranks are counted without unrated documents, else ""."""
    return r", \quad r \text{ counts rated documents only}" if settings.skips_unrated else ""


def left_side(name: str, k: str) -> str:
    """Returns the left side of a formula: the measure's name with its cutoff."""
    return rf"\text{{{name}@}}{k} = "
