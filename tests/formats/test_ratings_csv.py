"""Ratings as CSV, import and export: what is accepted, and what is rejected with line, column and value."""

import io
from collections.abc import Iterator
from contextlib import closing

import pytest

from relevancy import formats, queries
from relevancy.formats import cells
from relevancy.formats.ratings import ratings_csv
from relevancy.formats.ratings.ratings_file import RatingsFile
from relevancy.models import CaseQuery, Query, Rating, RatingChange
from tests.factories import import_csv, make_case, make_user

pytestmark = pytest.mark.django_db


def parse(text: str | Iterator[str]) -> closing[RatingsFile]:
    lines = formats.read_lines(io.BytesIO(text.encode())) if isinstance(text, str) else text
    return closing(RatingsFile(ratings_csv.read_ratings(lines)))


def by_document(file: RatingsFile, rater: str = "") -> dict[str, dict[str, float]]:
    """The ratings by one rater, as the tests compare them."""
    return {text: {doc_id: value for doc_id, name, value in file[text] if name == rater} for text in file}


@pytest.mark.parametrize(
    "text",
    [
        "query,docid,rating\nstar wars,1,3\nstar wars,2,0\n",
        "\ufeffquery,docid,rating\nstar wars,1,3\nstar wars,2,0\n",
        "query,docid,rating\r\nstar wars,1,3\r\nstar wars,2,0\r\n",
        "query,doc_id,rating\nstar wars,1,3.0\nstar wars,2,0.0",
        "Query, DocID ,RATING\n\n  star wars , 1 , 3 \n,,\nstar wars,2,0\n\n",
        'query,docid,rating\n"star wars","1","3"\nstar wars,1,3\nstar wars,2,0\n',
        "star wars,1,3\nstar wars,2,0\n",
        " star wars;1;3,0\nstar wars;2;0\n",
        "\ufeffquery;docid;rating;title\r\nstar wars;1;3,0;a, b\r\nstar wars;2;0;x\r\n",
        'Query\tDoc ID\tRating\n"star wars"\t1\t3\nstar wars\t2\t0\n',
        'query, docid, rating\n"star wars", "1", "3"\nstar wars, "2", 0\n',
        "query,docid,rating\rstar wars,1,3\rstar wars,2,0\r",
        "rating,title,docid,position,query\n3,Star Wars,1,1,star wars\n0,,2,2,star wars\n,Alien,3,3,star wars\n",
    ],
)
def test_read_accepts_variants(text: str) -> None:
    with parse(text) as file:
        assert by_document(file) == {"star wars": {"1": 3, "2": 0}}


def test_semicolons_and_commas_in_cells_stay() -> None:
    with parse("query,docid,rating\nstar wars; the film,a;b,1.5\n") as file:
        assert by_document(file) == {"star wars; the film": {"a;b": 1.5}}
    with parse('query;docid;rating\n1,5;2,5;"0,5"\nstar, wars;3;\n') as file:
        assert by_document(file) == {"1,5": {"2,5": 0.5}, "star, wars": {}}


def test_read_removes_the_apostrophe() -> None:
    text = "query,docid,rating\n'=1+1,'-7,2\n'tis,'a,1\n''@x,''=y,3\n"
    with parse(text) as file:
        assert by_document(file) == {"=1+1": {"-7": 2}, "'tis": {"'a": 1}, "'@x": {"'=y": 3}}


RATERS = {"ann@example.org": {"star wars": {"1": 3, "2": 0}}, "Ben": {"star wars": {"1": 2}}}


@pytest.mark.parametrize(
    "text",
    [
        "query,docid,ann@example.org,Ben\nstar wars,1,3.0,2.0\nstar wars,2,0.0,\n",
        "query,docid,rating,rater\nstar wars,1,3,ann@example.org\nstar wars,1,2, Ben \nstar wars,2,0,ann@example.org\n",
    ],
)
def test_read_the_ratings_of_several_raters(text: str) -> None:
    with parse(text) as file:
        assert {rater: by_document(file, rater) for rater in file.raters} == RATERS
        assert by_document(file) == {"star wars": {}}


def test_read_a_header_with_line_breaks_in_its_cells() -> None:
    with parse('query,docid,"Notes\n(optional)",rating\nstar wars,1,seen,3\nstar wars,2,,0\n') as file:
        assert by_document(file) == {"star wars": {"1": 3, "2": 0}}
    with parse('query,"Doc\ntitle",docid,rating\nstar wars,A film,1,3\n') as file:
        assert by_document(file) == {"star wars": {"1": 3}}


def test_read_names_the_columns_of_a_file_without_a_header() -> None:
    with pytest.raises(formats.BadFile, match=r"2 columns instead of 3 \(query,docid,rating\): 'alien,7'"):
        parse("star wars,1,3\nalien,7\n")


def test_read_a_line_that_only_names_a_query() -> None:
    with parse("query,docid,rating\nstar wars,,\n") as file:
        assert by_document(file) == {"star wars": {}}


def test_parse_ratings_takes_an_empty_rating_as_unrated() -> None:
    text = "query,docid,rating\nstar wars,1,\nstar wars,2,3\nalien,7, \n"
    with parse(text) as file:
        assert by_document(file) == {"star wars": {"2": 3}, "alien": {}}


def test_import_ratings_ignores_documents_without_a_rating() -> None:
    case = make_case(["star wars"])
    text = "query,docid,rating\nstar wars,1,\nstar wars,2,3\nalien,7,\n"
    imported = import_csv(case=case, text=text, by=case.owner)
    assert (imported.queries, imported.changed, imported.ratings) == (1, 1, 1)
    assert set(Rating.objects.values_list("doc_id", flat=True)) == {"2"}


@pytest.mark.parametrize(
    "text",
    [
        "x" * 5_000_000,
        f"query,docid,rating\na,1,{'y' * 100_000}\n",
        f"query,docid,rating\na,1,2,{'z' * 100_000}\n",
        f"query,docid,rating\na,{'d' * 100_000},2\n",
        f"query,docid,rating\n{'q' * 100_000},1,2\n",
        f"query,docid,rating\na,,{'9' * 100_000}\n",
    ],
    ids=["header", "rating", "columns", "document", "query", "no document"],
)
def test_import_ratings_quotes_at_most_200_characters(text: str) -> None:
    case = make_case(1)
    with pytest.raises(formats.BadFile) as caught:
        import_csv(case=case, text=text, by=case.owner)
    assert len(str(caught.value)) < 350


BAD = {
    "query,document,rating\na,1,2\n": ["Line 1", "header", "query,document,rating", "query,docid,rating"],
    "docid,rating\n1,2\n": ["Line 1", "header"],
    "query,docid,rating,query\na,1,2,x\n": ["Line 1", "header"],
    "query,docid,position\na,1,2\n": ["Line 1", "header"],
    "a,1\n": ["Line 1", "header"],
    "a,1,2\nb,1,x\n": ["Line 2", "column rating", "'x'"],
    "a,1,2\nb,1\n": ["Line 2", "2 columns instead of 3"],
    "": ["Line 1", "header"],
    "query|docid|rating\na|1|2\n": ["Line 1", "query|docid|rating"],
    "query,docid,rating\na,1,2\nb,1\n": ["Line 3", "2 columns instead of 3", "b,1"],
    "query,docid,rating\na,1,2,3\n": ["Line 2", "4 columns instead of 3"],
    'query,docid,rating\na,1,2\n"b,1,2\n': ["Line", "not valid CSV"],
    'query,docid,rating\na,1,2\n"b"x,1,2\n': ["Line 3", "not valid CSV"],
    "query,docid,rating\na,1,good\n": ["Line 2", "column rating", "'good'", "not a number"],
    "query,docid,rating\na,1,nan\n": ["Line 2", "column rating", "'nan'"],
    "query,docid,rating\na,1,2\na,2,7\n": ["Line 3", "column rating", "7", "0 to 3"],
    "query,docid,rating\na,1,-1\n": ["Line 2", "column rating", "-1"],
    "query,docid,rating\na,1,2\na,1,3\n": ["Line 3", "column rating", "'1'", "3", "2"],
    "query,docid,rating\n,1,2\n": ["Line 2", "column query", "empty"],
    "query,docid,rating\na,,2\n": ["Line 2", "column docid", "empty"],
    f"query,docid,rating\n{'q' * 2049},1,2\n": ["Line 2", "column query", "2,049", "2,048"],
    f"query,docid,rating\na,{'d' * 501},2\n": ["Line 2", "column docid", "501", "500"],
    "query,docid,rating\na\x00b,1,2\n": ["Line 2", "column query", "U+0000"],
    '\nquery,docid,rating\n"two\nlines",1,2\nb,1,x\n': ["Line 1"],
    'query,docid,rating\n"two\nlines",1,2\nb,1,x\n': ["Line 4", "column rating", "'x'"],
}


@pytest.mark.parametrize(("text", "words"), BAD.items())
def test_import_ratings_bad_file_changes_nothing(text: str, words: list[str]) -> None:
    case = make_case(1, {"query 1": {"a": 2}})
    counts = (Query.objects.count(), Rating.objects.count(), RatingChange.objects.count(), CaseQuery.objects.count())
    with pytest.raises(formats.BadFile) as caught:
        import_csv(case=case, text=text, by=case.owner)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message
    assert len(message) < 400
    assert counts == (
        Query.objects.count(),
        Rating.objects.count(),
        RatingChange.objects.count(),
        CaseQuery.objects.count(),
    )


def test_decode_names_the_line() -> None:
    with pytest.raises(formats.BadFile, match="Line 2: the byte 0xe9 is not valid UTF-8"):
        formats.decode(b"query,docid,rating\ncaf\xe9,1,2\n")


def test_import_ratings_counts_what_it_did() -> None:
    case = make_case(["star wars"], {"star wars": {"1": 3}})
    rater = make_user()
    text = "query,docid,rating\nstar wars,1,3\nstar wars,2,1\nnew one,9,0\nonly named,,\n"
    done = import_csv(case=case, text=text, by=case.owner)
    assert (done.queries, done.changed, done.ratings) == (2, 2, 3)
    assert [str(case_query) for case_query in case.case_queries.present()] == ["star wars", "new one", "only named"]
    again = import_csv(case=case, text=text, by=case.owner)
    assert (again.queries, again.changed, again.ratings) == (0, 0, 3)
    theirs = import_csv(case=case, text=text, by=case.owner, rater=rater)
    assert theirs.changed == 3
    assert set(RatingChange.objects.filter(rater=rater).values_list("by", "source")) == {(case.owner.pk, "import")}


def test_import_ratings_normalizes_texts() -> None:
    case = make_case(["café"])
    import_csv(case=case, text="query,docid,rating\n  cafe\u0301 ,1,3\n", by=case.owner)
    assert [str(case_query) for case_query in case.case_queries.present()] == ["café"]
    assert Rating.objects.get().query.text == "café"


def test_import_ratings_restores_removed_queries() -> None:
    case = make_case(["a"])
    case.case_queries.update(removed_at="2026-01-01T00:00Z")
    import_csv(case=case, text="query,docid,rating\na,1,3\n", by=case.owner)
    assert case.case_queries.present().count() == 1


STRANGE = [
    "=SUM(A1)", "'=quoted", "''", "'", "+1", "-1", "@x", "a,b", 'say "hi"', "<script>", "🙂", "a\u2028b", "a;b", "x" * 2048,
    "# no comment", "NULL", "1e5", "true", "＝1", "＋1", "－1", "＠x", "'＝1",
]  # fmt: skip


def test_round_trip_is_byte_for_byte() -> None:
    ratings = {text: {"doc 1": 3.0, "-2": 0.0, "'=x": 1.0, "a\tb": 2, "y" * 500: 1} for text in STRANGE}
    case = make_case([*STRANGE, "unrated"], ratings, scale="0:3")
    text = "".join(ratings_csv.export_ratings(case=case))
    again = make_case(0, scale="0:3")
    done = import_csv(case=again, text=text, by=again.owner)
    assert done.ratings == 5 * len(STRANGE)
    assert "".join(ratings_csv.export_ratings(case=again)) == text
    assert {str(case_query.query.text) for case_query in again.case_queries.all()} == {*STRANGE, "unrated"}
    assert not any(line.startswith(tuple("=+@-＝＋－＠")) for line in text.split("\n"))


def test_export_ratings_shape() -> None:
    case = make_case(["b", "a"], {"b": {"2": 3, "1": 1}})
    assert "".join(ratings_csv.export_ratings(case=case)) == "query,docid,rating\nb,1,1\nb,2,3\na,,\n"
    case.book.rule = "mean"
    case.book.save()
    import_csv(case=case, text="query,docid,rating\nb,1,2\n", by=case.owner, rater=make_user())
    assert "b,1,1.5\n" in "".join(ratings_csv.export_ratings(case=case))


class Endless(io.RawIOBase):
    """A file that goes on for ever, and counts what was read of it."""

    def __init__(self, row: bytes) -> None:
        super().__init__()
        self.row, self.size = row, 0

    def read(self, size: int = -1) -> bytes:
        content = self.row * (size // len(self.row))
        if not self.size:
            content = b"query,docid,rating\n" + content
        self.size += len(content)
        return content


@pytest.mark.parametrize(
    ("row", "limit", "value", "message"),
    [
        (b"a,%d,1\n" % 7, "MAX_ROWS", 50_000, "Line 50002: the file has more than 50,000 rows"),
        (b"a,1,1\n", "MAX_BYTES", 300_000, "maximum is 300,000 bytes"),
        (b"x" * 1000, "MAX_LINE", 200_000, "Line 2: the line has more than 200,000 characters"),
    ],
)
def test_large_files_are_refused_while_they_are_read(
    row: bytes, limit: str, value: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, limit, value)
    file = Endless(row)
    with pytest.raises(formats.BadFile, match=message):
        parse(formats.read_lines(file))
    assert file.size < 600_000


def test_too_many_queries_are_refused_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_IMPORTED", 2)
    with pytest.raises(formats.BadFile, match="Line 4: the file has more than 2 queries"):
        parse("query,docid,rating\na,1,1\nb,1,1\nc,1,1\nbad\n")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_read_lines_in_pieces(size: int, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "READ_BYTES", size)
    text = f"\ufeffquery,docid,rating{end}é🙂,1,3{end}{end}last,2,1"
    lines = list(formats.read_lines(io.BytesIO(text.encode())))
    assert lines == [f"query,docid,rating{end}", f"é🙂,1,3{end}", end, "last,2,1"]


@pytest.mark.parametrize("size", [1, 3, 64])
def test_read_lines_names_the_line_of_a_bad_byte(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "READ_BYTES", size)
    with pytest.raises(formats.BadFile, match="Line 2: the byte 0xe9 is not valid UTF-8"):
        list(formats.read_lines(io.BytesIO(b"query,docid,rating\ncaf\xe9,1,2\n")))
