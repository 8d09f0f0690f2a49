"""Suggested fields and templates."""

import pytest

from relevancy import endpoints, runs
from relevancy.endpoints.suggestions import Fields, suggest_fields, suggest_template, text_fields
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


@pytest.mark.parametrize("engine", endpoints.available_engines(), ids=lambda engine: engine.key)
@pytest.mark.parametrize("fields", [Fields("id", "title", "", ("overview", 'odd"name')), Fields("id", "id")])
@pytest.mark.parametrize("text_names", [None, [], ["overview"]])
def test_suggest_template_is_valid(engine, fields, text_names):
    """Every suggested template is a valid template of an attempt."""
    template = suggest_template(engine=engine.key, fields=fields, text_names=text_names)
    knobs = runs.attempts.check(
        endpoint=Endpoint(engine=engine.key), template=template, fields=fields.spec, knobs={}, depth=10
    )
    assert set(knobs) <= {"title_boost"}


def test_suggest_template_without_number_fields():
    template = suggest_template(
        engine="embedded", fields=Fields("id", "title", "", ("year", "cast")), text_names=["title", "cast"]
    )
    assert '{"title": ##title_boost##, "cast": 1}' in template


def test_text_fields():
    documents = [
        {"title": "A", "year": 1, "cast": ["x"], "tags": []},
        {"title": "B", "cast": ["y", "z"], "mixed": ["a", 1]},
    ]
    assert text_fields(documents) == ["title", "cast"]
