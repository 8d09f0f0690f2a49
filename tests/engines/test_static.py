"""The static engine, and the files of rankings it reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relevancy.engines.addresses import AddressRules
from relevancy.engines.base import Connection, Hit, Request
from relevancy.engines.errors import BadQuery, EndpointUnreachable, UnreadableAnswer
from relevancy.engines.fields import parse_fields
from relevancy.engines.rankings_file import RankingsSummary, check_rankings, parse_rankings, read_rankings
from relevancy.engines.static import StaticEngine
from relevancy.engines.templates import parse_template

TREC_DATA = Path(__file__).parents[2].parent / "shared" / "data" / "trec_eval"

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
    assert page.sent == {"file": "rankings.csv", "query": " star wars ", "start": 0, "rows": 10}


def test_search_pages(tmp_path):
    static = engine(tmp_path)
    assert [hit.id for hit in static.search(request("star wars", rows=1, start=1)).hits] == ["11"]
    assert static.search(request("star wars", rows=1, start=5)).hits == ()
    assert static.search(request("star wars", rows=0)).total == 2


@pytest.mark.parametrize("query", ["unknown", "nothing", "Star Wars", ""])
def test_search_of_a_query_without_hits(tmp_path, query):
    page = engine(tmp_path).search(request(query))
    assert (page.hits, page.total) == ((), 0)


def test_search_many_answers_in_order_and_stops(tmp_path):
    static = engine(tmp_path)
    answers = list(static.search_many([request("star wars"), request("x"), request('größe 😀 "x"')]))
    assert [(number, page.total) for number, page in answers] == [(0, 2), (1, 0), (2, 1)]
    assert list(static.search_many([request("x")], stop=lambda: True)) == []


def test_search_many_of_a_missing_file_gives_errors(tmp_path):
    [(number, error)] = engine(tmp_path, None).search_many([request("x")])
    assert (number, type(error)) == (0, EndpointUnreachable)


def test_lookup_keeps_order_and_leaves_unknown_ids_out(tmp_path):
    hits = engine(tmp_path).lookup(["13", "nope", "12"], parse_fields("id:id title"))
    assert hits == [Hit("13", None, {"id": "13", "title": "Größe"}), Hit("12", None, {"id": "12", "title": "Empire"})]


def test_picked_fields_know_the_id_under_every_name(tmp_path):
    hit = engine(tmp_path).search(request("star wars", fields="id:sku title:sku id")).hits[0]
    assert hit == Hit("12", None, {"sku": "12", "id": "12"})


def test_fields_version_and_what_it_cannot(tmp_path):
    static = engine(tmp_path)
    assert static.fields() == ["id", "title", "year"]
    assert static.version() == "CSV with 3 queries"
    assert engine(tmp_path, RUN, "run.txt").version() == "TREC run with 2 queries"
    with pytest.raises(BadQuery, match="does not say why"):
        static.explain(request("star wars"), "11")


@pytest.mark.parametrize("name", ["../rankings.csv", "a/b.csv", "a\\b", "..", ".", "", "a\0b"])
def test_version_refuses_names_that_lead_elsewhere(tmp_path, name):
    with pytest.raises(EndpointUnreachable, match="cannot be the name"):
        engine(tmp_path, None, name).version()


def test_version_refuses_links_that_lead_elsewhere(tmp_path):
    (tmp_path / "secret.csv").write_text(QUEPID)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(EndpointUnreachable, match="leads out"):
        engine(tmp_path / "in", None, "link.csv").version()


def test_version_of_missing_files_and_folders(tmp_path):
    with pytest.raises(EndpointUnreachable, match=r"“gone.csv” does not exist. Upload it again"):
        engine(tmp_path, None, "gone.csv").version()
    (tmp_path / "folder").mkdir()
    with pytest.raises(EndpointUnreachable, match="cannot be read"):
        engine(tmp_path, None, "folder").version()
    with pytest.raises(EndpointUnreachable, match="RELEVANCY_DATA_DIR"):
        StaticEngine(Connection("static", "x.csv", AddressRules())).version()


def test_read_rankings_sees_a_changed_file(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("query,docid,position\na,1,1\n")
    assert list(read_rankings(path)) == ["a"]
    assert read_rankings(path) is read_rankings(path)
    path.write_text("query,docid,position\nb,1,1\n")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    assert list(read_rankings(path)) == ["b"]


def test_read_rankings_of_another_encoding(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"query,docid,position\n\xe4,1,1\n")
    with pytest.raises(UnreadableAnswer, match="not UTF-8: line 2 holds the byte 0xe4"):
        read_rankings(path)


def test_parse_rankings_trec_order_is_score_then_id_both_descending():
    rankings = parse_rankings(RUN)
    assert rankings.by_query == {
        "q1": [Hit("c", 2.5, {}), Hit("b", 2.5, {}), Hit("a", 1.5, {})],
        "q2": [Hit("a", -3.0, {})],
    }


def test_parse_rankings_accepts_mark_crlf_lower_case_and_column_order():
    text = "\ufeffposition,query,doc_id\r\n2.0,a,x\r\n1,a, y \r\n"
    assert parse_rankings(text).by_query == {"a": [Hit("y", None, {}), Hit("x", None, {})]}
    trec = parse_rankings("\ufeff" + RUN.replace("\n", "\r\n"))
    assert trec.by_query == parse_rankings(RUN).by_query


def test_parse_rankings_of_a_snapshot_leaves_its_own_columns_out():
    text = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\ns,2024,1,a,x,1,T\n"
    rankings = parse_rankings(text)
    assert rankings.by_query == {"a": [Hit("x", None, {"title": "T"})]}
    assert rankings.fields == ("title",)


def test_parse_rankings_takes_protecting_apostrophes_off():
    text = "query,docid,position,note\n'=a,'-x,1,'tis\n"
    assert parse_rankings(text).by_query == {"=a": [Hit("-x", None, {"note": "'tis"})]}


def test_parse_rankings_keeps_repeats_and_file_order_of_equal_positions():
    text = "query,docid,position\na,x,1\na,y,1\na,x,2\n"
    assert [hit.id for hit in parse_rankings(text).by_query["a"]] == ["x", "y", "x"]


def test_check_rankings_sums_up():
    assert check_rankings(QUEPID) == RankingsSummary("CSV", 3, 3, ("title", "year"))
    assert check_rankings(RUN) == RankingsSummary("TREC run", 2, 4, ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty.*Query Text,Doc ID,Doc Position"),
        ("\n \r\n", "empty"),
        ("Query Text,Doc ID\na,b\n", "no column “Doc Position”; its first line is “Query Text,Doc ID”"),
        ("just some words\n", "no column “Query Text”"),
        ("query,docid,position\na,x,first\n", "Line 2, column position of the file of rankings is “first”: a position"),
        ("query,docid,position\na,x,1.5\n", "Line 2, column position.*“1.5”"),
        ("query,docid,position\na,x,\n", "Line 2, column position"),
        ("query,docid,position\n\na,x,nan\n", "Line 3, column position"),
        ("query,docid,position\n,x,1\n", "Line 2, column query.*each row needs a query"),
        ("query,docid,position\na,,1\n", "Line 2, column docid"),
        ("query,docid,position\na,x,1,y\n", "Line 2, column 4.*“y”: the header has fewer columns"),
        ('query,docid,position\n"a,x,1\n', "no CSV.*Check its quotes"),
        ('query,docid,position\n"a"b,x,1\n', "Line 2 of the file of rankings is no CSV"),
        (RUN + "q2 Q0 a 1\n", "Line 6 of the file of rankings has 4 columns: “q2 Q0 a 1”"),
        ("q1 Q0 a 1 high tag\n", "Line 1, column score.*“high”: a score is a number"),
        ("q1 Q0 a 1 inf tag\n", "Line 1, column score.*“inf”"),
    ],
)
def test_check_rankings_names_line_column_and_value(text, says):
    with pytest.raises(UnreadableAnswer, match=says):
        check_rankings(text)


def test_read_rankings_of_a_real_run():
    if not TREC_DATA.exists():
        pytest.skip("../shared/data/trec_eval is not there")
    rankings = read_rankings(TREC_DATA / "results.test")
    assert rankings
    for hits in rankings.values():
        assert [(hit.score, hit.id) for hit in hits] == sorted(((hit.score, hit.id) for hit in hits), reverse=True)
