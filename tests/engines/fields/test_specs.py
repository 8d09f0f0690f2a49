"""Field specifications: Quepid's grammar, fetched fields, and displayed fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.engines.errors import TemplateError, UnreadableResponse
from relevancy.engines.fields.specs import FieldSpec, Picture, parse_fields
from relevancy.engines.types import Display


def test_parse_fields_first_bare_name_is_the_title():
    spec = parse_fields("title, overview+cast")
    assert spec == FieldSpec(id="id", title="title", sub=("overview", "cast"))
    assert spec.names == ("id", "title", "overview", "cast")


def test_parse_fields_typed():
    spec = parse_fields("id:sku title:name thumb:small image:large overview sub:cast")
    assert (spec.id, spec.title, spec.thumb, spec.image) == ("sku", "name", Picture("small"), Picture("large"))
    assert spec.sub == ("overview", "cast")
    assert spec.names == ("sku", "name", "small", "large", "overview", "cast")


@pytest.mark.parametrize("text", ["", "  ", "*", "* title", "*, a"])
def test_parse_fields_blank_or_leading_star_means_all_fields(text):
    spec = parse_fields(text, default_id="_id")
    assert spec == FieldSpec(id="_id", title="_id", all_fields=True)
    assert spec.names is None


@pytest.mark.parametrize("text", ["id:a title:b *", "id:a title:b sub:*", "id:a * b"])
def test_parse_fields_later_star_adds_all_fields(text):
    spec = parse_fields(text)
    assert (spec.id, spec.title, spec.all_fields, spec.names) == ("a", "b", True, None)


def test_parse_fields_first_wins_for_single_valued_types():
    spec = parse_fields("id:a id:b title:c title:d thumb:e thumb:f")
    assert (spec.id, spec.title, spec.thumb) == ("a", "c", Picture("e"))
    assert spec.names == ("a", "c", "e")


def test_parse_fields_missing_title_is_the_id():
    assert parse_fields("id:sku").title == "sku"
    assert parse_fields("thumb:small", default_id="_id").title == "_id"


def test_parse_fields_several_types_for_one_name():
    spec = parse_fields("id:title:sku highlight:unabridged:overview hl:cast translate:text media:clip")
    assert (spec.id, spec.title) == ("sku", "sku")
    assert spec.highlights == ("overview", "cast")
    assert spec.unabridged == ("overview",)
    assert spec.media == ("clip",)
    assert spec.sub == ("overview", "cast", "text", "clip")


@pytest.mark.parametrize("field_type", ["f", "func", "function"])
def test_parse_fields_functions_are_displayed_but_not_fetched(field_type):
    spec = parse_fields(f"title {field_type}:$boosted")
    assert spec.functions == {"boosted": "$boosted"}
    assert spec.sub == ("boosted",)
    assert spec.names == ("id", "title")
    assert spec.pick({"id": "1", "boosted": 2.5}) == {"id": "1", "boosted": 2.5}


def test_parse_fields_json_tokens():
    spec = parse_fields('title {"name": "a, b", "type": "image", "prefix": "https://x.test/?a=1+2,"} {"name":"cast"}')
    assert spec.image == Picture("a, b", "https://x.test/?a=1+2,")
    assert spec.sub == ("cast",)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('title {"name": "a" "type"}', 20, "not valid JSON"),
        ('title {"name": "a"', 19, "not valid JSON"),
        ('title {"type": "image"}', 7, "name"),
        ('title {"name": "a", "prefix": 3}', 7, "prefix"),
        ('{"name": "a", "type": "img"}', 1, "Choose one of id, title, thumb"),
        ("title pic:poster", 7, "“pic” is not a field type. Choose one of id, title, thumb, image"),
        ("title link:url", 7, "Links need no type"),
        ("title sub:", 7, "“sub:” names no field"),
        ("title :x", 7, "“” is not a field type"),
        ("title " + "{" + '"name":' + "[" * 100_000, 7, "nested"),
    ],
)
def test_parse_fields_reports_the_column(text, column, message):
    with pytest.raises(TemplateError) as caught:
        parse_fields(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert message in str(caught.value)


def test_pick_prefers_the_literal_name_then_descends_through_arrays():
    doc = {
        "id": 1,
        "a.b": "literal",
        "a": {"b": "deep"},
        "c": {"d.e": 1},
        "people": [{"n": ["x", "y"]}, {"n": "z"}, {}],
    }
    spec = parse_fields("title:a.b c.d.e people.n missing people.missing")
    assert spec.pick(doc) == {"id": 1, "a.b": "literal", "c.d.e": 1, "people.n": ["x", "y", "z"]}
    assert parse_fields("a.b").pick({"id": 1, "a": {"b": "deep"}}) == {"id": 1, "a.b": "deep"}


def test_pick_all_fields_returns_a_copy():
    doc = {"id": 1, "x": {"y": 2}}
    picked = parse_fields("*").pick(doc)
    assert picked == doc
    assert picked is not doc


@pytest.mark.parametrize(("value", "text"), [(" a ", "a"), (7, "7"), (7.0, "7"), (["x"], "x"), (0, "0")])
def test_id_of_is_trimmed_text(value, text):
    assert parse_fields("id:sku").id_of({"sku": value}) == text


@pytest.mark.parametrize("value", ["", " ", None, [], ["a", "b"], {"x": 1}, [["a"]]])
def test_id_of_rejects_invalid_ids(value):
    with pytest.raises(UnreadableResponse, match=r"its field “sku” is missing or empty.*other, sku"):
        parse_fields("id:sku").id_of({"sku": value, "other": 1})


def test_display_of_title_pictures_and_texts():
    spec = parse_fields(
        'title thumb:small {"name":"poster","type":"image","prefix":"https://x.test/p"} year tags meta gone'
    )
    fields = {
        "id": "1", "title": "Größe & Co <b>", "small": "http://x.test/1.png", "poster": "/1.jpg", "year": 1980,
        "tags": ["a", "b"], "meta": {"k": [1]},
    }  # fmt: skip
    assert spec.display(fields) == Display(
        title="Größe & Co <b>",
        thumb_url="http://x.test/1.png",
        image_url="https://x.test/p/1.jpg",
        subs=(("year", "1980"), ("tags", "a, b"), ("meta", '{"k": [1]}')),
    )


def test_display_of_all_fields_has_no_duplicates():
    display = parse_fields("id:sku title:name hl:b *").display({"a": True, "b": "x", "sku": "1", "name": "n", "c": ""})
    assert display == Display("n", None, None, (("b", "x"), ("a", "true")))


def test_display_title_falls_back_to_the_id():
    assert parse_fields("title").display({"id": 5}).title == "5"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:image/png;base64,AA", "//x.test/a.png", "/a.png", "ftp://x.test/a", "https://",
        "https:///a.png", "http://[::1", "https://x.test/a b.png", "https://x.test\\@y.test/", "java\nscript:x", "", 5,
    ],
)  # fmt: skip
def test_display_accepts_only_http_images(url):
    spec = parse_fields("title image:p thumb:p")
    assert spec.display({"id": "1", "p": url}) == Display("1", None, None, ())


@given(st.text(alphabet='ab:*{}",+ $.', max_size=30))
def test_parse_fields_accepts_or_rejects_any_text(text):
    try:
        spec = parse_fields(text)
    except TemplateError as error:
        assert 1 <= error.column <= len(text) + 1
        return
    assert spec.id
    assert spec.title
    assert spec.names is None or spec.names[0] == spec.id
    assert spec.display(spec.pick({"id": "1"})).title is not None
