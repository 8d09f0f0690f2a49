"""Queries that are added with their weights in the score of a case."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import activity, scores
from relevancy.models import Case, CaseQuery, User
from relevancy.queries import MAX_QUERIES, append, prepare
from relevancy.queries.details import BATCH_SIZE, MAX_WEIGHT

WEIGHTED = "query.weighted"  # a verb of the activity log


@dataclass(frozen=True)
class WeightedQueries:
    """What `add_weighted` does, or has done.

    added: queries that are new or restored. reweighted: queries of the case that get another weight. unchanged: those that have it.
    others: queries of the case that are not among them and have a weight above 0; it becomes 0 if that was asked for.
    """

    added: int
    reweighted: int
    unchanged: int
    others: int


def preview_weighted(*, case: Case, weights: Mapping[str, float]) -> WeightedQueries:
    """Returns what `add_weighted` would do. One SQL statement."""
    present = dict(case.case_queries.present().values_list("query__text", "weight"))
    is_same = [present[text] == weight for text, weight in weights.items() if text in present]
    others = sum(weight > 0 for text, weight in present.items() if text not in weights)
    return WeightedQueries(len(weights) - len(is_same), is_same.count(False), is_same.count(True), others)


def add_weighted(
    *, case: Case, weights: Mapping[str, float], only_these: bool = False, by: User | None = None
) -> WeightedQueries:
    """Adds queries, by normalized text, with these weights to the end of the case; those that are there already get the weight.

    only_these: gives all other queries of the case the weight 0, so that they count in no mean; they keep ratings and scores.
    by: who does it, for the activity log.
    Raises `ValidationError` for an invalid weight and for more queries than can be added at once; then nothing is changed.
    """
    if len(weights) > MAX_QUERIES:
        raise ValidationError(f"{len(weights):,} queries are too many to add at once. Add at most {MAX_QUERIES:,}.")
    for text, weight in weights.items():
        if not 0 <= weight < MAX_WEIGHT:
            raise ValidationError(f"The query “{text[:60]}”: {weight:g} is not a valid weight. It must be from 0 up.")
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        result = preview_weighted(case=case, weights=weights)
        ids = prepare(book=case.book, texts=list(weights))
        append(case=case, query_ids=list(ids.values()))
        new_weights = {ids[text]: weight for text, weight in weights.items()}
        changed = []
        for case_query in case.case_queries.present():
            weight = new_weights.get(case_query.query_id, 0 if only_these else case_query.weight)
            if weight != case_query.weight:
                case_query.weight = weight
                changed.append(case_query)
        CaseQuery.objects.bulk_update(changed, ["weight"], batch_size=BATCH_SIZE)
        scores.case_changed(case.pk)
        activity.record(
            WEIGHTED,
            case=case,
            by=by,
            count=result.added,
            reweighted=result.reweighted,
            others="no" if only_these else "yes",
        )
    return result
