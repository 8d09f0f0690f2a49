"""The text and the options of a query."""

import hashlib
import json
import re
import unicodedata
from typing import Any

from django.core.exceptions import ValidationError

from relevancy.models.errors import error_text
from relevancy.models.text import validate_line

MAX_LENGTH = 2048
_ESCAPED_NULL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def normalize(text: str) -> str:
    """Returns the text in NFC, trimmed, each newline and tab inside it as a space. Case, spelling and spaces stay."""
    return unicodedata.normalize("NFC", text.replace("\r", " ").replace("\n", " ").replace("\t", " ")).strip()


def text_key(text: str) -> str:
    """Returns the SHA-256 of a normalized text, which is unique in a book."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_text(text: str) -> str:
    """Returns the normalized text. Raises `ValidationError` if it is empty, too long or contains an invalid character."""
    text = normalize(text)
    if not text:
        raise ValidationError({"text": "The query is empty."})
    if len(text) > MAX_LENGTH:
        message = f"“{text[:40]}…” has {len(text):,} characters; a query can have at most {MAX_LENGTH:,}."
        raise ValidationError({"text": message})
    try:
        validate_line(text)
    except ValidationError as error:
        is_unprintable = {char: unicodedata.category(char) in {"Cc", "Cs"} for char in text[:40]}
        printable = "".join("\N{REPLACEMENT CHARACTER}" if is_unprintable[char] else char for char in text[:40])
        raise ValidationError({"text": f"“{printable}”: {error_text(error)}"}) from None
    return text


def parse_options(text: str) -> dict[str, Any]:
    """Returns a query's options, a JSON object. Raises `ValidationError` with line and column."""
    try:
        options = json.loads(text.strip() or "{}", parse_constant=_reject_constant)
        encoded = json.dumps(options, ensure_ascii=False)
        encoded.encode()
    except UnicodeEncodeError:
        raise _invalid_options("The options contain an invalid character (a lone surrogate). Remove it.") from None
    except RecursionError:
        raise _invalid_options("The options are nested too deeply.") from None
    except json.JSONDecodeError as error:
        message = f"The options are not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        raise _invalid_options(message) from None
    except ValueError:
        raise _invalid_options("The options contain a number with too many digits.") from None
    if not isinstance(options, dict):
        raise _invalid_options('The options must be a JSON object, such as {"lang": "en"}.')
    if _ESCAPED_NULL.search(encoded):
        raise _invalid_options("The options contain an invalid character (U+0000). Remove it.")
    return options


def _reject_constant(name: str) -> Any:
    raise _invalid_options(f"The options contain {name}, which is not valid JSON. Write a number.")


def _invalid_options(message: str) -> ValidationError:
    return ValidationError({"options": message})
