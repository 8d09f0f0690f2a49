"""Words of sentences that contain a number."""

from relevancy.wording import counted, listed


def test_counted_has_a_singular_and_separators() -> None:
    assert counted(1, "query", "queries") == "1 query"
    assert counted(0, "query", "queries") == "0 queries"
    assert counted(1204, "run") == "1,204 runs"


def test_listed_names_the_first_and_counts_the_others() -> None:
    assert listed(["shoes", "boots"], 2) == "shoes, boots"
    assert listed(["shoes", "boots", *["socks"] * 1204], 2) == "shoes, boots and 1,204 more"
    assert listed([], 2) == ""
