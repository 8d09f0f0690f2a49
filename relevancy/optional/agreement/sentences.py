"""What the figures of agreement mean, in words."""

from collections.abc import Sequence

from relevancy.templatetags import numbers
from relevancy.wording import counted

from .rater_scores import RaterScore
from .statistics import Agreement, Coefficient, RaterFigures

RELIABLE, TENTATIVE = 0.8, 2 / 3  # Krippendorff's limits for alpha
MIN_QUERIES = 20  # fewer say too little for an interval


def summarize(agreement: Agreement) -> str:
    """Returns what alpha says about the ratings of a book."""
    alpha = agreement.alpha["ordinal"]
    if alpha.value is None or alpha.low is None or alpha.high is None:
        return "Too few documents with two ratings, or too few different grades, to say how far the raters agree."
    figures = f"alpha is {describe(alpha)}"
    match rate_alpha(alpha):
        case "reliable":
            return f"The ratings are reliable: {figures}, and .80 is asked for."
        case "not reliable":
            return f"The ratings are not reliable: {figures}, and .67 is the least that conclusions need. Look at the conflicts."
        case "tentative":
            return (
                f"The ratings are good enough for careful conclusions: {figures}; .67 is the least, .80 is asked for."
            )
    return f"The ratings cannot be called reliable yet: {figures}; .67 is the least that conclusions need, .80 is asked for."


def rate_alpha(alpha: Coefficient) -> str:
    """Returns what alpha and its interval say of the ratings in a word or two; empty without an interval."""
    if alpha.low is None or alpha.high is None:
        return ""
    if alpha.low >= RELIABLE:
        return "reliable"
    if alpha.high < TENTATIVE:
        return "not reliable"
    return "tentative" if alpha.low >= TENTATIVE else "uncertain"


def describe(coefficient: Coefficient) -> str:
    """Returns a coefficient with its interval: ".74 (.69 to .79)"."""
    text = numbers.coefficient(coefficient.value)
    if coefficient.low is None:
        return text
    return f"{text} ({numbers.coefficient(coefficient.low)} to {numbers.coefficient(coefficient.high)})"


def unit_text(agreement: Agreement) -> str:
    """Returns what the intervals draw, and whether it is enough."""
    count = agreement.queries
    text = f"Intervals: 95 %, by 2,000 resamples of {counted(count, 'query', 'queries')}; linked queries count as one."
    if count < MIN_QUERIES:
        text += " Fewer than 20 are too few to rely on the intervals."
    return text


def bias_text(figures: RaterFigures) -> str:
    """Returns how a rater grades, compared with the others on the same documents."""
    bias = figures.bias
    if bias.value is None:
        return "no document in common with others"
    if bias.low is None or bias.high is None or figures.queries < MIN_QUERIES:
        return "too few queries in common to say"
    if bias.low > 0:
        return "gives higher grades"
    if bias.high < 0:
        return "gives lower grades"
    return "no difference shown"


def pace_text(pace: float | None) -> str:
    """Returns a pace: "8 s" or "2 min 5 s"; "–" if there is none."""
    if pace is None:
        return numbers.MISSING
    seconds = round(pace)
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"


def agreeing_text(raters: int, agreeing: int) -> str:
    """Returns "2 of 3 agree"."""
    if agreeing == raters:
        return f"all {raters} agree" if raters > 2 else "both agree"
    return (
        "no two agree"
        if agreeing == 1 and raters > 2
        else "they differ"
        if agreeing == 1
        else f"{agreeing} of {raters} agree"
    )


def score_sentences(score: RaterScore, name: str) -> Sequence[str]:
    """Returns how far the score of a case moves if only this rater counts."""
    difference = score.difference
    if difference is None:
        return [f"No query can be scored by the ratings of {name} alone."]
    count = len(score.queries)
    sentences = [
        f"On the {counted(count, 'query', 'queries')} that {name} has rated, the score is "
        f"{numbers.score(score.everyone)} by all ratings and {numbers.score(score.alone)} by those of {name} alone."
    ]
    if score.by_documents is not None and score.by_grades is not None:
        sentences.append(
            f"Of the {numbers.difference(difference)} points, {numbers.difference(score.by_documents)} are made by documents that "
            f"{name} has not rated, {numbers.difference(score.by_grades)} by other grades of the same documents."
        )
    if score.left_out:
        sentences.append(f"{score.left_out:,} further queries cannot be scored in both ways.")
    return sentences
