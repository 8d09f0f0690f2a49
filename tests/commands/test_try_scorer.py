"""`try_scorer` with scripts: values, console, and what is wrong with a script."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import scorers
from relevancy.models import ScorerDefinition
from tests.factories import make_user


def command(*words: Any) -> str:
    """What a command prints."""
    out = io.StringIO()
    call_command("try_scorer", *map(str, words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def refused(*words: Any) -> tuple[str, str]:
    """Returns the output and the error of a command that must end with exit status 2."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("try_scorer", *map(str, words), stdout=out, stderr=io.StringIO())
    assert caught.value.returncode == 2
    return out.getvalue(), str(caught.value)


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "scorer.js"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_script_json(write):
    path = write("console.log('n', numReturned(), max);\nsetScore(avgRating100(3));")
    assert json.loads(command("--script", path, "--grades", "3 2 - 1", "--json")) == {
        "value": 83.0, "score": 83.0, "low": None, "high": None, "console": ["n 4 3"], "error": None,
    }  # fmt: skip


def test_script_for_people(write):
    path = write("console.log('hello');\nsetScore(0.25);")
    assert command("--script", path, "--grades", "1", "--gives", "1") == (
        f"hello\n{path}: score 25.0, value 25.000000\n"
    )


def test_script_sees_known_documents_and_the_scale(write):
    path = write("setScore(10 * bestDocs.length + max);")
    result = json.loads(command("--script", path, "--grades", "1 -", "--known", "2 2", "--scale", "0:5", "--json"))
    assert result["score"] == 35


def test_script_depth(write):
    path = write("setScore(k);")
    assert json.loads(command("--script", path, "--grades", "1 1 1", "--json"))["score"] == 3
    assert json.loads(command("--script", path, "--grades", "1 1 1", "--depth", "2", "--json"))["score"] == 2


def test_script_that_throws_is_reported_as_a_result(write):
    path = write("console.log('before');\nnope();")
    result = json.loads(command("--script", path, "--grades", "1", "--json"))
    assert result["score"] is None
    assert result["console"] == ["before"]
    assert result["error"].startswith("Line 2")
    assert "no score, the script failed. Line 2" in command("--script", path, "--grades", "1")


def test_script_that_cannot_be_read(write):
    path = write("let a = 1;\nlet b = ;")
    message, reason = refused("--script", path, "--grades", "1")
    assert (message, reason.startswith(f"{path}: Line 2, column 9: ")) == ("", True)
    message, _ = refused("--script", path, "--grades", "1", "--json")
    assert json.loads(message)["error"].startswith("Line 2, column 9: ")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("setScore(1)", ["--grades", "1 x"], "Grade 2 is 'x'"),
        ("setScore(1)", ["--grades", "4", "--scale", "0:3"], "4 is not on the scale 0–3"),
        ("setScore(1)", ["--grades", "1", "--scale", "x"], "'x'"),
        ("setScore(1)", ["--grades", "1", "--depth", "0"], "--depth is 0"),
        ("setScore(1)", ["--grades", "1", "--depth", "1001"], "it must be from 1 to 1000"),
        (" ", ["--grades", "1"], "is empty"),
    ],
)
def test_script_mistakes(write, text, words, message):
    assert message in refused("--script", write(text), *words)[1]


def test_script_file_is_missing(tmp_path):
    assert "cannot be read" in refused("--script", tmp_path / "none.js", "--grades", "1")[1]


@pytest.mark.django_db
def test_saved_script_has_its_own_scale():
    definition = ScorerDefinition(script="setScore(avgRating100(10));", scale=[[grade, ""] for grade in range(1, 6)])
    scorers.create(name="House", definition=definition, by=make_user())
    assert command("--scorer", "House", "--grades", "5 3").startswith("House: score 80.0")
    assert "6 is not on the scale 1–5" in refused("--scorer", "House", "--grades", "6")[1]
