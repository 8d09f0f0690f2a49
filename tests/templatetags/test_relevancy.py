"""The tag library itself: everything is registered, and the small filters."""

import pytest
from django import forms
from django.template import Context, Template

from relevancy.templatetags import relevancy as tags
from tests.markup import compact


def draw(source: str, **context: object) -> str:
    return Template("{% load relevancy %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ v|score }}", "57.3"),
        ("{{ v|difference }}", "+57.3"),
        ("{{ v|trend }}", "up"),
        ("{{ v|thousands }}", "57"),
        ("{{ v|engine_score }}", "57.25"),
        ("{{ v|grade_text }}", "57.25"),
        ("{{ p|pvalue }}", "&lt; .001"),
        ("{{ p|coefficient }}", ".00"),
        ("{{ missing|score }}", "–"),
        ("{% grade_class 2 0 3 %}", "g7"),
        ("{% span 57 84 %}", "57–84"),
        ("{% ago None %}", '<span class="muted">never</span>'),
    ],
)
def test_filters_and_tags(source: str, text: str) -> None:
    assert draw(source, v=57.25, p=0.0001) == text


@pytest.mark.parametrize(
    "source",
    ["{% score_cell v 50 60 dim=True %}", "{% big_score v %}", "{% difference_cell v arrow=True %}", "{% progress 1 2 %}",
     "{% sparkline vs %}", "{% history_chart none %}", '{% icon "plus" %}', "{% grade_pill 1 0 3 %}"],
)  # fmt: skip
def test_drawing_tags_are_not_escaped_twice(source: str) -> None:
    html = draw(source, v=57.25, vs=[1, 2], none=[])
    assert html.startswith("<")
    assert "&lt;" not in html


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Mira Okafor", "MO"),
        ("Ana Maria de Sousa", "AS"),
        ("mira", "M"),
        ("mira.okafor@example.org", "MO"),
        ("Ökçe <b>", "Ö"),
        ("", "?"),
        (None, "?"),
    ],
)
def test_initials(name: object, letters: str) -> None:
    assert tags.initials(name) == letters


@pytest.mark.parametrize(
    ("extra", "url"),
    [
        ("undo:/queries/7/undo", "/queries/7/undo"),
        ("big undo:/a", "/a"),
        ("undo://evil.example", ""),
        ("undo:https://evil.example", ""),
        ("undo:javascript:alert(1)", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_undo_url_stays_on_this_server(extra: object, url: str) -> None:
    assert tags.undo_url(extra) == url


class Sample(forms.Form):
    name = forms.CharField(
        widget=forms.TextInput(attrs={"class": "mono", "maxlength": "9"}), help_text="Short <b>help</b>"
    )
    agreed = forms.BooleanField(required=False)
    kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    token = forms.CharField(widget=forms.HiddenInput)


def test_control_adds_our_class_to_boxes_only() -> None:
    form = Sample()
    assert 'class="input mono"' in tags.control(form["name"])
    assert 'maxlength="9"' in tags.control(form["name"])
    assert 'class="input' not in tags.control(form["agreed"])
    assert 'class="input' not in tags.control(form["kind"])


def field(form: forms.Form, name: str) -> str:
    return compact(draw('{% include "_ui/field.html" with field=field %}', field=form[name]))


def test_field_ties_help_and_error_to_its_control() -> None:
    html = field(Sample({}), "name")
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'aria-invalid="true"' in html
    assert 'id="id_name_error"' in html
    assert 'id="id_name_helptext">Short &lt;b&gt;help&lt;/b&gt;' in html
    assert 'for="id_name"' in html


def test_field_kinds() -> None:
    form = Sample()
    assert "<legend" in field(form, "kind")
    assert "check" in field(form, "agreed")
    assert field(form, "token").startswith('<input type="hidden"')


@pytest.mark.parametrize(
    ("count", "nouns", "text"),
    [
        (1, "query,queries", "1 query"),
        (1204, "query,queries", "1,204 queries"),
        (1, "document", "1 document"),
        (0, "document", "0 documents"),
        (1, "uses,use", "1 uses"),
    ],
)
def test_counted_is_right_in_the_singular(count: int, nouns: str, text: str) -> None:
    """G41."""
    assert draw(f'{{{{ v|counted:"{nouns}" }}}}', v=count) == text


class SomeForm(forms.Form):
    needed = forms.CharField()
    notes = forms.CharField(required=False)
    days = forms.IntegerField(required=False, initial=14)
    kind = forms.ChoiceField(required=False, choices=[("", "any")])
    find = forms.CharField(required=False, widget=forms.TextInput(attrs={"type": "search"}))


def test_only_a_field_that_is_normally_left_empty_is_optional() -> None:
    """G45."""
    assert [field.name for field in SomeForm() if tags.is_optional(field)] == ["notes"]
