"""Snapshots of Quepid as JSON: as its API returns one with documents, and as its API takes several for import."""

import io
from collections.abc import Iterator

from relevancy.engines.static.rankings_file import MAX_SIZE, Rankings
from relevancy.engines.types import Hit
from relevancy.formats.cases.case_content import check_query
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import read_members

from .fields import Fields

FORMAT = "Quepid snapshot"


def parse_snapshots(text: str) -> list[Rankings]:
    """Returns the snapshots of a file, at least one, in its order. Raises `BadFile` with the location, such as `docs.7[3].id`.

    One snapshot has the documents by query id in `docs`, and the texts in `queries`; documents of queries that were deleted have no
    text and are left out. Several, in `snapshots`, have their queries by text, each with its documents.
    """
    content = text.encode()
    reader = _Reader()
    members = {}
    snapshots = []
    number = 0
    for key, value in read_members(
        io.BytesIO(content), limit=len(content), lists=("snapshots",), wrappers=("snapshot",)
    ):
        if key == "snapshots":
            number += 1
            snapshots.append(reader.read(Fields(value, f"snapshots[{number}]")))
        else:
            members[key] = value
    if "docs" in members:
        snapshots.append(reader.read(Fields(members, "")))
    if not snapshots:
        raise BadFile("The file has no snapshot.")
    return snapshots


class _Reader:
    """Reads the snapshots of one file. size: hits and their fields so far."""

    def __init__(self) -> None:
        self._size = 0

    def read(self, snapshot: Fields) -> Rankings:
        hits_by_query: dict[str, list[Hit]] = {}
        names: set[str] = set()
        not_ranked = 0
        for query, documents in _by_id(snapshot) if "docs" in snapshot.members else _by_text(snapshot):
            if query in hits_by_query:
                raise BadFile(
                    f"The query {quote(query)} occurs for the second time in {snapshot.location or 'queries'}."
                )
            ranked = [document for document in documents if not document.flag("rated_only")]
            not_ranked += len(documents) - len(ranked)
            # Those without a position stay in the order of the file, behind the others.
            ranked.sort(
                key=lambda document: (document.position("position") is None, document.position("position") or 0)
            )
            hits_by_query[query] = [self._hit(document) for document in ranked]
            names.update(name for hit in hits_by_query[query] for name in hit.fields)
        time = snapshot.text("time") or snapshot.text("created_at") or snapshot.text("created_time")
        fields = tuple(sorted(names))
        return Rankings(FORMAT, hits_by_query, fields, snapshot.text("name"), time, not_ranked)

    def _hit(self, document: Fields) -> Hit:
        doc_id = document.text("id").strip()
        if not doc_id:
            raise document.error("id", "a document needs an id")
        fields = document.mapping("fields")
        self._size += 1 + len(fields)
        if self._size > MAX_SIZE:
            raise document.error("fields", f"a file can have at most {MAX_SIZE:,} results and field values. Split it")
        return Hit(doc_id, None, fields)


def _by_id(snapshot: Fields) -> Iterator[tuple[str, list[Fields]]]:
    """Yields the text and the documents of each query that has not been deleted."""
    docs = Fields(snapshot.members["docs"], f"{snapshot.location}.docs".removeprefix("."))
    texts: dict[str, str] = {}
    for query in snapshot.objects("queries"):
        texts[query.text("query_id")] = check_query(query.text("query_text"), f"{query.location}.query_text")
    if docs.members and not texts:
        raise snapshot.error("queries", "the texts of the queries are missing. Request the snapshot with its queries")
    for query_id in docs.members:
        if query_id in texts:
            yield texts[query_id], list(docs.objects(query_id))


def _by_text(snapshot: Fields) -> Iterator[tuple[str, list[Fields]]]:
    """Yields the text and the documents of each query."""
    if not isinstance(snapshot.members.get("queries"), dict):
        raise snapshot.error("docs", "the documents are missing. Request each snapshot by its id")
    queries = Fields(snapshot.members["queries"], f"{snapshot.location}.queries")
    for text, value in queries.members.items():
        query = Fields(value, f"{queries.location}.{quote(text)}")
        yield check_query(text, query.location), list(query.objects("docs"))
