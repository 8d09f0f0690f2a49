"""The rankings that a run returned, and the documents that they display.

A document is stored once for each version of its content, and a ranking has their numbers: see docs/decisions/0015.
"""

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import batched, chain
from typing import Any, ClassVar

import numpy as np
from django.db import connection, models

from .book import Query
from .endpoint import Endpoint
from .inserts import insert_rows
from .lookups import find_ids
from .run import Run

_READ = 10_000  # documents read by one statement
_KEPT = 20_000  # documents that `DocumentCache` keeps
_DIGEST_LENGTH = 16
_STORED_ONCE = "(endpoint_id, digest) DO NOTHING"  # without the names, PostgreSQL looks rows up by the primary key, too

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# `[document id, engine score or None, {field: value}]`, and `{field: highlighted snippet}` if the engine highlighted something.
type Hit = list[Any]


class Document(models.Model):
    """One version of what an engine returned of a document.

    fields: its displayed fields; None once no run that keeps its fields displays this version.
    digest: of the id and the fields, the first bytes of their SHA-256; None without fields, so that no later ranking refers to it.

    The database checks that the endpoint of an attempt exists, and not again for each document that its runs found: that took
    PostgreSQL a quarter of the time of their insertion.
    """

    id = models.AutoField(primary_key=True)
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.CASCADE, related_name="documents", db_index=False, db_constraint=False
    )
    doc_id = models.CharField(max_length=500)
    fields = models.JSONField(null=True)
    digest = models.BinaryField(max_length=_DIGEST_LENGTH, null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("endpoint", "digest"), name="document_version_once")]

    def __str__(self) -> str:
        return self.doc_id


class RankingQuerySet(models.QuerySet["Ranking"]):
    """Rankings of runs."""

    def for_scoring(self) -> "RankingQuerySet":
        """Reads what scores are computed from. The text of a query is read with it, because scripts may use it."""
        names = (
            "run_id",
            "query_id",
            "former_text",
            "options",
            "total",
            "returned",
            "documents",
            "engine_scores",
            "snippets",
        )
        return self.select_related("query").only(*names, "error_kind", "query__text")

    def iterate(self, size: int = 500) -> Iterator["Ranking"]:
        """Yields the rankings with their hits. Two SQL statements and one more for each `size` of them."""
        for batch in batched(self.iterator(chunk_size=size), size):
            yield from read_hits(batch)

    def store(self, rankings: Sequence["Ranking"], *, endpoint: int) -> None:
        """Inserts new rankings with their documents. Those of a query that has one in the run already are left out.

        endpoint: the id of the endpoint that returned them. Call it in a transaction that has locked the queries: an edited text is
        compared with the one that was searched. Four SQL statements at most, and one more on PostgreSQL.
        """
        if not rankings:
            return
        pack_hits(rankings, endpoint=endpoint)
        texts = dict(Query.objects.filter(pk__among={row.query_id for row in rankings}).values_list("pk", "text"))
        for row in rankings:
            if row.former_text == texts.get(row.query_id):
                row.former_text = ""
        values = [[getattr(row, name) for name in _COLUMNS] for row in rankings]
        insert_rows(Ranking, _COLUMNS, values, on_conflict="(query_id, run_id) DO NOTHING")


class Ranking(models.Model):
    """The hits of one query in a run, with the text and options as searched. A failed search is a ranking with an `error`.

    former_text: the text as searched if the query has another one now, else empty.
    documents, engine_scores: of the hits in rank order, packed; read `hits` instead.
    snippets: `[{field: highlighted snippet}, …]` by rank as JSON; empty if the engine highlighted nothing.
    explanations: why the hits have their scores, `{document id: …}` as JSON, as `runs.explain_results` writes it; empty before they
        were requested. Text, because a row with a null takes eight bytes more on PostgreSQL.
    """

    id = models.AutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rankings", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="rankings", db_index=False)
    total = models.BigIntegerField(null=True)
    took_ms = models.PositiveIntegerField(null=True)
    returned = models.PositiveSmallIntegerField(default=0)
    documents = models.BinaryField(default=b"")
    engine_scores = models.BinaryField(default=b"")
    options = models.JSONField(default=dict)
    former_text = models.CharField(max_length=2048, blank=True, default="")
    error_kind = models.CharField(max_length=20, blank=True, default="")
    error = models.TextField(blank=True, default="")
    snippets = models.TextField(default="", editable=False)
    explanations = models.TextField(default="", editable=False)

    _hits: list[Hit] | None = None
    _doc_ids: list[str] | None = None

    objects: ClassVar = RankingQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        # Its order leads from a query to its runs; the index of failures leads from a run to its rankings.
        constraints = [models.UniqueConstraint(fields=("query", "run"), name="ranking_once_per_run")]
        indexes = [models.Index(fields=("run", "error_kind"), name="ranking_failures")]

    def __str__(self) -> str:
        return f"{self.text[:60]} in run {self.run_id}"

    @classmethod
    def with_hits(cls, hits: list[Hit], **values: Any) -> "Ranking":
        """Returns a new ranking. values: of its fields; `former_text` is the text as searched, whether or not it is another one now."""
        ranking = cls(**values)
        ranking.hits = hits
        return ranking

    @property
    def text(self) -> str:
        """The text as searched. Reads the query unless it has been read, as all relations do."""
        return self.former_text or self.query.text

    @property
    def hits(self) -> list[Hit]:
        """The hits in rank order. Reads the documents unless `read_hits` has, as a deferred field does."""
        if self._hits is None:
            read_hits([self])
        assert self._hits is not None
        return self._hits

    @hits.setter
    def hits(self, hits: list[Hit]) -> None:
        self._hits, self._doc_ids, self.returned = hits, None, len(hits)

    @property
    def doc_ids(self) -> list[str]:
        """The ids of the documents in rank order. Reads them unless `read_doc_ids` or `read_hits` has."""
        if self._doc_ids is None:
            read_doc_ids([self])
        assert self._doc_ids is not None
        return self._doc_ids

    def read_scores(self) -> list[float | None]:
        """Returns the engine scores in rank order."""
        return unpack_scores(self.engine_scores, self.returned)

    @property
    def document_numbers(self) -> list[int]:
        """The primary keys of the documents in rank order."""
        return unpack_numbers(self.documents, self.returned)


_COLUMNS = tuple(field.attname for field in Ranking._meta.concrete_fields if not field.primary_key)


class DocumentVersion:
    """A document with its fields as JSON, the same as every other one with the same digest."""

    __slots__ = ("digest", "doc_id", "fields")

    def __init__(self, doc_id: str, fields: dict[str, Any]) -> None:
        self.doc_id, self.fields = doc_id, _as_json(fields)
        content = f"[{_as_json(doc_id)},{self.fields}]"
        self.digest = hashlib.sha256(content.encode()).digest()[:_DIGEST_LENGTH]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentVersion) and self.digest == other.digest


def pack_hits(rankings: Sequence[Ranking], *, endpoint: int) -> None:
    """Stores the documents of hits that have been set, and sets the columns of the rankings, which are not stored."""
    lock_documents(endpoint)
    versions = [[DocumentVersion(hit[0], hit[2]) for hit in row.hits] for row in rankings]
    numbers = _store_documents(endpoint, {version for of_row in versions for version in of_row})
    for row, of_row in zip(rankings, versions, strict=True):
        row.documents = pack_numbers([numbers[version.digest] for version in of_row])
        row.engine_scores = pack_scores([hit[1] for hit in row.hits])
        snippets = [hit[3] if len(hit) > 3 else {} for hit in row.hits]
        row.snippets = json.dumps(snippets, ensure_ascii=False) if any(snippets) else ""


def read_hits[R: Iterable[Ranking]](rankings: R) -> R:
    """Reads the hits of rankings that have been read, and returns the rankings. One SQL statement for up to 10,000 documents."""
    unread = [ranking for ranking in rankings if ranking._hits is None]
    documents = _read_documents(unread, lambda rows: rows.values_list("pk", "doc_id", "fields"))
    for ranking in unread:
        scores, snippets = ranking.read_scores(), json.loads(ranking.snippets or "[]")
        ranking._hits = [
            [*_hit(documents, number, score), *([snippets[rank]] if snippets and snippets[rank] else [])]
            for rank, (number, score) in enumerate(zip(ranking.document_numbers, scores, strict=True))
        ]
        ranking._doc_ids = None
    for ranking in rankings:
        if ranking._doc_ids is None and ranking._hits is not None:
            ranking._doc_ids = [hit[0] for hit in ranking._hits]
    return rankings


def _hit(documents: dict[int, Any], number: int, score: float | None) -> Hit:
    _, doc_id, fields = documents[number]
    return [doc_id, score, dict(fields or {})]


def read_doc_ids[R: Iterable[Ranking]](rankings: R) -> R:
    """Reads the ids of the documents of rankings that have been read, without their fields. One SQL statement for up to 10,000
    documents, none for rankings whose hits have been read."""
    unread = [ranking for ranking in rankings if ranking._doc_ids is None]
    unknown = [ranking for ranking in unread if ranking._hits is None]
    documents = _read_documents(unknown, lambda rows: rows.values_list("pk", "doc_id"))
    for ranking in unread:
        if ranking._hits is None:
            ranking._doc_ids = [documents[number][1] for number in ranking.document_numbers]
        else:
            ranking._doc_ids = [hit[0] for hit in ranking._hits]
    return rankings


def hit_sizes(rankings: Iterable[Ranking]) -> list[int]:
    """Returns how many characters the displayed fields of each ranking take. One SQL statement for up to 10,000 documents."""
    rankings = list(rankings)
    length = models.functions.Length(models.functions.Cast("fields", models.TextField()))
    documents = _read_documents(rankings, lambda rows: rows.values_list("pk", length))
    return [sum(documents[number][1] or 0 for number in ranking.document_numbers) for ranking in rankings]


def _read_documents(
    rankings: Iterable[Ranking], columns: Callable[[models.QuerySet[Document]], Iterable[tuple[Any, ...]]]
) -> dict[int, tuple[Any, ...]]:
    numbers = sorted({number for ranking in rankings for number in ranking.document_numbers})
    stored = (Document.objects.filter(pk__among=batch) for batch in batched(numbers, _READ))
    return {row[0]: row for documents in stored for row in columns(documents)}


class DocumentCache[T]:
    """Reads the documents of many rankings, of which most are displayed by several: what is made of one is kept for the next rankings.

    columns: which are read of a document. make: returns what is kept, given their values.
    """

    def __init__(self, columns: Sequence[str], make: Callable[..., T]) -> None:
        self._columns = columns
        self._make = make
        self._kept: dict[int, T] = {}

    def read(self, numbers: Iterable[int]) -> Mapping[int, T]:
        """Returns what is made of documents, by primary key; there may be others. One SQL statement for up to 10,000 documents that are
        not kept."""
        wanted = set(numbers)
        if len(self._kept) + len(wanted) > _KEPT:
            self._kept = {number: self._kept[number] for number in wanted & self._kept.keys()}
        for batch in batched(sorted(wanted - self._kept.keys()), _READ):
            for number, *values in Document.objects.filter(pk__among=batch).values_list("pk", *self._columns):
                self._kept[number] = self._make(*values)
        return self._kept


def lock_documents(endpoint: int, *, exclusive: bool = False) -> None:
    """Makes those who remove documents of an endpoint and those who store rankings of it wait for each other until the transaction
    ends. SQLite has one writer at a time anyway."""
    if connection.features.has_select_for_update:
        mode = "UPDATE" if exclusive else "KEY SHARE"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {Endpoint._meta.db_table} WHERE id = %s FOR {mode}", [endpoint])


def _store_documents(endpoint: int, versions: set[DocumentVersion]) -> dict[bytes, int]:
    """Returns `{digest: primary key}` of documents, of which the new ones are inserted."""
    present = _find_documents(endpoint, [version.digest for version in versions])
    # In one order: two transactions that insert the same documents wait for each other's rows, and never in a circle.
    new = sorted((version for version in versions if version.digest not in present), key=lambda version: version.digest)
    if new:
        rows = [(endpoint, version.doc_id, version.fields, version.digest) for version in new]
        names = ("endpoint_id", "doc_id", "fields", "digest")
        inserted = insert_rows(Document, names, rows, on_conflict=_STORED_ONCE, returning=("digest", "id"))
        present |= {bytes(digest): pk for digest, pk in inserted}
        # On PostgreSQL only those that another worker has inserted meanwhile.
        present |= _find_documents(endpoint, [version.digest for version in new if version.digest not in present])
    return present


def _find_documents(endpoint: int, digests: Sequence[bytes]) -> dict[bytes, int]:
    rows = (find_ids(Document, "endpoint_id", endpoint, "digest", batch) for batch in batched(digests, _READ))
    return {bytes(digest): pk for digest, pk in chain.from_iterable(rows)}


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Returns primary keys of documents as bytes: three each, or four if one of them is large."""
    width = 3 if max(numbers, default=0) < 1 << 24 else 4
    return b"".join([number.to_bytes(width) for number in numbers])


def unpack_numbers(packed: bytes | memoryview, count: int) -> list[int]:
    """Returns what `pack_numbers` packed. count: how many numbers it was given."""
    width = len(packed) // max(count, 1)
    return [int.from_bytes(packed[start : start + width]) for start in range(0, len(packed), width or 1)]


def pack_doc_ids(doc_ids: Sequence[str]) -> bytes:
    """Returns document ids as bytes, for rankings of documents that are not stored. `unpack_doc_ids` returns them."""
    return zlib.compress("\0".join(doc_ids).encode(), 1)


def unpack_doc_ids(packed: bytes | memoryview) -> list[str]:
    """Returns what `pack_doc_ids` packed. No id contains NUL: PostgreSQL cannot store it, and adapters refuse it."""
    text = zlib.decompress(bytes(packed)).decode()
    return text.split("\0") if text else []


def pack_scores(scores: Sequence[float | None]) -> bytes:
    """Returns engine scores as bytes, which `unpack_scores` makes the same numbers of. Empty if there are none.

    Engines compute with four bytes: a score is such a number, or what it is printed as, and takes four bytes then; otherwise eight.
    The first byte says which: `f`, `p` or `d`.
    """
    known = [score for score in scores if score is not None]
    if not known:
        return b""
    numbers = [math.nan if score is None else score for score in scores]
    try:
        short = struct.pack(f"<{len(numbers)}f", *numbers)
    except OverflowError:
        return b"d" + struct.pack(f"<{len(numbers)}d", *numbers)
    for kind in (b"f", b"p"):
        if unpack_scores(kind + short, len(numbers)) == list(scores):
            return kind + short
    return b"d" + struct.pack(f"<{len(numbers)}d", *numbers)


def unpack_scores(packed: bytes | memoryview, count: int) -> list[float | None]:
    """Returns what `pack_scores` packed. count: how many scores it was given."""
    if not packed:
        return [None] * count
    kind, numbers = bytes(packed[:1]), packed[1:]
    unpacked = struct.unpack(f"<{count}{'d' if kind == b'd' else 'f'}", numbers)
    if kind == b"p":
        unpacked = tuple(float(str(np.float32(score))) for score in unpacked)
    return [None if math.isnan(score) else score for score in unpacked]
