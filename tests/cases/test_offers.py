"""What is offered for an index: fields by their names, and a template that can be used as it is."""

import pytest

from relevancy import cases
from relevancy.cases.offers import Fields, suggest_fields, suggest_template, text_fields
from relevancy.models import Endpoint


def test_suggest_fields_by_usual_names():
    names = ["id", "Title", "poster_path", "overview", "cast", "year", "popularity"]
    assert suggest_fields(engine="solr", names=names) == Fields(
        "id", "Title", "poster_path", ("overview", "cast", "year")
    )


def test_suggest_fields_without_usual_names():
    assert suggest_fields(engine="solr", names=["sku_id", "x"]) == Fields("sku_id", "sku_id")
    assert suggest_fields(engine="elasticsearch", names=["product_title_t"]) == Fields("_id", "product_title_t")
    assert suggest_fields(engine="solr", names=[]) == Fields("id", "id")


def test_fields_spec():
    assert Fields("id", "name", "img", ("a", "b")).spec == "id:id title:name thumb:img a b"
    assert Fields("id", "name").spec == "id:id title:name"


@pytest.mark.parametrize("kind", cases.offers.kinds(), ids=lambda kind: kind.key)
@pytest.mark.parametrize("fields", [Fields("id", "title", "", ("overview", 'odd"name')), Fields("id", "id")])
@pytest.mark.parametrize("words", [None, [], ["overview"]])
def test_suggest_template_can_be_used(kind, fields, words):
    """Whatever is suggested passes the check that stands before an attempt."""
    template = suggest_template(engine=kind.key, fields=fields, words=words)
    knobs = cases.attempts.check(
        endpoint=Endpoint(engine=kind.key), template=template, fields=fields.spec, knobs={}, depth=10
    )
    assert set(knobs) <= {"title_boost"}


@pytest.mark.parametrize(
    ("options", "template", "syntax"),
    [
        ({}, "q=#$query##", "params"),
        ({"method": "POST"}, '{"query": "#$query##"}', "json"),
        ({"method": "POST", "template": "text=#$query##&n=5"}, "text=#$query##&n=5", "params"),
        ({"method": "POST", "template": '{"a": "#$query##"}'}, '{"a": "#$query##"}', "json"),
    ],
)
def test_suggest_template_of_an_api_is_its_own(options, template, syntax):
    fields = Fields("id", "title", "", ("overview",))
    assert suggest_template(engine="http", fields=fields, words=["title"], options=options) == template
    assert cases.attempts.syntax(Endpoint(engine="http", options=options)) == syntax


def test_suggest_template_leaves_numbers_out():
    template = suggest_template(
        engine="embedded", fields=Fields("id", "title", "", ("year", "cast")), words=["title", "cast"]
    )
    assert '{"title": ##title_boost##, "cast": 1}' in template


def test_text_fields():
    documents = [
        {"title": "A", "year": 1, "cast": ["x"], "tags": []},
        {"title": "B", "cast": ["y", "z"], "mixed": ["a", 1]},
    ]
    assert text_fields(documents) == ["title", "cast"]
