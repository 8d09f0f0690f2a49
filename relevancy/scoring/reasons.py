"""Which facts explain the score of which measure, the most telling first. One function for each family of measures."""

from __future__ import annotations

from collections.abc import Sequence

from .definition import Settings
from .facts import Facts, Reason
from .wording import in_words, plain
from .workings.edits import edits

Reasons = Sequence[Reason | None]


def of_gain(facts: Facts, _settings: Settings) -> Reasons:
    """CG: what the documents are worth, in any order."""
    if facts.perfect:
        return facts.at_the_top(), facts.some_unrated(aside=True)
    missing = facts.missing_best(beside_best=False)
    return facts.some_unrated(), facts.at_the_top(), missing, facts.some_repeats(), facts.fewer()


def of_discounted_gain(facts: Facts, _settings: Settings) -> Reasons:
    """DCG and nDCG(ideal='max'): how far from a list of top grades, and at which ranks."""
    if facts.perfect:
        return facts.at_the_top(), facts.some_unrated(aside=True)
    best, top, inverted = facts.best_rank(), facts.at_the_top(), facts.inversions()
    return facts.some_unrated(), best, top, inverted, facts.some_repeats(), facts.fewer()


def of_stopping(facts: Facts, settings: Settings) -> Reasons:
    """ERR, which stays below 100 even for a list of top grades."""
    if facts.grades and all(grade is not None and grade >= facts.top for grade in facts.grades):
        limit = "ERR stays below 100 even so, since it takes no grade for certain to satisfy"
        return facts.at_the_top(), Reason(limit, aside=True)
    return of_discounted_gain(facts, settings)


def of_ideal(facts: Facts, settings: Settings) -> Reasons:
    """nDCG: what keeps the list from its ideal."""
    ideal = settings.choice("ideal")
    if facts.perfect:
        alone = len(facts.grades) == 1
        equal = "worth as much as the ideal list"
        text = facts.some(1, equal) if alone else f"{facts.first()} together are {equal}"
        return Reason(text), facts.some_unrated(aside=True)
    if ideal == "max":
        return of_discounted_gain(facts, settings)
    if ideal == "local":
        here = [grade for grade in facts.grades if grade is not None]
        best = facts.best_rank(here, f"of {facts.first()}")
        return facts.some_unrated(), best, facts.inversions(), facts.some_repeats()
    if ideal == "recall":
        here = [grade for grade in (*facts.grades, *facts.below) if grade is not None]
        best, missing = facts.best_rank(here, "returned"), facts.missing_best(here, "returned")
        return facts.some_unrated(), best, missing, facts.inversions(), facts.some_repeats()
    best, missing = facts.best_rank(), facts.missing_best(cut=ideal != "uncut")
    return facts.some_unrated(), best, missing, facts.inversions(), facts.some_repeats(), facts.fewer()


def of_average_less_edits(facts: Facts, _settings: Settings) -> Reasons:
    """AvgEdit: its two parts."""
    rated = [grade for grade in facts.grades if grade is not None]
    count = len(facts.grades)
    best = [grade for grade in facts.known if grade > 0][:count]
    away = len(edits([max(grade or 0.0, 0.0) for grade in facts.grades], best + [0.0] * (count - len(best))))
    who = "the only rated document has" if len(rated) == 1 else "the rated documents average"
    mean = Reason(f"{who} {plain(sum(rated) / max(len(rated), 1), 2)} of {plain(facts.top)}")
    list_is = "the list is" if count == 1 else f"{facts.first()} are"
    edited = f"{in_words(away)} {'edit' if away == 1 else 'edits'} away from" if away else "equal to"
    distance = Reason(f"{list_is} {edited} the best list")
    if facts.perfect:
        return mean, distance, facts.some_unrated(aside=True)
    return facts.some_unrated(), mean, distance if away else None


def of_share(facts: Facts, settings: Settings) -> Reasons:
    """P: how many are relevant, in any order."""
    rel = settings.number("rel")
    if facts.perfect:
        return facts.some_relevant(rel), facts.some_unrated(aside=True)
    few = facts.fewer() if settings.choice("denominator") == "k" else None
    return facts.some_relevant(rel), facts.some_unrated(), facts.missing_relevant(rel), few, facts.some_repeats()


def of_found(facts: Facts, settings: Settings) -> Reasons:
    """R: how many of the known relevant documents are there, in any order."""
    rel = settings.number("rel")
    if facts.perfect:
        return facts.all_relevant_found(rel), facts.some_unrated(aside=True)
    return facts.missing_relevant(rel), facts.some_unrated(), facts.some_repeats()


def of_success(facts: Facts, settings: Settings) -> Reasons:
    """Success: whether one is relevant."""
    return facts.some_relevant(settings.number("rel")), facts.some_unrated(aside=facts.perfect)


def of_average_precision(facts: Facts, settings: Settings) -> Reasons:
    """AP: which relevant documents are missing, and what stands above those that are not."""
    rel = settings.number("rel")
    if facts.perfect:
        return facts.all_relevant_on_top(rel), facts.some_unrated(aside=True)
    missing, above = facts.missing_relevant(rel), facts.not_relevant_above(rel)
    any_returned = any(grade is not None and grade >= rel for grade in (*facts.grades, *facts.below))
    first = (
        facts.first_relevant(rel) if any_returned or missing is None else None
    )  # else both would say that none is there
    return facts.some_unrated(), first, missing, above, facts.some_repeats()


def of_first_relevant(facts: Facts, settings: Settings) -> Reasons:
    """RR: the first relevant document, and nothing after it."""
    rel = settings.number("rel")
    if facts.perfect:
        return (Reason(facts.some(1, "relevant") if len(facts.grades) == 1 else "the document at rank 1 is relevant"),)
    return facts.first_relevant(rel), facts.some_unrated()


def of_patience(facts: Facts, settings: Settings) -> Reasons:
    """RBP: how many are relevant, the first above all; only an endless list reaches 100."""
    rel = settings.number("rel")
    relevant = facts.some_relevant(rel)
    if all(grade is not None and grade >= rel for grade in facts.grades) and facts.grades:
        return relevant, facts.fewer(), Reason("only an endless list of relevant documents reaches 100", aside=True)
    above = facts.not_relevant_above(rel)
    return facts.some_unrated(), relevant, facts.first_relevant(rel), above, facts.some_repeats(), facts.fewer()


def of_preference(facts: Facts, settings: Settings) -> Reasons:
    """Bpref: relevant documents against those judged not relevant."""
    rel = settings.number("rel")
    if facts.perfect:
        none_above = Reason("no document judged not relevant stands above a relevant one")
        return facts.all_relevant_found(rel), none_above, facts.some_unrated(aside=True)
    above = facts.not_relevant_above(rel, judged=True)
    return facts.missing_relevant(rel), above, facts.some_unrated(aside=True)


def of_coverage(facts: Facts, _settings: Settings) -> Reasons:
    """Judged: how many are unrated, and nothing else."""
    if facts.perfect:
        return (facts.all_rated(),)
    return (facts.some_unrated(),)


def of_any(facts: Facts) -> Reasons:
    """What holds whatever a measure looks at; for those that say nothing of themselves."""
    return facts.some_unrated(), facts.fewer(), facts.some_repeats()


def of_grades(facts: Facts) -> Reasons:
    """What a list shows by itself; for scripts, of which nobody knows what they look at."""
    order = facts.inversions(), facts.some_repeats(), facts.fewer(), facts.in_order()
    return facts.some_unrated(), facts.best_rank(), facts.missing_best(), *order
