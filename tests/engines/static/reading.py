"""What a file of rankings is read as, in both ways: into memory, as for an import of runs, and from the index of the engine."""

import tempfile
from pathlib import Path

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.static.rankings_file import Rankings, check_single_snapshot, parse_snapshots
from relevancy.engines.static.rankings_index import open_index


def parse_rankings(text: str) -> Rankings:
    """Returns the only snapshot of a file, or raises the error of both ways: what is read and what is wrong must be the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rankings.csv"
        path.write_bytes(text.encode())
        try:
            snapshots = parse_snapshots(text)
            check_single_snapshot([(snapshot.name, snapshot.time) for snapshot in snapshots])
        except UnreadableResponse as error:
            try:
                open_index(path)
            except UnreadableResponse as of_index:
                assert str(of_index) == str(error)
                raise
            raise AssertionError("the index has no error") from error
        indexed = load_rankings(path)
    (rankings,) = snapshots
    assert (indexed.format, indexed.fields) == (rankings.format, rankings.fields)
    assert list(indexed.hits_by_query.items()) == list(rankings.hits_by_query.items())
    return rankings


def load_rankings(path: Path) -> Rankings:
    """Returns what the index of a file contains."""
    index = open_index(path)
    hits_by_query = {query: index.find(query) or [] for query in index.list_queries()}
    assert index.queries == len(hits_by_query)
    return Rankings(index.format, hits_by_query, tuple(index.fields))
