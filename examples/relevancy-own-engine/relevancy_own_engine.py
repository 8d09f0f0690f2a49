"""Echo: an engine whose documents are the words of the query, the longest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from relevancy.engines import Abilities, AddressField, Engine, FieldSpec, Hit, Page, Request


class EchoEngine(Engine):
    """Every word is a document with the fields `id`, `word` and `length`."""

    key = "echo"
    label = "Echo"
    syntax = "params"
    abilities = Abilities(lookup=True)
    address = AddressField("folder", "Name", "Any name.", "anything")
    example_template = "q=#$query##"
    vocabulary = ("q",)

    def search(self, request: Request) -> Page:
        rendered = self.render(request)
        words = sorted(dict(rendered["params"]).get("q", "").split(), key=lambda word: (-len(word), word))
        selected = words[request.start : request.start + request.rows]
        hits = tuple(_hit(word, float(len(word)), request.fields) for word in selected)
        return Page(hits, total=len(words), took_ms=0, rendered_request=rendered)

    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        return [_hit(word, None, fields) for word in ids]

    def fields(self) -> list[str]:
        return ["id", "length", "word"]

    def version(self) -> str:
        return "Echo 1.0"

    def render(self, request: Request) -> Mapping[str, Any]:
        params = request.template.render(
            query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
        )
        return {"params": [list(pair) for pair in params]}


def _hit(word: str, score: float | None, fields: FieldSpec) -> Hit:
    document = {"id": word, "word": word, "length": len(word)}
    return Hit(fields.id_of(document), score, fields.pick(document))
