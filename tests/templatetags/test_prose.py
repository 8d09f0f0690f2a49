"""Markdown on a page: how it is displayed, and that nothing in it is executed."""

import re

import pytest
from django.template import Context, Template

from relevancy.templatetags.prose import markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        (None, ""),
        ("plain", "<p>plain</p>\n"),
        ("a *b* **c** `d`", "<p>a <em>b</em> <strong>c</strong> <code>d</code></p>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("# Big\n\n##### Small", "<h4>Big</h4>\n<h6>Small</h6>\n"),
        ("a & b < c", "<p>a &amp; b &lt; c</p>\n"),
        ("[x](https://a.example/?b=1&c)", '<p><a href="https://a.example/?b=1&amp;c" rel="noopener nofollow">x</a></p>\n'),
        ("<https://a.example/>", '<p><a href="https://a.example/" rel="noopener nofollow">https://a.example/</a></p>\n'),
        ("[x](/cases/1/?q=a:b)", '<p><a href="/cases/1/?q=a:b" rel="noopener nofollow">x</a></p>\n'),
        ("[m](mailto:a@b.example)", '<p><a href="mailto:a@b.example" rel="noopener nofollow">m</a></p>\n'),
        ('[x](https://a.example "a \\" b")', '<p><a href="https://a.example" title="a &quot; b" rel="noopener nofollow">x</a></p>\n'),
    ],
)  # fmt: skip
def test_markdown(text: str | None, html: str) -> None:
    assert markdown(text) == html


def test_markdown_twice_is_the_same() -> None:
    assert markdown("# Big") == markdown("# Big") == "<h4>Big</h4>\n"


def test_markdown_table_without_inline_styles() -> None:
    html = markdown("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert "<td>1</td>" in html
    assert "<th>a</th>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick='x()'>b</b>",
        "<div>\n\n<iframe src='https://a.example'></iframe>",
        "<!-- x --><style>*{display:none}</style>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](  javascript:alert(1))",
        "[x](java\nscript:alert(1))",
        "[x](java&#x0A;script:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](javascript&colon;alert(1))",
        "[x](<javascript:alert(1)>)",
        "[x](\\javascript:alert(1))",
        "[x](\x01javascript:alert(1))",
        "[x](vbscript:msgbox)",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](data:image/png;base64,AAAA)",
        "[x](file:///etc/passwd)",
        "[x](blob:https://a.example/1)",
        "<javascript:alert(1)>",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "![x](javascript:alert(1))",
        "![x](https://tracker.example/p.gif)",
        "![x][1]\n\n[1]: https://tracker.example/p.gif",
        '[x](https://a.example "\\" onmouseover=alert(1) x=\\"")',
        "[x](https://a.example/\"onmouseover=alert(1))",
        "```\"><script>\nx\n```",
        "# <svg/onload=alert(1)>",
        "| <script> |\n|--|\n| <img onerror=x> |",
    ],
)  # fmt: skip
def test_markdown_executes_nothing(text: str) -> None:
    html = markdown(text)
    tags = re.findall(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)>", html)
    known = {"p", "a", "em", "strong", "code", "pre", "h4", "table", "thead", "tbody", "tr", "th", "td"}
    assert {name for name, _ in tags} <= known
    for name, attributes in tags:
        if name != "a" or not attributes:
            assert not attributes.strip() or attributes.strip().startswith('class="language-')
            continue
        values = re.findall(r'([a-z]+)="([^"]*)"', attributes)
        assert {attribute for attribute, _ in values} <= {"href", "rel", "title"}
        assert re.sub(r'[a-z]+="[^"]*"', "", attributes).strip() == ""
        assert re.match(r"https?://|mailto:|[^:]*$", dict(values)["href"]), html


@pytest.mark.parametrize("text", ["[" * 5000, "*" * 5000, "> " * 2000, "- " * 2000, "`" * 4999, "[a](" * 2000])
def test_markdown_of_any_text_terminates(text: str) -> None:
    assert markdown(text)


def test_filter() -> None:
    assert Template("{{ text|markdown }}").render(Context({"text": "*a* <b>"})) == "<p><em>a</em> &lt;b&gt;</p>\n"
