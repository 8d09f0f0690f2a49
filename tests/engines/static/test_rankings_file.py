"""Files of rankings: how much of one is read into memory."""

from collections.abc import Iterator

import pytest

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.static import rankings_file
from relevancy.engines.static.rankings_file import parse_snapshots

CSV = "query,docid,position,title\n" + "".join(f"star,{n},{n},Star {n}\n" for n in range(6))
TREC = "".join(f"star Q0 {n} {n} {1 / n} tag\n" for n in range(1, 12))


@pytest.mark.parametrize(("text", "line"), [(CSV, 7), (TREC, 11)])
def test_parse_rankings_stops_at_the_limit(text: str, line: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten hits and fields: the rest of the file is not even looked at."""
    monkeypatch.setattr(rankings_file, "MAX_SIZE", 10)
    lines = rankings_file._lines
    read = []

    def count(content: str) -> Iterator[str]:
        for item in lines(content):
            read.append(item)
            yield item

    monkeypatch.setattr(rankings_file, "_lines", count)
    with pytest.raises(UnreadableResponse, match=f"Line {line} .* at most 10 results"):
        parse_snapshots(text + "star,x,x,not a number\n" * 1000)
    assert len(read) <= line + 1  # the first line is read twice


def test_parse_rankings_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings_file, "MAX_SIZE", 12)
    (rankings,) = parse_snapshots(CSV)
    assert len(rankings.hits_by_query["star"]) == 6


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_keep_their_ends(end: str) -> None:
    assert list(rankings_file._lines(f"a{end}{end}b\u2028c")) == [f"a{end}", end, "b\u2028c"]
