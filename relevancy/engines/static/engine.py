"""The adapter for uploaded files of rankings that another system produced."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from relevancy.engines.base import Engine, Outcome
from relevancy.engines.errors import EndpointUnreachable, EngineError, QueryMissing, RequestAborted, UnreadableResponse
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.types import Abilities, AddressField, Hit, Page, Request
from relevancy.wording import counted

from .rankings_file import CSV
from .rankings_index import RankingsIndex, open_index

_NAME = re.compile(r"[^/\\\x00-\x1f]+")


class StaticEngine(Engine):
    """Looks up the query text in a file of any size. Template, options and knobs change nothing."""

    key = "static"
    label = "File of rankings"
    syntax = "json"
    abilities = Abilities(lookup=True, list_queries=True)
    address = AddressField(
        kind="file",
        label="Rankings",
        help="CSV with query, document id and position; or a TREC run.",
        example="rankings.csv",
    )
    example_template = "{}"
    uses_template = False

    _opened: RankingsIndex | None = None

    @classmethod
    def check_upload(cls, path: Path) -> str:
        index = open_index(path)
        if not index.queries:
            hint = "Every line needs a query, a document and its position."
            raise UnreadableResponse("The file contains no query.", hint=hint)
        return "csv" if index.format == CSV else "txt"

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """As `Engine.search_many`. `stop` is also called while the index of the file is built."""
        try:
            self._open(stop)
        except RequestAborted:
            return
        except EngineError as error:
            yield from ((number, error) for number, _ in enumerate(requests) if not stop())
            return
        yield from super().search_many(requests, stop=stop)

    def search(self, request: Request) -> Page:
        started = time.perf_counter()
        ranking = self._open().find(request.query.strip())
        if ranking is None:
            raise QueryMissing(
                f"The file of rankings has no query “{request.query.strip()[:80]}”.",
                hint="Add it. If the search found nothing, a CSV file says so with a row that holds only the query.",
            )
        rows = ranking[request.start : request.start + max(request.rows, 0)]
        hits = tuple(_with_fields(hit, request.fields) for hit in rows)
        return Page(hits, len(ranking), round((time.perf_counter() - started) * 1000), self.render(request))

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """As `Engine.lookup`, with the fields in the first ranking that contains the document.

        Reads the ids of all rankings until it has found all documents: about two seconds for a million queries.
        """
        hits_by_id = self._open().find_documents(ids)
        hits = (hits_by_id.get(doc_id) for doc_id in ids)
        return [Hit(hit.id, None, _with_fields(hit, fields).fields) for hit in hits if hit]

    def fields(self) -> list[str]:
        return sorted({"id", *self._open().fields})

    def version(self) -> str:
        index = self._open()
        return f"{index.format} with {counted(index.queries, 'query', 'queries')}"

    def render(self, request: Request) -> Mapping[str, Any]:
        return {"file": self.connection.url, "query": request.query, "start": request.start, "rows": request.rows}

    def known_queries(self) -> Iterator[str]:
        return self._open().list_queries()

    def _open(self, is_stopped: Callable[[], bool] = lambda: False) -> RankingsIndex:
        """Returns the index, opened once, so that all searches of this object see the same file."""
        if self._opened is None:
            self._opened = open_index(self._path(), is_stopped=is_stopped)
        return self._opened

    def _path(self) -> Path:
        name, folder = self.connection.url, self.connection.data_dir
        if folder is None:
            raise EndpointUnreachable("No data directory is set for files of rankings.", hint="Set RELEVANCY_DATA_DIR.")
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise EndpointUnreachable(f"“{name}” is not a valid name of a file of rankings.", hint="Upload it again.")
        path = folder / name
        if path.resolve().parent != folder.resolve():
            raise EndpointUnreachable(f"“{name}” is outside the data directory.", hint="Upload the file itself.")
        return path


def _with_fields(hit: Hit, fields: FieldSpec) -> Hit:
    document = {"id": hit.id, **hit.fields, fields.id: hit.id}
    return Hit(hit.id, hit.score, fields.pick(document))
