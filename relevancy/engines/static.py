"""The static engine: answers from a file of rankings that another system made."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from .base import Abilities, Engine, Hit, Page, Request
from .errors import BadQuery, EndpointUnreachable, EngineError
from .fields import FieldSpec
from .rankings_file import Rankings, RankingsSummary, check_rankings, load_rankings
from .templates import Syntax

__all__ = ["RankingsSummary", "StaticEngine", "check_rankings"]

_NAME = re.compile(r"[^/\\\x00-\x1f]+")


class StaticEngine(Engine):
    """Looks the query text up in the file. The template, its options and knobs change nothing."""

    key: ClassVar[str] = "static"
    label: ClassVar[str] = "File of rankings"
    syntax: ClassVar[Syntax] = "json"
    abilities: ClassVar[Abilities] = Abilities(lookup=True)
    example_url: ClassVar[str] = "rankings.csv"
    example_template: ClassVar[str] = "{}"

    def search(self, request: Request) -> Page:
        started = time.perf_counter()
        rankings = self._rankings()
        query = request.query.strip()
        hits = rankings.by_query.get(query, [])
        shown = hits[request.start : request.start + max(request.rows, 0)]
        page = tuple(_picked(hit, request.fields) for hit in shown)
        return Page(page, len(hits), round((time.perf_counter() - started) * 1000), self.render(request))

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Page | EngineError]]:
        for number, request in enumerate(requests):
            if stop():
                return
            try:
                answer: Page | EngineError = self.search(request)
            except EngineError as error:
                answer = error
            yield number, answer

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """Documents as the first query that returned them shows them."""
        wanted = set(ids)
        known: dict[str, Hit] = {}
        for hits in self._rankings().by_query.values():
            for hit in hits:
                if hit.id in wanted:
                    known.setdefault(hit.id, hit)
        found = (known.get(doc_id) for doc_id in ids)
        return [Hit(hit.id, None, _picked(hit, fields).fields) for hit in found if hit]

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        raise BadQuery("A file of rankings does not say why a document has its place.")

    def fields(self) -> list[str]:
        return sorted({"id", *self._rankings().fields})

    def version(self) -> str:
        rankings = self._rankings()
        return f"{rankings.form} with {len(rankings.by_query)} queries"

    def render(self, request: Request) -> Mapping[str, Any]:
        return {"file": self.connection.url, "query": request.query, "start": request.start, "rows": request.rows}

    def _rankings(self) -> Rankings:
        name, folder = self.connection.url, self.connection.data_dir
        if folder is None:
            raise EndpointUnreachable("There is no data folder for files of rankings.", todo="Set RELEVANCY_DATA_DIR.")
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise EndpointUnreachable(f"“{name}” cannot be the name of a file of rankings.", todo="Upload it again.")
        path = folder / name
        if path.resolve().parent != folder.resolve():
            raise EndpointUnreachable(f"“{name}” leads out of the data folder.", todo="Upload the file itself.")
        return load_rankings(path)


def _picked(hit: Hit, fields: FieldSpec) -> Hit:
    doc = {"id": hit.id, **hit.fields, fields.id: hit.id}
    return Hit(hit.id, hit.score, fields.pick(doc))
