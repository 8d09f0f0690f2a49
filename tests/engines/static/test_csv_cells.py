"""CSV of Quepid's pages, which doubles quotes in cells that it does not quote."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relevancy.engines.static.csv_cells import requote

HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text\r\n"
# A cell that is a quote, or begins with one before a comma, cannot be told from an empty cell, and so from another file.
CELLS = st.text(alphabet='ab "\n,é', max_size=8).map(str.strip).filter(lambda cell: not cell or cell.strip('"'))


def as_quepid(cell: str) -> str:
    """Returns a cell as Quepid writes it."""
    cell = cell.replace('"', '""')
    return f'"{cell}"' if any(sign in cell for sign in ",\r\n") else cell


def read(text: str) -> list[list[str]]:
    return list(csv.reader(requote(io.StringIO(text, newline="")), strict=True))


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=4))
@example([['"star wars"', '24" monitor', '"a" or "b"', 'x, "y"\n"z"']])
def test_cells_are_those_that_quepid_has(rows: list[list[str]]) -> None:
    text = HEADER + "\r\n".join(",".join(map(as_quepid, row)) for row in rows)
    assert read(text)[1:] == [row for row in rows if any(row) or len(row) > 1]


@given(st.lists(st.lists(st.text(alphabet='ab ",\r\né', max_size=6), min_size=2, max_size=4), max_size=4))
def test_other_programs_are_read_as_before(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([HEADER.strip().split(","), *rows])
    assert read(out.getvalue())[1:] == rows


@pytest.mark.parametrize("line", ['5" disk,a', '24"" disk,"x ""y"""'])
def test_files_without_the_header_of_quepid_stay_as_they_are(line: str) -> None:
    assert list(requote(["query,docid\n", line])) == ["query,docid\n", line]
