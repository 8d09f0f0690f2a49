"""Members of the objects in files of Quepid, read with their type."""

import math

from django.core.exceptions import ValidationError

from relevancy.formats import json_stream
from relevancy.formats.errors import quote
from relevancy.models.errors import error_text
from relevancy.models.text import validate_line

MAX_WHOLE_NUMBER = 2**53  # of a field that holds one: further ones are not exact as floats


class Fields(json_stream.Fields):
    """Members that may also be numbers and flags."""

    def line(self, key: str) -> str:
        """Returns text on one line, without white space around it, that a database can look for; empty for null and what is missing."""
        text = self.text(key).strip()
        try:
            validate_line(text)
        except ValidationError as error:
            raise self.error(key, f"{quote(text)}: {error_text(error)}") from None
        return text

    def number(self, key: str) -> float | None:
        """Returns a finite number, which may be written as a string; None for null, an empty string and what is missing."""
        value = self.members.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except OverflowError:
            raise self.error(key, f"the number {quote(value)} is too large") from None
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(key, f"{quote(value)} is not a number")
        return number

    def whole_number(self, key: str, default: int) -> int:
        number = self.number(key)
        if number is None:
            return default
        if not number.is_integer():
            raise self.error(key, f"{number:g} is not a whole number")
        if abs(number) > MAX_WHOLE_NUMBER:
            raise self.error(key, f"the number {quote(self.members[key])} is too large")
        return int(number)

    def position(self, key: str) -> float | None:
        """Returns a number of which only the order matters, as `number` does, but a whole number exactly, whatever its size:
        positions of 19 digits that differ in the last one are the same as floats."""
        value = self.members.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else self.number(key)

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.members.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(key, f"this must be true or false, not {quote(value)}")
        return value
