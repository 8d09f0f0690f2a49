"""Tags of queries: what a book's queries are sorted by into segments, and how well a case does in each.

Tags belong to the book, as texts and notes do: they change in every case on it.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from django.db import transaction
from django.db.models import F, FilteredRelation, Q

from relevancy.models import Book, Case, Query, Run, ScorerVersion

from .errors import Refused

LONGEST = 50
MOST = 20
BATCH = 500


@dataclass(frozen=True)
class Segment:
    """The queries of a case with one tag. `score`: their mean by weight, 0–100, None where none of the `scored` has weight."""

    tag: str
    queries: int
    scored: int
    score: float | None


def read(said: str | Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Tags out of a text with commas, or several texts: trimmed, NFC, each once whatever its case, sorted.

    `known`: tags in the spelling that is kept. Raises `Refused` for one above 50 characters, or one with control characters.
    """
    spelled = {tag.casefold(): tag for tag in known}
    found: dict[str, str] = {}
    for text in [said] if isinstance(said, str) else said:
        for part in text.split(","):
            tag = " ".join(unicodedata.normalize("NFC", part).split())
            if tag:
                _check(tag)
                found.setdefault(tag.casefold(), spelled.get(tag.casefold(), tag))
    return sorted(found.values(), key=str.casefold)


def _check(tag: str) -> None:
    if len(tag) > LONGEST:
        raise Refused(
            f"The tag “{tag[:20]}…” has {len(tag)} characters; {LONGEST} are possible. Tags are separated by commas.",
            field="tags",
        )
    if control := next((char for char in tag if unicodedata.category(char) in {"Cc", "Cs"}), None):
        raise Refused(f"The tag “{tag}” has the character U+{ord(control):04X}. Take it out.", field="tags")


def fitting(tags: Sequence[str], text: str) -> list[str]:
    """The tags of one query; raises `Refused` for more than 20."""
    if len(tags) > MOST:
        raise Refused(f"“{text[:40]}” would have {len(tags)} tags; a query has at most {MOST}.", field="tags")
    return list(tags)


def of_book(book: Book) -> list[str]:
    """Every tag in use in a book, sorted. One statement."""
    lists = book.queries.exclude(tags=[]).order_by().values_list("tags", flat=True)
    return sorted({tag for tags in lists for tag in tags}, key=str.casefold)


def of_case(case: Case) -> list[str]:
    """Every tag of the case's queries, sorted. One statement."""
    lists = case.case_queries.present().exclude(query__tags=[]).order_by().values_list("query__tags", flat=True)
    return sorted({tag for tags in lists for tag in tags}, key=str.casefold)


def set_tags(*, query: Query, tags: str | Iterable[str]) -> list[str]:
    """A query's tags, all of them, spelled as the book spells them already. Raises `Refused`; then nothing is changed."""
    found = fitting(read(tags, of_book(query.book)), query.text)
    if found != query.tags:
        query.tags = found
        query.save(update_fields=["tags"])
    return found


def add(*, book: Book, queries: Iterable[int], tags: str | Iterable[str]) -> int:
    """Give tags to queries of a book, by their ids. Returns how many changed. All or nothing: raises `Refused`."""
    wanted = read(tags, of_book(book))
    return _change(book, queries, lambda there: read([*there, *wanted], known=there))


def remove(*, book: Book, queries: Iterable[int], tags: str | Iterable[str]) -> int:
    """Take tags off queries of a book, by their ids, whatever the case of their letters. Returns how many changed."""
    gone = {tag.casefold() for tag in read(tags)}
    return _change(book, queries, lambda there: [tag for tag in there if tag.casefold() not in gone])


def _change(book: Book, ids: Iterable[int], become: Callable[[list[str]], list[str]]) -> int:
    """One statement to read 500 queries, and one to write each different list that comes out."""
    changed = 0
    with transaction.atomic():
        for some in batched(sorted(set(ids)), BATCH):
            locked = book.queries.filter(pk__in=some).order_by("pk").select_for_update(no_key=True)
            alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
            for pk, text, there in locked.values_list("pk", "text", "tags"):
                after = become(there)
                if after != there:
                    alike[tuple(fitting(after, text))].append(pk)
            for tags, pks in alike.items():
                changed += Query.objects.filter(pk__in=pks).update(tags=list(tags))
    return changed


def segments(*, case: Case, run: Run | None = None, version: ScorerVersion | None = None) -> list[Segment]:
    """The tags of a case's queries, sorted, with their mean score in a run under a scorer version. One statement.

    The mean is weighted as the case's score is: over queries that have a score, by their weight in the case.
    """
    scored = FilteredRelation("query__scores", condition=Q(query__scores__run=run, query__scores__version=version))
    entries = case.case_queries.present().exclude(query__tags=[]).order_by()
    rows = entries.alias(scored=scored).values_list("query__tags", "weight", F("scored__score"))
    counts: dict[str, list[Any]] = {}
    for tags, weight, score in rows:
        for tag in tags:
            sums = counts.setdefault(tag, [0, 0, 0.0, 0.0])
            sums[0] += 1
            if score is not None:
                sums[1] += 1
                sums[2] += weight * score
                sums[3] += weight
    return [
        Segment(tag, queries, number, total / weights if weights else None)
        for tag, (queries, number, total, weights) in sorted(counts.items(), key=lambda item: item[0].casefold())
    ]
