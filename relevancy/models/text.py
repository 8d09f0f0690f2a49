"""Text that users write: the one rule of what can be stored, and the model fields that apply it.

Text is stored in Unicode normalization form C, without white space around it. It contains no control characters and no lone
surrogates: PostgreSQL rejects U+0000, half of a surrogate pair cannot be encoded, and other control characters are invisible.
Multi-line text keeps newlines, as LF, and tabs. Code (scripts, templates) is checked by the same rule but never normalized.

See docs/decisions/0001.
"""

import re
import unicodedata
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

# Whose it is and how it is written there is not told: the user may not be allowed to see it.
NAME_TAKEN = "This name cannot be used. Choose another one."
_CONTROL = r"\x00-\x1f\x7f-\x9f\ud800-\udfff"
_INVALID_IN_LINE = re.compile(f"[{_CONTROL}]")
_INVALID_IN_TEXT = re.compile(f"(?![\n\t])[{_CONTROL}]")


def normalize_line(text: str) -> str:
    """Returns the text in NFC on one line: white space around it is removed, inside it each run becomes one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalize_text(text: str) -> str:
    """Returns multi-line text in NFC with LF line endings, without white space around it."""
    return unicodedata.normalize("NFC", unify_newlines(text)).strip()


def unify_newlines(text: str) -> str:
    """Returns the text with LF line endings, otherwise unchanged: for code, whose white space counts."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def validate_line(value: str) -> None:
    """Raises `ValidationError` for a control character or a lone surrogate."""
    _validate(value, _INVALID_IN_LINE)


def validate_text(value: str) -> None:
    """Raises `ValidationError` for a control character other than newline and tab, or a lone surrogate."""
    _validate(value, _INVALID_IN_TEXT)


def is_storable(line: str) -> bool:
    """Returns whether a database query may contain the text: models check it before they look for the same name."""
    return not _INVALID_IN_LINE.search(line)


def _validate(value: str, invalid: re.Pattern[str]) -> None:
    if match := invalid.search(value):
        code_point = f"U+{ord(match[0]):04X}"
        kind = "a lone surrogate" if unicodedata.category(match[0]) == "Cs" else "a control character"
        raise ValidationError(
            "This text contains an invalid character (%(code_point)s, %(kind)s). Remove it.",
            code="invalid_character",
            params={"code_point": code_point, "kind": kind},
        )


class LineField(models.CharField[str, str]):
    """Text on one line, normalized and checked by `full_clean()`."""

    default_error_messages: ClassVar = {"unique": NAME_TAKEN}
    default_validators = [validate_line]

    def to_python(self, value: Any) -> Any:
        return normalize_line(value) if isinstance(value, str) else super().to_python(value)


class MultilineField(models.TextField[str, str]):
    """Text of several lines, normalized and checked by `full_clean()`."""

    default_validators = [validate_text]

    def to_python(self, value: Any) -> Any:
        return normalize_text(value) if isinstance(value, str) else super().to_python(value)


class CodeField(models.TextField[str, str]):
    """A script or template: checked by `full_clean()`, white space and spelling kept."""

    default_validators = [validate_text]

    def to_python(self, value: Any) -> Any:
        return unify_newlines(value) if isinstance(value, str) else super().to_python(value)
