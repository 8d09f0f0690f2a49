"""The ranges of the sliders of knobs: set by editors, and kept."""

import io
import json

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases
from relevancy.cases import KnobRange
from relevancy.formats.errors import BadFile
from relevancy.formats.relevancy import case_reader, writer
from relevancy.models import Case

from .example_cases import HTMX, at, attributes, by_id, elements, make_workbench_case, tree, words

TEMPLATE = "q=#$query##&boost=##boost##&tie=##tie##"


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team)
    case.attempts.update(template=TEMPLATE, knobs={"boost": 3, "tie": 0.1})
    return case


def sliders(client, case):
    """`{knob: (lowest, highest, step)}` of the tune pane."""
    knobs = [knob for knob in elements(tree(client.get(at(case, "case"))), cls="knob") if attributes(knob)["data-knob"]]
    result = {attributes(knob)["data-knob"]: attributes(elements(knob, type="range")[0]) for knob in knobs}
    return {name: tuple(float(slider[part]) for part in ("min", "max", "step")) for name, slider in result.items()}


def sent(boost=("", "", ""), tie=("", "", "")):
    fields = {"knob.boost": "3", "knob.tie": "0.1"}
    for name, texts in (("boost", boost), ("tie", tie)):
        fields |= {f"{part}.{name}": text for part, text in zip(("lowest", "highest", "step"), texts, strict=True)}
    return fields


def entered(response):
    """The fields of the form: `{name: value}`."""
    fields = map(attributes, elements(by_id(response, "knob-ranges"), type="number"))
    return {field["name"]: field.get("value", "") for field in fields}


def test_range_stays_for_all_attempts_and_can_be_removed(sign_in, case):
    client = sign_in("editor")
    before = sliders(client, case)
    response = client.post(at(case, "knob_ranges"), sent(boost=("1", "5", "0,25")), headers=HTMX)
    assert json.loads(response["HX-Trigger"])["knob-ranges"]["ranges"]["boost"] == [1, 5, 0.25]
    assert sliders(client, case) == {**before, "boost": (1, 5, 0.25)}
    case.attempts.update(knobs={"boost": 8, "tie": 0.1})
    assert sliders(client, case)["boost"] == (1, 8, 0.25), "The number of the attempt is on its slider."
    client.post(at(case, "knob_ranges"), sent(), headers=HTMX)
    assert Case.objects.get(pk=case.pk).knob_ranges == {}


def test_form_has_the_knobs_that_are_in_the_template_now(sign_in, case):
    cases.set_knob_ranges(case=case, ranges={"tie": KnobRange(0, 0.5, 0.1)})
    client = sign_in("editor")
    response = client.get(at(case, "knob_ranges", **{"knob.tie": "0.1", "knob.fresh": "10"}), headers=HTMX)
    assert entered(response) == {
        "lowest.tie": "0",
        "highest.tie": "0.5",
        "step.tie": "0.1",
        **dict.fromkeys(("lowest.fresh", "highest.fresh", "step.fresh"), ""),
    }
    assert len(entered(client.get(at(case, "knob_ranges"), headers=HTMX))) == 6


def test_texts_have_no_slider_and_so_no_range(sign_in, case):
    cases.set_knob_ranges(case=case, ranges={"tie": KnobRange(0, 0.5, 0.1)})
    client, texts = sign_in("editor"), {"knob.mm": "2<75%", "knob.op": "and"}
    response = client.get(at(case, "knob_ranges", **texts, **{"knob.tie": "low", "knob.boost": "3"}), headers=HTMX)
    assert {name.partition(".")[2] for name in entered(response)} == {"tie", "boost"}, (
        "A range from before can be removed."
    )
    assert words(by_id(response, "text-knobs")) == "mm, op are texts and have no slider."
    response = client.get(at(case, "knob_ranges", **texts), headers=HTMX)
    assert "has no knob" not in response.content.decode()


@pytest.mark.parametrize(
    ("boost", "problem"),
    [
        (("5", "1", "1"), "The highest value, 1, must be above the lowest, 5."),
        (("0", "1", "2"), "The step, 2, must be above 0 and at most 1"),
        (("0", "", "1"), "Enter numbers"),
        (("0", "inf", "1"), "Enter numbers"),
    ],
)
def test_range_that_cannot_be_used_is_refused(sign_in, case, boost, problem):
    response = sign_in("editor").post(at(case, "knob_ranges"), sent(boost=boost), headers=HTMX)
    assert response.status_code == 422
    assert problem in words(by_id(response, "knob-ranges"))
    assert Case.objects.get(pk=case.pk).knob_ranges == {}


def test_copies_and_files_keep_ranges(case):
    cases.set_knob_ranges(case=case, ranges={"boost": KnobRange(1, 5, 0.25)})
    copy = cases.duplicate(case=case, name="Copy", ratings="copy", with_attempts=True, by=case.owner).case
    assert cases.list_knob_ranges(copy) == {"boost": KnobRange(1, 5, 0.25)}
    with io.BytesIO("".join(writer.export_case(case=case, by=case.owner)).encode()) as file:
        content = case_reader.parse_case(file)
        assert content.knob_ranges == {"boost": KnobRange(1, 5, 0.25)}
        data = json.loads(file.seek(0) or file.read())
    with pytest.raises(BadFile, match="must have three numbers"):
        case_reader.parse_case(io.BytesIO(json.dumps({**data, "knob_ranges": {"boost": [1, 5]}}).encode()))


def test_a_case_keeps_a_limited_number_of_ranges(case):
    with pytest.raises(ValidationError, match="at most 200 knobs"):
        cases.set_knob_ranges(case=case, ranges={f"k{number}": KnobRange(0, 1, 0.1) for number in range(201)})
