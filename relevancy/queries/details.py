"""What is known about queries besides their text, for many queries at once."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import models, transaction

from relevancy import activity, hooks, scores
from relevancy.models import Activity, Book, Case, CaseQuery, Query, User
from relevancy.models.errors import error_text

from .tags import check_count, parse
from .text import parse_options, text_key

BATCH_SIZE = 500
MAX_WEIGHT = 1e6
DETAILS_OF_QUERY = ("information_need", "reference_answer", "notes", "tags")
OF_CASE_QUERY = ("options", "weight")

type DetailChanges = Mapping[str, Mapping[str, Any]]
"""`{normalized text of a query: {attribute of QueryDetails: new value}}`, as `clean_detail` returns them; others stay."""


@dataclass(frozen=True)
class QueryDetails:
    """Information need, reference answer, notes and tags belong to the query, options and weight to its place in a case."""

    information_need: str = ""
    notes: str = ""
    tags: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1
    reference_answer: str = ""


def set_details(*, case: Case, details: Mapping[str, QueryDetails]) -> None:
    """Sets the details of a new case's queries, by text. Raises `ValidationError` naming the query; then nothing is changed.

    A few SQL statements per 500 queries. Scores are not told: call it before the first run.
    """
    present = case.case_queries.present().select_related("query")
    described = {case_query.query.text: case_query for case_query in present if case_query.query.text in details}
    with transaction.atomic():
        describe_all(book=case.book, details={text: details[text] for text in described})
        for text, case_query in described.items():
            _set(case_query, OF_CASE_QUERY, details[text], text)
        CaseQuery.objects.bulk_update(described.values(), OF_CASE_QUERY, batch_size=BATCH_SIZE)


def clean_detail(*, name: str, value: Any, text: str, spellings: Iterable[str] = ()) -> Any:
    """Returns a detail of the query `text` as it is stored. Raises `ValidationError`.

    name: an attribute of `QueryDetails`. value: of its type; tags and options may be text, as users type them.
    spellings: tags in use, whose upper and lower case is kept.
    """
    if name == "tags":
        return check_count(parse(value, spellings), text)
    if name == "options":
        return parse_options(value if isinstance(value, str) else json.dumps(value))
    if name == "weight":
        if not 0 <= value < MAX_WEIGHT:
            raise ValidationError({name: f"{value:g} is not a valid weight. Enter a number from 0 up."})
        return value
    return cast("models.Field[Any, Any]", Query._meta.get_field(name)).clean(value, None)


def count_changes(*, case: Case, changes: DetailChanges) -> int:
    """Returns how many queries of the case `change_details` would change. Writes nothing."""
    return sum(1 for _ in _changed(case, changes))


def change_details(*, case: Case, changes: DetailChanges, by: User | None = None) -> int:
    """Changes details of queries of the case, and returns how many queries changed. Others than those of the case are left out.

    Information needs, reference answers, notes and tags belong to the book: they change in every case on it. A few SQL statements per
    500 queries.
    """
    count, has_new_tags, has_new_weights, has_new_options = 0, False, False, False
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        for batch in batched(_changed(case, changes, lock=True), BATCH_SIZE):
            for case_query, names in batch:
                new = changes[case_query.query.text]
                for name in names:
                    setattr(case_query.query if name in DETAILS_OF_QUERY else case_query, name, new[name])
            Query.objects.bulk_update([case_query.query for case_query, _ in batch], DETAILS_OF_QUERY)
            CaseQuery.objects.bulk_update([case_query for case_query, _ in batch], OF_CASE_QUERY)
            count += len(batch)
            has_new_tags |= any("tags" in names for _, names in batch)
            has_new_weights |= any(name in names for _, names in batch for name in OF_CASE_QUERY)
            has_new_options |= any("options" in names for _, names in batch)
        if has_new_weights:
            scores.case_changed(case.pk)
        if has_new_tags:
            scores.figures_changed(case.book)
        if has_new_options:
            hooks.queries_changed(case.book_id)
        if count:
            activity.record(Activity.Verb.QUERY_DETAILS_IMPORTED, case=case, by=by, count=count)
    return count


def _changed(case: Case, changes: DetailChanges, *, lock: bool = False) -> Iterator[tuple[CaseQuery, list[str]]]:
    """Yields the queries that have other details, with the names of these. Two statements per 500 queries."""
    for texts in batched(changes, BATCH_SIZE):
        keys = [text_key(text) for text in texts]
        ids = Query.objects.ids_by_key(case.book_id, keys).values()
        # By text again: one may be renamed meanwhile.
        in_case = case.case_queries.present().filter(query_id__among=ids, query__text_key__in=keys)
        rows = in_case.select_related("query").order_by("query_id")
        for case_query in rows.select_for_update(of=("self", "query"), no_key=True) if lock else rows:
            names = [
                name
                for name, value in changes[case_query.query.text].items()
                if getattr(case_query.query if name in DETAILS_OF_QUERY else case_query, name) != value
            ]
            if names:
                yield case_query, names


def describe_all(*, book: Book, details: Mapping[str, QueryDetails]) -> None:
    """Sets what belongs to the queries of a book, by text. Raises `ValidationError` naming the query."""
    for texts in batched(details, BATCH_SIZE):
        keys = [text_key(text) for text in texts]
        ids = Query.objects.ids_by_key(book.pk, keys).values()
        rows = list(Query.objects.filter(pk__among=ids, text_key__in=keys))
        for query in rows:
            _set(query, DETAILS_OF_QUERY, details[query.text], query.text)
        Query.objects.bulk_update(rows, DETAILS_OF_QUERY)


def _set(row: Query | CaseQuery, names: Iterable[str], details: QueryDetails, text: str) -> None:
    for name in names:
        try:
            setattr(row, name, clean_detail(name=name, value=getattr(details, name), text=text))
        except ValidationError as error:
            raise ValidationError(f"The query “{text[:60]}”: {error_text(error)}") from None
