"""How views read requests."""

from enum import StrEnum

import pytest
from django.core.exceptions import BadRequest

from relevancy.views.requests import parse_number, submitted


class Action(StrEnum):
    SAVE = "save"
    TRY = "try"


def test_submitted_returns_the_button(rf):
    assert submitted(rf.post("/", {"do": "try"}), Action) is Action.TRY


def test_submitted_without_a_button(rf):
    assert submitted(rf.post("/"), Action, default=Action.SAVE) is Action.SAVE
    with pytest.raises(BadRequest, match="''"):
        submitted(rf.post("/"), Action)


@pytest.mark.parametrize("value", ["delete", "", "SAVE"])
def test_submitted_refuses_values_of_no_button(rf, value):
    with pytest.raises(BadRequest, match=repr(value)):
        submitted(rf.post("/", {"do": value}), Action, default=Action.SAVE)


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("", 0), ("x", 0), ("-7", 0), ("1" * 10, 0)])
def test_parse_number(text, number):
    assert parse_number(text) == number
