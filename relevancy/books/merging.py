"""Merges two books: queries with the same text become one, with the ratings of both.

See docs/decisions/0091.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case as CaseExpression
from django.db.models import IntegerField, Value, When
from django.utils import timezone

from relevancy import activity, hooks, scores
from relevancy.models import (
    Activity,
    Book,
    Case,
    CaseQuery,
    JudgingPair,
    JudgingQueue,
    Query,
    QueryLink,
    QueryScore,
    Ranking,
    Rating,
    RatingChange,
    RatingSpread,
    RepeatedPair,
    Run,
    User,
)
from relevancy.models.write_queue import write_turn
from relevancy.queries import MAX_LINKED

from .book_locks import check_unused, lock_book
from .previews import find_cases, try_change

BATCH = 200
_QUERY_MODELS: list[Any] = [Rating, RatingChange, RepeatedPair, CaseQuery, Ranking, QueryScore]
MERGE_SOURCE = "merge"
_MAX_LENGTHS = {"information_need": 5_000, "reference_answer": 10_000, "notes": 20_000}


@dataclass(frozen=True)
class MergeResult:
    """What a merge did.

    moved: queries that the book did not have. merged: queries that both books had.
    ratings: the number of ratings that came with them. replaced: how many ratings lost to a newer one of the same rater for the same
        document. withdrawn: adjudications that lost to a newer one; they are ratings now.
    cases: of the merged book; they use this book now.
    """

    moved: int
    merged: int
    ratings: int
    replaced: int
    withdrawn: int
    cases: Sequence[Case] = field(default_factory=list)


@dataclass(frozen=True)
class MergePreview:
    """What a merge would do. case_scores: of the cases of both books that the user can see; hidden_cases: the number of others."""

    result: MergeResult
    case_scores: Sequence[scores.CaseScorePreview]
    hidden_cases: int


def check_mergeable(book: Book, other: Book, by: User) -> None:
    """Raises `ValidationError` if a book cannot be merged into another one, and unless `by` is an owner of both."""
    if book.pk == other.pk:
        raise ValidationError("A book cannot be merged with itself.")
    if Book.objects.owned_by(by).filter(pk__in=(book.pk, other.pk)).count() < 2:
        raise ValidationError(f"You need the role owner on both books, “{book}” and “{other}”, to merge them.")
    if book.grades != other.grades:
        raise ValidationError(
            f"“{other}” has the scale {other.lowest:g} to {other.top:g} with {len(other.grades)} grades, “{book}” "
            f"{book.lowest:g} to {book.top:g} with {len(book.grades)}. Give the ratings of one book grades of the other’s scale first."
        )
    active = Run.objects.active().filter(case__book__in=[book, other]).select_related("case").first()
    if active is not None:
        raise ValidationError(f"The case “{active.case}” is being run. Merge the books when the run has finished.")
    for merged in (book, other):
        check_unused(merged)


def merge_books(*, book: Book, other: Book, by: User) -> MergeResult:
    """Moves the queries, ratings and cases of `other` to `book`, and deletes `other`. This cannot be undone.

    Of two ratings by one rater of the same document the newer one counts, with its time and note; the log has both. Of two
    adjudications the newer one counts. Name, scale labels, rule, guidelines, teams and judging settings are those of `book`; the
    information need and the notes of a query that both books have are joined, and its tags. Linked queries stay linked; links of both
    books that have a query in common become one. All scores of the cases are stale.

    Raises `ValidationError` unless `by` is an owner of both books, and if the scales differ, a case is being run, or grades are being
    written, such as by an import; nothing is changed then.
    """
    with write_turn(), transaction.atomic():
        result = _merge(book, other, by)
        activity.record_for_book(Activity.Verb.BOOK_MERGED, book=book, by=by, other=other.name, ratings=result.ratings)
    return result


def preview_merge(*, book: Book, other: Book, by: User) -> MergePreview:
    """Returns what `merge_books` would do: does it, and rolls it back before it becomes visible. Ratings of the books wait for it.

    Raises `ValidationError` as `merge_books` does.
    """
    check_mergeable(book, other, by)
    cases, hidden = find_cases(book, other, by=by)
    result, case_scores = try_change(lambda: _merge(book, other, by), cases=cases, book=book)
    return MergePreview(result, case_scores, hidden)


def _merge(book: Book, other: Book, by: User) -> MergeResult:
    cases = list(Case.objects.select_for_update(no_key=True).filter(book=other.pk).order_by("pk"))
    for locked in sorted((book, other), key=lambda locked: locked.pk):
        lock_book(locked)
    check_mergeable(book, other, by)
    by_text = dict(book.queries.values_list("text_key", "pk"))
    texts = other.queries.values_list("pk", "text_key")
    partners = {pk: by_text[text_key] for pk, text_key in texts if text_key in by_text}  # queries with the same text
    ratings = Rating.objects.filter(query__book=other).count()
    hooks.books_merged(book, other, partners)
    moved = Query.objects.filter(book=other).exclude(pk__in=partners).update(book=book)
    JudgingPair.objects.filter(queue__book=other).delete()
    _move_links(book, other, partners)
    replaced = withdrawn = 0
    for batch in batched(sorted(partners.items()), BATCH):
        targets = dict(batch)
        older, decisions = _settle_ratings(targets, by)
        replaced, withdrawn = replaced + older, withdrawn + decisions
        _drop_doubled_repeats(targets)
        new_ids = CaseExpression(
            *(When(query=old, then=Value(new)) for old, new in targets.items()), output_field=IntegerField()
        )
        for model in [*_QUERY_MODELS, *hooks.query_models]:
            model._base_manager.filter(query__in=targets).update(query_id=new_ids)
        _merge_queries(targets)
        JudgingPair.objects.update_levels(list(targets.values()))
        RatingSpread.objects.refresh(list(targets.values()))
    Case.objects.filter(book=other).update(book=book)
    if other.remapped_at is not None:
        Book.objects.filter(pk=book.pk).update(remapped_at=max(filter(None, (book.remapped_at, other.remapped_at))))
    JudgingQueue.objects.filter(book=book).update(built_at=None)
    Book.objects.filter(pk=other.pk).delete()
    scores.book_changed(book)
    return MergeResult(moved, len(partners), ratings, replaced, withdrawn, cases)


def _move_links(book: Book, other: Book, partners: Mapping[int, int]) -> None:
    """Lets the links of `other` belong to `book`. Links of both books that have a query in common become one. Five SQL statements for
    each link with a query that both books have, and two more.

    Raises ValidationError if a link would have too many queries.
    """
    # Queries that only `other` had belong to `book` by now.
    rows = Query.objects.filter(link__book=other).values_list("link_id", "pk").order_by("link_id", "pk")
    common: dict[int, list[int]] = {}
    for link_id, pk in rows:
        if pk in partners:
            common.setdefault(link_id, []).append(partners[pk])
    QueryLink.objects.filter(book=other).update(book=book)
    for link_id, targets in common.items():
        joined = QueryLink.objects.filter(queries__in=targets).exclude(pk=link_id)
        former = list(joined.values_list("pk", flat=True))
        Query.objects.filter(link__in=former).update(link=link_id)
        Query.objects.filter(pk__in=targets).update(link=link_id)
        QueryLink.objects.filter(pk__in=former).delete()
        count = Query.objects.filter(link=link_id).exclude(pk__in=partners).count()
        if count > MAX_LINKED:
            raise ValidationError(
                f"{count:,} queries would be linked with each other, because links of both books have queries in common. "
                f"The maximum is {MAX_LINKED}. Remove some of them from their link first."
            )


def _settle_ratings(targets: Mapping[int, int], by: User) -> tuple[int, int]:
    """Removes and changes, with their log, ratings that cannot be moved as they are. targets: `{query id: id of the query it becomes}`.

    Returns how many ratings lost to a newer one of the same rater, and how many adjudications became ratings, because there is a newer
    one.
    """
    kept: dict[tuple[int, str, int], Rating] = {}
    decisions: dict[tuple[int, str], Rating] = {}
    gone, withdrawn = list[int](), set[int]()
    log = []
    now = timezone.now()
    for rating in Rating.objects.filter(query__in=[*targets, *targets.values()]).order_by("-updated_at", "-pk"):
        query_id = targets.get(rating.query_id, rating.query_id)
        newer = kept.setdefault((query_id, rating.doc_id, rating.rater_id), rating)
        is_decision = newer.is_adjudication and newer.pk not in withdrawn
        if newer is not rating:
            gone.append(rating.pk)
        elif is_decision and decisions.setdefault((query_id, rating.doc_id), rating) is not rating:
            withdrawn.add(rating.pk)
            is_decision = False
        else:
            continue
        log.append(
            RatingChange.of(
                rating,
                query_id=query_id,
                by=by,
                source=MERGE_SOURCE,
                new_verdict=newer.verdict,
                new_value=newer.value,
                new_is_adjudication=is_decision,
                at=now,
            )
        )
    Rating.objects.filter(pk__in=gone).delete()
    Rating.objects.filter(pk__in=withdrawn).update(is_adjudication=False)
    RatingChange.objects.bulk_create(log, batch_size=BATCH)
    return len(gone), len(withdrawn)


def _drop_doubled_repeats(targets: Mapping[int, int]) -> None:
    """Deletes those of the queries that go for which the other query has one of the same rater and document."""
    kept = set(
        RepeatedPair.objects.filter(query__in=list(targets.values())).values_list("query_id", "doc_id", "rater_id")
    )
    rows = RepeatedPair.objects.filter(query__in=targets).values_list("pk", "query_id", "doc_id", "rater_id")
    doubled = [pk for pk, query_id, doc_id, rater_id in rows if (targets[query_id], doc_id, rater_id) in kept]
    for pks in batched(doubled, BATCH):
        RepeatedPair.objects.filter(pk__in=pks).delete()


def _merge_queries(targets: Mapping[int, int]) -> None:
    """Joins information needs, notes and tags, and deletes the queries that have no rows any more."""
    queries = Query.objects.in_bulk([*targets, *targets.values()])
    for old_id, new_id in targets.items():
        old, new = queries[old_id], queries[new_id]
        for name, limit in _MAX_LENGTHS.items():
            joined = "\n\n".join(dict.fromkeys(filter(None, (getattr(new, name), getattr(old, name)))))
            if len(joined) <= limit:  # otherwise it stays
                setattr(new, name, joined)
        new.tags = list(dict.fromkeys([*new.tags, *old.tags]))
        new.revision = max(new.revision, old.revision)  # scores of either query are older than the next revision
        if old.retired_at is None:
            new.retired_at = None
    Query.objects.bulk_update(
        [queries[pk] for pk in targets.values()],
        [*_MAX_LENGTHS, "tags", "revision", "retired_at"],
        batch_size=BATCH,
    )
    Query.objects.filter(pk__in=targets).delete()
