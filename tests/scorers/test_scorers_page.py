"""docs/scorers.md: its lists are complete, its numbers are right, its script and its file work."""

import re

from django.conf import settings

from relevancy import scorers, scores, scoring
from relevancy.formats.relevancy import scorer_file
from relevancy.models import ScorerDefinition
from relevancy.templatetags import numbers

PAGE = (settings.BASE_DIR / "docs" / "scorers.md").read_text(encoding="utf-8")


def code_block(language: str) -> str:
    """The only code block of the page in this language."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(code)


def test_page_lists_all_measures_and_parameters() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (?:optional|required|none) \| (.*) \|$", PAGE, re.MULTILINE)
    listed = {name: [part.split("`")[1] for part in parameters.split("; ") if part] for name, parameters in rows}
    definitions = scoring.get_definitions()
    assert listed == {
        name: [parameter.name for parameter in definition.parameters] for name, definition in definitions.items()
    }
    for definition in definitions.values():
        for parameter in definition.parameters:
            assert all(f"`{value}`" in PAGE for value, _ in parameter.choices)


def test_page_lists_everything_a_script_can_call() -> None:
    section = PAGE.partition("everything a script can call:")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE)
    assert rows == [(entry.signature, entry.description.replace("|", "\\|")) for entry in scorers.SCRIPT_REFERENCE]


def test_script_of_the_page_runs() -> None:
    definition = scorers.check(ScorerDefinition(script=code_block("js"), scale=[[grade, ""] for grade in range(4)]))
    preview = scores.preview_grades(definition, grades="3 2 - 1")
    assert (preview.error, definition.cutoff) == ("", 10)
    assert preview.console == ("in stock: false",)
    assert preview.score is not None


def test_file_of_the_page_can_be_read() -> None:
    scorer = scorer_file.parse_scorer(code_block("json"))
    assert (scorer.name, scorer.script, scorer.depth) == ("House score", "setScore(avgRating100(10));", None)


def test_comparison_of_the_page_is_correct() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    fair = "1 " * 10
    rankings = (("3" + " 0" * 9, fair), ("0 0 0 3" + " 0" * 6, fair), (fair, "3"))
    assert len(rows) == 10
    for measure, *printed in rows:
        computed = [
            scores.preview_grades(ScorerDefinition(measure=measure), grades=grades, known=known, scale="0:3").score
            for grades, known in rankings
        ]
        assert [numbers.score(score) for score in computed] == printed, measure
