"""Quepid's book files: what is read of them, the book that they become, and files that are refused."""

import io
import json
import zipfile

import pytest

from relevancy.formats import BadFile, archives
from relevancy.formats.cases import book_import
from relevancy.models import Book, Query, Rating, User
from relevancy.optional.quepid import book as quepid_book
from relevancy.optional.quepid import book_export
from tests.factories import make_user

from .quepid_files import as_file

pytestmark = pytest.mark.django_db


def judgement(rating=None, who="ann@example.com", **more):
    return {"rating": rating, "unrateable": False, "judge_later": False, "user_email": who, "explanation": None, **more}


def pair(query="star wars", doc_id="a", *judgements, **more):
    fields = {
        "document_fields": '{"title": "…"}',
        "position": 1,
        "information_need": None,
        "notes": None,
        "options": None,
    }
    return {"query_text": query, "doc_id": doc_id, **fields, "judgements": list(judgements), **more}


BOOK = {
    "name": "Phones",
    "show_rank": False,
    "support_implicit_judgements": False,
    "scale": [0, 1, 2, 3],
    "scale_with_labels": {"0": "Poor", "3": "Perfect"},
    "query_doc_pairs": [
        pair("star wars", "a", judgement(3.0), judgement(2, "ben@example.com", explanation="Sequel")),
        pair("star wars", "b", judgement(None, unrateable=True, explanation="No text"), information_need="The films"),
        pair(
            "alien", 7, judgement(None, judge_later=True), judgement(1, None), judgement(2, None), judgement(None, "x")
        ),
        pair("jaws", "c"),
    ],
}
OLD = {
    "name": "Old",
    "scorer": {"name": "Book", "scale": "0,1", "scale_with_labels": {"0": "No", "1": "Yes"}},
    "selection_strategy": {"name": "Multiple Raters", "description": "…"},
    "query_doc_pairs": [pair("alien", "a", judgement(1))],
}


def zipped(content=None, names=("book.json",), **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, json.dumps(BOOK if content is None else content))
    return io.BytesIO(file.getvalue())


@pytest.fixture
def ann():
    return make_user("Ann")


def imported(by, file, **options):
    return book_import.import_book(content=quepid_book.read_book(file), by=by, **options)


@pytest.mark.parametrize("make", [as_file, zipped])
def test_import_book_keeps_every_judgement(ann, make):
    book = imported(ann, make(BOOK))
    assert (book.name, book.owner) == ("Phones", ann)
    assert book.scale == [[0, "Poor"], [1, ""], [2, ""], [3, "Perfect"]]
    rows = Rating.objects.filter(query__book=book).order_by("query__text", "doc_id", "rater__name")
    result = [(row.query.text, row.doc_id, str(row.rater), row.verdict, row.value, row.note) for row in rows]
    assert result == [
        ("alien", "7", "Ann", "later", None, ""),
        ("alien", "7", "Unknown rater", "rated", 1.0, ""),
        ("alien", "7", "Unknown rater 2", "rated", 2.0, ""),
        ("star wars", "a", "Ann", "rated", 3.0, ""),
        ("star wars", "a", "ben@example.com", "rated", 2.0, "Sequel"),
        ("star wars", "b", "Ann", "cannot", None, "No text"),
    ]
    assert dict(book.queries.values_list("text", "information_need")) == {
        "star wars": "The films",
        "alien": "",
        "jaws": "",
    }


def test_an_exported_book_is_imported_to_the_same_judgements(ann):
    """Also by Quepid: every member that its importer reads has the type that its own export has."""
    pairs = [*BOOK["query_doc_pairs"], pair("odd", "d/1", judgement(2, "ann@example.com"))]
    book = imported(ann, as_file({**BOOK, "query_doc_pairs": pairs}))
    left_out = []
    written = json.loads("".join(book_export.export_book(book=book, by=ann, left_out=left_out)))
    assert (written["name"], written["scale"]) == ("Phones", [0, 1, 2, 3])
    assert written["scale_with_labels"]["3"] == "Perfect"
    assert written["support_implicit_judgements"] is False
    result = {(pair["query_text"], pair["doc_id"]): pair for pair in written["query_doc_pairs"]}
    assert set(result) == {("star wars", "a"), ("star wars", "b"), ("alien", "7"), ("odd", "d/1")}
    assert result["star wars", "b"]["judgements"] == [
        {"rating": None, "unrateable": True, "judge_later": False, "user_email": ann.email, "explanation": "No text"}
    ]
    assert [(item["rating"], item["user_email"]) for item in result["star wars", "a"]["judgements"]] == [
        (3, ann.email), (2, "ben@example.com"),
    ]  # fmt: skip
    assert [item["user_email"] for item in result["alien", "7"]["judgements"]] == [None, None, ann.email]
    assert written["left_out"] == left_out
    assert "1 query without judgments." in left_out
    again = imported(ann, as_file(written), name="Again")
    columns = ("query__text", "doc_id", "rater__name", "verdict", "value", "note")
    before, after = (
        sorted(Rating.objects.filter(query__book=item).values_list(*columns), key=repr) for item in (book, again)
    )
    assert before == after
    assert again.scale == book.scale


def test_a_rater_without_an_address_is_counted_once(ann):
    pairs = [pair("alien", doc_id, judgement(1, "Cleo")) for doc_id in ("a", "b")]
    book = imported(ann, as_file({**BOOK, "query_doc_pairs": pairs}))
    written = json.loads("".join(book_export.export_book(book=book, by=ann)))
    assert "1 rater whose address is not known: the judgments are anonymous." in written["left_out"]


def test_read_book_says_what_is_left_out(ann):
    content = quepid_book.read_book(as_file(BOOK))
    assert (content.ratings.count, content.ratings.names[:2]) == (6, ["Unknown rater", "Unknown rater 2"])
    remarks = " ".join(content.remarks)
    assert "1 of 4 pairs have no judgement" in remarks
    assert "1 judgement without a rating" in remarks
    assert (content.rule, "as in Quepid" in remarks) == (Book.Rule.QUEPID, True)
    assert not Book.objects.exists()


def test_an_older_book_has_the_scale_of_its_scorer(ann):
    assert imported(ann, as_file(OLD)).scale == [[0, "No"], [1, "Yes"]]


def test_a_book_of_the_api_and_of_fractions(ann):
    book = {**BOOK, "support_implicit_judgements": True, "query_doc_pairs": [pair("a", "b", judgement(3.5))]}
    stored = imported(ann, as_file({"book": book}), name="Mine")
    assert (stored.name, [grade for grade, _ in stored.scale]) == ("Mine", [0, 1, 2, 3, 4])
    assert Rating.objects.get().value == 3.5
    assert stored.rule == Book.Rule.LOWEST_OF_THREE  # Quepid's rule would round


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([pair("a", "b", judgement("x"))], r"query_doc_pairs\[1\].judgements\[1\].rating: 'x' is not a number"),
        (
            [pair("a", "b", {**judgement(1), "user_email": "a\0@x"})],
            r"query_doc_pairs\[1\]: .*U\+0000",
        ),
        ([pair("a", "b", judgement(-1))], "-1 is not a rating from 0 to 100"),
        ([pair("", "b", judgement(1))], r"query_doc_pairs\[1\].query_text: The query is empty"),
        ([pair("a", "b"), pair("a", "", judgement(1))], r"query_doc_pairs\[2\].doc_id"),
        ([{"query_text": "a", "doc_id": "b", "judgements": {}}], "judgements: this must be a list"),
        ([3], "query_doc_pairs"),
        ({}, "query_doc_pairs"),
    ],
)
def test_read_book_refuses_with_location_and_value(pairs, message):
    with pytest.raises(BadFile, match=message):
        quepid_book.read_book(as_file({**BOOK, "query_doc_pairs": pairs}))


def test_import_book_is_all_or_nothing(ann):
    repeated = {**BOOK, "query_doc_pairs": [pair("a", "b", judgement(1)), pair("a ", " b", judgement(1))]}
    with pytest.raises(BadFile, match="two judgements of the same document"):
        imported(ann, as_file(repeated))
    for model in (Book, Query, Rating):
        assert not model.objects.exists()
    assert not User.objects.filter(kind="file").exists()


def test_a_book_without_scale_and_ratings_is_refused(ann):
    with pytest.raises(BadFile, match="no scale"):
        imported(ann, as_file({"name": "Empty", "query_doc_pairs": []}))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (io.BytesIO(zipped().getvalue()[:200]), "damaged or incomplete"),
        (io.BytesIO(b"PK\x03\x04" + b"x" * 100), "damaged or incomplete"),
        (zipped(names=("../../etc/book.json",)), "contains the path '../../etc/book.json'"),
        (zipped(names=("/book.json",)), "contains the path"),
        (zipped(names=("C:\\book.json",)), "contains the path"),
        (zipped(names=("a.json", "b.json")), "2 JSON files"),
        (zipped(names=("book.csv",)), "0 JSON files"),
        (zipped(names=tuple(f"{number}.txt" for number in range(1001))), "1,001 files"),
        (io.BytesIO(b"query,docid,rating\n"), "not valid JSON"),
        (as_file({"case_name": "x", "queries": []}), "not a book exported by Quepid"),
    ],
)
def test_other_files_are_refused(file, message):
    with pytest.raises(BadFile, match=message):
        quepid_book.read_book(file)


def test_a_damaged_member_is_refused():
    content = bytearray(zipped().getvalue())
    content[120] ^= 0xFF
    with pytest.raises(BadFile):
        quepid_book.read_book(io.BytesIO(bytes(content)))


def test_a_zip_file_with_names_of_macos_is_read():
    assert quepid_book.read_book(zipped(names=("Phones/book.json", "__MACOSX/._book.json"))).ratings.count == 6


def test_a_zip_bomb_is_refused_while_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(quepid_book, "MAX_BYTES", 1_000_000)
    file = zipped({**BOOK, "description": "x" * 50_000_000})
    assert len(file.getvalue()) < 100_000
    with pytest.raises(BadFile, match="maximum is 1,000,000 bytes"):
        quepid_book.read_book(file)


def test_an_encrypted_zip_file_is_refused():
    content = bytearray(zipped().getvalue())
    content[6] |= 1  # the flag in the header of the file
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # and in the directory
    with pytest.raises(BadFile, match="encrypted"), archives.open_json(io.BytesIO(bytes(content))):
        pass
