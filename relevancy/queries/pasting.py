"""Queries as users paste them: one to a line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError

from relevancy.models.errors import error_text

from .text import check_text

MAX_QUERIES = 20_000  # added at once
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class PastedQueries:
    """What lines of text contain.

    texts: the distinct queries, normalized, in order.
    repeated: texts of lines that repeat an earlier one.
    rejected: line number, from 1, and reason for each line that cannot be a query.
    """

    texts: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    rejected: list[tuple[int, str]] = field(default_factory=list)


def parse_pasted(text: str) -> PastedQueries:
    """Reads queries, one to a line; blank lines are skipped. Raises `ValidationError` for more than 20,000 of them."""
    return parse_lines(_NEWLINE.split(text))


def parse_lines(lines: Iterable[str]) -> PastedQueries:
    """Reads a query from each line, as `parse_pasted` does."""
    pasted = PastedQueries()
    texts: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            text = check_text(line)
        except ValidationError as error:
            pasted.rejected.append((number, error_text(error)))
            continue
        if text in texts:
            pasted.repeated.append(text)
        texts[text] = None
    if len(texts) > MAX_QUERIES:
        message = f"{len(texts):,} queries are too many to add at once. Add at most {MAX_QUERIES:,}."
        raise ValidationError({"queries": message})
    pasted.texts.extend(texts)
    return pasted
