"""Indexes of the embedded engine on disk: their description, their analyzer, and how they are opened.

Each index has a folder: `index.json` describes the fields and names the subfolder with the current build. A new build is
written next to the old one, then `index.json` is replaced atomically, so that a reader sees the old index or the new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import tantivy

from relevancy.engines.errors import EndpointUnreachable, UnreadableResponse

FieldType = Literal["text", "keyword", "integer", "decimal"]

NUMBERS = ("integer", "decimal")
DESCRIPTION = "index.json"
ID, SOURCE = "_id", "_source"
TOKENIZER = "relevancy_text"
_MAX_WORD_BYTES = 40
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Description:
    """The content of `index.json`. `fields`: type of each indexed field by its dotted name, in the order of the schema."""

    build: str
    id_field: str
    fields: Mapping[str, FieldType]

    @cached_property
    def columns(self) -> dict[str, str]:
        """Field name → name in tantivy, which does not accept every name that documents use."""
        return {name: f"f{number}" for number, name in enumerate(self.fields)}

    @cached_property
    def schema(self) -> tantivy.Schema:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(ID, tokenizer_name="raw", index_option="basic")
        builder.add_bytes_field(SOURCE, stored=True)
        for name, field_type in self.fields.items():
            column = self.columns[name]
            if field_type == "text":
                builder.add_text_field(column, tokenizer_name=TOKENIZER)
            elif field_type == "keyword":
                builder.add_text_field(column, tokenizer_name="raw", index_option="basic")
            elif field_type == "integer":
                builder.add_integer_field(column, indexed=True, fast=True)
            else:
                builder.add_float_field(column, indexed=True, fast=True)
        return builder.build()


@dataclass(frozen=True)
class OpenIndex:
    """A snapshot of an index, which later builds do not change."""

    description: Description
    searcher: tantivy.Searcher

    def find(self, doc_id: str) -> tantivy.DocAddress | None:
        """Returns the address of the document with this id, None if there is none."""
        query = tantivy.Query.term_query(self.description.schema, ID, doc_id)
        hits = self.searcher.search(query, 1, count=False).hits
        return hits[0][1] if hits else None

    def document(self, address: tantivy.DocAddress) -> dict[str, Any]:
        """Returns a document as `build_index` received it."""
        source: dict[str, Any] = json.loads(self.searcher.doc(address).to_dict()[SOURCE][0])
        return source


def _build_analyzer() -> tantivy.TextAnalyzer:
    """Returns an analyzer that lower-cases words, removes accents and English endings, and drops words above 40 bytes."""
    filters = (
        tantivy.Filter.remove_long(_MAX_WORD_BYTES),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    )
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for token_filter in filters:
        builder = builder.filter(token_filter)
    return builder.build()


ANALYZER = _build_analyzer()


def index_folder(data_dir: Path | None, name: str) -> Path:
    """Returns the folder of an index. Raises `EndpointUnreachable` for a name that could lead to another folder."""
    if data_dir is None:
        raise EndpointUnreachable("No data directory is set for embedded indexes.", hint="Set RELEVANCY_DATA_DIR.")
    if not _NAME.fullmatch(name):
        raise EndpointUnreachable(
            f"“{name}” is not a valid name of an embedded index.",
            hint="Use up to 64 letters, digits, - and _, beginning with a letter or digit.",
        )
    return data_dir / name


def open_index(data_dir: Path | None, name: str) -> OpenIndex:
    """Opens the current build. Raises `EndpointUnreachable` if there is none, `UnreadableResponse` if it is damaged."""
    folder = index_folder(data_dir, name)
    try:
        try:
            return _open(folder)
        except ValueError:
            return _open(folder)  # a new build may have removed the old folder after its description was read
    except FileNotFoundError:
        raise EndpointUnreachable(
            f"The embedded index “{name}” does not exist.",
            hint=f"Load documents into “{name}” first (load_documents), or choose another name.",
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise UnreadableResponse(
            f"The embedded index “{name}” cannot be opened: {error}.", hint="Load its documents again."
        ) from error


def _open(folder: Path) -> OpenIndex:
    data = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    description = Description(str(data["build"]), str(data["id_field"]), dict(data["fields"]))
    index = tantivy.Index.open(str(folder / description.build))
    index.register_tokenizer(TOKENIZER, ANALYZER)  # tantivy does not store tokenizers
    return OpenIndex(description, index.searcher())


def keyword_text(value: Any) -> str:
    """Returns a scalar as the term that it is indexed by."""
    return json.dumps(value) if isinstance(value, bool) else str(value)
