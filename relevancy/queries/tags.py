"""Tags of queries, which sort a book's queries into segments, and the mean score of each segment.

Tags belong to the book, as texts and notes do: they change in every case on it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import batched

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, F, FilteredRelation, Q, Sum
from django.db.models.functions import Coalesce

from relevancy import activity, scores
from relevancy.models import Activity, Book, Case, Query, Run, ScorerVersion, User
from relevancy.models.errors import error_text
from relevancy.models.text import normalize_line, validate_line
from relevancy.scoring import case_mean

MAX_LENGTH = 50
MAX_TAGS = 20  # of one query
BATCH_SIZE = 500


@dataclass(frozen=True)
class Segment:
    """The queries of a case with one tag.

    queries: how many there are.
    scored: how many of them have a score.
    score: their mean score by weight, 0–100; None if none of the scored queries has a weight.
    """

    tag: str
    queries: int
    scored: int
    score: float | None


def parse(text: str | Iterable[str], spellings: Iterable[str] = ()) -> list[str]:
    """Returns the tags in a comma-separated text, or in several texts, sorted; tags that differ only in case are one.

    spellings: tags in use, whose upper and lower case is kept.
    Raises `ValidationError` for a tag of more than 50 characters or with an invalid character.
    """
    spelling = {tag.casefold(): tag for tag in spellings}
    tags: dict[str, str] = {}
    for part in ",".join([text] if isinstance(text, str) else text).split(","):
        if tag := normalize_line(part):
            _check(tag)
            tags.setdefault(tag.casefold(), spelling.get(tag.casefold(), tag))
    return sorted(tags.values(), key=str.casefold)


def _check(tag: str) -> None:
    if len(tag) > MAX_LENGTH:
        message = f"The tag “{tag[:20]}…” has {len(tag)} characters; at most {MAX_LENGTH} are allowed. Separate tags by commas."
        raise ValidationError({"tags": message})
    try:
        validate_line(tag)
    except ValidationError as error:
        raise ValidationError({"tags": error_text(error)}) from None


def check_count(tags: Sequence[str], text: str) -> list[str]:
    """Returns the tags of one query with this text. Raises `ValidationError` for more than 20."""
    if len(tags) > MAX_TAGS:
        message = f"“{text[:40]}” would have {len(tags)} tags; a query can have at most {MAX_TAGS}."
        raise ValidationError({"tags": message})
    return list(tags)


def of_book(book: Book) -> list[str]:
    """Returns every tag in use in a book, sorted. One statement."""
    return _distinct(book.queries.exclude(tags=[]).order_by().values_list("tags", flat=True).distinct())


def of_case(case: Case) -> list[str]:
    """Returns every tag of the case's queries, sorted. One statement."""
    tagged = case.case_queries.present().exclude(query__tags=[])
    return _distinct(tagged.order_by().values_list("query__tags", flat=True).distinct())


def _distinct(tag_lists: Iterable[Sequence[str]]) -> list[str]:
    return sorted({tag for tags in tag_lists for tag in tags}, key=str.casefold)


def set_tags(*, query: Query, tags: str | Iterable[str], by: User | None = None) -> list[str]:
    """Replaces a query's tags, in the spelling of its book, and returns them. Raises `ValidationError`; then nothing is changed."""
    new = check_count(parse(tags, of_book(query.book)), query.text)
    if new != query.tags:
        query.tags = new
        with transaction.atomic():
            query.save(update_fields=["tags"])
            scores.figures_changed(query.book)
            activity.record_for_book(Activity.Verb.QUERY_CHANGED, book=query.book, by=by, subject=query, changed="tags")
    return new


def add(*, book: Book, queries: Iterable[int], tags: str | Iterable[str]) -> int:
    """Adds tags to queries of a book, given by id, and returns how many changed. Raises `ValidationError`; then none is changed."""
    added = parse(tags, of_book(book))
    return _change(book, queries, lambda present: parse([*present, *added], spellings=present))


def remove(*, book: Book, queries: Iterable[int], tags: str | Iterable[str]) -> int:
    """Removes tags, in whatever case, from queries of a book, given by id, and returns how many changed."""
    removed = {tag.casefold() for tag in parse(tags)}
    return _change(book, queries, lambda present: [tag for tag in present if tag.casefold() not in removed])


def _change(book: Book, ids: Iterable[int], new_tags: Callable[[list[str]], list[str]]) -> int:
    """One statement to read 500 queries, and one to write each different list of tags that results."""
    changed = 0
    with transaction.atomic():
        for batch in batched(sorted(set(ids)), BATCH_SIZE):
            locked = book.queries.filter(pk__in=batch).order_by("pk").select_for_update(no_key=True)
            ids_by_tags: dict[tuple[str, ...], list[int]] = defaultdict(list)
            for pk, text, present in locked.values_list("pk", "text", "tags"):
                tags = new_tags(present)
                if tags != present:
                    ids_by_tags[tuple(check_count(tags, text))].append(pk)
            for tags_of_ids, pks in ids_by_tags.items():
                changed += Query.objects.filter(pk__in=pks).update(tags=list(tags_of_ids))
        if changed:
            scores.figures_changed(book)
    return changed


def segments(*, case: Case, run: Run | None = None, version: ScorerVersion | None = None) -> list[Segment]:
    """Returns the tags of a case's queries, sorted, with their mean score in a run under a scorer version. One statement.

    The mean is weighted as the case's score is: over queries that have a score, by their weight in the case.
    """
    scored_in = FilteredRelation("query__scores", condition=Q(query__scores__run=run, query__scores__version=version))
    case_queries = case.case_queries.present().exclude(query__tags=[]).order_by().alias(scored_in=scored_in)
    has_score = Q(scored_in__score__isnull=False)
    sums = case_queries.values_list("query__tags").annotate(
        queries=Count("pk"),
        scored=Count("pk", filter=has_score),
        weights=Coalesce(Sum("weight", filter=has_score), 0.0),
        total=Coalesce(Sum(F("weight") * F("scored_in__score")), 0.0),
    )
    by_tag: dict[str, list[tuple[int, int, float, float]]] = defaultdict(list)
    for tags, *numbers in sums.iterator():  # one row for queries with the same tags
        for tag in tags:
            by_tag[tag].append((*numbers,))
    segments = []
    for tag in sorted(by_tag, key=str.casefold):
        queries, scored_queries, weights, total = map(sum, zip(*by_tag[tag], strict=True))
        segments.append(Segment(tag, queries, scored_queries, case_mean(total, weights)))
    return segments
