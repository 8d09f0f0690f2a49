"""Highlighting of the embedded engine; `tests/contracts` tests what all engines have in common."""

from pathlib import Path
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, Request
from relevancy.engines.embedded.build import build_index
from tests.contracts.subject import LOOPBACK

DOC = {
    "id": "1",
    "title": "Größe — Çedilla über den Stars",
    "plot": "Nichts davon. " * 60 + "Ähnlich große STARS, und ein Stern. " + "Danach nichts. " * 60,
    "cast": ["Ünal Star", "Someone Else"],
    "crew": {"name": "A star"},
    "good": True,
    "year": 1977,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("embedded")
    build_index(folder, "films", [DOC, {"id": "2", "title": "Other"}])
    return folder


def snippets(folder: Path, query: str, spec: str, body: str = '{"query": "#$query##"}') -> dict[str, str]:
    template = engines.parse_template(body, "json")
    request = Request(query, template, engines.parse_fields(spec), 5, highlight=True)
    with engines.connect(Connection("embedded", "films", LOOPBACK, data_dir=folder)) as engine:
        return {name: text for hit in engine.search(request).hits for name, text in hit.highlights.items()}


def bracketed(text: str) -> str:
    return text.replace("\ue000", "[").replace("\ue001", "]")


def test_highlights_count_in_bytes(folder: Path) -> None:
    assert (
        bracketed(snippets(folder, "grosse star cedilla", "title")["title"]) == "[Größe] — [Çedilla] über den [Stars]"
    )
    assert bracketed(snippets(folder, "größe", "title")["title"]) == "[Größe] — Çedilla über den Stars"


def test_highlights_of_a_long_text_are_an_excerpt(folder: Path) -> None:
    text = snippets(folder, "star", "title plot")["plot"]
    assert "Ähnlich große [STARS], und" in bracketed(text)
    assert len(text) < 200


def test_highlights_of_lists_and_of_nested_objects(folder: Path) -> None:
    highlights = snippets(folder, "star", "title cast crew.name")
    assert bracketed(highlights["cast"]) == "Ünal [Star], Someone Else"
    assert bracketed(highlights["crew.name"]) == "A [star]"


@pytest.mark.parametrize("spec", ["title good year absent id", "*"])
def test_highlights_only_of_text_fields(folder: Path, spec: str) -> None:
    assert not {"good", "year", "absent", "id"} & set(snippets(folder, "star true 1977", spec))


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", '{"query": "#$query##", "filter": {"year": 1977}}'),
        ("x", '{"filter": {"title": "stars"}}'),
        ("…!?", '{"query": "#$query##"}'),
    ],
)
def test_highlights_without_words(folder: Path, query: str, body: str) -> None:
    assert snippets(folder, query, "title plot", body) == {}


def test_highlights_ignore_filters(folder: Path) -> None:
    highlights: dict[str, Any] = snippets(
        folder, "den", "title", '{"query": "#$query##", "filter": {"title": "stars"}}'
    )
    assert bracketed(highlights["title"]) == "Größe — Çedilla über [den] Stars"
