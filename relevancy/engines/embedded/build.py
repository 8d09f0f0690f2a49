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
from typing import Any

import tantivy

from .index import (
    ANALYZER,
    DESCRIPTION,
    ID,
    SOURCE,
    TOKENIZER,
    Description,
    FieldType,
    index_folder,
    keyword_text,
)

_I64_LIMIT = 2**63
_ABANDONED_AFTER = 3600  # seconds: an unfinished build of that age was interrupted


def build_index(data_dir: Path, name: str, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
    """Builds an index, which replaces an older one of that name. Returns the number of documents.

    Field types follow from the values: texts are analyzed, numbers are numbers, booleans are keywords; names of nested
    fields contain dots. Documents are indexed in the order of their ids by one thread in one commit: hits with equal scores are
    ordered by id, and equal documents produce equal rankings.
    Raises `ValueError`, naming the document, for a missing or repeated id.
    """
    folder = index_folder(data_dir, name)
    rows = [(doc_id, document, _flatten(document, "", {})) for doc_id, document in _sorted_by_id(documents, id_field)]
    build = uuid.uuid4().hex
    description = Description(build, id_field, _field_types(values for _, _, values in rows))
    path = folder / build
    path.mkdir(parents=True)
    try:
        _write(path, description, rows)
        staged = path.with_suffix(".json")
        staged.write_text(json.dumps(asdict(description), ensure_ascii=False), encoding="utf-8")
        replaced = _current_build(folder)
        staged.replace(folder / DESCRIPTION)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    _remove_old_builds(folder, build, replaced)
    return len(rows)


def _write(
    path: Path, description: Description, rows: list[tuple[str, Mapping[str, Any], dict[str, list[Any]]]]
) -> None:
    schema = description.schema
    index = tantivy.Index(schema, path=str(path))
    index.register_tokenizer(TOKENIZER, ANALYZER)
    # Several threads or commits would create several segments, and order ties differently in each build.
    writer = index.writer(num_threads=1)
    for doc_id, document, values in rows:
        entry: dict[str, Any] = {ID: doc_id, SOURCE: json.dumps(document, ensure_ascii=False).encode()}
        for name, field_type in description.fields.items():
            if name in values:
                converted = (_convert(value, field_type) for value in values[name])
                entry[description.columns[name]] = [value for value in converted if value is not None]
        writer.add_document(tantivy.Document.from_dict(entry, schema))
    writer.commit()
    writer.wait_merging_threads()


def _sorted_by_id(documents: Iterable[Mapping[str, Any]], id_field: str) -> list[tuple[str, Mapping[str, Any]]]:
    documents_by_id: dict[str, Mapping[str, Any]] = {}
    for number, document in enumerate(documents, 1):
        value = document.get(id_field)
        doc_id = "" if value is None else str(value).strip()
        if not doc_id:
            raise ValueError(f"Document {number} has no id: its field “{id_field}” is missing or empty.")
        if doc_id in documents_by_id:
            raise ValueError(f"Document {number} has the id “{doc_id}”, which an earlier document has too.")
        documents_by_id[doc_id] = document
    return sorted(documents_by_id.items())


def _flatten(value: Any, name: str, values: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Returns `values` with all scalar values below a field added, by dotted name."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(inner, f"{name}.{key}" if name else str(key), values)
    elif isinstance(value, list | tuple):
        for inner in value:
            _flatten(inner, name, values)
    elif value is not None:
        values.setdefault(name, []).append(value)
    return values


def _field_types(rows: Iterable[dict[str, list[Any]]]) -> dict[str, FieldType]:
    types_by_name: dict[str, set[FieldType]] = {}
    for values in rows:
        for name, items in values.items():
            types_by_name.setdefault(name, set()).update(map(_type_of, items))
    return {
        name: next(iter(types)) if len(types) == 1 else "decimal" if types == {"integer", "decimal"} else "text"
        for name, types in types_by_name.items()
    }


def _type_of(value: Any) -> FieldType:
    if isinstance(value, bool):
        return "keyword"
    if isinstance(value, int):
        return "integer" if -_I64_LIMIT <= value < _I64_LIMIT else "decimal"
    return "decimal" if isinstance(value, float) else "text"


def _convert(value: Any, field_type: FieldType) -> str | int | float | None:
    if field_type == "integer":
        return int(value)
    if field_type == "decimal":
        return float(value) if math.isfinite(value) else None
    return keyword_text(value)


def _current_build(folder: Path) -> str | None:
    try:
        return str(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["build"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remove_old_builds(folder: Path, build: str, replaced: str | None) -> None:
    """Removes the replaced build and abandoned ones. Readers keep the files that they have open."""
    for path in folder.iterdir():
        is_abandoned = path.is_dir() and time.time() - path.stat().st_mtime > _ABANDONED_AFTER
        if path.name != build and (path.name == replaced or is_abandoned):
            shutil.rmtree(path, ignore_errors=True)
