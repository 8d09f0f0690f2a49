"""Search logs as CSV and UBI: what is counted, and what is refused with its place."""

import io
import json

import pytest

from relevancy.formats.errors import BadFile
from relevancy.optional.clicks import ubi
from relevancy.optional.clicks.log_formats import read_log
from relevancy.optional.clicks.search_log import ShownDocument


def counted(log):
    return log.texts(range(len(log.counts())))


def read(text, events=None, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_log(io.BytesIO(content), io.BytesIO(events.encode()) if events else None, **options)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def search(query_id, text, *results):
    return {"query_id": query_id, "user_query": text, "query_response_hit_ids": list(results)}


def click(query_id, doc_id, action="click"):
    return {"action_name": action, "query_id": query_id, "event_attributes": {"object": {"object_id": doc_id}}}


def test_csv_counts_searches():
    with read("\ufeffCount,Query\n3,star wars\n2,  star wars \n0,never\n10,Alien\n") as log:
        assert counted(log) == [("Alien", 10), ("star wars", 5)]
        assert log.counts().tolist() == [10, 5]
        assert not log.has_clicks


def test_csv_without_a_count_has_one_search_to_a_row():
    with read("query,time\nalien,1\nalien,2\njaws,3\n") as log:
        assert counted(log) == [("alien", 2), ("jaws", 1)]


def test_csv_with_clicks_counts_searches_at_the_fullest_position():
    """Every search of “alien” showed a document at position 1: 40 searches, not 100."""
    rows = "alien,30,a,1,9\nalien,10,b,1,1\nalien,30,b,2,3\nalien,30,a,2,1\n"
    with read("query,count,docid,position,clicks\n" + rows + "alien,5,a,1,2\njaws,7,,,\njaws,2,x,1,1\n") as log:
        assert counted(log) == [("alien", 60), ("jaws", 7)]
        assert list(log.shown()) == [
            ShownDocument("alien", "a", 1, 35, 11),
            ShownDocument("alien", "a", 2, 30, 1),
            ShownDocument("alien", "b", 1, 10, 1),
            ShownDocument("alien", "b", 2, 30, 3),
            ShownDocument("jaws", "x", 1, 2, 1),
        ]
        assert not log.has_single_searches


def test_lines_that_cannot_be_a_query_are_left_out_and_counted():
    with read("query,count\nalien,1\n,40\n" + "x" * 3000 + ",2\n") as log:
        assert counted(log) == [("alien", 1)]
        assert log.left_out.searches == 42
        assert [line for line, _ in log.left_out.lines] == [3, 4]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("query,count\nalien,many\n", 2, "column count: 'many'"),
        ("query,count\nalien,-3\n", 2, "column count: '-3'"),
        ("query,count\nalien,1.5\n", 2, "column count: '1.5'"),
        ("query,count\nalien,9999999999999\n", 2, "column count"),
        ("query,count\nalien\n", 2, "1 columns instead of 2"),
        ("text,count\nalien,1\n", 1, "must have a column 'query'"),
        ("query,count,searches\nalien,1,1\n", 1, "more than one column count"),
        ("query,count,docid\nalien,1,a\n", 1, "missing: position, clicks"),
        ("query,count,docid,position,clicks\nalien,3,a,1,4\n", 2, "column clicks: '4' is more than the 3 searches"),
        ("query,count,docid,position,clicks\nalien,3,a,0,1\n", 2, "column position: '0'"),
        ("query,count,docid,position,clicks\nalien,3,,1,1\n", 2, "column docid is empty"),
        ('query,count\nalien,1\n"jaws,1\n', 3, "not valid CSV"),
        (b"query,count\nalien,1\ncaf\xe9,1\n", 3, "0xe9"),
    ],
)
def test_bad_csv_is_refused_with_line_and_column(text, line, words):
    with pytest.raises(BadFile) as caught:
        read(text)
    assert caught.value.line == line
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_log_above_the_limit_is_refused():
    with pytest.raises(BadFile, match="too large"):
        read("query\n" + "alien\n" * 100, limit=50)


UBI = lines(
    {"index": {"_index": "ubi_queries"}},
    search("1", "alien", "a", "b", "c"),
    {"_id": "x", "_source": search("2", "alien", "b", "a", "c")},
    search("2", "alien", "b", "a", "c"),
    search("3", "jaws"),
    {**search("4", "alien"), "query_response_hit_ids": None, "query_response_object_ids": ["a", "c"]},
    search("5", " "),
)
EVENTS = lines(
    click("1", "b"),
    click("1", "b"),
    click("2", "b"),
    click("2", "c"),
    click("2", "z"),
    click("3", "a"),
    click("9", "a"),
    click("1", "a", "hover"),
)


def test_ubi_counts_each_query_id_once():
    with read(UBI) as log:
        assert counted(log) == [("alien", 3), ("jaws", 1)]
        assert log.left_out.lines == [(7, "The query is empty.")]
        assert not log.has_clicks


def test_ubi_clicks_are_joined_with_the_results():
    with read(UBI, EVENTS) as log:
        shown = {(row.doc_id, row.position): (row.shown, row.clicks) for row in log.shown()}
        assert shown == {
            ("a", 1): (2, 0),
            ("a", 2): (1, 0),
            ("b", 1): (1, 1),
            ("b", 2): (1, 1),
            ("c", 2): (1, 0),
            ("c", 3): (2, 1),
        }
        assert counted(log) == [("alien", 3), ("jaws", 1)]
        assert log.remarks == [
            "1 click belongs to no search of the file of queries.",
            "1 searches do not name their results; their clicks are left out.",
            "1 click is on documents that are not among the results of their search.",
        ]


def test_ubi_documents_are_examined_down_to_the_last_click():
    """Search 1 ends at “b”, search 2 at “c”, and search 4 has no click: all of its results were seen."""
    with read(UBI, EVENTS) as log:
        assert log.has_single_searches
        examined = {(row.doc_id, row.position): (row.examined, row.clicks, row.last) for row in log.shown()}
        assert examined == {
            ("a", 1): (2, 0, 0),
            ("a", 2): (1, 0, 0),
            ("b", 1): (1, 1, 0),
            ("b", 2): (1, 1, 1),
            ("c", 2): (1, 0, 0),
            ("c", 3): (1, 1, 1),
        }


@pytest.mark.parametrize(
    ("queries", "events", "line", "words"),
    [
        ('{"query_id": "1", "user_query": "a"}\n{"query_id": \n', None, 2, "column 13: this is not valid JSON"),
        (lines(search("1", "a")) + "[1]\n", None, 2, "must be an object"),
        (lines({"user_query": "a"}), None, 1, "query_id: None"),
        (lines({**search("1", "a"), "user_query": 5}), None, 1, "user_query: 5"),
        (lines({**search("1", "a"), "query_response_hit_ids": "a"}), None, 1, "query_response_hit_ids: 'a'"),
        (lines(search("1", "a", "")), None, 1, "document id is empty"),
        (lines(search("1", "a")), lines({"action_name": "click", "query_id": "1"}), 1, "object_id: None"),
        (
            lines(search("1", "a")),
            lines(click("1", "a", "view"), click("1", "a", "buy")),
            None,
            "Its actions are buy, view",
        ),
        ("query,count\na,1\n", EVENTS, None, "belongs to a file of ubi_queries"),
    ],
)
def test_bad_ubi_is_refused_with_line_and_key(queries, events, line, words):
    with pytest.raises(BadFile) as caught:
        read(queries, events)
    assert caught.value.line == line
    assert words in str(caught.value)


def test_other_actions_can_be_clicks():
    with read(UBI, lines(click("1", "c", "add_to_cart"), click("1", "a")), actions={"add_to_cart"}) as log:
        assert [(row.doc_id, row.clicks) for row in log.shown() if row.clicks] == [("c", 1)]


class Records:
    """An engine that has records of User Behavior Insights."""

    def __init__(self, queries, events=()):
        self.records = {"queries": queries, "events": events}
        self.requests = []

    def behaviour_records(self, kind, *, since=None):
        self.requests.append((kind, since))
        yield from self.records[kind]


SEARCH = {"query_id": "1", "user_query": "star wars", "query_response_hit_ids": ["a", "b"]}
CLICKED = {"query_id": "1", "action_name": "click", "event_attributes": {"object": {"object_id": "b"}}}


def test_records_of_an_index_are_read_as_those_of_files():
    calls = []
    engine = Records([SEARCH, {**SEARCH, "query_id": "2"}], [CLICKED])
    with ubi.read_ubi_index(engine, progress=lambda *call: calls.append(call)) as log:
        assert log.texts([0]) == [("star wars", 2)]
        assert [(row.doc_id, row.shown, row.clicks) for row in log.shown()] == [("a", 2, 0), ("b", 2, 1)]
    assert engine.requests == [("queries", None), ("events", None)]
    assert calls == []


def test_wrong_records_of_an_index_are_named_by_their_number():
    with pytest.raises(BadFile, match=r"^Record 2: query_id: None"):
        ubi.read_ubi_index(Records([SEARCH, {}]))
    with pytest.raises(BadFile, match=r"The index ubi_events has no 'click'. Its actions are view"):
        ubi.read_ubi_index(Records([SEARCH], [{**CLICKED, "action_name": "view"}]))
    with pytest.raises(BadFile, match="ubi_queries has more than 1 records"):
        ubi.read_ubi_index(Records([SEARCH, SEARCH]), limit=1)
