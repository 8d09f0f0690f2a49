"""The reasons for a score, most important first: one function for each family of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relevancy.scoring.edit_distance import find_edits
from relevancy.scoring.rounding import format_short

from .clauses import (
    all_rated,
    all_relevant_found,
    all_relevant_on_top,
    best_documents,
    best_grade_rank,
    best_rank,
    fewer_than_k,
    first_relevant,
    in_order,
    inversions,
    missing_best,
    missing_relevant,
    nonrelevant_above_relevant,
    relevant_results,
    repeated_results,
    top_grades,
    unrated_results,
)
from .facts import Facts, Reason, count_in_words

if TYPE_CHECKING:  # definitions refer to these functions
    from relevancy.scoring.definition import Settings

Reasons = Sequence[Reason | None]


def list_cg_reasons(facts: Facts, _settings: Settings) -> Reasons:
    """Lists reasons for CG: how good the results are, in any order."""
    if facts.is_perfect:
        return top_grades(facts), unrated_results(facts)
    return (
        unrated_results(facts),
        top_grades(facts),
        missing_best(facts),
        repeated_results(facts),
        fewer_than_k(facts),
    )


def list_dcg_reasons(facts: Facts, _settings: Settings) -> Reasons:
    """Lists reasons for DCG and nDCG(ideal='max'): how far the results are from a list of top grades, and at which ranks."""
    if facts.is_perfect:
        return top_grades(facts), unrated_results(facts)
    return (
        unrated_results(facts),
        best_rank(facts),
        top_grades(facts),
        inversions(facts),
        repeated_results(facts),
        fewer_than_k(facts),
    )


def list_err_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for ERR, which stays below 100 even for a list of top grades."""
    if facts.grades and all(grade is not None and grade >= facts.top for grade in facts.grades):
        limit = "ERR never reaches 100, because no grade is certain to satisfy the user"
        return top_grades(facts), Reason(limit, is_remark=True)
    return list_dcg_reasons(facts, settings)


def list_ndcg_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for nDCG: how the list differs from its ideal."""
    ideal = settings.choice("ideal")
    if facts.is_perfect:
        gain = "gains" if len(facts.grades) == 1 else "together gain"
        return Reason(f"{facts.group()} {gain} as much as the ideal list"), unrated_results(facts)
    if ideal == "max":
        return list_dcg_reasons(facts, settings)
    if ideal == "local":
        return unrated_results(facts), best_grade_rank(facts), inversions(facts), repeated_results(facts)
    if ideal == "recall":
        returned = [grade for grade in facts.returned if grade is not None]
        best = best_documents(facts, returned, "returned")
        return unrated_results(facts), *best, inversions(facts), repeated_results(facts)
    best = best_documents(facts, cut=ideal != "uncut")
    return unrated_results(facts), *best, inversions(facts), repeated_results(facts), fewer_than_k(facts)


def list_avg_edit_reasons(facts: Facts, _settings: Settings) -> Reasons:
    """Lists reasons for AvgEdit: its two parts."""
    rated = [grade for grade in facts.grades if grade is not None]
    count, top = len(facts.grades), format_short(facts.top)
    average = format_short(sum(rated) / max(len(rated), 1), 2)
    if len(rated) == 1:
        mean = Reason(f"the only rated result has grade {average} out of {top}")
    else:
        mean = Reason(f"the rated results have an average grade of {average} out of {top}")
    best = [grade for grade in facts.known if grade > 0][:count]
    edits = len(find_edits([max(grade or 0.0, 0.0) for grade in facts.grades], best + [0.0] * (count - len(best))))
    if not edits:
        distance = f"{facts.group()} {'matches' if count == 1 else 'match'} the ideal list"
    else:
        noun, verb = "edit" if edits == 1 else "edits", "is" if count == 1 else "are"
        distance = f"{facts.group()} {verb} {count_in_words(edits)} {noun} away from the ideal list"
    if facts.is_perfect:
        return mean, Reason(distance), unrated_results(facts)
    return unrated_results(facts), mean, Reason(distance) if edits else None


def list_precision_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for P: how many results are relevant, in any order."""
    rel = settings.number("rel")
    if facts.is_perfect:
        return relevant_results(facts, rel), unrated_results(facts)
    return (
        relevant_results(facts, rel),
        unrated_results(facts),
        missing_relevant(facts, rel),
        fewer_than_k(facts) if settings.choice("denominator") == "k" else None,
        repeated_results(facts),
    )


def list_recall_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for R: how many of the known relevant documents were found, in any order."""
    rel = settings.number("rel")
    if facts.is_perfect:
        return all_relevant_found(facts, rel), unrated_results(facts)
    return missing_relevant(facts, rel), unrated_results(facts), repeated_results(facts)


def list_success_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for Success: whether any result is relevant."""
    return relevant_results(facts, settings.number("rel")), unrated_results(facts)


def list_ap_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for AP: which relevant documents are missing, and what is ranked above those that are not."""
    rel = settings.number("rel")
    if facts.is_perfect:
        return all_relevant_on_top(facts, rel), unrated_results(facts)
    return (
        unrated_results(facts),
        first_relevant(facts, rel),
        missing_relevant(facts, rel),
        nonrelevant_above_relevant(facts, rel),
        repeated_results(facts),
    )


def list_rr_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for RR: the first relevant result and nothing after it."""
    rel = settings.number("rel")
    if facts.is_perfect:
        subject = facts.group() if len(facts.grades) == 1 else "the result at rank 1"
        return (Reason(f"{subject} is relevant"),)
    return first_relevant(facts, rel), unrated_results(facts)


def list_rbp_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for RBP: how many results are relevant, the first ones above all; only an endless list reaches 100."""
    rel = settings.number("rel")
    relevant = relevant_results(facts, rel)
    if facts.grades and facts.count_relevant(rel) == len(facts.grades):
        limit = "RBP reaches 100 only for an infinitely long list of relevant documents"
        return relevant, fewer_than_k(facts), Reason(limit, is_remark=True)
    return (
        unrated_results(facts),
        relevant,
        first_relevant(facts, rel),
        nonrelevant_above_relevant(facts, rel),
        repeated_results(facts),
        fewer_than_k(facts),
    )


def list_bpref_reasons(facts: Facts, settings: Settings) -> Reasons:
    """Lists reasons for Bpref: relevant results compared with those judged non-relevant."""
    rel = settings.number("rel")
    if facts.is_perfect:
        none_above = Reason("no result judged non-relevant is ranked above a relevant one")
        return all_relevant_found(facts, rel), none_above, unrated_results(facts)
    above = nonrelevant_above_relevant(facts, rel, ignores_negative=True)
    return missing_relevant(facts, rel), above, unrated_results(facts, is_remark=True)


def list_judged_reasons(facts: Facts, _settings: Settings) -> Reasons:
    """Lists reasons for Judged: how many results are unrated and nothing else."""
    return (all_rated(facts) if facts.is_perfect else unrated_results(facts),)


def list_general_reasons(facts: Facts) -> Reasons:
    """Lists reasons that apply to every measure, for measures without reasons of their own."""
    return unrated_results(facts), fewer_than_k(facts), repeated_results(facts)


def list_script_reasons(facts: Facts) -> Reasons:
    """Lists what the ranking itself shows, for scripts, about which nothing is known."""
    order = inversions(facts), repeated_results(facts), fewer_than_k(facts), in_order(facts)
    return unrated_results(facts), *best_documents(facts), *order
