"""Every format of ratings: recognised, imported, exported, imported again; and bad files, of which nothing is imported."""

import io
import json
import zipfile
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import accounts, formats, ratings
from relevancy.formats import exports, file_formats
from relevancy.formats.ratings import judgement_lists, ltr, ratings_import, ratings_json, rre, trec
from relevancy.formats.ratings.ratings_file import RatingsFile
from relevancy.formats.ratings.topics import Topics
from relevancy.models import Case, Rating, RatingImport, User
from tests.factories import make_case, make_user

database = pytest.mark.django_db
GRADES = {"star wars": {"1": 3, "a b%20c": 0}, "alien": {"7": 2}}
RRE_GROUPS = {
    "topics": [
        {
            "description": "films",
            "query_groups": [
                {
                    "name": "space",
                    "queries": [
                        {"template": "t.json", "placeholders": {"$query": "star wars"}},
                        {"template": "t.json", "placeholders": {"$query": "starwars"}},
                    ],
                    "relevant_documents": {"1": {"gain": 3}, "2": {"gain": 0}},
                }
            ],
        }
    ]
}
RRE_BY_RATING = {
    "id_field": "id",
    "index": "films",
    "template": "t.json",
    "queries": [
        {"placeholders": {"$query": "star wars"}, "relevant_documents": {"3": ["1"], "0": ["2"]}},
        {"placeholders": {"$query": "starwars"}, "relevant_documents": {"3": ["1"], "0": ["2"]}},
    ],
}
BOTH = {"star wars": {"1": 3, "2": 0}, "starwars": {"1": 3, "2": 0}}
RRE_BY_DOCUMENT = {
    "queries": [
        {"placeholders": {"$query": text}, "relevant_documents": {"1": {"gain": 3}, "2": {"gain": "0"}}}
        for text in BOTH
    ]
}
# format, content, ratings
READ = [
    (
        "ltr",
        "3 qid:1 1:0.5 2:7 # 1 star wars\n0 qid:1 # 2 star wars\n-1 qid:1 # 9 star wars\n",
        {"star wars": {"1": 3, "2": 0}},
    ),
    ("ltr", "# qid:1: star wars\n# grade (0-3)\n3\tqid:1\t# 1\r\n\r\n0\tqid:1\t# 2\n", {"star wars": {"1": 3, "2": 0}}),
    ("rre", json.dumps(RRE_GROUPS), BOTH),
    ("rre", json.dumps(RRE_BY_RATING), BOTH),
    ("rre", "\ufeff" + json.dumps(RRE_BY_DOCUMENT), BOTH),
    ("json", json.dumps({"queries": [{"query": text, "ratings": docs} for text, docs in BOTH.items()]}), BOTH),
    (
        "searchtweak",
        json.dumps(
            [{"grade": grade, "keyword": "star wars", "position": 1, "doc": doc} for doc, grade in (("1", 3), ("2", 0))]
        ),
        {"star wars": {"1": 3, "2": 0}},
    ),
    (
        "rankquest",
        json.dumps(
            [
                {
                    "id": "a",
                    "searchContext": {"query": "star wars"},
                    "ratings": [{"documentId": "1", "rating": 3}, {"documentId": "2"}],
                }
            ]
        ),
        {"star wars": {"1": 3, "2": 0}},
    ),
    ("csv", "star wars,1,3\nstar wars,2,0\n", {"star wars": {"1": 3, "2": 0}}),
]


def as_file(content):
    return io.BytesIO(content if isinstance(content, bytes) else content.encode())


def read(case, content, format="", name=""):
    source = ratings_import.open_source(case=case, file=as_file(content), format=format, name=name)
    with closing(RatingsFile(source.read(source.lines()))) as file:
        return source.format.name, {query: {doc_id: value for doc_id, _, value in file[query]} for query in file}


def exported(name, case):
    with exports.files_of(Case)[name].open(case, case.owner) as file:
        return file.read()


def stored(case):
    rows = Rating.objects.filter(query__book=case.book).values_list("query__text", "doc_id", "value")
    grades = {}
    for query, doc_id, value in rows:
        grades.setdefault(query, {})[doc_id] = value
    return grades


@database
@pytest.mark.parametrize(("format", "content", "ratings"), READ)
def test_a_file_is_recognised_and_read(format, content, ratings):
    case = make_case(["other"])
    assert read(case, content) == (format, ratings)
    source = ratings_import.open_source(case=case, file=as_file(content))
    preview = ratings_import.preview_ratings(case=case, source=source, by=case.owner)
    assert (preview.errors, preview.added) == ([], sum(map(len, ratings.values())))
    imported = ratings_import.import_ratings(case=case, source=source, by=case.owner)
    assert (imported.changed, stored(case)) == (preview.added, ratings)


@database
def test_qrels_name_queries_by_id_or_by_text():
    case = make_case(["star", "alien"])
    ids = dict(case.book.queries.values_list("text", "pk"))
    by_id = f"# judged in May\n{ids['star']} 0 a%20b 3\n\n{ids['alien']}\t0\tc\t-1\n"
    assert read(case, by_id) == ("trec", {"star": {"a b": 3}, "alien": {}})
    assert read(case, "star 0 a%20b 3\nalien 0 c 1\n") == ("trec", {"star": {"a%20b": 3}, "alien": {"c": 1}})
    with pytest.raises(formats.BadFile, match="Line 2: the case has no query with the id or text 'dune'"):
        read(case, "star 0 a 3\ndune 0 c 1\n")


@database
@pytest.mark.parametrize("name", ["ratings", "qrels", "ltr", "rre", "json", "rankquest"])
def test_an_export_is_imported_to_the_same_ratings(name):
    case = make_case(list(GRADES), GRADES)
    content = exported(name, case)
    assert stored(case) == GRADES
    Rating.objects.all().delete()
    source = ratings_import.open_source(case=case, file=as_file(content))
    ratings_import.import_ratings(case=case, source=source, by=case.owner)
    assert stored(case) == GRADES
    assert exported(name, case) == content


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8).map(
    lambda text: " ".join(text.split())
)
TEXTS = texts.filter(lambda text: text and not text.startswith("#"))


@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 9)), min_size=1, max_size=8))
def test_lines_for_learning_to_rank_keep_texts_and_ids(rows):
    lines = [f"{grade} qid:7 # {trec.encode_doc_id(doc_id)} {text}\n" for text, doc_id, grade in rows]
    for (text, doc_id, grade), line in zip(rows, lines, strict=True):
        (row,) = ltr.read_ratings([line], Topics({7: text}, by_id=True))
        assert (row.query, row.doc_id, row.rating) == (text, doc_id, str(grade))


@given(st.dictionaries(TEXTS, st.dictionaries(TEXTS, st.integers(0, 9), min_size=1), min_size=1, max_size=5))
def test_both_forms_of_rre_are_read_alike(grades):
    by_document, by_rating = [], []
    for text, documents in grades.items():
        of_grade = {}
        for doc_id, grade in documents.items():
            of_grade.setdefault(str(grade), []).append(doc_id)
        by_rating.append({"placeholders": {"$query": text}, "relevant_documents": of_grade})
        gains = {doc_id: {"gain": grade} for doc_id, grade in documents.items()}
        by_document.append({"placeholders": {"$query": text}, "relevant_documents": gains})
    result = [
        {(row.query, row.doc_id, row.rating) for row in rre.read_ratings(as_file(json.dumps({"queries": queries})))}
        for queries in (by_document, by_rating)
    ]
    assert (
        result[0]
        == result[1]
        == {(text, doc, str(grade)) for text, docs in grades.items() for doc, grade in docs.items()}
    )


def zipped(content, name="ratings.json"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


BAD = [
    ("3 qid:1 # 1 star wars\n3 qid:1 star wars\n", ["Line 2", "not a judgment", "3 qid:1 star wars"]),
    ("3 qid:1 # 1 star wars\n9 qid:1 # 2 star wars\n", ["Line 2", "rating", "9", "0 to 3"]),
    ("3 qid:1 # 1 star wars\n2 qid:1 # 1 star wars\n", ["Line 2", "'1'", "2 here and 3 before"]),
    ("3 qid:5 # 1\n", ["Line 1", "no query", "'5'"]),
    ("5 0 1 3\n", ["Line 1", "no query", "'5'"]),
    (
        json.dumps({"queries": [{"relevant_documents": {"1": {"gain": 1}}}]}),
        ["queries[1].placeholders.$query", "missing"],
    ),
    (
        json.dumps({"queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"1": {"gain": None}}}]}),
        ["queries[1].relevant_documents.1", "None", "number"],
    ),
    (
        json.dumps({"queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"good": ["1"]}}]}),
        ["queries[1].relevant_documents", "rating", "'good'", "not a number"],
    ),
    ('{"queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"1": ', ["Line 1", "not valid JSON"]),
    ('[{"keyword": "a", "grade": "x", "doc": "1"}]', ["[1]", "rating", "'x'"]),
    ('[{"searchContext": {"x": "a", "y": "b"}, "ratings": []}]', ["[1].searchContext", "'query'"]),
    ("a b c\n", ["not recognised", "'a b c'", "TREC qrels", "ratings as CSV"]),
    ("", ["not recognised"]),
    ("query,docid,rating,rater\na,1,2,x\x00@y\n", ["Line 2", "column rater", "U+0000"]),
    ("1 Q0 d 1 2.5 run\n", ["TREC run", "rankings", "not ratings"]),
    ('{"format": "relevancy/1", "kind": "case", "queries": []}', ["a case of Relevancy", "a whole case"]),
    (b"PK\x03\x04broken", ["ZIP file", "damaged"]),
    (zipped("{}", "../../etc/passwd.json"), ["path", "../../etc/passwd.json"]),
    ("query,docid,rating\ncafé,1,3\n".encode("latin-1"), ["Line 2", "0xe9", "UTF-8"]),
    ("query,docid,rating\na,1,2\n".encode("utf-16"), ["0xff", "UTF-8"]),
    ('query,docid,rating\na,1,"2\nb,1,2\n', ["Line 2", "not valid CSV", "never closed"]),
    (f"query,docid,rating\na,1,{'9' * 200_000}\n", ["Line 2", "131,072 characters"]),
]


@database
@pytest.mark.parametrize(("content", "words"), BAD, ids=range(len(BAD)))
def test_nothing_of_a_bad_file_is_imported(content, words):
    case = make_case(["star wars"])
    with pytest.raises(formats.BadFile) as caught:
        source = ratings_import.open_source(case=case, file=as_file(content))
        ratings_import.import_ratings(case=case, source=source, by=case.owner)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert len(message) < 500
    assert not Rating.objects.exists()
    assert case.book.queries.count() == 1


@database
def test_ratings_of_several_raters_stay_theirs():
    case = make_case(["star wars"])
    text = f"query,docid,{case.owner.email},Ben\nstar wars,1,3,1\nstar wars,2,,2\n"
    source = ratings_import.open_source(case=case, file=as_file(text))
    preview = ratings_import.preview_ratings(case=case, source=source, by=case.owner)
    assert (preview.added, preview.raters) == (3, [case.owner.email, "Ben"])
    assert ratings_import.import_ratings(case=case, source=source, by=case.owner).changed == 3
    ben = User.objects.get(name="Ben")
    assert (ben.is_active, set(ben.ratings.values_list("doc_id", "value"))) == (False, {("1", 1), ("2", 2)})
    again = ratings_import.preview_ratings(case=case, source=source, by=case.owner)
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)


@database
def test_one_rater_under_two_names_is_refused():
    case = make_case(["star wars"])
    source = ratings_import.open_source(case=case, file=as_file("query,docid,rating,rater\ns,1,3,Ben\ns,2,1,ben\n"))
    with pytest.raises(formats.BadFile, match="the same rater"):
        ratings_import.import_ratings(case=case, source=source, by=case.owner)
    assert not Rating.objects.exists()


@database
def test_an_import_of_several_raters_that_fails_imports_none(monkeypatch):
    case = make_case(["star wars"])
    dana = accounts.ensure_raters(["Dana"], by=case.owner)["Dana"]
    text = "query,docid,rating,rater\nstar wars,1,3,Ann\nstar wars,2,1,Dana\nnew,2,1,\n"
    source = ratings_import.open_source(case=case, file=as_file(text))

    def fail(*, case, query_ids, by):
        raise ratings.ImportFailed("The scale was changed.")

    monkeypatch.setattr("relevancy.queries.add_prepared", fail)
    with pytest.raises(formats.BadFile, match="The scale was changed"):
        ratings_import.import_ratings(case=case, source=source, by=case.owner)
    assert not Rating.objects.exists() and not RatingImport.objects.exists()
    assert list(User.objects.filter(kind=User.Kind.FILE)) == [dana]


DETECTED = [
    ('{"format": "relevancy/1", "kind": "case"', ["relevancy-case"]),
    ('{"format": "relevancy/1", "kind": "book"', ["relevancy-book"]),
    (zipped('{"format": "relevancy/1", "kind": "book"}', "book_export_7.json"), ["relevancy-book"]),
    ("query,docid,rating\n", ["csv"]),
    ("query;docid;rating\n", ["csv"]),
    ("star wars;d7;3\n", ["csv"]),
    ("query;information_need\nstar wars;a film\n", ["queries-csv"]),
    ('"Query" , DOC_ID,Rating,Title\n', ["csv"]),
    ("query,docid,ann@example.org\n", ["csv"]),
    ("query,docid,rating,position\na,1,2,3\n", ["csv", "rankings-csv"]),
    ("Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n", ["rankings-csv"]),
    ("Query Text,Doc ID,Doc Position\n", ["rankings-csv"]),
    ("1 Q0 d 1 2.5 run\n", ["trec-run"]),
    ("# comment\n1 0 d 2\n", ["trec"]),
    ("  # comment\n1 0 d 2\n", ["trec"]),
    ("1 0 d 2\r2 0 d 2\r", ["trec"]),
    ("query,information_need\nstar wars,a film\n", ["queries-csv"]),
    ("star wars\nalien\n", []),
    ("[draft] a query in brackets\n", []),
    *((content, [format]) for format, content, _ in READ),
]


@pytest.mark.parametrize(("content", "names"), DETECTED, ids=range(len(DETECTED)))
def test_formats_are_detected(content, names):
    assert [file_format.name for file_format in file_formats.detect(file_formats.read_head(as_file(content)))] == names


def test_a_list_of_queries_that_looks_like_another_format_is_asked_about():
    file = as_file("1 0 7 3\n2 0 7 3\n")
    with pytest.raises(formats.UnclearFile, match=r"queries, one to a line or TREC qrels") as caught:
        file_formats.choose(file, file_formats.FileKind.QUERIES)
    assert [file_format.name for file_format in caught.value.formats] == ["queries"]
    assert file_formats.choose(file, file_formats.FileKind.QUERIES, wanted="queries").name == "queries"
    assert file_formats.choose(file, file_formats.FileKind.RATINGS).name == "trec"


def test_a_format_of_another_kind_is_not_chosen():
    with pytest.raises(formats.BadFile, match="no format 'trec-run' for ratings"):
        file_formats.choose(as_file("1 0 7 3\n"), file_formats.FileKind.RATINGS, wanted="trec-run")


@database
def test_the_rater_of_an_import_is_the_user_unless_another_is_given():
    case, rater = make_case(["a"]), make_user()
    source = ratings_import.open_source(case=case, file=as_file("a,1,3\n"))
    ratings_import.import_ratings(case=case, source=source, by=case.owner, rater=rater)
    assert Rating.objects.get().rater == rater


NUMBER = 1853562411209818112  # of 19 digits, as Solr numbers versions


@pytest.mark.parametrize(
    ("read", "content", "rows"),
    [
        (
            rre.read_ratings,
            {"queries": [{"placeholders": {"$query": "a"}, "relevant_documents": {"3": [NUMBER]}}], "created": NUMBER},
            [("a", str(NUMBER), "3")],
        ),
        (
            judgement_lists.read_searchtweak,
            [{"keyword": "a", "doc": NUMBER, "grade": None, "position": NUMBER, "user": None}],
            [("a", str(NUMBER), "")],
        ),
        (
            judgement_lists.read_rankquest,
            [{"id": NUMBER, "searchContext": {"query": "a"}, "ratings": [{"documentId": NUMBER, "rating": None}]}],
            [("a", "", ""), ("a", str(NUMBER), "")],
        ),
        (
            ratings_json.read_ratings,
            {"id": NUMBER, "queries": [{"query": "a", "ratings": {"x": None}}, {"query": "b", "ratings": None}]},
            [("a", "", ""), ("a", "x", ""), ("b", "", "")],
        ),
    ],
)
def test_json_may_have_numbers_of_19_digits_and_null_for_what_is_not_rated(read, content, rows):
    assert [row[:3] for row in read(io.BytesIO(json.dumps(content).encode()))] == rows
