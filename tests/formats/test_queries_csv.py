"""Queries as CSV: read, previewed, imported, exported, imported again; and bad files, of which nothing is imported."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import formats, queries
from relevancy.formats import exports, file_formats
from relevancy.formats.queries import queries_csv, queries_import
from relevancy.models import Case, CaseQuery, CaseRevision
from tests.factories import make_case, query_of

database = pytest.mark.django_db
HEADER = "query,information_need,notes,tags,options,weight\n"
DETAILED = HEADER + (
    'star wars,The films,"Both, or\nall three","scifi, Space","{""lang"": ""en""}",2.5\nalien,,\'=1+1,,,0\nplain,,,,,1\n'
)


def as_file(content):
    return io.BytesIO(content if isinstance(content, bytes) else content.encode())


def read(content, format=""):
    return queries_csv.parse_queries(io.StringIO(content, newline=""))


def imported(case, content, format=""):
    source = queries_import.open_source(case=case, file=as_file(content), format=format)
    preview = queries_import.preview_queries(case=case, source=source)
    result = queries_import.import_queries(case=case, source=source)
    assert preview == result
    return result


def details(case):
    return {
        row.query.text: (row.query.information_need, row.query.notes, row.query.tags, row.options, row.weight)
        for row in case.case_queries.present().select_related("query").order_by("position")
    }


def exported(case, name="queries"):
    with exports.files_of(Case)[name].open(case, case.owner) as file:
        return file.read().decode()


def test_cells_become_details():
    file = read(DETAILED)
    assert file.pasted.texts == ["star wars", "alien", "plain"]
    assert file.changes == {
        "star wars": {
            "information_need": "The films",
            "notes": "Both, or\nall three",
            "tags": ["scifi", "Space"],
            "options": {"lang": "en"},
            "weight": 2.5,
        },
        "alien": {"notes": "=1+1", "weight": 0},
        "plain": {"weight": 1},
    }
    assert not file.errors


@pytest.mark.parametrize(
    "content",
    [
        "query,notes\nalien,good\n",
        "\ufeffQuery , NOTES\r\n alien , good \r\n\r\n",
        "query,notes\ralien,good\r",
        "query;notes\nalien;good\n",
        "query\tnotes\nalien\tgood\n",
        '"query";"notes"\n"alien";"good"\n',
        "Team Name,Case Name,Case ID,Query Text,Score,Notes,Options\n,Shop,1,alien,.5,good,\n",
        "position,query,score,notes\n1,alien,50,good\n",
        "query,notes\nalien,good\nalien,\nalien,good\n",
        "query,notes,notes_2\nalien,good,x\n",
        "query,notes\nalien,good,,\n",
    ],
)
def test_forms_that_are_accepted(content):
    assert [file_format.name for file_format in file_formats.detect(file_formats.read_head(as_file(content)))] == [
        "queries-csv"
    ]
    file = read(content)
    assert (file.pasted.texts, file.changes["alien"], file.errors) == (["alien"], {"notes": "good"}, [])


# A file, the line of its first error, and words of the message.
BAD = [
    (HEADER + "a,,,,,x\n", 2, ["weight", "'x' is not a number"]),
    (HEADER + 'a,,,,,"0,5"\n', 2, ["weight", "0,5"]),
    (HEADER + "a,,,,,-1\n", 2, ["weight", "-1"]),
    (HEADER + "a,,,,,1e9\n", 2, ["weight", "1e+09"]),
    (HEADER + "a,,,,,nan\n", 2, ["weight", "nan"]),
    (HEADER + "a,,,,1_0,\n", 2, ["options"]),
    (HEADER + "a,,,,[1],\n", 2, ["options", "JSON object"]),
    (HEADER + 'a,,,,"{""a"": NaN}",\n', 2, ["options", "NaN"]),
    (HEADER + 'a,,,"' + ",".join(f"t{number}" for number in range(21)) + '",,\n', 2, ["tags", "21 tags"]),
    (HEADER + "a,,,,,\nb,," + "x" * 20_001 + ",,,\n", 3, ["notes", "20000"]),
    (HEADER + "a,x\u0000y,,,,\n", 2, ["information_need", "invalid character"]),
    (HEADER + "x" * 2049 + ",,,,,\n", 2, ["2,049 characters"]),
    (HEADER + ",need,,,,\n", 2, ["information_need", "without a query"]),
    (HEADER + "a,,,,,,extra\n", 2, ["7 columns instead of 6"]),
    ("query,notes\na,one\nb,\na,two\n", 4, ["notes", "'two'", "line 2"]),
]


@pytest.mark.parametrize(("content", "line", "words"), BAD)
def test_a_wrong_cell_is_named(content, line, words):
    result, message = read(content).errors[0]
    assert result == line
    assert all(word in message for word in words), message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("query,notes,Notes\na,b,c\n", ["Line 1", "'notes'", "twice"]),
        ("text,notes\na,b\n", ["Line 1", "text,notes", "query"]),
        ('query,notes\na,b\nc,"d\ne,f\n', ["Line 3", "never closed"]),
        ('query,notes\na,"b"c\n', ["Line 2", "not valid CSV"]),
        (f"query,notes\na,{'x' * 140_000}\n", ["Line 2", "131,072 characters"]),
    ],
)
def test_a_file_that_is_no_table(content, words):
    with pytest.raises(formats.BadFile) as caught:
        read(content)
    assert all(word in str(caught.value) for word in words), caught.value


def test_too_many_queries_and_errors(monkeypatch):
    assert len(read("query,weight\n" + "a,x\n" * 100).errors) == queries_csv.MAX_ERRORS
    monkeypatch.setattr(queries, "MAX_QUERIES", 3)
    with pytest.raises(formats.BadFile, match="more than 3 queries"):
        read("query,notes\na,\nb,\nc,\nd,\n")


@database
def test_queries_are_added_and_changed():
    case = make_case(["alien", "other"])
    revision = CaseRevision.objects.filter(case=case).first()
    result = imported(case, DETAILED)
    assert (result.added, result.changed, result.unchanged) == (2, 1, 0)
    assert details(case) == {
        "alien": ("", "=1+1", [], {}, 0),
        "other": ("", "", [], {}, 1),
        "star wars": ("The films", "Both, or\nall three", ["scifi", "Space"], {"lang": "en"}, 2.5),
        "plain": ("", "", [], {}, 1),
    }
    assert CaseRevision.objects.get(case=case) != revision
    again = imported(case, DETAILED)
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)


@database
def test_an_empty_cell_leaves_what_is_there():
    case = make_case(["alien"])
    imported(case, HEADER + 'alien,need,notes,scifi,"{""a"": 1}",2\n')
    before = details(case)
    assert imported(case, HEADER + "alien,,,,,\n").changed == 0
    assert imported(case, "query,information_need\nalien,\n").changed == 0
    assert details(case) == before
    assert imported(case, HEADER + "alien,,,,{},\n").changed == 1
    assert details(case)["alien"][3] == {}


@database
def test_tags_keep_the_spelling_of_the_book():
    case = make_case(["alien", "other"])
    queries.tags.set_tags(query=query_of(case, "other"), tags="SciFi")
    imported(case, 'query,tags\nalien,scifi\nnew,"New, scifi"\nnewer,new\n')
    assert [row[2] for row in details(case).values()] == [["SciFi"], ["SciFi"], ["New", "SciFi"], ["New"]]


@database
def test_a_removed_query_comes_back_with_the_details_of_the_file():
    case = make_case(["alien", "other"])
    queries.remove(case_query=CaseQuery.objects.get(case=case, query__text="alien"))
    assert imported(case, "query,weight\nalien,3\n").added == 1
    assert details(case)["alien"][4] == 3


@database
def test_a_wrong_file_changes_nothing():
    case = make_case(["alien"])
    source = queries_import.open_source(case=case, file=as_file("query,notes,weight\nnew,n,1\nalien,n,x\n"))
    preview = queries_import.preview_queries(case=case, source=source)
    assert (preview.has_errors, [line for line, _ in preview.lines]) == (True, [3])
    with pytest.raises(formats.BadFile, match=r"^Line 3: Column weight: 'x'"):
        queries_import.import_queries(case=case, source=source)
    assert details(case) == {"alien": ("", "", [], {}, 1)}


@database
def test_exported_queries_make_the_same_case_again():
    case = make_case(["star wars", "alien"])
    imported(case, DETAILED)
    text = exported(case)
    assert text == DETAILED
    other = make_case([])
    imported(other, text)
    assert exported(other) == text
    assert details(other) == details(case)


@database
def test_information_needs_are_those_of_quepid():
    case = make_case(["alien", "=sum"])
    imported(case, "query,information_need\nalien,The film\n'=sum,\n")
    text = exported(case, "information-needs")
    assert text == "query,information_need\nalien,The film\n'=sum,\n"
    other = make_case([])
    result = imported(other, text)
    assert (result.added, list(details(other))) == (2, ["alien", "=sum"])
    assert details(other)["alien"][0] == "The film"


@database
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("query,docid,rating\na,1,3\n", "ratings as CSV"),
        ('{"format": "relevancy/1", "kind": "case", "queries": []}', "a case of Relevancy"),
        ("a".encode("utf-16"), "UTF-8"),
        ("query,notes\ncaf\xe9,x\n".encode("latin-1"), "0xe9 is not valid UTF-8"),
        (b"PK\x03\x04 truncated", "ZIP"),
        ("query,notes\n" + "x" * 1_000_001, "1,000,000 characters"),
    ],
)
def test_other_files_are_refused(content, words):
    case = make_case([])
    with pytest.raises(formats.BadFile) as caught:
        queries_import.open_source(case=case, file=as_file(content))
    assert words in str(caught.value)


@database
def test_lines_that_cannot_be_queries_are_left_out_of_a_list():
    case = make_case(["alien"])
    result = imported(case, "alien\nnew\r\n\r\n" + "x" * 2049 + "\nnew\n")
    assert (result.added, result.unchanged, result.repeated, result.rejected) == (1, 1, 1, 1)
    assert [line for line, _ in result.lines] == [4]


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)


@given(st.dictionaries(TEXTS.map(queries.normalize).filter(bool), st.tuples(TEXTS, TEXTS, st.floats(0, 999))))
def test_any_text_is_read_as_it_was_written(rows):
    lines = [(text, need, notes, "", "", f"{weight!r}") for text, (need, notes, weight) in rows.items()]
    text = "".join(queries_csv.write_rows(HEADER.strip().split(","), lines))
    file = read(text)
    assert not file.errors
    for query, (need, notes, weight) in rows.items():
        expected = {"information_need": need, "notes": notes, "weight": weight}
        clean = {name: queries.clean_detail(name=name, value=value, text=query) for name, value in expected.items()}
        assert file.changes[query] == {name: value for name, value in clean.items() if value != ""}
    assert file.pasted.texts == list(rows)


@database
def test_reference_answers_have_a_column_if_there_is_one():
    case = make_case(["alien", "other"])
    assert "reference_answer" not in exported(case)
    assert imported(case, 'query,reference_answer\nalien,"One, two\nand three"\n').changed == 1
    written = exported(case)
    assert written.splitlines()[0] == HEADER.strip() + ",reference_answer"
    assert case.book.queries.get(text="alien").reference_answer == "One, two\nand three"
    assert imported(case, written).changed == 0
