"""Documents as JSON lines, or as CSV with the names of the fields in the first line."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relevancy import endpoints
from relevancy.models import Team, User

from .errors import BadFile, quote


def parse_documents(text: str) -> Iterator[dict[str, Any]]:
    """Yields one document per line, each a JSON object. Raises `BadFile`."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadFile(f"column {error.colno}: this is not valid JSON: {error.msg}.", line=number) from None
        except RecursionError:
            raise BadFile("this JSON is nested too deeply.", line=number) from None
        except ValueError:
            raise BadFile("this JSON contains a number with too many digits.", line=number) from None
        if not isinstance(document, dict):
            raise BadFile(f"this is not a JSON object: {quote(line)}.", line=number)
        yield document


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
                if len(cells) != len(names):
                    raise BadFile(f"{len(cells)} columns instead of {len(names)}: {quote(','.join(cells))}.", line=line)
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
    is_json = text.lstrip().startswith(("{", "["))
    documents = parse_documents(text) if is_json else parse_csv_documents(text)
    try:
        return load_documents(engine=engine, url=url, documents=documents, by=by, team=team, id_field=id_field)
    except ValueError as error:
        raise BadFile(str(error)) from None


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
    with endpoints.connect(endpoint) as adapter:
        return adapter.load_documents(documents, id_field=id_field)
