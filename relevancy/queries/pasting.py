"""Queries as users paste them: one to a line."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO

from django.core.exceptions import ValidationError

from relevancy.models.errors import error_text

from .text import check_text

MAX_QUERIES = 20_000  # added at once: in one transaction, and the page and the activity show them
# In a file that is imported in parts: their texts and ids are kept in memory until all of them are there, 300 bytes each.
MAX_IMPORTED = 2_000_000
MAX_LINES = 10 * MAX_QUERIES  # that are not blank: repeated and rejected ones take memory, too


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
    """Reads queries, one to a line; blank lines are skipped.

    Raises `ValidationError` as soon as there are more than 20,000 queries or 200,000 lines.
    """
    return parse_lines(
        StringIO(text, newline=None)
    )  # a list of all lines could take twenty times as much memory as the text


def parse_lines(lines: Iterable[str]) -> PastedQueries:
    """Reads a query from each line, as `parse_pasted` does."""
    pasted = PastedQueries()
    texts: dict[str, None] = {}
    count = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        count += 1
        if count > MAX_LINES:
            message = f"There are more than {MAX_LINES:,} lines, too many to read at once. Add at most {MAX_QUERIES:,} queries."
            raise ValidationError({"queries": message})
        try:
            text = check_text(line)
        except ValidationError as error:
            pasted.rejected.append((number, error_text(error)))
            continue
        if text in texts:
            pasted.repeated.append(text)
        texts[text] = None
        if len(texts) > MAX_QUERIES:
            message = (
                f"There are more than {MAX_QUERIES:,} queries, too many to add at once. Add at most {MAX_QUERIES:,}."
            )
            raise ValidationError({"queries": message})
    pasted.texts.extend(texts)
    return pasted
