"""Files of Quepid are recognised, and named where they do not belong."""

import io
import json

import pytest

from relevancy import formats
from relevancy.formats import file_formats
from relevancy.formats.queries import queries_import
from relevancy.formats.rankings import runs_file
from relevancy.formats.ratings import ratings_import
from relevancy.optional.quepid import book, case
from tests.factories import make_case
from tests.formats.relevancy_files import zipped

CASE = '{"case_name": "x", "queries": [{"query_text": "a", "ratings": []}]}'


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (CASE[:-1].encode(), ["quepid-case"]),
        (b'{"name": "x", "query_doc_pairs": [', ["quepid-book"]),
        (zipped({"name": "x", "query_doc_pairs": []}, ("book_export_7.json",)).getvalue(), ["quepid-book"]),
        (b'{"name": "x", "docs": {}', ["quepid-snapshots"]),
    ],
)
def test_detect_recognises_files(content, names):
    assert [
        file_format.name for file_format in file_formats.detect(file_formats.read_head(io.BytesIO(content)))
    ] == names


@pytest.mark.django_db
def test_a_case_is_named_where_something_else_is_wanted():
    own, file = make_case([]), io.BytesIO(CASE.encode())
    for read in (
        lambda: ratings_import.open_source(case=own, file=file),
        lambda: queries_import.open_source(case=own, file=file),
        lambda: runs_file.read_file(file=file),
    ):
        with pytest.raises(formats.BadFile, match="a case of Quepid"):
            read()


def test_members_that_nobody_knows_are_counted():
    many = {f"member {number}": 1 for number in range(1_001)}
    for read, content in ((case.parse_case, {"case_name": "x", "queries": []}), (book.read_book, {"name": "x"})):
        with pytest.raises(formats.BadFile, match="more than 1,000 members"):
            read(io.BytesIO(json.dumps(content | many).encode()))


def test_products_are_named_in_texts():
    assert file_formats.products(file_formats.FileKind.CASE) == "Relevancy or Quepid"
    assert file_formats.products(file_formats.FileKind.BOOK) == "Relevancy or Quepid"
