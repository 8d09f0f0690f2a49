"""Knobs and their values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.optional.studies.space import Kind, Knob, Space, SpaceError, parse_knob, read_knob

KNOBS = ["boost=0.1:10:log", "tie=0:1", "slop=0:10:whole", "rows=10,20,50", "fuzzy=switch", "k=10:1000:whole"]
QUOTED = ['sort=["price:asc, name", "[x]", 2.0]', 'fields=["title:2,text", "title"]']


@pytest.mark.parametrize("text", KNOBS + QUOTED)
def test_a_knob_is_written_as_it_is_read(text: str) -> None:
    knob = parse_knob(text)
    assert str(knob) == text
    assert read_knob(knob.to_json()) == knob


@given(text=st.sampled_from(KNOBS), position=st.floats(0, 1))
def test_values_lie_in_the_range_and_keep_their_position(text: str, position: float) -> None:
    knob = parse_knob(text)
    value = knob.value(position)
    if knob.values:
        assert value in knob.values
    else:
        assert knob.low <= value <= knob.high
    assert knob.value(knob.position(value)) == pytest.approx(
        value, rel=2e-3, abs=1.01 if text.startswith("k=") else 2e-3
    )


@pytest.mark.parametrize("text", KNOBS)
def test_values_are_python_s_own_numbers(text: str) -> None:
    """What numpy calls a float is written as `np.float64(0.5)` into the parameters of Solr."""
    assert type(parse_knob(text).value(np.float64(0.3))) is float


def test_the_middle_of_a_logarithmic_knob_is_the_geometric_mean() -> None:
    assert parse_knob("boost=0.1:10:log").value(0.5) == 1.0
    assert parse_knob("tie=0:1").value(0.33333333) == 0.333


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tie",
        "tie=",
        "tie=1:0",
        "tie=0:1:log",
        "tie=0:1:odd",
        "tie=a:b",
        "slop=0.5:3:whole",
        "rows=10",
        "rows=10,10",
        "rows=10,10.0",
        "rows=1e999,2",
        "mm=and",
        "mm=and,and",
        "mm=and:or",
        "tie=0:nan",
        "tie=0:1:log:x",
        'mm=["a:b"]',
        'mm=["a:b", "c"',
        'mm=["a:b", true]',
        'mm=["a:b", ["c"]]',
        'mm=["a:b", ""]',
    ],
)
def test_what_is_no_knob_is_refused(text: str) -> None:
    with pytest.raises(SpaceError):
        parse_knob(text)


def test_texts_with_commas_and_colons_are_given_as_a_json_list() -> None:
    assert parse_knob('sort=["price:asc,name","2",0.5]').choices == ("price:asc,name", 2.0, 0.5)
    assert parse_knob('mm=["and","or"]') == parse_knob("mm=and,or")


def test_texts_are_chosen_from_and_numbers_among_them_stay_numbers() -> None:
    knob = parse_knob("mm=2<75%, 100%,3")
    assert (knob.kind, knob.choices, knob.is_text) == (Kind.CHOICES, ("2<75%", "100%", 3.0), True)
    assert str(knob) == "mm=2<75%,100%,3"
    assert read_knob(knob.to_json()) == knob
    assert [knob.value(position) for position in (0.0, 0.34, 0.5, 0.99, 1.0)] == ["2<75%", "100%", "100%", 3.0, 3.0]
    assert [knob.value(knob.position(value)) for value in knob.values] == list(knob.values)
    assert not parse_knob("rows=10,20").is_text


def test_texts_are_equal_or_one_side_of_the_cube_apart() -> None:
    space = Space((parse_knob("mm=2<75%,100%,3"), parse_knob("tie=0:1"), parse_knob("rows=10,20,50")))
    parent = {"mm": "2<75%", "tie": 0.5, "rows": 10.0}
    assert space.distance(parent, parent) == 0
    assert space.distance({**parent, "mm": "100%"}, parent) == space.distance({**parent, "mm": 3.0}, parent) == 1
    assert space.distance({**parent, "rows": 20.0}, parent) == 0.5
    assert space.distance({**parent, "mm": "100%", "tie": 1.0}, parent) == pytest.approx(math.sqrt(1.25))


def test_a_grid_has_all_settings_once() -> None:
    space = Space((parse_knob("rows=10,20,50"), parse_knob("fuzzy=switch")))
    assert space.grid_size == 6
    assert len({tuple(settings.items()) for settings in space.grid()}) == 6
    assert Space((parse_knob("tie=0:1"), parse_knob("fuzzy=switch"))).grid_size is None


def test_a_space_needs_knobs_of_different_names() -> None:
    for knobs in ((), (Knob("a", Kind.SWITCH), Knob("a", Kind.LINEAR))):
        with pytest.raises(SpaceError):
            Space(knobs)


def test_distance_is_measured_in_sides_of_the_cube() -> None:
    space = Space((parse_knob("boost=0.1:10:log"), parse_knob("tie=0:1")))
    assert space.distance({"boost": 0.1, "tie": 0}, {"boost": 10, "tie": 1}) == pytest.approx(math.sqrt(2))
    assert space.distance({"boost": 1, "tie": 0.5}, {"boost": 1, "tie": 0.5}) == 0


@pytest.mark.parametrize("text", ["a=0:1", "a=0.1:10:log", "a=0:200:whole", "a=1,2", "a=switch"])
def test_values_are_plain_numbers_which_templates_can_be_filled_with(text: str) -> None:
    value = parse_knob(text).value(np.float64(0.37))
    assert type(value) is float
