"""Copies of whole cases, to try something without touching the original."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import activity, books, hooks, scorers
from relevancy.models import (
    Activity,
    Attempt,
    Book,
    Case,
    CaseQuery,
    Endpoint,
    Scorer,
    ScorerVersion,
    User,
)
from relevancy.models.saving import clean_and_save

BATCH = 500

# What happens to the ratings: the copy uses the same book, gets a new book with copies of them, or a new book without any.
type RatingsChoice = Literal["share", "copy", "none"]


@dataclass(frozen=True)
class Duplicate:
    """A copy of a case. ratings: the number of ratings that were copied. left_out: numbers of the attempts and names of the scorers
    that the copy does not have, because its owner may not use them in another case."""

    case: Case
    ratings: int
    left_out: Sequence[str]


def duplicate(*, case: Case, name: str, ratings: RatingsChoice, with_attempts: bool, by: User) -> Duplicate:
    """Creates a copy of a case that belongs to `by` and is not shared.

    Copies queries with their order, options, weights, notes and tags, and the scorers with their versions; `with_attempts` the
    attempts that are not archived; and what optional apps have of the case. Runs, scores and annotations are not copied.

    The same book needs the role editor on it, since everyone who can see the copy can see the book. Raises `ValidationError`
    naming the field.
    """
    if ratings == "share" and not Book.objects.editable_by(by).filter(pk=case.book_id).exists():
        message = f"You need the role Editor on the book “{case.book}” to use it in another case. Copy the ratings."
        raise ValidationError({"ratings": message})
    versions = list(ScorerVersion.objects.used_by(case))
    usable = set(Scorer.objects.visible_to(by).filter(only_for=None).values_list("pk", flat=True))
    kept = [version for version in versions if version.scorer_id in usable]
    left_out = [version.scorer.name for version in versions if version.scorer_id not in usable]
    with transaction.atomic():
        book = (
            case.book
            if ratings == "share"
            else books.create_copy(book=case.book, name=name, settings=books.BookSettings.of(case.book), by=by)
        )
        copy = Case(
            name=name,
            book=book,
            owner=by,
            options=case.options,
            explained_fields=case.explained_fields,
            knob_ranges=case.knob_ranges,
        )
        clean_and_save(copy)
        activity.record(
            Activity.Verb.CASE_COPIED, case=copy, by=by, subject=copy, object_id=copy.pk, original=case.name
        )
        chosen = [version.scorer for version in kept] or [scorers.default_scorer(by)]
        scorers.choose_scorers(case=copy, scorers=chosen, versions=kept, by=by)
        query_ids = _copy_queries(case, copy)
        count = books.copy_ratings(query_ids=query_ids, by=by) if ratings == "copy" else 0
        if with_attempts:
            left_out += _copy_attempts(case, copy, by)
        for name, part in hooks.case_parts.items():
            if (written := part.write(case)) is not None:
                part.store(copy, part.read(written, name), by)
    return Duplicate(copy, count, left_out)


def _copy_queries(case: Case, copy: Case) -> dict[int, int]:
    """Copies the queries in a case; returns `{query id: id of the copy, or of the same query if the cases share a book}`."""
    present = list(case.case_queries.present().select_related("query"))
    if copy.book_id != case.book_id:
        query_ids = books.copy_queries(queries=[case_query.query for case_query in present], book=copy.book)
    else:
        query_ids = {case_query.query_id: case_query.query_id for case_query in present}
    CaseQuery.objects.bulk_create(
        (
            CaseQuery(
                case=copy,
                query_id=query_ids[case_query.query_id],
                position=case_query.position,
                options=case_query.options,
                weight=case_query.weight,
            )
            for case_query in present
        ),
        batch_size=BATCH,
    )
    return query_ids


def _copy_attempts(case: Case, copy: Case, by: User) -> list[str]:
    """Copies the attempts whose endpoint `by` may use, with their numbers. Returns what was left out."""
    usable = set(Endpoint.objects.usable_by(by).values_list("pk", flat=True))
    attempts = {attempt.pk: attempt for attempt in case.attempts.order_by("number")}
    copies: dict[int, Attempt] = {}
    left_out = []
    for attempt in attempts.values():
        if attempt.archived_at:
            continue
        if attempt.endpoint_id not in usable:
            left_out.append(f"attempt {attempt.number}")
            continue
        copies[attempt.pk] = Attempt.objects.create(
            case=copy,
            number=attempt.number,
            parent=_copied_ancestor(attempt, attempts, copies),
            name=attempt.name,
            note=attempt.note,
            created_by=by,
            **attempt.content,
        )
    return left_out


def _copied_ancestor(attempt: Attempt, attempts: dict[int, Attempt], copies: dict[int, Attempt]) -> Attempt | None:
    """Returns the copy of the nearest ancestor that was copied. A parent always has a lower number than its children."""
    parent_id = attempt.parent_id
    while parent_id is not None and parent_id not in copies:
        parent_id = attempts[parent_id].parent_id
    return copies.get(parent_id) if parent_id is not None else None
