"""Queries that are added with their weights in the score of a case."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import batched

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import activity, scores
from relevancy.models import Case, CaseQuery, User
from relevancy.queries import MAX_QUERIES, ensure
from relevancy.queries.details import BATCH_SIZE, MAX_WEIGHT
from relevancy.queries.ordering import STEP

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
        rows = {row.query_id: row for row in case.case_queries.all()}
        last = max((row.position for row in rows.values()), default=0.0)
        new: list[CaseQuery] = []
        changed: list[CaseQuery] = []
        for number, query in enumerate(ensure(book=case.book, texts=list(weights)), 1):
            weight, position = weights[query.text], last + number * STEP
            row = rows.pop(query.pk, None)
            if row is None:
                new.append(CaseQuery(case=case, query=query, position=position, weight=weight))
                continue
            if row.removed_at:
                row.removed_at, row.position = None, position
            row.weight = weight
            changed.append(row)
        CaseQuery.objects.bulk_create(new, batch_size=BATCH_SIZE)
        CaseQuery.objects.bulk_update(changed, ["removed_at", "position", "weight"], batch_size=BATCH_SIZE)
        if only_these:
            others = [row.pk for row in rows.values() if row.weight and not row.removed_at]
            for batch in batched(others, BATCH_SIZE):
                CaseQuery.objects.filter(pk__in=batch).update(weight=0)
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
