"""Documents as JSON lines, or as CSV with the names of the fields in the first line."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relevancy import endpoints
from relevancy.formats.cells import MAX_LINE, check_width
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Team, User

_LINE_END = re.compile(r"\r\n|\r|\n")
MAX_VALUES = 2_000_000  # documents, and values of their fields: they take about 1 GB while they are indexed


def parse_documents(text: str) -> Iterator[dict[str, Any]]:
    """Yields one document per line, each a JSON object. Raises `BadFile`."""
    for number, line in enumerate(_split(text), 1):
        if not line.strip():
            continue
        if len(line) > MAX_LINE:
            raise BadFile(f"the document has more than {MAX_LINE:,} characters.", line=number)
        try:
            document = json.loads(line, parse_float=_finite, parse_constant=_finite)
        except json.JSONDecodeError as error:
            raise BadFile(f"column {error.colno}: this is not valid JSON: {error.msg}.", line=number) from None
        except RecursionError:
            raise BadFile("this JSON is nested too deeply.", line=number) from None
        except ValueError:
            raise BadFile(
                "this JSON contains a number that is not finite or has too many digits.", line=number
            ) from None
        if not isinstance(document, dict):
            raise BadFile(f"this is not a JSON object: {quote(line)}.", line=number)
        yield document


def _split(text: str) -> Iterator[str]:
    """Yields one line after the other: a list of all could take many times as much memory as the text."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _finite(text: str) -> float:
    """Returns a number of a document. Raises `ValueError` for NaN and Infinity, and for numbers that are too large, such as 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def parse_csv_documents(text: str) -> Iterator[dict[str, Any]]:
    """Yields one document per row of a CSV text; empty cells are left out, all values are text. Raises `BadFile`."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
        if repeated is not None or "" in names:
            problem = "a column has no name" if repeated is None else f"two columns are called {quote(repeated)}"
            raise BadFile(f"{problem}. The first line of CSV names the fields.", line=1)
        line = reader.line_num + 1
        for cells in reader:
            if any(cells):
                check_width(cells, len(names), line)
                yield {name: cell for name, cell in zip(names, cells, strict=True) if cell}
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadFile(f"this is not valid CSV: {error}.", line=reader.line_num) from None


def import_documents(
    *, engine: str, url: str, text: str, by: User, team: Team | None = None, id_field: str = "id"
) -> int:
    """Loads the documents of a file as `load_documents` does. Returns their number. Raises `BadFile` as well.

    text: JSON lines if it begins with a brace, otherwise CSV.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise BadFile(
            "The file contains the character U+0000. Remove it.",
            line=len(_LINE_END.findall(text, 0, text.index("\0"))) + 1,
        )
    is_json = text.lstrip().startswith(("{", "["))
    documents = parse_documents(text) if is_json else parse_csv_documents(text)
    try:
        return load_documents(
            engine=engine, url=url, documents=_limited(documents), by=by, team=team, id_field=id_field
        )
    except ValueError as error:
        raise BadFile(str(error)) from None


def _limited(documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields documents while they are small enough to be indexed in memory. Raises `BadFile`, also if there are none."""
    size = number = 0
    for number, document in enumerate(documents, 1):
        size += _count_values(document)
        if size > MAX_VALUES:
            raise BadFile(
                f"Document {number:,} exceeds the limit: a file can have at most {MAX_VALUES:,} documents and field values. "
                "Leave out fields, or split the file."
            )
        yield document
    if not number:
        raise BadFile("The file has no documents.")


def _count_values(document: Any) -> int:
    """Returns the number of values of a document, with those in lists and objects, and 1 for each of these and the document."""
    count, remaining = 0, [document]
    while remaining:
        value = remaining.pop()
        count += 1
        if isinstance(value, dict):
            remaining.extend(value.values())
        elif isinstance(value, list):
            remaining.extend(value)
    return count


def load_documents(
    *,
    engine: str,
    url: str,
    documents: Iterable[Mapping[str, Any]],
    by: User,
    team: Team | None = None,
    id_field: str = "id",
) -> int:
    """Loads documents into a search engine, which needs no endpoint. Returns their number.

    Only addresses that an endpoint of `by` could have are allowed. An index on this server belongs to `by`, unless it has an
    owner, and is shared with the team. Raises `EngineError`, `ValidationError`, `ValueError`.
    """
    endpoint = endpoints.build_endpoint(name="documents", engine=engine, url=url, by=by)
    endpoints.indexes.claim(engine=engine, name=url, by=by, team=team)
    try:
        with endpoints.connect(endpoint) as adapter:
            return adapter.load_documents(documents, id_field=id_field)
    except BaseException:
        endpoints.indexes.release(engine=engine, name=url, by=by)
        raise
