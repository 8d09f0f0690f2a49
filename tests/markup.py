"""Comparing rendered HTML regardless of how its template is laid out."""

import re


def compact(html: str) -> str:
    """The HTML with whitespace collapsed, and without whitespace beside tags and before the end of a tag."""
    html = re.sub(r"\s+", " ", html)
    return re.sub(r"\s*(<[^<>]*?)\s*(/?>)\s*", r"\1\2", html)
