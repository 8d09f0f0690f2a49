"""The adapter for files of rankings, and its file formats."""

from __future__ import annotations

import os

import pytest

from relevancy.engines.errors import EndpointUnreachable, QueryMissing, UnreadableResponse, UnsupportedByEngine
from relevancy.engines.fields.specs import parse_fields
from relevancy.engines.static.engine import StaticEngine
from relevancy.engines.templates.template import parse_template
from relevancy.engines.transport.addresses import AddressRules
from relevancy.engines.types import Connection, Hit, Request
from tests.engines.static.reading import load_rankings, parse_rankings
from tests.shared_data import shared_data

QUEPID = (
    "Query Text,Doc ID,Doc Position,title,year\r\n"
    'star wars,11,2,"Star Wars, again",1977\r\n'
    "star wars,12,1,Empire,1980\r\n"
    '"größe 😀 ""x""",13,1,Größe,\r\n'
    "\r\n"
    "nothing,,,,\r\n"
)

RUN = "q1 Q0 a 1 1.5 tag\nq1\tQ0\tc  9 2.5 tag\nq1 Q0 b 2 2.5 tag\n\nq2 Q0 a 1 -3e0 tag\n"


def engine(folder, text=QUEPID, name="rankings.csv"):
    if text is not None:
        (folder / name).write_bytes(text.encode())
    return StaticEngine(Connection("static", name, AddressRules(), data_dir=folder))


def request(query, rows=10, start=0, fields="title"):
    return Request(query, parse_template("{}", "json"), parse_fields(fields), rows, start)


def test_search_returns_the_ranking_of_the_query_by_position(tmp_path):
    page = engine(tmp_path).search(request(" star wars ", fields="title year"))
    assert page.hits == (
        Hit("12", None, {"id": "12", "title": "Empire", "year": "1980"}),
        Hit("11", None, {"id": "11", "title": "Star Wars, again", "year": "1977"}),
    )
    assert page.total == 2
    assert page.rendered_request == {"file": "rankings.csv", "query": " star wars ", "start": 0, "rows": 10}


def test_search_pages(tmp_path):
    static = engine(tmp_path)
    assert [hit.id for hit in static.search(request("star wars", rows=1, start=1)).hits] == ["11"]
    assert static.search(request("star wars", rows=1, start=5)).hits == ()
    assert static.search(request("star wars", rows=0)).total == 2


def test_search_of_a_query_without_hits(tmp_path):
    page = engine(tmp_path).search(request("nothing"))
    assert (page.hits, page.total) == ((), 0)


@pytest.mark.parametrize("query", ["unknown", "Star Wars", ""])
def test_search_of_a_query_that_the_file_does_not_have_is_an_error(tmp_path, query):
    with pytest.raises(QueryMissing, match=f"has no query “{query}”") as raised:
        engine(tmp_path).search(request(query))
    assert raised.value.kind == "missing"


def test_search_many_keeps_order_and_stops(tmp_path):
    static = engine(tmp_path)
    outcomes = list(static.search_many([request("star wars"), request("nothing"), request('größe 😀 "x"')]))
    assert [(number, page.total) for number, page in outcomes] == [(0, 2), (1, 0), (2, 1)]
    assert list(static.search_many([request("x")], stop=lambda: True)) == []


def test_search_many_of_a_missing_file(tmp_path):
    [(number, error)] = engine(tmp_path, None).search_many([request("x")])
    assert (number, type(error)) == (0, EndpointUnreachable)


def test_lookup_keeps_the_given_order_without_unknown_ids(tmp_path):
    hits = engine(tmp_path).lookup(["13", "nope", "12"], parse_fields("id:id title"))
    assert hits == [Hit("13", None, {"id": "13", "title": "Größe"}), Hit("12", None, {"id": "12", "title": "Empire"})]


def test_search_returns_the_id_under_every_name(tmp_path):
    hit = engine(tmp_path).search(request("star wars", fields="id:sku title:sku id")).hits[0]
    assert hit == Hit("12", None, {"sku": "12", "id": "12"})


def test_fields_version_and_known_queries(tmp_path):
    static = engine(tmp_path)
    assert static.fields() == ["id", "title", "year"]
    assert static.version() == "CSV with 3 queries"
    assert engine(tmp_path, RUN, "run.txt").version() == "TREC run with 2 queries"
    with pytest.raises(UnsupportedByEngine, match="does not explain"):
        static.explain(request("star wars"), "11")


@pytest.mark.parametrize("name", ["../rankings.csv", "a/b.csv", "a\\b", "..", ".", "", "a\0b"])
def test_version_rejects_names_outside_the_data_directory(tmp_path, name):
    with pytest.raises(EndpointUnreachable, match="not a valid name"):
        engine(tmp_path, None, name).version()


def test_version_rejects_links_to_files_outside_the_data_directory(tmp_path):
    (tmp_path / "secret.csv").write_text(QUEPID)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(EndpointUnreachable, match="outside the data directory"):
        engine(tmp_path / "in", None, "link.csv").version()


def test_version_of_missing_files_and_folders(tmp_path):
    with pytest.raises(EndpointUnreachable, match=r"“gone.csv” does not exist. Upload it again"):
        engine(tmp_path, None, "gone.csv").version()
    (tmp_path / "folder").mkdir()
    with pytest.raises(EndpointUnreachable, match="cannot be read"):
        engine(tmp_path, None, "folder").version()
    with pytest.raises(EndpointUnreachable, match="RELEVANCY_DATA_DIR"):
        StaticEngine(Connection("static", "x.csv", AddressRules())).version()


def test_load_rankings_sees_a_changed_file(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("query,docid,position\na,1,1\n")
    assert list(load_rankings(path).hits_by_query) == ["a"]
    path.write_text("query,docid,position\nb,1,1\n")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    assert list(load_rankings(path).hits_by_query) == ["b"]


def test_load_rankings_of_another_encoding(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"query,docid,position\n\xe4,1,1\n")
    with pytest.raises(UnreadableResponse, match="not UTF-8: line 2 contains the byte 0xe4"):
        load_rankings(path)


def test_parse_rankings_orders_a_trec_run_by_score_and_id():
    rankings = parse_rankings(RUN)
    assert rankings.hits_by_query == {
        "q1": [Hit("c", 2.5, {}), Hit("b", 2.5, {}), Hit("a", 1.5, {})],
        "q2": [Hit("a", -3.0, {})],
    }


def test_parse_rankings_accepts_byte_order_mark_crlf_and_any_column_order():
    text = "\ufeffposition,query,doc_id\r\n2.0,a,x\r\n1,a, y \r\n"
    assert parse_rankings(text).hits_by_query == {"a": [Hit("y", None, {}), Hit("x", None, {})]}
    trec = parse_rankings("\ufeff" + RUN.replace("\n", "\r\n"))
    assert trec.hits_by_query == parse_rankings(RUN).hits_by_query


def test_parse_rankings_ignores_the_columns_of_a_snapshot():
    text = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\ns,2024,1,a,x,1,T\n"
    rankings = parse_rankings(text)
    assert rankings.hits_by_query == {"a": [Hit("x", None, {"title": "T"})]}
    assert rankings.fields == ("title",)


def test_parse_rankings_removes_formula_protection():
    assert list(parse_rankings("query,docid,position\n'＝a,x,1\n").hits_by_query) == ["＝a"]
    assert list(parse_rankings("query,docid,position\n''=a,x,1\n").hits_by_query) == ["'=a"]
    text = "query,docid,position,note\n'=a,'-x,1,'tis\n"
    assert parse_rankings(text).hits_by_query == {"=a": [Hit("-x", None, {"note": "'tis"})]}


def test_parse_rankings_keeps_repetitions_and_the_order_of_equal_positions():
    text = "query,docid,position\na,x,1\na,y,1\na,x,2\n"
    assert [hit.id for hit in parse_rankings(text).hits_by_query["a"]] == ["x", "y", "x"]


@pytest.mark.parametrize(("text", "suffix"), [(QUEPID, "csv"), (RUN, "txt")])
def test_check_upload(tmp_path, text, suffix):
    path = tmp_path / "upload"
    path.write_bytes(text.encode())
    assert StaticEngine.check_upload(path) == suffix


def test_check_upload_of_a_file_without_queries(tmp_path):
    path = tmp_path / "upload"
    path.write_text("query,docid,position\n")
    with pytest.raises(UnreadableResponse, match="contains no query"):
        StaticEngine.check_upload(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty.*Query Text,Doc ID,Doc Position"),
        ("\n \r\n", "empty"),
        ("Query Text,Doc ID\na,b\n", "no column “Doc Position”; its first line is “Query Text,Doc ID”"),
        ("just some words\n", "no column “Query Text”"),
        ("query,docid,position\na,x,first\n", "Line 2, column position of the file of rankings is “first”: a position"),
        ("query,docid,position\na,x,1.5\n", "Line 2, column position.*“1.5”"),
        ("query,docid,position\na,x,\n", "Line 2, column position"),
        ("query,docid,position\n\na,x,nan\n", "Line 3, column position"),
        ("query,docid,position\n,x,1\n", "Line 2, column query.*every row needs a query"),
        ("query,docid,position\na,,1\n", "Line 2, column docid"),
        ("query,docid,position\na,x,1,y\n", "Line 2, column 4.*“y”: the header has fewer columns"),
        ('query,docid,position\n"a,x,1\n', "not valid CSV.*Check its quotes"),
        ('query,docid,position\n"a"b,x,1\n', "Line 2 of the file of rankings is not valid CSV"),
        ("\n" + "x" * 140_000 + ",query,docid,position\n", "Line 2 of the file of rankings is not valid CSV"),
        ('query,docid,position\na,x,1\n"b,x,1\nc,x,1\n', "Line 3 of the file of rankings is not valid CSV"),
        ("query,docid,position\na,x\0,1\n", "Line 2 of the file of rankings contains the character U.0000"),
        ("query,docid,position\na,x,1\na,y,1\na,x,1\n", "document “x” at position 1 of the query “a” twice"),
        ("a Q0 x 1 2 t\na Q0 y 2 1 t\na Q0 x 3 1 t\n", "document “x” of the query “a” twice"),
        (RUN + "q2 Q0 a 1\n", "Line 6 of the file of rankings has 4 columns: “q2 Q0 a 1”"),
        ("q1 Q0 a 1 high tag\n", "Line 1, column score.*“high”: a score is a number"),
        ("q1 Q0 a 1 inf tag\n", "Line 1, column score.*“inf”"),
    ],
)
def test_parse_rankings_names_line_column_and_value(text, message):
    with pytest.raises(UnreadableResponse, match=message):
        parse_rankings(text)


def test_load_rankings_of_a_real_run():
    rankings = load_rankings(shared_data("trec_eval", "results.test")).hits_by_query
    assert rankings
    for hits in rankings.values():
        assert [(hit.score, hit.id) for hit in hits] == sorted(((hit.score, hit.id) for hit in hits), reverse=True)


def test_parse_rankings_ignores_comments_and_everything_after_the_run_tag():
    text = "# made by hand\nq1 Q0 a 1 1.5 tag more junk at\n#q1 Q0 x 1 9 tag\nq1\tQ0\tb\t1\t2.5\ttag\tend of line.\n"
    rankings = parse_rankings(text)
    assert rankings == parse_rankings("q1 Q0 a 1 1.5 tag\nq1 Q0 b 1 2.5 tag\n")
    assert (rankings.format, len(rankings.hits_by_query["q1"])) == ("TREC run", 2)


def test_parse_rankings_of_comments_only():
    with pytest.raises(UnreadableResponse, match="empty"):
        parse_rankings("# nothing else\n")


SNAPSHOT_HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            "Before,2024-01-01,1,star,a,1\nAfter,2024-01-02,1,star,b,1\n",
            "“Before of 2024-01-01”, “After of 2024-01-02”",
        ),
        ("Before,,1,star,a,1\nAfter,,1,wars,b,1\n", "“Before”, “After”"),
        ("Daily,2024-01-01,1,star,a,1\nDaily,2024-01-02,1,star,b,1\n", "“Daily of 2024-01-01”, “Daily of 2024-01-02”"),
    ],
)
def test_parse_rankings_rejects_several_snapshots(rows, names):
    with pytest.raises(UnreadableResponse, match=f"contains 2 snapshots: {names}. Save the rows of each snapshot"):
        parse_rankings(SNAPSHOT_HEADER + rows)


def test_parse_rankings_names_at_most_five_snapshots():
    rows = "".join(f"Run {number},,1,star,a,1\n" for number in range(8))
    with pytest.raises(UnreadableResponse, match=r"contains 8 snapshots: .*“Run 4” and 3 more"):
        parse_rankings(SNAPSHOT_HEADER + rows)


@pytest.mark.parametrize("name", ["results.test", "results.trunc"])
def test_load_rankings_of_nists_own_runs(name):
    path = shared_data("trec_eval", name)
    lines = [line.split() for line in path.read_text().splitlines()]
    rankings = load_rankings(path).hits_by_query
    assert {(query, hit.id) for query, hits in rankings.items() for hit in hits} == {
        (line[0], line[2]) for line in lines
    }
