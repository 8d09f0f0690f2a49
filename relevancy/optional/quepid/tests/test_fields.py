"""Numbers and flags in files of Quepid."""

import pytest

from relevancy.formats import BadFile
from relevancy.optional.quepid.fields import Fields


@pytest.mark.parametrize(("value", "expected"), [(3, 3.0), ("3.0", 3.0), (None, None), (" ", None)])
def test_number(value, expected):
    assert Fields({"a": value}, "rows[1]").number("a") == expected


@pytest.mark.parametrize(
    ("read", "value"), [("number", "x"), ("number", "nan"), ("number", True), ("number", []), ("flag", 1)]
)
def test_wrong_types_name_the_location_and_the_value(read, value):
    with pytest.raises(BadFile) as caught:
        getattr(Fields({"a": value}, "rows[1]"), read)("a")
    assert str(caught.value).startswith("rows[1].a: ")
    assert repr(value) in str(caught.value)
