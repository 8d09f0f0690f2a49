"""What is cut from responses, for every adapter."""

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.engines import BadQuery, Hit, Page, UnreadableResponse
from relevancy.engines.limits import (
    MAX_DESCRIPTION_LENGTH,
    MAX_FIELD_LENGTH,
    MAX_FIELDS,
    MAX_HIT_LENGTH,
    MAX_NODES,
    MAX_PAGE_LENGTH,
    _is_short,
    _limit_fields,
    limit_hit,
    limit_names,
    limit_page,
    limit_tree,
    limit_trees,
)


def cut(value: Any) -> Any:
    return limit_hit(Hit("1", 1.0, {"field": value})).fields["field"]


def size(page: Page) -> int:
    return len(json.dumps([[hit.id, dict(hit.fields), dict(hit.highlights)] for hit in page.hits], ensure_ascii=False))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "value",
    [
        "x" * MAX_FIELD_LENGTH,
        ["a", 1, None, {"b": [True, 2.5]}],
        {"a": {"b": "c"}},
        10**300,
        "",
        [],
        nested(9),
        ["x" * 9000],
    ],
)
def test_limit_hit_keeps_ordinary_values(value: Any) -> None:
    assert cut(value) == value


def test_limit_hit_cuts_text() -> None:
    value = cut("x" * 12_345_678)
    assert len(value) <= MAX_FIELD_LENGTH
    assert value.endswith("… [cut: 12,345,678 characters]")


def test_limit_hit_cuts_lists_and_objects() -> None:
    values = cut([f"value {number}" for number in range(100_000)])
    assert values[:2] == ["value 0", "value 1"]
    assert values[-1] == "… [cut: 100,000 values]"
    assert len(json.dumps(values)) <= MAX_FIELD_LENGTH
    (text,) = cut(["x" * 1_000_000])
    assert text.endswith("… [cut: 1,000,000 characters]")
    assert "… [cut: " in cut({str(number): number for number in range(10_000)})


def test_limit_hit_cuts_deep_nesting() -> None:
    assert cut(nested(400)) == "… [cut: nested more than 20 levels deep]"


def test_limit_hit_replaces_numbers_that_json_does_not_know() -> None:
    hit = limit_hit(Hit("1", float("inf"), {"a": float("nan"), "b": [{"c": float("-inf")}, 1]}))
    assert (hit.score, dict(hit.fields)) == (None, {"a": None, "b": [{"c": None}, 1]})


def test_limit_hit_with_thousands_of_fields() -> None:
    hit = limit_hit(Hit("1", 1.0, {f"field {number}": "x" * 1000 for number in range(5000)}))
    assert len(hit.fields) == MAX_FIELDS + 1
    assert hit.fields["…"] == "… [cut: 5,000 fields]"
    assert hit.fields["field 1"] == "x" * 1000
    assert "[cut: 1,000 characters]" in hit.fields["field 299"]
    assert len(json.dumps(dict(hit.fields))) < MAX_HIT_LENGTH * 3


def test_limit_hit_with_a_long_name() -> None:
    hit = limit_hit(Hit("1", 1.0, {"n" * 1_000_000: 1}, {"n" * 1_000_000: "\ue000x\ue001"}))
    assert [len(name) for name in hit.fields] == [200]
    assert not hit.highlights


def test_limit_hit_keeps_snippets_of_nested_fields() -> None:
    snippets = {"inner.text": "\ue000x\ue001", "a.b.c": "y", "title": "z", "gone": "x", "title.": "x" * 3000}
    hit = limit_hit(Hit("1", 1.0, {"inner": [{"text": "x"}], "a.b": {"c": "y"}, "title": "z"}, snippets))
    assert list(hit.highlights) == ["inner.text", "a.b.c", "title"]


def test_limit_hit_with_a_long_id() -> None:
    assert limit_hit(Hit("x" * 500, 1.0, {})).id == "x" * 500
    with pytest.raises(UnreadableResponse, match="1,000,000 characters") as caught:
        limit_hit(Hit("x" * 1_000_000, 1.0, {}))
    assert len(str(caught.value)) < 400


def test_limit_page() -> None:
    hits = tuple(Hit(str(number), 1.0, {f"f{field}": "x" * 20_000 for field in range(20)}) for number in range(3000))
    page = limit_page(Page(hits, 10**30, 10**30, {}), 1000)
    assert len(page.hits) == 1000
    assert (page.total, page.took_ms) == (None, 2**31 - 1)
    assert size(page) < MAX_PAGE_LENGTH * 2
    assert limit_page(Page(hits[:2], -1, -5, {}), 0) == Page((), None, 0, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30_000),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=300), inner, max_size=30),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=300), JSON, max_size=12))
def test_limit_page_twice_changes_nothing(fields: dict[str, Any]) -> None:
    page = limit_page(Page((Hit("1", 1.0, fields),) * 2, 2, 1, {}), 10)
    assert limit_page(page, 10) == page
    assert size(page) <= 2 * (MAX_HIT_LENGTH + 12 * 500)
    json.dumps([dict(hit.fields) for hit in page.hits], allow_nan=False)


def test_limit_trees_shares_the_nodes_of_one() -> None:
    def nodes(tree: Mapping[str, Any]) -> int:
        return 1 + sum(map(nodes, tree["details"]))

    leaf = {"value": 1.0, "description": "leaf", "details": []}
    tree = {
        "value": 2_000.0,
        "description": "sum",
        "details": [{"value": 20.0, "description": "inner", "details": [leaf] * 20}] * 100,
    }
    limited = limit_trees({str(number): tree for number in range(20)})
    assert len(limited) == 20
    assert all(100 < nodes(one) <= 1_000 for one in limited.values())
    assert limit_trees({}) == {}


def test_limit_tree() -> None:
    leaf = {"value": 1.0, "description": "d" * 100_000, "details": []}
    tree = {"value": 5.0, "description": "sum of:", "details": [{**leaf, "details": [leaf] * 15_000}] * 2}
    limited = limit_tree(tree)
    assert limited["value"] == 5.0
    counts = [len(child["details"]) for child in limited["details"]]
    assert sum(counts) <= MAX_NODES
    assert counts == [15_000, 0]
    assert len(limited["details"][0]["details"][0]["description"]) == MAX_DESCRIPTION_LENGTH
    assert tree["details"][0]["details"][0]["description"] == "d" * 100_000  # the original is unchanged


def test_limit_tree_of_invalid_json() -> None:
    assert limit_tree({"details": [1, {"value": "x"}]}) == {
        "value": 0.0,
        "description": "",
        "details": [{"value": 0.0, "description": "", "details": []}],
    }


def test_limit_names() -> None:
    assert limit_names(["a", "x" * 201, "b"]) == ["a", "b"]
    assert len(limit_names([str(number) for number in range(100_000)])) == 5000


def test_message_of_an_error_is_short() -> None:
    error = BadQuery("begin " + "x" * 1_000_000 + " end", hint="Do this.")
    assert len(str(error)) < 2_100
    assert str(error).startswith("begin")
    assert str(error).endswith("end Do this.")


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "n" * 150, "n" * 201]),
        st.text("xy") | st.integers() | st.none() | st.booleans() | st.floats() | st.lists(st.text("xy")),
    ),
    st.integers(0, 400),
)
def test_limit_hit_returns_hits_in_which_nothing_is_cut(fields: dict[str, Any], space: int) -> None:
    """A hit is returned as it is only if the limits would not change it."""
    hit = Hit("1", 1.0, fields)
    if _is_short(fields, space):
        assert limit_hit(hit, space) is hit
        assert _limit_fields(fields, space) == fields


def test_limit_hit_replaces_numbers_that_are_no_numbers() -> None:
    assert limit_hit(Hit("1", math.nan, {"a": "b"})).score is None
    assert limit_hit(Hit("1", 1.0, {"a": math.inf})).fields == {"a": None}
