"""The bar that explains why a document matched."""

import re
from dataclasses import dataclass

import pytest

from relevancy.templatetags.explained import explain_bar, share, tree_text


@dataclass
class Slice:
    """As the evaluation gives them."""

    field: str
    share: float
    colour: int


def widths(html: str) -> list[tuple[str, float, float]]:
    parts = re.findall(r'class="part(\d)" x="([\d.]+)" width="([\d.]+)"', html)
    return [(colour, float(x), float(width)) for colour, x, width in parts]


def test_explain_bar_is_stacked_and_beside_the_first_result() -> None:
    html = explain_bar([Slice("title", 0.75, 1), Slice("", 0.25, 5)], 5, 10)
    assert widths(html) == [("1", 0, 37.5), ("5", 37.5, 12.5)]
    assert 'aria-label="title 75 %, other 25 %"' in html


@pytest.mark.parametrize(
    ("score", "first", "length"), [(10, 10, 100), (20, 10, 100), (0.01, 10, 2), (-1, 10, 2), (5, 0, 100), (5, -3, 100)]
)
def test_explain_bar_length(score: float, first: float, length: float) -> None:
    assert widths(explain_bar([Slice("a", 1, 1)], score, first)) == [("1", 0, length)]


def test_explain_bar_of_nothing() -> None:
    html = explain_bar([], 0, 10)
    assert widths(html) == []
    assert "nothing matched" in html


def test_explain_bar_escapes() -> None:
    assert "<script>" not in explain_bar([Slice("<script>", 1, 1)], 1, 1)


@pytest.mark.parametrize(("value", "text"), [(1, "100 %"), (0.625, "62 %"), (0.001, "< 1 %"), (0, "0 %")])
def test_share(value: float, text: str) -> None:
    assert share(value) == text


@dataclass
class Node:
    """As the engines give them."""

    value: float
    description: str
    children: tuple["Node", ...] = ()


def test_tree_text_indents_by_depth() -> None:
    tree = Node(3, "sum of:", (Node(2, "title:star", (Node(0.5, "idf"),)), Node(1, "cast:star")))
    assert tree_text(tree) == "3  sum of:\n  2  title:star\n    0.5  idf\n  1  cast:star"


def test_tree_text_of_a_deep_tree() -> None:
    tree = Node(1, "last")
    for _ in range(5000):
        tree = Node(1, "x", (tree,))
    assert tree_text(tree).endswith("1  last")
