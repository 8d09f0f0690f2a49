"""What `collectstatic` leaves out, and how the rest is compressed."""

import re

import brotli
from django.conf import settings
from django.contrib.staticfiles import finders

from relevancy.static_files import CollectedFilesConfig, QuickCompressor


def collected() -> set[str]:
    """Names of all files that `collectstatic` copies."""
    patterns = CollectedFilesConfig.ignore_patterns
    return {name for finder in finders.get_finders() for name, _ in finder.list(patterns)}


def test_ignore_patterns_leave_out_most_of_ace() -> None:
    names = collected()
    assert 100 < sum(name.startswith("django_ace/") for name in names) < 400
    assert not [name for name in names if "snippets/" in name]


def test_every_file_that_a_page_loads_is_collected() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (settings.BASE_DIR / "templates").rglob("*.html")]
    in_use = set(re.findall(r"\{% static ['\"]([^'\"]+)['\"]", "\n".join(pages)))
    assert {"css/base.css", "js/app.js", "django_ace/ace/mode-json.js"} <= in_use
    assert in_use - collected() == set()


def test_quick_compressor_writes_brotli() -> None:
    data = b"body { margin: 0 }\n" * 100
    compressed = QuickCompressor.compress_brotli(data)
    assert brotli.decompress(compressed) == data
    assert len(compressed) < len(data) / 10
