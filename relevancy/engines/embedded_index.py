"""Indexes of the embedded engine on disk: what describes them, how text becomes words, how they are opened.

A folder per index: `index.json` describes the fields and names the sub-folder that holds the current build. A new build is
made beside the old one, then `index.json` is replaced in one step, so that a reader sees the old index or the new one.
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

from .errors import EndpointUnreachable, UnreadableAnswer

FieldType = Literal["text", "keyword", "integer", "decimal"]

NUMBERS = ("integer", "decimal")
DESCRIPTION = "index.json"
ID, SOURCE = "_id", "_source"
WORDS = "relevancy_text"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Description:
    """What `index.json` holds. `fields`: type of each indexed field by its dotted name, in the order of the schema."""

    build: str
    id_field: str
    fields: Mapping[str, FieldType]

    @cached_property
    def columns(self) -> dict[str, str]:
        """Field name → name within tantivy, which does not take every name that documents use."""
        return {name: f"f{number}" for number, name in enumerate(self.fields)}

    @cached_property
    def schema(self) -> tantivy.Schema:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(ID, tokenizer_name="raw", index_option="basic")
        builder.add_bytes_field(SOURCE, stored=True)
        for name, kind in self.fields.items():
            column = self.columns[name]
            if kind == "text":
                builder.add_text_field(column, tokenizer_name=WORDS)
            elif kind == "keyword":
                builder.add_text_field(column, tokenizer_name="raw", index_option="basic")
            elif kind == "integer":
                builder.add_integer_field(column, indexed=True, fast=True)
            else:
                builder.add_float_field(column, indexed=True, fast=True)
        return builder.build()


@dataclass(frozen=True)
class OpenIndex:
    """One state of an index; a rebuild in the meantime does not change it."""

    description: Description
    searcher: tantivy.Searcher

    def find(self, doc_id: str) -> tantivy.DocAddress | None:
        """Where the document with this id is."""
        found = self.searcher.search(tantivy.Query.term_query(self.description.schema, ID, doc_id), 1, count=False).hits
        return found[0][1] if found else None

    def document(self, address: tantivy.DocAddress) -> dict[str, Any]:
        """A document as it was given to `build_index`."""
        source: dict[str, Any] = json.loads(self.searcher.doc(address).to_dict()[SOURCE][0])
        return source


def _analyzer() -> tantivy.TextAnalyzer:
    """Words in lower case, without accents, English endings cut off; words above 40 bytes are dropped."""
    steps = (
        tantivy.Filter.remove_long(40),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    )
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in steps:
        builder = builder.filter(step)
    return builder.build()


ANALYZER = _analyzer()


def index_folder(data_dir: Path | None, name: str) -> Path:
    """The folder of an index. Raises `EndpointUnreachable` for a name that could lead elsewhere."""
    if data_dir is None:
        raise EndpointUnreachable("There is no data folder for embedded indexes.", todo="Set RELEVANCY_DATA_DIR.")
    if not _NAME.fullmatch(name):
        raise EndpointUnreachable(
            f"“{name}” cannot be the name of an embedded index.",
            todo="Use up to 64 letters, digits, - and _, starting with a letter or digit.",
        )
    return data_dir / name


def open_index(data_dir: Path | None, name: str) -> OpenIndex:
    """Open the current build. Raises `EndpointUnreachable` where there is none, `UnreadableAnswer` where it is damaged."""
    folder = index_folder(data_dir, name)
    try:
        try:
            return _open(folder)
        except ValueError:
            return _open(folder)  # a rebuild may have removed the old folder since its description was read
    except FileNotFoundError:
        raise EndpointUnreachable(
            f"There is no embedded index called “{name}”.",
            todo=f"Build it first: load documents into “{name}”, or choose another name.",
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise UnreadableAnswer(
            f"The embedded index “{name}” cannot be opened: {error}.", todo="Build it again."
        ) from error


def _open(folder: Path) -> OpenIndex:
    data = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    description = Description(str(data["build"]), str(data["id_field"]), dict(data["fields"]))
    index = tantivy.Index.open(str(folder / description.build))
    index.register_tokenizer(WORDS, ANALYZER)  # tantivy does not store analyzers
    return OpenIndex(description, index.searcher())


def keyword_text(value: Any) -> str:
    """A plain value as the term it is indexed by."""
    return json.dumps(value) if isinstance(value, bool) else str(value)
