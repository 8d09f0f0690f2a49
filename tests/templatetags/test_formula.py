"""Formulas as MathML, and the working of a score as a table."""

import re

import pytest
from django.template import engines

from relevancy import scoring
from relevancy.models import ScorerDefinition
from relevancy.scores import preview_grades
from relevancy.templatetags.formulas import formula
from relevancy.templatetags.workings import raised, working_table

FORBIDDEN = re.compile(r"<\s*(?:script|style)\b|\s(?:style|on\w+|href|src)\s*=", re.IGNORECASE)


def _flavours():
    """Every measure with every choice of every parameter."""
    for name, definition in scoring.get_definitions().items():
        cutoff = None if definition.cutoff == "none" else 10
        choices = [{parameter.name: value} for parameter in definition.parameters for value, _ in parameter.choices]
        for values in [{}, *choices]:
            yield str(scoring.build_measure(name, values, cutoff))


@pytest.mark.parametrize("measure", sorted(set(_flavours())))
def test_formula_of_every_measure_is_typeset(measure):
    result = formula(scoring.parse_measure(measure).formula())
    assert result.startswith("<math ")
    assert not FORBIDDEN.search(result)
    assert "\\" not in result
    assert "xmlns" not in result


def test_formula_puts_bounds_of_sums_above_and_below():
    result = formula(r"\frac{\sum_{r=1}^{k} g_r}{2}")
    assert '<munderover displaystyle="true"><mo>∑</mo>' in result
    assert result.count("<msub>") == 1


def test_formula_sets_remarks_apart():
    assert formula(r"x = 1, \quad g \text{ is a grade}").count("<math ") == 2


def test_formula_of_nothing_is_nothing():
    assert formula("") == ""


@pytest.mark.parametrize(
    "latex", [r"\frac{", r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", r"\color{red}{x}"]
)
def test_formula_that_cannot_be_converted_stays_text(latex):
    result = formula(latex)
    assert not FORBIDDEN.search(result.replace("\\", ""))
    if not result.startswith("<math "):
        assert result.startswith('<code class="formula">')


def test_formula_escapes_what_it_cannot_read():
    assert formula(r"\begin{<b>}") == '<code class="formula">\\begin{&lt;b&gt;}</code>'


def test_formula_never_lets_html_through():
    assert "<script" not in formula("<script>alert(1)</script>")
    assert "<script" not in formula(r"\text{<script>alert(1)</script>}")


def test_raised_escapes_the_rest():
    assert raised("2^g − 1 <b>") == "2<sup>g</sup> − 1 &lt;b&gt;"
    assert raised("<i> p^(r − 1), p = 0.8") == "&lt;i&gt; p<sup>r − 1</sup>, p = 0.8"


# --- the working ---


def tried(measure="nDCG@6", grades="3 2 3 0 1 2", known="3 2", scale="0:3", **arguments):
    definition = ScorerDefinition(**(arguments or {"measure": measure}), scale=[[grade, ""] for grade in range(4)])
    return preview_grades(definition, grades=grades, known=known, scale=scale)


def _numbers(table, at):
    return [line.cells[at].value for line in table.lines]


def test_working_table_of_ndcg():
    table = working_table(tried())
    assert [str(head.text) for head in table.heads] == [
        "Gain 2<sup>g</sup> − 1", "Discount 1 / log₂(r + 1)", "Product", "", "DCG", "Ideal grade", "Product", "Ideal DCG",
    ]  # fmt: skip
    assert [head.ideal for head in table.heads] == [False] * 5 + [True] * 3
    assert _numbers(table, 0) == ["7", "3", "7", "0", "1", "3"]
    assert _numbers(table, 1)[:3] == ["1.0000", "0.6309", "0.5000"]
    assert _numbers(table, 3) == ["100.0", "27.0", "50.0", "0.0", "5.5", "15.3"]
    assert _numbers(table, 4)[-1] == "13.848"
    assert _numbers(table, 5) == [3, 3, 3, 2, 2, 2]
    assert _numbers(table, 7)[-1] == "18.438"
    assert [line.title for line in table.lines] == [f"document {rank}" for rank in range(1, 7)]


def test_working_table_where_only_the_ideal_list_reaches():
    table = working_table(tried("nDCG@10"))
    last = table.lines[-1]
    assert (last.title, last.graded, last.cells[0].value, last.cells[3].value) == ("", False, None, None)
    assert last.cells[5].value is not None


def test_working_table_says_why_a_document_counts_for_nothing():
    assert [line.note for line in working_table(tried("P@3", "1 - 0", "", "0:1")).lines] == [
        "",
        "it has no rating",
        "",
    ]
    skipped = working_table(tried("P(unrated='skip')@2", "1 - 0", "", "0:1")).lines
    assert [(line.rank, line.note != "") for line in skipped] == [(1, False), (None, True), (2, False)]


@pytest.mark.parametrize("known", ["", "3 2"])
def test_working_table_without_documents(known):
    assert working_table(tried("P@10", "", known)).lines == []


def test_working_table_of_a_script_shows_what_it_was_given():
    table = working_table(tried(grades="1 - 3", known="2", script="setScore(1)"))
    assert [(line.rank, line.grade, line.cells[0].value) for line in table.lines] == [
        (1, 1, 3),
        (2, None, 2),
        (3, 3, 1),
    ]


def _drawn(expected):
    template = engines["django"].from_string('{% include "scorers/_working.html" with preview=tried %}')
    return template.render({"tried": expected})


@pytest.mark.parametrize("measure", sorted(set(_flavours())))
def test_working_of_every_measure_is_drawn_within_the_policy(measure):
    html = _drawn(tried(measure, "3 - 2 0 1", "3"))
    assert 'class="working"' in html
    assert "<table" in html
    assert not FORBIDDEN.search(html)
    assert str(tried(measure, "3 - 2 0 1", "3").working.conclusion).replace("'", "&#x27;") in html


def test_working_of_a_script_shows_console_and_error():
    html = _drawn(tried(grades="1 2", script="console.log('<b>', 1);\nconsole.log(2);\nnope()"))
    assert "&lt;b&gt; 1\n2\n" in html
    assert "The scorer failed." in html
    assert "Line 3" in html
