"""Words of sentences that contain a number."""

from relevancy.wording import counted


def test_counted_has_a_singular_and_separators() -> None:
    assert counted(1, "query", "queries") == "1 query"
    assert counted(0, "query", "queries") == "0 queries"
    assert counted(1204, "run") == "1,204 runs"
