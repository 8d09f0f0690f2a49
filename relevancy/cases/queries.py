"""A case's queries: added, edited, removed, brought back."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from relevancy.models import Book, Case, CaseQuery, Query

from . import tags as tagging
from .errors import Refused
from .places import STEP
from .places import move as move
from .places import move_by as move_by

MAX_LENGTH = 2048
MAX_NEED = 5_000
MAX_NOTES = 20_000
MAX_AT_ONCE = 20_000
BATCH = 500


def normal_text(text: str) -> str:
    """The text as it is kept: NFC, trimmed, inner line breaks and tabs as blanks. Case and spelling are left alone."""
    return unicodedata.normalize("NFC", text.replace("\r", " ").replace("\n", " ").replace("\t", " ")).strip()


def text_key(text: str) -> str:
    """What makes a query unique in its book."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_text(text: str) -> str:
    """The normal form of a query's text; raises `Refused` for an empty one, one too long, or one with control characters."""
    text = normal_text(text)
    if not text:
        raise Refused("The query is empty.", field="text")
    if len(text) > MAX_LENGTH:
        raise Refused(f"“{text[:40]}…” has {len(text):,} characters; a query has at most {MAX_LENGTH:,}.", field="text")
    if control := next((char for char in text if unicodedata.category(char) in {"Cc", "Cs"}), None):
        raise Refused(f"“{text[:40]}” has the control character U+{ord(control):04X}. Take it out.", field="text")
    return text


@dataclass(frozen=True)
class Added:
    """What became of pasted queries. `again`: texts the case had already; `refused`: (line number, reason)."""

    new: list[CaseQuery] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)


def add(*, case: Case, texts: Iterable[str]) -> Added:
    """Add queries in their order, each once. A line that cannot be a query is refused by number; the others are added.

    A query that was removed before comes back with its options and ratings.
    """
    wanted, again, refused = _read(texts)
    with transaction.atomic():
        Case.objects.select_for_update().get(pk=case.pk)
        queries = ensure(book=case.book, texts=list(wanted))
        there = {entry.query_id: entry for entry in case.case_queries.all()}
        last = case.case_queries.aggregate(last=Max("position"))["last"] or 0.0
        new, back = [], []
        for place, query in enumerate(queries, 1):
            entry = there.get(query.pk)
            if entry is None:
                new.append(CaseQuery(case=case, query=query, position=last + place * STEP))
            elif entry.removed_at:
                entry.removed_at, entry.position = None, last + place * STEP
                back.append(entry)
            else:
                again.append(query.text)
        CaseQuery.objects.bulk_create(new, batch_size=BATCH)
        CaseQuery.objects.bulk_update(back, ["removed_at", "position"], batch_size=BATCH)
    return Added(new=[*new, *back], again=again, refused=refused)


def _read(texts: Iterable[str]) -> tuple[dict[str, None], list[str], list[tuple[int, str]]]:
    """Distinct texts in order, repeats within the input, refused lines. Blank lines are passed over."""
    wanted: dict[str, None] = {}
    again: list[str] = []
    refused: list[tuple[int, str]] = []
    for number, line in enumerate(texts, 1):
        if not line.strip():
            continue
        try:
            text = check_text(line)
        except Refused as reason:
            refused.append((number, str(reason)))
            continue
        if text in wanted:
            again.append(text)
        wanted[text] = None
        if len(wanted) > MAX_AT_ONCE:
            raise Refused(f"More than {MAX_AT_ONCE:,} queries at once. Paste them in parts.", field="queries")
    return wanted, again, refused


def ensure(*, book: Book, texts: Sequence[str]) -> list[Query]:
    """The book's queries with these (normal) texts, made where missing, in the order asked."""
    keys = {text_key(text): text for text in texts}
    found: dict[str, Query] = {}
    for some in batched(keys, BATCH):
        found.update({query.text_key: query for query in book.queries.filter(text_key__in=some)})
    missing = [Query(book=book, text=text, text_key=key) for key, text in keys.items() if key not in found]
    Query.objects.bulk_create(missing, batch_size=BATCH, ignore_conflicts=True)
    if missing:
        for some in batched((query.text_key for query in missing), BATCH):
            found.update({query.text_key: query for query in book.queries.filter(text_key__in=some)})
    retired = [query.pk for query in found.values() if query.retired_at]
    if retired:
        book.queries.filter(pk__in=retired).update(retired_at=None)
    return [found[key] for key in keys]


def edit(
    *,
    entry: CaseQuery,
    text: str,
    information_need: str = "",
    notes: str = "",
    tags: Sequence[str] = (),
    options: str = "{}",
    weight: float = 1,
) -> None:
    """Change a query. Text, information need, notes and tags belong to the book and change for every case on it."""
    text = check_text(text)
    query = entry.query
    if query.book.queries.filter(text_key=text_key(text)).exclude(pk=query.pk).exists():
        raise Refused(f"The book has a query “{text[:60]}” already.", field="text")
    if not 0 <= weight < 1e6:
        raise Refused(f"{weight:g} cannot be a weight: write 0 or more.", field="weight")
    need, notes = _prose(information_need, "information_need"), _prose(notes, "notes")
    kept = tagging.fitting(tagging.read(tags, tagging.of_book(query.book)), text)
    entry.options, entry.weight = parse_options(options), weight
    query.text, query.text_key = text, text_key(text)
    query.information_need, query.notes, query.tags = need, notes, kept
    try:
        with transaction.atomic():
            query.save(update_fields=["text", "text_key", "information_need", "notes", "tags"])
            entry.save(update_fields=["options", "weight"])
    except IntegrityError:
        raise Refused(f"The book has a query “{text[:60]}” already.", field="text") from None


def describe(*, query: Query, information_need: str, notes: str) -> None:
    """What somebody who types this wants, and what is worth knowing about it; both Markdown, both the book's. Raises `Refused`."""
    query.information_need = _prose(information_need, "information_need")
    query.notes = _prose(notes, "notes")
    query.save(update_fields=["information_need", "notes"])


def _prose(text: str, name: str) -> str:
    """Text of several lines as it is kept: NFC, trimmed, LF line ends."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    longest = {"information_need": MAX_NEED, "notes": MAX_NOTES}[name]
    if len(text) > longest:
        raise Refused(f"This text has {len(text):,} characters; {longest:,} are possible.", field=name)
    for char in text:
        if char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cs"}:
            raise Refused(f"This text has the character U+{ord(char):04X}. Take it out.", field=name)
    return text


def parse_options(text: str) -> dict[str, Any]:
    """A query's options: a JSON object. Raises `Refused` with line and column."""
    try:
        options = json.loads(text.strip() or "{}", parse_constant=_no_number)
        json.dumps(options, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("The options contain half of a character (a lone surrogate).", field="options") from None
    except RecursionError:
        raise Refused("The options are nested too deeply.", field="options") from None
    except json.JSONDecodeError as error:
        message = f"The options are no JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        raise Refused(message, field="options") from None
    if not isinstance(options, dict):
        raise Refused('The options must be a JSON object, such as {"lang": "en"}.', field="options")
    if "\\u0000" in json.dumps(options):
        raise Refused("The options contain the control character U+0000. Take it out.", field="options")
    return options


def _no_number(word: str) -> Any:
    raise Refused(f"The options contain {word}, which is no JSON. Write a number.", field="options")


def remove(*, entry: CaseQuery) -> None:
    """Take a query out of the case. Its ratings, options and place stay, so that `bring_back` undoes it."""
    entry.removed_at = timezone.now()
    entry.save(update_fields=["removed_at"])


def bring_back(*, entry: CaseQuery) -> None:
    """Undo `remove`."""
    entry.removed_at = None
    entry.save(update_fields=["removed_at"])
