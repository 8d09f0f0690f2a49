"""Highlighting of the embedded engine: tantivy finds the best part of a text, the marks are inserted here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tantivy

from relevancy.engines.fields.highlighting import without_marks
from relevancy.engines.fields.snippets import (
    REQUESTED_CLOSE,
    REQUESTED_LENGTH,
    REQUESTED_OPEN,
    highlighted_fields,
    read_highlights,
)
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import as_display_text, value_at

from .index import ANALYZER, OpenIndex, keyword_text

_Q = tantivy.Query


class Highlighter:
    """Highlights the words of one request in the displayed text fields of its hits."""

    def __init__(self, index: OpenIndex, body: Mapping[str, Any], spec: FieldSpec) -> None:
        self._index = index
        self._spec = spec
        fields = index.description.fields
        text = body.get("query")
        words: list[Any] = ANALYZER.analyze(keyword_text(text)) if text is not None else []
        names = [name for name in highlighted_fields(spec) or fields if fields.get(name) == "text"]
        self._generators = {name: _snippet_generator(index, name, words) for name in names if words}

    def highlights(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Returns field → snippet for the picked fields of one hit."""
        texts = {name: without_marks(as_display_text(value_at(fields, name))) for name in self._generators}
        snippets = {name: self._snippet(name, text) for name, text in texts.items() if text}
        return read_highlights(snippets, texts, self._spec)

    def _snippet(self, name: str, text: str) -> str:
        description = self._index.description
        document = tantivy.Document.from_dict({description.columns[name]: text}, description.schema)
        snippet = self._generators[name].snippet_from_doc(document)
        # Offsets are bytes of the UTF-8 text.
        fragment = snippet.fragment().encode()
        parts, offset = [], 0
        for word in snippet.highlighted():
            parts += [
                fragment[offset : word.start].decode(),
                REQUESTED_OPEN,
                fragment[word.start : word.end].decode(),
                REQUESTED_CLOSE,
            ]
            offset = word.end
        return "".join([*parts, fragment[offset:].decode()])


def _snippet_generator(index: OpenIndex, name: str, words: list[Any]) -> tantivy.SnippetGenerator:
    schema, column = index.description.schema, index.description.columns[name]
    terms = [(tantivy.Occur.Should, _Q.term_query(schema, column, word)) for word in words]
    generator = tantivy.SnippetGenerator.create(index.searcher, _Q.boolean_query(terms), schema, column)
    generator.set_max_num_chars(REQUESTED_LENGTH)
    return generator
