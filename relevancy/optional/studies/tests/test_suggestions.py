"""How knobs are varied before anybody has said how."""

import pytest

from relevancy.cases import KnobRange
from relevancy.optional.studies.suggestions import suggest_knob


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


def test_slider_that_does_not_hold_the_value_is_left_out() -> None:
    assert str(suggest_knob("tie", 0.3, KnobRange(5, 9, 1)).knob) == "tie=0:1"
