"""Text that can be stored, and rows saved with it."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from relevancy.models import Team
from relevancy.models.errors import error_fields, error_location, error_text, located_error
from relevancy.models.saving import clean_and_save
from relevancy.models.text import (
    is_storable,
    normalize_line,
    normalize_text,
    unify_newlines,
    validate_line,
    validate_text,
)
from tests.factories import make_team


def test_normalize_line() -> None:
    assert normalize_line("  cafe\u0301 \n\t au  lait ") == "café au lait"


def test_normalize_text_keeps_lines() -> None:
    assert normalize_text(" cafe\u0301\r\n\r\n\tlait \r") == "café\n\n\tlait"


def test_unify_newlines_keeps_everything_else() -> None:
    assert unify_newlines(" e\u0301\r\nx\r ") == " e\u0301\nx\n "


@pytest.mark.parametrize(("character", "code_point"), [("\0", "U+0000"), ("\x07", "U+0007"), ("\ud800", "U+D800")])
def test_invalid_characters_are_named(character: str, code_point: str) -> None:
    for validate in (validate_line, validate_text):
        with pytest.raises(ValidationError, match=code_point.replace("+", r"\+")):
            validate(f"a{character}b")
    assert not is_storable(f"a{character}b")


def test_newlines_and_tabs_are_valid_in_text_only() -> None:
    validate_text("a\n\tb")
    with pytest.raises(ValidationError):
        validate_line("a\nb")


def test_error_text_and_fields() -> None:
    error = ValidationError({"name": ["Too long.", "100 % wrong."], "url": "Empty."})
    assert error_text(error) == "Too long. 100 % wrong. Empty."
    assert error_fields(error) == ["name", "url"]
    assert error_fields(ValidationError("No.")) == error_fields(ValidationError({"__all__": "No."})) == []
    assert error_text(ValueError("x")) == "x"


def test_located_error() -> None:
    error = located_error("template", "100 % wrong", line=2, column=7)
    assert (error_fields(error), error_location(error), error_text(error)) == (["template"], (2, 7), "100 % wrong")
    assert error_location(ValidationError({"name": "x"})) == error_location(ValidationError("x")) == (None, None)


@pytest.mark.django_db
def test_clean_and_save_restores_the_attributes() -> None:
    team = make_team("Search")
    with pytest.raises(ValidationError):
        clean_and_save(team, name="\0")
    assert team.name == "Search"
    clean_and_save(team, name="  New   name ")
    assert (team.name, Team.objects.get().name) == ("New name", "New name")


@pytest.mark.django_db
def test_clean_and_save_a_name_taken_after_the_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests validate the same free name at the same time; the second one is told so."""
    team, full_clean = Team(name="Search"), Team.full_clean
    make_team("search")

    def validate_before_the_other(*_: object, **__: object) -> None:
        monkeypatch.setattr(Team, "full_clean", full_clean)

    monkeypatch.setattr(Team, "full_clean", validate_before_the_other)
    with pytest.raises(ValidationError) as caught:
        clean_and_save(team)
    assert error_fields(caught.value) == ["name"]


@pytest.mark.django_db
def test_clean_and_save_reports_other_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    team = make_team("Search")
    monkeypatch.setattr(Team, "full_clean", lambda *_, **__: None)
    with pytest.raises(IntegrityError):
        clean_and_save(Team(name=team.name))
