"""The shared templates: nothing inline (the content security policy forbids it), and keys that do what the help says."""

import re
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from tests.markup import compact

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["_ui/gallery.html", "base.html", "404.html", "403.html", "400.html", "500.html"]


@pytest.fixture(autouse=True)
def _plain_static_files(settings) -> None:
    """Pages are drawn without `collectstatic` having run."""
    backend = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": backend}}


@pytest.mark.parametrize("page", PAGES)
def test_page_has_nothing_inline(page: str) -> None:
    html = render_to_string(page)
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"<[^>]*\sstyle=", html)
    assert "<style" not in html
    assert not re.search(r"<[^>]*\son[a-z]+=", html)
    assert "javascript:" not in html
    assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", html))


@pytest.mark.parametrize("page", PAGES)
def test_page_ids_are_unique(page: str) -> None:
    html = render_to_string(page)
    if page == "_ui/gallery.html":  # shows the same form twice, fresh and refused
        html = re.sub(r'id="id_[^"]*"', "", html)
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("page", PAGES)
def test_page_finds_its_static_files(page: str) -> None:
    paths = re.findall(r'(?:src|href)="/?static/([^"]+)"', render_to_string(page))
    own = [path for path in paths if not path.startswith(("django_htmx/", "django_ace/"))]
    assert own
    assert [path for path in own if not (ROOT / "static" / path).is_file()] == []


@pytest.mark.parametrize(
    ("theme", "attribute"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ('"><b>', "")]
)
def test_unknown_themes_are_ignored(theme: str, attribute: str) -> None:
    assert f'<html lang="en"{attribute}>' in compact(render_to_string("base.html", {"theme": theme}))


def test_nav_shows_only_the_pages_that_exist() -> None:
    html = render_to_string("base.html", {"nav": [{"label": "Cases", "url": "/cases/?a=1&b=2", "current": True}]})
    assert '<a href="/cases/?a=1&amp;b=2" aria-current="page">Cases</a>' in html
    assert "Books" not in html
    assert 'aria-label="Main"' not in render_to_string("base.html")


def test_csrf_token_travels_with_htmx() -> None:
    assert """hx-headers='{"X-CSRFToken": "tok"}'""" in render_to_string("base.html", {"csrf_token": "tok"})


def test_jump_only_with_an_address() -> None:
    assert "data-key-jump" in render_to_string("base.html", {"jump_url": "/jump"})
    assert "data-key-jump" not in render_to_string("base.html")


def test_error_page_sends_its_message_to_htmx() -> None:
    html = compact(render_to_string("403.html", {"exception": "Viewers may not rate <here>"}))
    assert "<h1 data-message>Viewers may not rate &lt;here&gt;</h1>" in html


def test_toast_escapes_its_text_and_offers_undo() -> None:
    html = render_to_string("_ui/toast.html", {"text": "<b>", "undo": "/undo"})
    assert "&lt;b&gt;" in html
    assert 'action="/undo"' in html
    assert "data-undo" not in render_to_string("_ui/toast.html", {"text": "Saved"})


def test_keys_of_help_are_the_keys_of_the_script() -> None:
    """The script reads its keys from the help: every action named there exists, and every action has a key."""
    everything = {"list": True, "results": True, "tune": True, "jump_url": "/jump"}
    named = {
        does.partition(":")[0]
        for does in re.findall(r'data-does="([^"]+)"', render_to_string("_ui/keys.html", everything))
    }
    script = (ROOT / "static/js/keys.js").read_text(encoding="utf-8")
    table = script.partition("const actions = {")[2].partition("\n};")[0]
    assert named == set(re.findall(r"^  (\w+):", table, flags=re.MULTILINE))


def test_keys_are_given_once() -> None:
    html = render_to_string("_ui/keys.html", {"list": True, "results": True, "tune": True})
    keys = [key for keys in re.findall(r'data-keys="([^"]+)"', html) for key in keys.split()]
    assert sorted(keys) == sorted(set(keys))


def test_scripts_need_no_eval_and_write_no_style() -> None:
    for script in sorted((ROOT / "static/js").glob("*.js")):
        # charts.js asks a hidden element which colour a custom property has in the present theme.
        text = script.read_text(encoding="utf-8").replace("probe.style.color", "")
        result = re.findall(r"\beval\(|new Function|innerHTML|\.style\b|setAttribute\(\"style", text)
        assert not result, f"{script.name}: {result}"
