"""Bad files, sent to every page, command and address of the API that takes a file: refused with a message, and nothing is stored.

The formats have tests of their own. Here each way in gets every kind of bad file, whatever it is for.
"""

import io
import json
import logging
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.forms import BaseForm
from django.test import Client

import relevancy
from relevancy.accounts import api_tokens
from relevancy.api.authentication import limiter
from relevancy.api.v1 import api as rest_api
from relevancy.formats import BadFile, cells
from relevancy.management import command
from relevancy.models import ApiToken, Scorer
from tests.factories import make_attempt, make_case, make_endpoint, make_user, run_now
from tests.formats import relevancy_files
from tests.optional import contributed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]

RATINGS = b"query,docid,rating\nquery 1,a,3\nquery 2,b,1\n"
QUERIES = b"query,notes\nquery 1,first\nnew query,second\n"
RANKINGS = b"query,docid,position\nquery 1,a,1\nquery 2,b,1\n"
QRELS = b"query1 0 a 3\nquery2 0 b 1\n"
RUN = b"query1 Q0 a 1 2.5 tag\nquery2 Q0 b 1 2.5 tag\n"
SCORER = b'{"format": "relevancy-scorer/1",\n"name": "Mine", "scale": [[0, ""], [1, ""]],\n"measure": "P@1"}\n'
DOCUMENTS = b'{"id": "1", "title": "Alien"}\n{"id": "2", "title": "Aliens"}\n'
TABLE = b"id,title\n1,Alien\n2,Aliens\n"
CASE = json.dumps(relevancy_files.CASE, indent=1).encode()
BOOK = json.dumps(relevancy_files.BOOK, indent=1).encode()
TEMPLATE = b'{\n"query": "#$query##"\n}\n'
SCRIPT = b"const k = 2;\nsetScore(k);\n"
FILE = object()  # its place among the words of a command
_number = count(1)


class World:
    """A superuser with a case that has two runs; sends files in the name of this user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = make_user("Ann", superuser=True)
        self.client = Client()
        self.client.force_login(self.user)
        self.token = api_tokens.create(user=self.user, name="test", scope=ApiToken.Scope.WRITE, days=1)[1]
        self.case = make_case(2, {"query 1": {"a": 3}}, owner=self.user)
        attempt = make_attempt(self.case)
        run_now(attempt)
        run_now(attempt)
        self.endpoint = make_endpoint(self.user)
        for name, content in {"qrels": QRELS, "run": RUN}.items():
            (folder / name).write_bytes(content)

    def page(self, path: str, content: bytes, field: str = "file", **data: Any) -> str:
        """Returns the errors of the form; an empty string if it accepts the file."""
        files = {field: SimpleUploadedFile("file", content)}
        response = self.client.post(path.format(**self.ids), {"do": "import", **data, **files})
        if response.status_code == 302:
            return ""
        assert response.status_code == 422
        forms = {
            id(form): form
            for part in response.context
            for form in part.flatten().values()
            if isinstance(form, BaseForm)
        }
        errors = [error for form in forms.values() for of_field in form.errors.values() for error in of_field]
        if first := response.context.get("first"):  # lines of a new case's file, listed below its form
            errors += [str(problem) for problem in (*first.errors, *first.pasted.rejected)]
        assert errors
        return " ".join(errors)

    def wizard(self, content: bytes, field: str, **data: Any) -> str:
        """Returns the errors of the second step of a new case."""
        self._begin_case()
        name = f"index{next(_number)}"
        return self.page("/cases/new/endpoint/", content, field, **{"name": name, "url": name, "do": "next", **data})

    def new_case(self, content: bytes) -> str:
        """Returns the errors of the last step of a new case without an engine."""
        self._begin_case()
        self.client.post("/cases/new/endpoint/", {"do": "no-engine"})
        return self.page("/cases/new/queries/", content, source="file", do="create")

    def _begin_case(self) -> None:
        self.client.post("/cases/new/start-over/")
        scorer = Scorer.objects.get(is_default=True).pk
        self.client.post("/cases/new/scale/", {"do": "next", "name": "New", "scale_from": "scorer", "scorer": scorer})

    def api(self, path: str, content: bytes) -> str:
        """Returns the problem; an empty string if the file is accepted."""
        headers = {"Authorization": f"Bearer {self.token}"}
        data = {"file": SimpleUploadedFile("file", content)}
        response = Client().post("/api/v1" + path.format(**self.ids), data, headers=headers)
        assert response.status_code in {200, 201, 422}
        return response.json()["detail"] if response.status_code == 422 else ""

    def command(self, content: bytes, *words: Any) -> str:
        """Returns the error; an empty string if the command succeeds."""
        path = self.folder / "input"
        path.write_bytes(content)
        return self.call(str(path), *words)

    def call(self, path: str, *words: Any) -> str:
        """Calls a command with the path of a file."""
        texts = [path if word is FILE else str(word).format(**self.ids) for word in words]
        try:
            call_command(*texts, stdout=io.StringIO(), stderr=io.StringIO())
        except CommandError as error:
            assert error.returncode == 2
            assert str(error)
            return str(error)
        return ""

    @property
    def ids(self) -> dict[str, Any]:
        values = {
            "case": self.case.pk,
            "book": self.case.book_id,
            "endpoint": self.endpoint.name,
            "folder": self.folder,
        }
        return {**values, "index": f"index{next(_number)}"}

    def count_rows(self) -> tuple[int, ...]:
        """How many rows each table has."""
        names = (connection.ops.quote_name(model._meta.db_table) for model in apps.get_models())
        with connection.cursor() as cursor:
            cursor.execute("SELECT " + ", ".join(f"(SELECT COUNT(*) FROM {name})" for name in names))
            return tuple(cursor.fetchone())


class WayIn(NamedTuple):
    """Where a file can be sent. good: a file that is accepted there. takes: names of bad files that are not bad there."""

    good: bytes
    send: Callable[[World, bytes], str]
    takes: tuple[str, ...] = ()


def by_command(good: bytes, *words: Any, takes: tuple[str, ...] = ()) -> WayIn:
    return WayIn(good, lambda world, file: world.command(file, *words), takes)


LONG_LINE = ("huge header",)  # without a header, this is a list of queries, of which one is left out and named
NO_RESULTS = ("empty", "blank", "half")  # a search engine may return nothing; everything after the tag is ignored
ENDPOINT = {"engine": "static", "name": "New", "parallel": "1", "per_minute": "0"}
WAYS_IN = {
    "page of ratings": WayIn(RATINGS, lambda world, file: world.page("/cases/{case}/files/import-ratings/", file)),
    "page of queries": WayIn(
        QUERIES, lambda world, file: world.page("/cases/{case}/files/import-queries/", file), LONG_LINE
    ),
    "page of runs": WayIn(RANKINGS, lambda world, file: world.page("/cases/{case}/files/import-runs/", file)),
    "page of cases": WayIn(CASE, lambda world, file: world.page("/cases/import/", file, name="New", endpoint="none")),
    "page of books": WayIn(BOOK, lambda world, file: world.page("/books/import/", file)),
    "page of scorers": WayIn(SCORER, lambda world, file: world.page("/scorers/import/", file)),
    "page of endpoints": WayIn(RANKINGS, lambda world, file: world.page("/endpoints/new/", file, **ENDPOINT)),
    "wizard, rankings": WayIn(RANKINGS, lambda world, file: world.wizard(file, "file", engine="static")),
    "wizard, documents": WayIn(DOCUMENTS, lambda world, file: world.wizard(file, "documents", engine="embedded")),
    "wizard, ratings": WayIn(RATINGS, World.new_case),
    "wizard, queries": WayIn(QUERIES, World.new_case, LONG_LINE),
    "import_ratings of the API": WayIn(RATINGS, lambda world, file: world.api("/cases/{case}/import/ratings", file)),
    "import_queries of the API": WayIn(
        QUERIES, lambda world, file: world.api("/cases/{case}/import/queries", file), LONG_LINE
    ),
    "import_runs of the API": WayIn(RANKINGS, lambda world, file: world.api("/cases/{case}/import/runs", file)),
    "import_case of the API": WayIn(CASE, lambda world, file: world.api("/import/cases", file)),
    "import_book of the API": WayIn(BOOK, lambda world, file: world.api("/import/books", file)),
    "import_ratings": by_command(RATINGS, "import_ratings", "{case}", FILE),
    "import_queries": by_command(QUERIES, "import_queries", "{case}", FILE, takes=LONG_LINE),
    "import_run": by_command(RANKINGS, "import_run", "{case}", FILE),
    "import_case": by_command(CASE, "import_case", FILE, "--without-attempt"),
    "import_book": by_command(BOOK, "import_book", FILE),
    "load_documents": by_command(DOCUMENTS, "load_documents", "embedded", "{index}", FILE),
    "load_documents, CSV": by_command(TABLE, "load_documents", "embedded", "{index}", FILE),
    "create_case, queries": by_command(QUERIES, "create_case", "New", "--queries", FILE),
    "create_case, ratings": by_command(RATINGS, "create_case", "New", "--ratings", FILE),
    "create_case, template": by_command(TEMPLATE, "create_case", "New", "--endpoint", "{endpoint}", "--template", FILE),
    "create_endpoint": by_command(RANKINGS, "create_endpoint", "New", "static", FILE),
    "measure, qrels": by_command(QRELS, "measure", "--qrels", FILE, "--run", "{folder}/run", "-m", "P@1"),
    "measure, run": by_command(
        RUN, "measure", "--qrels", "{folder}/qrels", "--run", FILE, "-m", "P@1", takes=NO_RESULTS
    ),
    "try_scorer": by_command(SCRIPT, "try_scorer", "--script", FILE, "--grades", "3 2"),
}
CSV = [RATINGS, QUERIES, RANKINGS, TABLE]
for add_ways_in in contributed("add_ways_in"):
    add_ways_in(sys.modules[__name__])


def zipped(content: bytes, *names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("file.json",):
            archive.writestr(name, content)
    return file.getvalue()


def bad_files(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields bad files by name."""
    *lines, last = good.splitlines(keepends=True)
    start = b"".join(lines)
    yield "empty", b""
    yield "blank", b" \n\r\n\n"
    yield "picture", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\xff\xfe"
    yield "truncated zip", zipped(good * 50)[:-30]
    yield "path in a zip", zipped(good, "../../etc/file.json")
    yield "two files in a zip", zipped(good, "one.json", "other.json")
    yield "zip bomb", zipped(b'{"a": "' + b" " * 3_000_000)
    yield "UTF-16", good.decode().encode("utf-16")
    yield "Latin-1", start + last[:1] + b"\xe9" + last[1:]
    yield "U+0000", start + last[:1] + b"\0" + last[1:]
    yield "deep JSON", b'{"a":' * 50_000
    yield "long number", b'{"a": ' + b"9" * 5_000 + b"}"
    yield "infinite number", b'{"a": 1e999}\n'
    yield "half", good[: len(start) - 4] if good.startswith(b"{") else start + last[:-1] + b',x,"y'
    if good in CSV:
        yield "unbalanced quotes", start + b'"' + last
        yield "huge cell", start + b"x" * 140_000 + last
        yield "huge header", b"x" * 140_000 + b"," + good
        yield "header only", lines[0]
        yield "many columns", good + b",,,,,,,x\n"


def same_files(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the same file, as other programs write it."""
    yield "byte order mark", b"\xef\xbb\xbf" + good
    yield "CRLF", good.replace(b"\n", b"\r\n")
    yield "CR", good.replace(b"\n", b"\r")


def test_every_way_in_is_in_the_table() -> None:
    """What reads files, by its source. The mapping of an endpoint only keeps what else is in its form."""
    folder = Path(relevancy.__file__).parent
    views = {
        path.relative_to(folder).as_posix()
        for path in [*folder.glob("views/*/*.py"), *folder.glob("optional/*/*.py")]
        if "request.FILES" in path.read_text()
    }
    assert views == {
        *(page for pages in contributed("PAGES_WITH_FILES") for page in pages),
        "views/books/book_import.py",
        "views/case_files/case_import.py",
        "views/case_files/pages.py",
        "views/endpoints/pages.py",
        "views/new_case/engine_steps.py",
        "views/new_case/pages.py",
        "views/scorers/files.py",
    }
    reading = re.compile(r"\b(read_text|read_bytes|open_binary|open_log|store_address)\(|\(ImportCommand\)")
    commands = {path.stem for path in folder.glob("**/management/commands/*.py") if reading.search(path.read_text())}
    sent = {name.split(",")[0] for name in WAYS_IN if "page" not in name and "wizard" not in name}
    assert commands - {"demo", "evaluate"} == {name for name in sent if not name.endswith(" of the API")}
    operations = {
        operation["operationId"]
        for item in rest_api.get_openapi_schema()["paths"].values()
        for operation in item.values()
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
    }
    assert operations == {name.removesuffix(" of the API") for name in sent if name.endswith(" of the API")}


def test_commands_read_no_more_than_they_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MAX_BYTES", 1_000)
    monkeypatch.setattr(command, "MAX_STDIN", 100_000)
    monkeypatch.setattr(cells, "MAX_BYTES", 1_000)
    with pytest.raises(BadFile, match="too large"):
        command.read_text("/dev/zero")
    with Path("/dev/zero").open() as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        with pytest.raises(BadFile, match="too large"):
            command.read_text("-")
        with pytest.raises(CommandError, match="stdin is too large"), command.open_binary("-"):
            pass


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(limiter, "_per_minute", 0)
    logging.disable(logging.WARNING)  # each refusal of a page is one
    yield World(tmp_path)
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", WAYS_IN)
def test_bad_files_change_nothing_and_those_of_other_programs_are_read(world: World, name: str) -> None:
    way = WAYS_IN[name]
    before = world.count_rows()
    bad = {label: way.send(world, content) for label, content in bad_files(way.good) if label not in way.takes}
    assert [label for label, error in bad.items() if not error] == []
    assert world.count_rows() == before
    results = {}
    for label, content in [("as it is", way.good), *same_files(way.good)]:
        with transaction.atomic():
            results[label] = (way.send(world, content), world.count_rows())
            transaction.set_rollback(True)
    assert {error for error, _ in results.values()} == {""}
    assert all(rows == results["as it is"][1] for _, rows in results.values())
