"""What a preference test shows, in words."""

from collections.abc import Sequence

from relevancy.templatetags import numbers
from relevancy.wording import counted

from . import preferences
from .models import PreferenceTest


def result_sentence(result: preferences.PreferenceResult, names: Sequence[str]) -> str:
    """Returns which run raters prefer, if the sign test shows one. names: of the first and the second run."""
    sign = result.sign
    if sign.p is None or sign.share is None or sign.low is None or sign.high is None:
        return "No list has been preferred for any query yet." if not sign.ties else "Every query is a tie so far."
    is_second = sign.wins >= sign.losses
    name = names[1] if is_second else names[0]
    chosen = max(sign.wins, sign.losses)
    share, low, high = (sign.share, sign.low, sign.high) if is_second else (1 - sign.share, 1 - sign.high, 1 - sign.low)
    figures = f"{_percent(share)}, 95 % interval {_percent(low)} to {_percent(high)}; p {_p_text(sign.p)}"
    queries = counted(sign.decided, "query", "queries")
    if sign.is_significant:
        return f"Raters prefer {name}: its list is better for {chosen:,} of {queries} ({figures})."
    if sign.missing:
        text = "not a tie cannot show a difference"
        return f"{queries} that {_are(sign.decided)} {text}: at least {sign.missing} more {_are(sign.missing)} needed."
    if sign.wins == sign.losses:
        return f"No difference: each list is better for {chosen:,} of {queries} (p {_p_text(sign.p)})."
    return f"No difference that {queries} can show: the list of {name} is better for {chosen:,} of them ({figures})."


def progress_sentence(test: PreferenceTest, result: preferences.PreferenceResult) -> str:
    """Returns how many queries raters have answered."""
    answered = (
        f"{len(result.rows):,} of {counted(len(result.rows) + result.open, 'query has', 'queries have')} an answer"
    )
    return f"The test is closed: {answered}." if test.closed_at else f"{answered} so far."


def describe_draw(drawn: int, identical: int, depth: int) -> str:
    """Returns how many of the drawn queries have different lists, which raters see."""
    if not identical:
        return f"{counted(drawn, 'query', 'queries')} drawn at random, all with different lists in the two runs."
    same = f"{identical:,} {'has' if identical == 1 else 'have'} the same first {depth} results in both runs"
    return f"{counted(drawn, 'query', 'queries')} drawn at random: {same}, raters see the other {drawn - identical:,}."


def result_details(test: PreferenceTest, result: preferences.PreferenceResult) -> list[str]:
    """Returns what else is to be known about the result, in sentences."""
    sentences = [progress_sentence(test, result)]
    if result.sign.ties:
        verb = "does" if result.sign.ties == 1 else "do"
        sentences.append(
            f"{counted(result.sign.ties, 'query', 'queries')} ended in a tie and {verb} not count for the test."
        )
    if test.identical:
        sentences.append(describe_draw(test.drawn, test.identical, test.depth))
    if result.agreement is not None:
        sentences.append(
            f"Two raters gave the same answer for a query in {_percent(result.agreement)} of {result.shared:,} cases."
        )
    if result.outdated:
        sentences.append(
            f"{counted(result.outdated, 'answer is', 'answers are')} left out: the results have changed since, or are missing."
        )
    return sentences


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _percent(share: float) -> str:
    return f"{numbers.whole(100 * share)} %"


def _p_text(p: float) -> str:
    text = numbers.pvalue(p)
    return text if text.startswith("<") else f"= {text}"
