"""Rating buttons: which are shown, what they send, and that they work without JavaScript."""

import re
from statistics import fmean

import pytest
from django.template import Context, Template

from relevancy.templatetags import ratings
from tests.markup import compact

FOUR = [(0, "Poor"), (1, "Fair"), (2, "Good"), (3, "Perfect")]
TEN = [(value, "") for value in range(1, 11)]
HUNDRED = [(value, "") for value in range(101)]


def draw(scale: object, mine: object, grade: object, options: str = "", **context: object) -> str:
    source = "{% load relevancy %}{% rate scale mine grade url doc " + options + " %}"
    given = {"scale": scale, "mine": mine, "grade": grade, "url": "/rate?a=1&b=2", "doc": 'a"b<c>', **context}
    return compact(Template(source).render(Context(given)))


def buttons(html: str) -> list[dict[str, str]]:
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) for tag in re.findall(r"<button ([^>]*)>", html)]


@pytest.mark.parametrize(
    ("grade", "kind", "text"),
    [(3, "g10", "3"), (2.5, "g8", "2.5"), (None, "unrated", "·"), (float("nan"), "unrated", "·")],
)
def test_grade_pill(grade: object, kind: str, text: str) -> None:
    html = ratings.grade_pill(grade, 0, 3)
    assert f'class="grade {kind}"' in html
    assert f">{text}</span>" in html


def test_grade_pill_escapes_its_label() -> None:
    assert 'title="&lt;b&gt;"' in ratings.grade_pill(1, 0, 3, "<b>")


def test_rate_unrated_offers_every_grade() -> None:
    drawn = buttons(draw(FOUR, None, None))
    assert [b["value"] for b in drawn] == ["0", "1", "2", "3"]
    assert [b["class"] for b in drawn] == ["g0", "g3", "g7", "g10"]
    assert [b["title"] for b in drawn] == ["Poor", "Fair", "Good", "Perfect"]
    assert {b["aria-checked"] for b in drawn} == {"false"}
    assert {b["type"] for b in drawn} == {"submit"}
    assert "rated" not in draw(FOUR, None, None)


@pytest.mark.parametrize("mine", [2, 2.0, "2"])
def test_rate_chosen_grade_sends_nothing_to_take_itself_back(mine: object) -> None:
    html = draw(FOUR, mine, 2)
    drawn = buttons(html)
    assert [b["value"] for b in drawn] == ["0", "1", "", "3"]
    assert [b["aria-checked"] for b in drawn] == ["false", "false", "true", "false"]
    assert [b["data-grade"] for b in drawn] == ["0", "1", "2", "3"]
    assert 'class="rate rated"' in html


def test_rate_shows_the_combined_grade_only_where_it_differs() -> None:
    assert 'class="grade' not in draw(FOUR, 2, 2.0)
    assert 'class="grade g5"' in draw(FOUR, 2, 1.5)
    assert 'class="grade g3"' in draw(FOUR, None, 1)
    assert 'class="grade' not in draw(FOUR, 2, None)
    tenths = [(value / 10, "") for value in range(4)]
    assert 'class="grade' not in draw(tenths, 0.1, fmean([0.1, 0.1, 0.1]))  # 0.10000000000000002


def test_rate_long_scale_is_a_number_field() -> None:
    html = draw(HUNDRED, 42, 42)
    assert 'role="radiogroup"' not in html
    assert 'min="0" max="100" step="1"' in html
    assert 'value="42"' in html
    assert {"name": "value", "value": ""}.items() <= buttons(html)[-1].items()
    assert "data-grade-back" not in draw(HUNDRED, None, None)


def test_rate_steps_of_a_long_scale() -> None:
    assert 'step="0.5"' in draw([(value / 2, "") for value in range(21)], None, None)
    assert 'step="any"' in draw([(value * value, "") for value in range(12)], None, None)


def test_rate_eleven_grades_are_still_buttons() -> None:
    assert len(buttons(draw([(value, "") for value in range(11)], None, None))) == 11
    assert 'class="rate compact"' in draw(TEN, None, None)


def test_rate_without_permission_is_for_reading() -> None:
    html = draw(FOUR, 2, 2, "can=False")
    assert "<form" not in html
    assert "<button" not in html
    assert 'title="Good">2</span>' in html
    assert 'class="grade unrated"' in draw(FOUR, None, None, "can=False")


def test_rate_is_a_form_that_works_alone() -> None:
    html = draw(FOUR, None, None, 'title=film target="closest .result"', film="Star <Trek>", csrf_token="tok<en")
    assert 'method="post" action="/rate?a=1&amp;b=2"' in html
    assert 'name="csrfmiddlewaretoken" value="tok&lt;en"' in html
    assert 'name="doc_id" value="a&quot;b&lt;c&gt;"' in html
    assert 'aria-label="Rating of Star &lt;Trek&gt;"' in html
    assert 'hx-target="closest .result" hx-swap="outerHTML"' in html


def test_rate_empty_scale_breaks_nothing() -> None:
    assert "<form" in draw([], None, None)
