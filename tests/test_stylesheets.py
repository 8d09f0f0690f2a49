"""Stylesheets: one rule for a selector, no rule without a use, colours from tokens.css only."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STYLESHEETS = [
    *sorted((ROOT / "static" / "css").glob("*.css")),
    *sorted(ROOT.glob("relevancy/optional/*/static/**/*.css")),
]
# Classes that libraries put on the page, and classes whose number is computed.
FROM_ELSEWHERE = re.compile(
    r"ace_|django-ace|htmx-|(?:js-)?plotly|main-svg$|svg-container$|draglayer$|cursor-|g\d+$|score-\d$|series-\d$|indent-\d$|heat-\d$|part\d$"
)
TEMPLATE_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def rules(css: str, condition: str = "") -> Iterator[tuple[str, str]]:
    """The rules of a stylesheet: (condition of the media query around it, selector list)."""
    at = 0
    while opening := re.compile(r"\s*([^{}]+?)\s*\{").match(css, at):
        name, at = opening[1], opening.end()
        depth, end = 1, at
        while depth:
            depth += {"{": 1, "}": -1}.get(css[end], 0)
            end += 1
        if name.startswith("@") and not name.startswith("@keyframes"):
            yield from rules(css[at : end - 1], name)
        elif not name.startswith("@"):
            yield condition, " ".join(name.split())
        at = end


def classes_in_templates() -> set[str]:
    classes = set()
    for path in [*ROOT.glob("templates/**/*.html"), *ROOT.glob("relevancy/optional/*/templates/**/*.html")]:
        text = path.read_text(encoding="utf-8")
        for value in re.findall(r'class="((?:\{%.*?%\}|\{\{.*?\}\}|[^"])*)"', text, re.DOTALL):
            classes |= set(TEMPLATE_TAG.sub(" ", value).split())
        for value in re.findall(r"\{% block (?:body_class|size) %\}([\w -]+)\{% endblock", text):
            classes |= set(value.split())
        for value in re.findall(r'\b(?:kind|class)="([\w -]+)"', text):
            classes |= set(value.split())
    return classes


def classes_in_code() -> set[str]:
    """Every word of a string of the template tags, the views and the scripts: more than classes, so the test is lenient."""
    classes = set()
    for path in [
        *(ROOT / "relevancy").glob("templatetags/*.py"),
        *ROOT.glob("relevancy/views/**/*.py"),
        *ROOT.glob("relevancy/optional/**/*.py"),
    ]:
        for value in re.findall(r"\"([^\"\n]*)\"|'([^'\n]*)'", path.read_text(encoding="utf-8")):
            classes |= set(re.findall(r"[a-z][\w-]*", "".join(value)))
    for path in (ROOT / "static" / "js").glob("*.js"):
        for value in re.findall(r"[\"`']([^\"`'\n]*)[\"`']", path.read_text(encoding="utf-8")):
            classes |= set(re.findall(r"[a-z][\w-]*", value))
    return classes


def test_every_class_is_used() -> None:
    used = classes_in_templates() | classes_in_code()
    unused = {
        (path.name, name)
        for path in STYLESHEETS
        for _, selector in rules(without_comments(path))
        for name in re.findall(r"\.([a-zA-Z_][\w-]*)", re.sub(r"\[[^\]]*\]", "", selector))
        if name not in used and not FROM_ELSEWHERE.match(name)
    }
    assert sorted(unused) == []


def test_every_selector_has_one_rule() -> None:
    """In all stylesheets together, apart from media queries, which are counted by their condition."""
    places = Counter(rule for path in STYLESHEETS for rule in rules(without_comments(path)))
    assert [rule for rule, count in places.items() if count > 1] == []


@pytest.mark.parametrize("path", STYLESHEETS, ids=lambda path: path.name)
def test_colours_come_from_tokens(path: Path) -> None:
    """A colour elsewhere would not follow the theme."""
    if path.name == "tokens.css":
        return
    css = re.sub(r"url\([^)]*\)", "", without_comments(path))
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;, )])|rgba?\(", css) == []
    defined = set(re.findall(r"(--[\w-]+):", (ROOT / "static/css/tokens.css").read_text(encoding="utf-8")))
    local = set(re.findall(r"(--[\w-]+):", css))
    assert set(re.findall(r"var\((--[\w-]+)", css)) - defined - local == set()
