"""JSON objects read piece by piece."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.formats import BadFile, json_stream
from relevancy.formats.json_stream import Fields, read_members


def members(content, limit=10_000_000, **options):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    return list(read_members(io.BytesIO(content), limit=limit, **{"lists": ("rows",), **options}))


def test_read_members_yields_elements_of_lists_and_whole_values():
    content = {"name": "é", "rows": [{"a": 1}, 2, [3.5]], "other": {"rows": [4]}, "empty": [], "none": None}
    assert members(content) == [
        ("name", "é"),
        ("rows", {"a": 1}),
        ("rows", 2),
        ("rows", [3.5]),
        ("other", {"rows": [4]}),
        ("empty", []),
        ("none", None),
    ]


def test_read_members_of_a_wrapper_and_after_a_byte_order_mark():
    content = b"\xef\xbb\xbf" + json.dumps({"case": {"rows": [1, 2], "name": "x"}}).encode()
    assert members(content, wrappers=("case",)) == [("rows", 1), ("rows", 2), ("name", "x")]


NUMBERS = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(
    rows=st.lists(VALUES, max_size=6),
    value=VALUES,
    indent=st.sampled_from([None, 1]),
    is_ascii=st.booleans(),
    size=st.integers(1, 9),
)
def test_a_file_gives_the_same_values_wherever_reading_cuts_it(rows, value, indent, is_ascii, size):
    content = json.dumps({"rows": rows, "value": value}, indent=indent, ensure_ascii=is_ascii).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_stream, "READ_BYTES", size)
        assert members(content) == [*(("rows", row) for row in rows), ("value", value)]


@given(rows=st.lists(VALUES, min_size=1, max_size=4), size=st.integers(1, 9), data=st.data())
def test_a_file_that_was_cut_off_is_refused_wherever_reading_cuts_it(rows, size, data):
    content = json.dumps({"rows": rows}).encode()
    end = data.draw(st.integers(1, len(content) - 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_stream, "READ_BYTES", size)
        with pytest.raises(BadFile):
            members(content[:end])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b'{"a": 1,\n"b" 2}', 2, "column 5"),
        (b'{"rows": [1,\n2', 2, "not valid JSON"),
        (b'{"a": 1}\n x', 2, "Extra data"),
        ('{"a":\n"é"}'.encode("latin-1"), 2, "0xe9 is not valid UTF-8"),
        (b"[1]", None, "must begin with a brace"),
        (b"", 1, "not valid JSON"),
        (b"query,docid,rating\n", 1, "not valid JSON"),
        (b'{"a" 1}', 1, "column 6"),
        (b'{"rows": [1,]}', 1, "column 13"),
        (b'{"rows": [1, 2' + b"\n" * 100_000 + b"3]}", 100_001, "column 1"),
        (b'{"a": "x\ny"}', 1, "not valid JSON"),
        (rb'{"rows": [{"b": 1}, {"b": ["x", {"\u0000": 2}]}]}', None, r"rows\[2\]: .*U\+0000"),
        (b'{"a": NaN}', None, "a: .*not valid JSON: NaN"),
        (b'{"a": 1e999}', None, "a: the number 1e999 is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", None, "9… is too large"),
    ],
)
def test_read_members_of_what_is_not_an_object(content, line, message):
    with pytest.raises(BadFile, match=message) as caught:
        members(content)
    assert caught.value.line == line


@pytest.mark.parametrize("size", range(1, 16))
def test_read_members_of_text_that_is_read_in_parts(monkeypatch, size):
    monkeypatch.setattr("relevancy.formats.json_stream.READ_BYTES", size)
    content = {
        "name": 'é "quoted" \\ 😀',
        "rows": [12345, -1.5e3, True, False, None, "", "text " * 20, {"a": [1, {"b": 2}], "c": {}}, []],
        "number": 67,
    }
    pairs = [("name", content["name"]), *(("rows", row) for row in content["rows"]), ("number", 67)]
    assert members(content) == pairs
    assert members(json.dumps(content, ensure_ascii=False, indent="\t\r\n").encode()) == pairs
    with pytest.raises(BadFile, match="column 37: this is not valid JSON"):
        members(b'{"rows": [1, 2, {"a": "\\u00e9"}, 4.5e], "b": 1}')


def test_read_members_replaces_halves_of_characters():
    assert members(rb'{"a": "x\ud83d", "rows": ["\uD83D\uDE00", "\udc00"]}') == [
        ("a", "x?"),
        ("rows", "😀"),
        ("rows", "?"),
    ]


def test_read_members_of_another_encoding_in_a_large_file():
    with pytest.raises(BadFile, match="not valid UTF-8"):
        members(b'{"a": "' + b"x" * 2_000_000 + b"\xe9" + b'"}')


@pytest.mark.parametrize("value", ["[" * 101 + "]" * 101, '{"a":' * 101 + "1" + "}" * 101])
def test_read_members_refuses_deep_nesting(value):
    with pytest.raises(BadFile, match=r"rows\[1\]: .*nested too deeply"):
        members(f'{{"rows": [{value}]}}'.encode())


def test_read_members_refuses_a_file_above_the_limit():
    with pytest.raises(BadFile, match="maximum is 1,000 bytes"):
        members({"rows": ["x" * 100] * 20}, limit=1000)


def test_read_members_refuses_an_element_with_too_many_values(monkeypatch):
    monkeypatch.setattr("relevancy.formats.json_stream.MAX_VALUES", 10)
    assert len(members({"rows": [[1] * 5] * 20})) == 20
    with pytest.raises(BadFile, match=r"rows\[2\]: this has more than 10 values"):
        members({"rows": [[1], [1] * 20]})


def test_read_members_refuses_an_element_with_too_many_characters(monkeypatch):
    monkeypatch.setattr("relevancy.formats.json_stream.MAX_CHARACTERS", 1000)
    monkeypatch.setattr("relevancy.formats.json_stream.READ_BYTES", 100)
    assert len(members({"rows": ["x" * 500] * 20})) == 20
    with pytest.raises(BadFile, match=r"rows\[2\]: this has more than 1,000 characters"):
        members({"rows": ["x", "x" * 5000]})


@pytest.mark.parametrize(("value", "expected"), [("x", "x"), (None, ""), (7, "7"), (7.0, "7"), (7.5, "7.5"), ("", "")])
def test_text(value, expected):
    assert Fields({"a": value}, "rows[1]").text("a") == expected


@pytest.mark.parametrize(
    ("read", "value"),
    [
        ("text", []),
        ("text", True),
        ("mapping", "{"),
        ("mapping", [1]),
        ("items", {}),
    ],
)
def test_wrong_types_name_the_location_and_the_value(read, value):
    with pytest.raises(BadFile) as caught:
        getattr(Fields({"a": value}, "rows[1]"), read)("a")
    assert str(caught.value).startswith("rows[1].a: ")
    assert repr(value) in str(caught.value)


def test_an_object_is_needed():
    with pytest.raises(BadFile, match=r"rows\[1\]: this must be an object, not 3"):
        Fields(3, "rows[1]")
