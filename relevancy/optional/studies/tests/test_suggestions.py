"""How knobs are varied before anybody has said how."""

import pytest

from relevancy.cases import KnobRange
from relevancy.engines import parse_template
from relevancy.optional.studies.suggestions import find_places, suggest_knob


@pytest.mark.parametrize(
    ("name", "value", "knob"),
    [
        ("tie", 0.3, "tie=0:1"),
        ("title_boost", 3, "title_boost=0.1:10:log"),
        ("titleBoost", 3, "titleBoost=0.1:10:log"),
        ("title_boost", 18, "title_boost=1.8:180:log"),
        ("phrase_slop", 2, "phrase_slop=0:10:whole"),
        ("rank_constant", 60, "rank_constant=10:100:whole"),
        ("use_phrase", 1, "use_phrase=switch"),
        ("something", 0, "something=0:1"),
        ("something", 0.4, "something=0:1"),
        ("something", 7, "something=0.7:70:log"),
        ("something", -2, "something=-4:0"),
        ("fuzzy", 1, "fuzzy=0:2:whole"),
        ("ps", 25, "ps=0:50:whole"),
    ],
)
def test_knob_is_varied_as_its_name_suggests(name: str, value: float, knob: str) -> None:
    assert str(suggest_knob(name, value).knob) == knob


@pytest.mark.parametrize(
    ("name", "slider", "knob"),
    [
        ("title_boost", KnobRange(1, 5, 0.25), "title_boost=1:5:log"),
        ("title_boost", KnobRange(0, 5, 0.25), "title_boost=0:5"),
        ("window", KnobRange(1, 50, 1), "window=1:50:whole"),
        ("other", KnobRange(0, 5, 0.5), "other=0:5"),
    ],
)
def test_range_of_a_slider_counts(name: str, slider: KnobRange, knob: str) -> None:
    assert str(suggest_knob(name, 2, slider).knob) == knob
    assert suggest_knob(name, 2, slider).why == "of its slider"


MULTI_MATCH = """{"query": {"multi_match": {"query": "#$query##", "fields": ["title^##boost##"],
  "type": "##type##", "operator": ##op##, "minimum_should_match": ##mm##}}}"""
HYBRID = """{"query": {"hybrid": {"queries": []}}, "search_pipeline": {"phase_results_processors": [{"normalization-processor": {
  "normalization": {"technique": "##norm##"}, "combination": {"technique": "##how##", "parameters": {"weights": [##w##, 0.3]}}}}]}}"""


@pytest.mark.parametrize(
    ("template", "places"),
    [
        (
            MULTI_MATCH,
            {
                "type": "/query/multi_match/type",
                "op": "/query/multi_match/operator",
                "mm": "/query/multi_match/minimum_should_match",
            },
        ),
        ("q={!edismax mm=##mm## pf='title^##b##'}#$query##&q.op=##op##", {"mm": "/q/mm", "op": "/q.op"}),
        ("mm=##mm##%&tie=##tie##", {"tie": "/tie"}),
    ],
)
def test_places_are_those_of_knobs_that_are_a_whole_value(template: str, places: dict[str, str]) -> None:
    assert find_places(parse_template(template, "either")) == places


@pytest.mark.parametrize(
    ("template", "name", "value", "knob"),
    [
        (MULTI_MATCH, "mm", "3<90%", "mm=3<90%,1,2<75%,75%,100%"),
        (MULTI_MATCH, "mm", 1, "mm=1,2<75%,75%,100%"),
        (MULTI_MATCH, "type", "best_fields", "type=best_fields,most_fields,cross_fields"),
        (MULTI_MATCH, "op", "and", "op=or,and"),
        ('{"query": "#$query##", "type": "##type##"}', "type", "most_fields", "type=best_fields,most_fields"),
        ("q=#$query##&q.op=##op##", "op", "AND", "op=OR,AND"),
        ("q=#$query##&defType=##parser##", "parser", "edismax", "parser=edismax,dismax"),
        ("q=#$query##&mm=##mm##%", "mm", 75, "mm=0:100:whole"),
        (HYBRID, "norm", "min_max", "norm=min_max,l2"),
        (HYBRID, "how", "harmonic_mean", "how=arithmetic_mean,geometric_mean,harmonic_mean"),
        (HYBRID, "w", 0.7, "w=0:1"),
        ('{"knn": {"field": "v", "k": ##near##}}', "near", 20, "near=10:200:whole"),
    ],
)
def test_knob_is_varied_as_its_place_suggests(template: str, name: str, value: float | str, knob: str) -> None:
    place = find_places(parse_template(template, "either"))
    assert str(suggest_knob(name, value, None, place.get(name, "")).knob) == knob


def test_nothing_is_known_of_other_texts() -> None:
    assert suggest_knob("analyzer", "english", None, "/query/match/title/analyzer").knob is None


def test_slider_that_does_not_hold_the_value_is_left_out() -> None:
    assert str(suggest_knob("tie", 0.3, KnobRange(5, 9, 1)).knob) == "tie=0:1"
