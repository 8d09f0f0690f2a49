"""Snippets of the embedded engine: tantivy finds the best part of a text, its marks are put in here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tantivy

from .embedded_index import ANALYZER, Description, OpenIndex, keyword_text
from .fields import FieldSpec, display_text, value_at
from .highlights import ASKED_CLOSE, ASKED_OPEN, LENGTH, read_highlights, wanted
from .marks import without_marks

_Q = tantivy.Query


class Highlighter:
    """Marks the words of one request in the displayed text fields of its hits."""

    def __init__(self, index: OpenIndex, body: Any, spec: FieldSpec) -> None:
        self._index = index
        self._spec = spec
        description = index.description
        text = body.get("query") if isinstance(body, Mapping) else None
        words: list[Any] = ANALYZER.analyze(keyword_text(text)) if text is not None else []
        names = [name for name in wanted(spec) or description.fields if description.fields.get(name) == "text"]
        self._generators = {name: _generator(index, description, name, words) for name in names if words}

    def highlights(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Field → snippet, for the picked fields of one hit."""
        found = {}
        for name, generator in self._generators.items():
            text = without_marks(display_text(value_at(fields, name)))
            if text:
                found[name] = self._marked(generator, name, text)
        shown = {name: without_marks(display_text(value_at(fields, name))) for name in found}
        return read_highlights(found, shown, self._spec)

    def _marked(self, generator: tantivy.SnippetGenerator, name: str, text: str) -> str:
        column = self._index.description.columns[name]
        doc = tantivy.Document.from_dict({column: text}, self._index.description.schema)
        snippet = generator.snippet_from_doc(doc)
        # Offsets are bytes of the UTF-8 text.
        fragment = snippet.fragment().encode()
        parts, at = [], 0
        for found in snippet.highlighted():
            parts += [
                fragment[at : found.start].decode(),
                ASKED_OPEN,
                fragment[found.start : found.end].decode(),
                ASKED_CLOSE,
            ]
            at = found.end
        return "".join([*parts, fragment[at:].decode()])


def _generator(index: OpenIndex, description: Description, name: str, words: list[Any]) -> tantivy.SnippetGenerator:
    column = description.columns[name]
    terms = [(tantivy.Occur.Should, _Q.term_query(description.schema, column, word)) for word in words]
    generator = tantivy.SnippetGenerator.create(index.searcher, _Q.boolean_query(terms), description.schema, column)
    generator.set_max_num_chars(LENGTH)
    return generator
