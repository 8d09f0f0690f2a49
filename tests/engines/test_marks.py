"""Marked words: how they are read from engines, cut, and handed to a page."""

import pytest

from relevancy import engines
from relevancy.engines.highlights import marked, read_highlights, wanted
from relevancy.engines.marks import pieces_within, without_marks

A, Z = "\ue000", "\ue001"


def asked(text: str) -> str:
    """A text as an engine sends it: each mark twice."""
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
def test_pieces(text: str, expected: tuple[tuple[str, bool], ...]) -> None:
    assert engines.pieces(single(text)) == expected


def test_pieces_within_a_part_and_the_whole() -> None:
    text = "the long night and the star of it"
    part = single("night and the [star]")
    assert pieces_within(text, part, whole=False) == (
        ("…", False), ("night and the ", False), ("star", True), ("…", False),
    )  # fmt: skip
    assert pieces_within(text, part, whole=True) == (
        ("the long ", False), ("night and the ", False), ("star", True), (" of it", False),
    )  # fmt: skip
    assert pieces_within("star", single("[star]"), whole=False) == (("star", True),)
    assert pieces_within(text, single("[elsewhere]"), whole=False) == ((text, False),)
    assert pieces_within("", "", whole=True) == ()


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (asked("a [star] is"), single("a [star] is")),
        (f"{A}own{Z} {A}{asked('[star]')}{Z} is", single("own [star] is")),
        (single("[own]"), "own"),
        (asked("[a] b] c"), single("[a] b c")),
        (asked("[a"), single("[a]")),
    ],
)
def test_marked_takes_only_double_marks(sent: str, expected: str) -> None:
    assert marked(sent) == expected


def test_marked_cuts_around_the_first_mark() -> None:
    text = marked(asked("far " * 500 + "[star] and [more] " + "away " * 500))
    assert len(text) < 260
    assert single("[star] and [more]") in text
    assert without_marks(text) in "far " * 500 + "star and more " + "away " * 500
    assert marked(asked("x" * 900 + "[star]" + "y" * 900)).count(A) == 1


def test_wanted_is_what_shows_text() -> None:
    spec = engines.parse_fields("id:sku title:name thumb:poster media:clip hl:body f:$price year body")
    assert wanted(spec) == ("name", "body", "year")
    assert wanted(engines.parse_fields("id")) == ()
    assert wanted(engines.parse_fields("*")) is None


def test_read_highlights_leaves_out_what_is_not_displayed() -> None:
    spec = engines.parse_fields("title body year tags")
    fields = {"title": "A star", "body": "no such words", "year": 1977, "tags": ["night", "star"], "other": "star"}
    found = {
        "title": [asked("A [star]")],
        "body": [asked("some [star]")],
        "year": [asked("[1977]")],
        "tags": asked("[star]"),
        "other": [asked("[star]")],
        "absent": [None, 3],
    }
    assert read_highlights(found, fields, spec) == {"title": single("A [star]"), "tags": single("[star]")}
    assert read_highlights({"title": ["A star"]}, fields, spec) == {}
    assert read_highlights("no object", fields, spec) == {}
    assert read_highlights(found, fields, engines.parse_fields("*")).keys() == {"title", "tags", "other"}


def test_display_shows_marks() -> None:
    spec = engines.parse_fields("title overview unabridged:plot year")
    fields = {
        "title": "A <b>star</b> is born",
        "overview": "x " * 200 + "star",
        "plot": "Long, star, end",
        "year": 1977,
    }
    marks = {"title": single("<b>[star]</b>"), "overview": single("x [star]"), "plot": single("[star]")}
    display = spec.display(fields, marks)
    assert display.title == "A <b>star</b> is born"
    assert display.title_pieces == (("A ", False), ("<b>", False), ("star", True), ("</b>", False), (" is born", False))
    assert dict(display.snippets) == {
        "overview": (("…", False), ("x ", False), ("star", True)),
        "plot": (("Long, ", False), ("star", True), (", end", False)),
        "year": (("1977", False),),
    }
    assert spec.display(fields).title_pieces == (("A <b>star</b> is born", False),)
