"""Links between queries: variants of one query, such as "star treck" and "star trek", which count once in tests."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import batched, islice
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Min, QuerySet

from relevancy import activity, scores
from relevancy.models import Activity, Book, Case, CaseQuery, Query, QueryLink, User

MAX_LINKED = 50  # queries of one link
BATCH = 500
MAX_COMPARED_TEXTS = 5000  # that a text is compared with by `similar_queries`; a second of time


def link(*, queries: Sequence[Query], by: User | None = None) -> QueryLink:
    """Links queries of one book with each other, and with those that one of them is linked with already.

    Raises `ValidationError`, in which case nothing has been changed, if they are fewer than two or too many.
    """
    book = queries[0].book if queries else None
    with transaction.atomic():
        chosen = list(
            Query.objects.select_for_update(no_key=True).filter(pk__in=[query.pk for query in queries]).order_by("pk")
        )
        if book is None or len(chosen) < 2:
            raise ValidationError("Select at least two queries to link.")
        if any(query.book_id != book.pk for query in chosen):
            raise ValidationError("Only queries of one book can be linked.")
        link_ids = sorted({query.link_id for query in chosen if query.link_id is not None})
        links = list(QueryLink.objects.filter(pk__in=link_ids).order_by("pk"))
        target = links[0] if links else QueryLink.objects.create(book=book)
        Query.objects.filter(link__in=links).update(link=target)
        Query.objects.filter(pk__in=[query.pk for query in chosen]).update(link=target)
        count = target.queries.count()
        if count > MAX_LINKED:
            raise ValidationError(f"{count:,} queries cannot be linked. The maximum is {MAX_LINKED}.")
        QueryLink.objects.filter(pk__in=link_ids).exclude(pk=target.pk).delete()
        scores.figures_changed(book)
        _record(Activity.Verb.QUERIES_LINKED, book, chosen, by)
    return target


def create_links(*, book: Book, links: Iterable[Sequence[int]]) -> None:
    """Links queries of a new book, which has no scores yet, as copies and files have them.

    links: the ids of the queries of each link. A few SQL statements for 500 links.
    """
    for batch in batched(links, BATCH):
        created = QueryLink.objects.bulk_create([QueryLink(book=book) for _ in batch])
        linked = [
            Query(pk=query_id, link=query_link)
            for query_ids, query_link in zip(batch, created, strict=True)
            for query_id in query_ids
        ]
        Query.objects.bulk_update(linked, ["link"], batch_size=BATCH)


def _record(verb: Activity.Verb, book: Book, queries: Iterable[Query], by: User | None) -> None:
    activity.record_for_book(verb, book=book, by=by, subject=", ".join(f"“{query}”" for query in queries))


def unlink(*, query: Query, by: User | None = None) -> list[int]:
    """Removes a query from those that it is linked with, and the link if only one would be left.

    Returns the ids of the queries that were linked, this one included; `link` with them restores the link. Empty if it was not linked.
    """
    with transaction.atomic():
        stored = Query.objects.select_for_update(no_key=True).get(pk=query.pk)
        if stored.link_id is None:
            return []
        return _remove(QueryLink.objects.select_related("book").get(pk=stored.link_id), [query.pk], by)


def unlink_all(*, query_link: QueryLink, by: User | None = None) -> list[int]:
    """Removes a link. Returns the ids of the queries that were linked."""
    with transaction.atomic():
        linked = sorted(query_link.queries.values_list("pk", flat=True))
        scores.lock_queries(linked)
        return _remove(query_link, linked, by)


def _remove(query_link: QueryLink, query_ids: Sequence[int], by: User | None) -> list[int]:
    linked = sorted(query_link.queries.values_list("pk", flat=True))
    left = set(linked) - set(query_ids)
    query_link.queries.filter(pk__in=query_ids).update(link=None)
    if len(left) < 2:
        query_link.delete()
    scores.figures_changed(query_link.book)
    removed = Query.objects.filter(pk__in=query_ids).order_by("pk")
    _record(Activity.Verb.QUERIES_UNLINKED, query_link.book, removed, by)
    return linked


def links_of(case: Case, link_ids: Iterable[int] | None = None) -> dict[QueryLink, list[CaseQuery]]:
    """Returns the links of the case's queries, each with those of its queries that are in the case, in their order.

    Links that only one query of the case is part of are left out. link_ids: of those that are returned; all unless given. One SQL
    statement.
    """
    linked = case.case_queries.present().filter(query__link__isnull=False).select_related("query__link__book")
    if link_ids is not None:
        linked = linked.filter(query__link__in=list(link_ids))
    by_link: dict[QueryLink, list[CaseQuery]] = defaultdict(list)
    for case_query in linked.order_by("position", "pk"):
        if case_query.query.link is not None:
            by_link[case_query.query.link].append(case_query)
    return {query_link: queries for query_link, queries in by_link.items() if len(queries) > 1}


def find_links(case: Case) -> QuerySet[Any, int]:
    """Returns the ids of the links that two queries of the case or more are part of, in the order of the first of these."""
    linked = case.case_queries.present().filter(query__link__isnull=False).order_by()
    counted = linked.values("query__link").annotate(count=Count("pk"), first=Min("position")).filter(count__gt=1)
    link_ids: QuerySet[Any, int] = counted.order_by("first", "query__link").values_list("query__link", flat=True)
    return link_ids


def similar_queries(text: str, texts: Mapping[int, str], *, count: int) -> list[int]:
    """Returns the keys of the texts that are written most like a text, the most similar first."""
    keys: dict[str, list[int]] = defaultdict(list)
    for key, other in islice(texts.items(), MAX_COMPARED_TEXTS):
        keys[other.casefold()].append(key)
    similar = get_close_matches(text.casefold(), keys, n=count, cutoff=0.6)
    return [key for match in similar for key in keys[match]][:count]
