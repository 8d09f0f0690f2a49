"""Building an index of the embedded engine from documents."""

from __future__ import annotations

import json
import math
import shutil
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import tantivy

from .embedded_index import (
    ANALYZER,
    DESCRIPTION,
    ID,
    SOURCE,
    WORDS,
    Description,
    FieldType,
    index_folder,
    keyword_text,
)

_I64 = 2**63
_LONGEST_KEYWORD = 8_000
_LEFT_OVER_AFTER = 3600  # seconds: a build that old which was not finished was broken off


def build_index(
    data_dir: Path,
    name: str,
    documents: Iterable[Mapping[str, Any]],
    *,
    id_field: str = "id",
    schema: Mapping[str, Literal["text", "keyword", "number"]] | None = None,
) -> int:
    """Build an index and put it in the place of an older one of that name. Returns the number of documents.

    Fields are found by looking: texts are analysed, numbers are numbers, booleans are keywords; fields of nested objects
    have dotted names. `schema` overrules that. Documents are indexed in the order of their ids by one thread in one commit:
    hits of equal score come in the order of ids, and equal documents give equal rankings.
    Raises `ValueError`, naming the document, for an id that is missing or given twice and for a value of the wrong type.
    """
    folder = index_folder(data_dir, name)
    rows = _by_id(documents, id_field)
    flat = [(doc_id, doc, _flatten(doc)) for doc_id, doc in rows]
    build = uuid.uuid4().hex
    description = Description(build, id_field, _field_types((values for _, _, values in flat), schema or {}))
    path = folder / build
    path.mkdir(parents=True)
    try:
        _write(path, description, flat)
        staged = path.with_suffix(".json")
        staged.write_text(json.dumps(asdict(description), ensure_ascii=False), encoding="utf-8")
        replaced = _build_in_use(folder)
        staged.replace(folder / DESCRIPTION)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    _remove_others(folder, build, replaced)
    return len(flat)


def _write(
    path: Path, description: Description, rows: list[tuple[str, Mapping[str, Any], dict[str, list[Any]]]]
) -> None:
    schema = description.schema
    index = tantivy.Index(schema, path=str(path))
    index.register_tokenizer(WORDS, ANALYZER)
    # Several threads or commits would make several segments, and another order of ties in each build.
    writer = index.writer(num_threads=1)
    for doc_id, doc, values in rows:
        entry: dict[str, Any] = {ID: doc_id, SOURCE: json.dumps(doc, ensure_ascii=False).encode()}
        for name, kind in description.fields.items():
            if name in values:
                entry[description.columns[name]] = [
                    value for raw in values[name] if (value := _convert(raw, kind, doc_id, name)) is not None
                ]
        writer.add_document(tantivy.Document.from_dict(entry, schema))
    writer.commit()
    writer.wait_merging_threads()


def _by_id(documents: Iterable[Mapping[str, Any]], id_field: str) -> list[tuple[str, Mapping[str, Any]]]:
    rows: dict[str, Mapping[str, Any]] = {}
    for number, doc in enumerate(documents, 1):
        value = doc.get(id_field)
        doc_id = "" if value is None else str(value).strip()
        if not doc_id:
            raise ValueError(f"Document {number} has no id: its field “{id_field}” is missing or empty.")
        if doc_id in rows:
            raise ValueError(f"Document {number} has the id “{doc_id}”, which an earlier document has too.")
        rows[doc_id] = doc
    return sorted(rows.items())


def _flatten(doc: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Dotted field names and all their plain values."""
    found: dict[str, list[Any]] = {}
    _collect(doc, "", found)
    return found


def _collect(value: Any, name: str, found: dict[str, list[Any]]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _collect(inner, f"{name}.{key}" if name else str(key), found)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, name, found)
    elif value is not None:
        found.setdefault(name, []).append(value)


def _field_types(rows: Iterable[dict[str, list[Any]]], schema: Mapping[str, str]) -> dict[str, FieldType]:
    seen: dict[str, set[str]] = {name: set() for name in schema}
    for values in rows:
        for name, items in values.items():
            seen.setdefault(name, set()).update(map(_kind_of, items))
    return {name: _choose(kinds, schema.get(name), name) for name, kinds in seen.items()}


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "keyword"
    if isinstance(value, int):
        return "integer" if -_I64 <= value < _I64 else "decimal"
    return "decimal" if isinstance(value, float) else "text"


def _choose(kinds: set[str], wanted: str | None, name: str) -> FieldType:
    numeric: FieldType = "integer" if kinds == {"integer"} else "decimal"
    if wanted is None:
        if kinds <= {"integer", "decimal"}:
            return numeric
        return "keyword" if kinds == {"keyword"} else "text"
    if wanted == "number":
        return numeric
    if wanted == "text":
        return "text"
    if wanted == "keyword":
        return "keyword"
    raise ValueError(f"The field “{name}” cannot be of type “{wanted}”. There are: text, keyword, number.")


def _convert(value: Any, kind: FieldType, doc_id: str, name: str) -> str | int | float | None:
    if kind == "integer":
        return int(value)
    if kind == "decimal":
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"Document “{doc_id}”: its field “{name}” is “{value}”, which is no number.") from None
        return number if math.isfinite(number) else None
    text = keyword_text(value)
    return None if kind == "keyword" and len(text) > _LONGEST_KEYWORD else text


def _build_in_use(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["build"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remove_others(folder: Path, build: str, replaced: str | None) -> None:
    """Remove the replaced build, and what broken-off ones left. Who reads them still keeps their open files."""
    for path in folder.iterdir():
        left_over = path.is_dir() and time.time() - path.stat().st_mtime > _LEFT_OVER_AFTER
        if path.name != build and (path.name == replaced or left_over):
            shutil.rmtree(path, ignore_errors=True)
