"""The adapter for uploaded files of rankings that another system produced."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from relevancy.engines.base import Engine
from relevancy.engines.errors import EndpointUnreachable, QueryMissing, UnreadableResponse
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.types import Abilities, AddressField, Hit, Page, Request
from relevancy.wording import counted

from .rankings_file import CSV, Rankings, load_rankings, parse_rankings

_NAME = re.compile(r"[^/\\\x00-\x1f]+")


class StaticEngine(Engine):
    """Looks up the query text in a file. Template, options and knobs change nothing."""

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

    @classmethod
    def check_upload(cls, text: str) -> str:
        rankings = parse_rankings(text)
        if not rankings.hits_by_query:
            hint = "Every line needs a query, a document and its position."
            raise UnreadableResponse("The file contains no query.", hint=hint)
        return "csv" if rankings.format == CSV else "txt"

    def search(self, request: Request) -> Page:
        started = time.perf_counter()
        rankings = self._rankings
        ranking = rankings.hits_by_query.get(request.query.strip())
        if ranking is None:
            raise QueryMissing(
                f"The file of rankings has no query “{request.query.strip()[:80]}”.",
                hint="Add it. If the search found nothing, a CSV file says so with a row that holds only the query.",
            )
        rows = ranking[request.start : request.start + max(request.rows, 0)]
        hits = tuple(_with_fields(hit, request.fields) for hit in rows)
        return Page(hits, len(ranking), round((time.perf_counter() - started) * 1000), self.render(request))

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """As `Engine.lookup`, with the fields in the first ranking that contains the document."""
        unique_ids = set(ids)
        hits_by_id: dict[str, Hit] = {}
        for ranking in self._rankings.hits_by_query.values():
            for hit in ranking:
                if hit.id in unique_ids:
                    hits_by_id.setdefault(hit.id, hit)
        hits = (hits_by_id.get(doc_id) for doc_id in ids)
        return [Hit(hit.id, None, _with_fields(hit, fields).fields) for hit in hits if hit]

    def fields(self) -> list[str]:
        return sorted({"id", *self._rankings.fields})

    def version(self) -> str:
        rankings = self._rankings
        return f"{rankings.format} with {counted(len(rankings.hits_by_query), 'query', 'queries')}"

    def render(self, request: Request) -> Mapping[str, Any]:
        return {"file": self.connection.url, "query": request.query, "start": request.start, "rows": request.rows}

    def known_queries(self) -> list[str]:
        return list(self._rankings.hits_by_query)

    @cached_property
    def _rankings(self) -> Rankings:
        name, folder = self.connection.url, self.connection.data_dir
        if folder is None:
            raise EndpointUnreachable("No data directory is set for files of rankings.", hint="Set RELEVANCY_DATA_DIR.")
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise EndpointUnreachable(f"“{name}” is not a valid name of a file of rankings.", hint="Upload it again.")
        path = folder / name
        if path.resolve().parent != folder.resolve():
            raise EndpointUnreachable(f"“{name}” is outside the data directory.", hint="Upload the file itself.")
        return load_rankings(path)


def _with_fields(hit: Hit, fields: FieldSpec) -> Hit:
    document = {"id": hit.id, **hit.fields, fields.id: hit.id}
    return Hit(hit.id, hit.score, fields.pick(document))
