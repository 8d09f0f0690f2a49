"""The index of a file of rankings: when it is built, by whom, and that its errors are those of the file."""

import os
import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from relevancy.engines.errors import EndpointUnreachable, RequestAborted, UnreadableResponse
from relevancy.engines.fields.specs import parse_fields
from relevancy.engines.static import rankings_file, rankings_index
from relevancy.engines.static.engine import StaticEngine
from relevancy.engines.static.rankings_index import open_index
from relevancy.engines.templates.template import parse_template
from relevancy.engines.transport.addresses import AddressRules
from relevancy.engines.types import Connection, Request

from .reading import load_rankings, parse_rankings

CSV = "query,docid,position,title\nwars,1,2,One\nwars,2,1,\ntrek,1,1,Other\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rankings.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The indexes that are built, as they begin."""
    begun: list[Path] = []
    build = rankings_index._build

    def count(path: Path, *rest: object) -> None:
        begun.append(path)
        build(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(rankings_index, "_build", count)
    return begun


def test_open_index_builds_it_again_only_if_the_file_has_changed(path: Path, builds: list[Path]) -> None:
    open_index(path)
    open_index(path)
    assert len(builds) == 1
    os.utime(path, (1, 1))
    open_index(path)
    assert len(builds) == 2
    time = path.stat().st_mtime_ns
    path.write_text(CSV + "trek,2,2,\n")
    os.utime(path, ns=(time, time))
    assert len(open_index(path).find("trek") or []) == 2
    assert len(builds) == 3


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(100)])
def test_open_index_replaces_what_is_no_index(path: Path, content: bytes) -> None:
    index = path.with_name("rankings.csv.index")
    index.write_bytes(content)
    index.with_name("rankings.csv.index.new").write_bytes(content)  # of a process that was killed
    assert list(open_index(path).list_queries()) == ["wars", "trek"]
    assert {each.name for each in path.parent.iterdir()} == {path.name, index.name, f"{index.name}.lock"}


def test_open_index_of_another_layout_is_built_again(
    path: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(path)
    monkeypatch.setattr(rankings_index, "_LAYOUT", 0)
    open_index(path)
    assert len(builds) == 2


def test_open_index_is_built_once_by_several_threads(path: Path, builds: list[Path]) -> None:
    threads = [threading.Thread(target=open_index, args=(path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1


def test_open_index_keeps_the_opened_one_when_the_file_changes(path: Path) -> None:
    before = open_index(path)
    path.write_text("query,docid,position\nwars,9,1\n")
    assert [hit.id for hit in open_index(path).find("wars") or []] == ["9"]
    assert [hit.id for hit in before.find("wars") or []] == ["2", "1"]


def test_open_index_of_an_invalid_file_leaves_none(path: Path) -> None:
    path.write_text(CSV + "wars,1,first,\n")
    with pytest.raises(UnreadableResponse, match="Line 5, column position"):
        open_index(path)
    assert {each.name for each in path.parent.iterdir()} == {path.name, "rankings.csv.index.lock"}


def test_open_index_that_cannot_be_written(path: Path) -> None:
    path.with_name("rankings.csv.index").mkdir()
    with pytest.raises(
        EndpointUnreachable, match=r"index of the file of rankings “rankings.csv” cannot be written: .*data folder"
    ):
        open_index(path)


def test_open_index_stops(path: Path) -> None:
    with pytest.raises(RequestAborted):
        open_index(path, is_stopped=lambda: True)
    assert not path.with_name("rankings.csv.index").exists()


def test_open_index_that_waits_for_another_process_stops(path: Path) -> None:
    stops = iter([False, True])
    with (
        rankings_index._locked(path.with_name("rankings.csv.index.lock"), lambda: False),
        pytest.raises(RequestAborted),
    ):
        open_index(path, is_stopped=lambda: next(stops))


def test_search_many_calls_stop_while_the_index_is_built(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings_index, "_ROWS_BETWEEN_CHECKS", 1)
    calls = []
    engine = StaticEngine(Connection("static", path.name, AddressRules(), data_dir=path.parent))
    request = Request("wars", parse_template("{}", "json"), parse_fields("title"), 10, 0)
    assert list(engine.search_many([request], stop=lambda: bool(calls.append(1)) or len(calls) > 2)) == []
    assert len(calls) == 3
    assert [number for number, _ in engine.search_many([request] * 2)] == [0, 1]


def test_find_of_an_index_that_is_damaged(path: Path) -> None:
    open_index(path)
    file = path.with_name("rankings.csv.index")
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE ranking")
    connection.close()
    with pytest.raises(EndpointUnreachable, match=r"rankings.csv.index.*cannot be read: no such table.*Delete it"):
        open_index(path).find("wars")


def test_find_documents_of_the_first_ranking_by_rank(path: Path) -> None:
    path.write_text("query,docid,position,title\nwars,1,3,Third\nwars,1,1,First\ntrek,1,1,Other\ntrek,5,2,\n")
    hits = open_index(path).find_documents(["5", "1", "nope"])
    assert {doc_id: hit.fields for doc_id, hit in hits.items()} == {"1": {"title": "First"}, "5": {}}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rankings_index, "_MAX_PENDING", 3)
    return


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", range(5))
def test_lines_in_any_order(seed: int) -> None:
    """Queries are written in parts; both ways of reading give the same, which `parse_rankings` asserts."""
    chance = random.Random(seed)
    lines = [
        f"query {query},doc {n},{chance.randrange(4)},{chance.choice(['', 'T'])}\n"
        for query in range(5)
        for n in range(6)
    ]
    chance.shuffle(lines)
    rankings = parse_rankings("query,docid,position,title\n" + "".join(lines))
    assert {len(hits) for hits in rankings.hits_by_query.values()} == {6}
    trec = [f"{query} Q0 d{n} 0 {chance.choice([1, 2.5, -1e-7])} t\n" for query in range(5) for n in range(6)]
    chance.shuffle(trec)
    assert len(parse_rankings("".join(trec)).hits_by_query) == 5


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "lines",
    [
        "a,x,1\nb,y,1\nc,z,1\na,v,2\nb,y,1\na,x,1\n",  # two queries with a repetition: that of the first is named
        "b,y,1\na,x,1\nc,z,1\nc,w,2\nb,y,1\na,x,1\na,w,3\na,w,3\na,w,3\n",
        "a,x,1\nb,y,1\nc,z,1\nd,z,1\na,x,1\na,v,one\n",  # a line that cannot be read comes first
    ],
)
def test_errors_of_queries_in_parts(lines: str) -> None:
    with pytest.raises(UnreadableResponse):
        parse_rankings("query,docid,position\n" + lines)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "lines",
    ["s,a,x,1\nt,a,x,1\ns,b,x,1\nt,b,x,1\ns,a,y,2\n", "t,a,x,1\ns,b,z,1\ns,b,z,1\nt,a,x,1\n", "s,a,x,1\nt,a,x,one\n"],
)
def test_errors_of_several_snapshots(lines: str) -> None:
    with pytest.raises(UnreadableResponse):
        parse_rankings("snapshot name,query,docid,position\n" + lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"query,docid,position\na,x,one\nb,\0,1\nc,\xff,1\n", "not UTF-8: line 4 contains the byte 0xff"),
        (b"query,docid,position\na,x,one\nb,\0,1\n", r"Line 3 .*U\+0000"),
        (b"query,docid,position\ra,x,one\rb,\0,1\r", r"Line 3 .*U\+0000"),
        (b"\0", r"Line 1 .*U\+0000"),
        (b"query,docid,position\na,\xc3", "line 2 contains the byte 0xc3"),
    ],
)
def test_characters_come_before_other_errors(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    with pytest.raises(UnreadableResponse, match=message):
        open_index(path)


def test_a_file_of_any_size_is_indexed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings_file, "MAX_SIZE", 2)
    with pytest.raises(
        UnreadableResponse, match="whose runs are imported is held in memory and can have at most 2 results"
    ):
        rankings_file.parse_snapshots(CSV)
    assert len(load_rankings(path).hits_by_query) == 2
