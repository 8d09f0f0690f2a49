"""Highlighting: reading, cutting and displaying snippets."""

import pytest

from relevancy import engines
from relevancy.engines.fields.highlighting import highlighted_pieces, split_highlights, without_marks
from relevancy.engines.fields.snippets import highlighted_fields, read_highlights, read_snippet

A, Z = "\ue000", "\ue001"


def doubled(text: str) -> str:
    """Returns the text as an engine returns it, each mark twice."""
    return text.replace("[", A * 2).replace("]", Z * 2)


def single(text: str) -> str:
    return text.replace("[", A).replace("]", Z)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("plain", (("plain", False),)),
        ("a [b] <c>", (("a ", False), ("b", True), (" <c>", False))),
        ("[a][b]", (("a", True), ("b", True))),
        ("a] b", (("a", False), (" b", False))),
        ("[never closed", (("never closed", True),)),
    ],
)
def test_split_highlights(text: str, expected: tuple[tuple[str, bool], ...]) -> None:
    assert split_highlights(single(text)) == expected


def test_highlighted_pieces_of_an_excerpt_and_of_the_whole() -> None:
    text = "the long night and the star of it"
    excerpt = single("night and the [star]")
    assert highlighted_pieces(text, excerpt, whole=False) == (
        ("…", False), ("night and the ", False), ("star", True), ("…", False),
    )  # fmt: skip
    assert highlighted_pieces(text, excerpt, whole=True) == (
        ("the long ", False), ("night and the ", False), ("star", True), (" of it", False),
    )  # fmt: skip
    assert highlighted_pieces("star", single("[star]"), whole=False) == (("star", True),)
    assert highlighted_pieces(text, single("[elsewhere]"), whole=False) == ((text, False),)
    assert highlighted_pieces("", "", whole=True) == ()


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (doubled("a [star] is"), single("a [star] is")),
        (f"{A}own{Z} {A}{doubled('[star]')}{Z} is", single("own [star] is")),
        (single("[own]"), "own"),
        (doubled("[a] b] c"), single("[a] b c")),
        (doubled("[a"), single("[a]")),
    ],
)
def test_read_snippet_accepts_only_double_marks(snippet: str, expected: str) -> None:
    assert read_snippet(snippet) == expected


def test_read_snippet_cuts_around_the_first_mark() -> None:
    text = read_snippet(doubled("far " * 500 + "[star] and [more] " + "away " * 500))
    assert len(text) < 260
    assert single("[star] and [more]") in text
    assert without_marks(text) in "far " * 500 + "star and more " + "away " * 500
    assert read_snippet(doubled("x" * 900 + "[star]" + "y" * 900)).count(A) == 1


def test_highlighted_fields_are_those_with_text() -> None:
    spec = engines.parse_fields("id:sku title:name thumb:poster media:clip hl:body f:$price year body")
    assert highlighted_fields(spec) == ("name", "body", "year")
    assert highlighted_fields(engines.parse_fields("id")) == ()
    assert highlighted_fields(engines.parse_fields("*")) is None


def test_read_highlights_only_of_displayed_text() -> None:
    spec = engines.parse_fields("title body year tags")
    fields = {"title": "A star", "body": "no such words", "year": 1977, "tags": ["night", "star"], "other": "star"}
    highlights = {
        "title": [doubled("A [star]")],
        "body": [doubled("some [star]")],
        "year": [doubled("[1977]")],
        "tags": doubled("[star]"),
        "other": [doubled("[star]")],
        "absent": [None, 3],
    }
    assert read_highlights(highlights, fields, spec) == {"title": single("A [star]"), "tags": single("[star]")}
    assert read_highlights({"title": ["A star"]}, fields, spec) == {}
    assert read_highlights("not an object", fields, spec) == {}
    assert read_highlights(highlights, fields, engines.parse_fields("*")).keys() == {"title", "tags", "other"}


def test_display_with_highlights() -> None:
    spec = engines.parse_fields("title overview unabridged:plot year")
    fields = {
        "title": "A <b>star</b> is born",
        "overview": "x " * 200 + "star",
        "plot": "Long, star, end",
        "year": 1977,
    }
    snippets = {"title": single("<b>[star]</b>"), "overview": single("x [star]"), "plot": single("[star]")}
    display = spec.display(fields, snippets)
    assert display.title == "A <b>star</b> is born"
    assert display.title_pieces == (("A ", False), ("<b>", False), ("star", True), ("</b>", False), (" is born", False))
    assert dict(display.snippets) == {
        "overview": (("…", False), ("x ", False), ("star", True)),
        "plot": (("Long, ", False), ("star", True), (", end", False)),
        "year": (("1977", False),),
    }
    assert spec.display(fields).title_pieces == (("A <b>star</b> is born", False),)
