"""The forms of rules: one for each kind of condition, for pages and the API."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy import queries
from relevancy.models.errors import error_text
from relevancy.queries.tags import MAX_LENGTH
from relevancy.views.forms import CodeField, FormData, LineField, MultilineField, form_error

from .conditions import NOT_LATIN, build_matcher, split_words
from .models import TagRule
from .scripts import SCRIPTS

MAX_WORDS, MAX_TEXTS = 500, 20_000
MAX_PATTERN = 1_000
MAX_NUMBER = 2**31 - 1
Kind = TagRule.Kind


class LinesField(MultilineField):
    """Lines of text, of which empty ones and repetitions are left out. A list is taken, too."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._most = most

    def to_python(self, value: Any) -> str:
        return super().to_python("\n".join(map(str, value)) if isinstance(value, list) else value)

    def clean(self, value: Any) -> Any:
        lines = list(dict.fromkeys(line for line in map(str.strip, super().clean(value).split("\n")) if line))
        if len(lines) > self._most:
            raise ValidationError(f"These are {len(lines):,} lines; the maximum is {self._most:,}.")
        return lines

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value


class RuleForm(forms.Form):
    """The tag of a rule. Subclasses add the settings of its condition, by their names."""

    tag = LineField(
        max_length=MAX_LENGTH,
        help_text="Queries that match get this tag.",
        error_messages={"required": "Enter the tag that matching queries get."},
    )

    def clean_tag(self) -> str:
        try:
            tags = queries.tags.parse(self.cleaned_data["tag"])
        except ValidationError as error:
            raise ValidationError(error_text(error)) from None
        if len(tags) != 1:
            raise ValidationError("Enter one tag, without a comma. Several tags need a rule each.")
        return tags[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the condition, if the form is valid."""
        return {name: value for name, value in self.cleaned_data.items() if name != "tag"}


class WordsForm(RuleForm):
    words = LinesField(
        most=MAX_WORDS,
        help_text="One word or phrase per line. Upper and lower case and punctuation do not matter.",
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"required": "Enter at least one word."},
    )

    def clean_words(self) -> Sequence[str]:
        words: Sequence[str] = self.cleaned_data["words"]
        for word in words:
            if not split_words(word):
                raise ValidationError(
                    f"“{word}” has no letter and no digit. Use a regular expression to find punctuation."
                )
        return words


class RangeForm(RuleForm):
    """From a number to another one; one of them may be left out."""

    minimum = forms.IntegerField(label="From", min_value=0, max_value=MAX_NUMBER, required=False)
    maximum = forms.IntegerField(label="To", min_value=0, max_value=MAX_NUMBER, required=False)

    def clean(self) -> None:
        if self.errors:
            return
        low, high = self.cleaned_data["minimum"], self.cleaned_data["maximum"]
        if low is None and high is None:
            self.add_error("minimum", "Enter the lowest number, the highest one, or both.")
        elif low is not None and high is not None and low > high:
            self.add_error("maximum", f"No number is from {low:,} to {high:,}. Enter the lower one first.")


class ScriptForm(RuleForm):
    script = forms.ChoiceField(
        choices=[(NOT_LATIN, "any but Latin"), *((script, script) for script in SCRIPTS)],
        help_text="Of most letters of the query. Queries without letters have none.",
    )


class PatternForm(RuleForm):
    pattern = CodeField(
        max_length=MAX_PATTERN,
        widget=forms.TextInput,
        help_text="Python’s syntax. It may occur anywhere; ^ and $ stand for the beginning and the end.",
        error_messages={"required": "Enter a pattern."},
    )
    ignores_case = forms.BooleanField(label="Ignore upper and lower case", required=False, initial=True)

    def clean(self) -> None:
        if not self.errors:
            build_matcher(Kind.PATTERN, self.cleaned_data)([])


class OptionForm(RuleForm):
    key = LineField(
        label="Option",
        max_length=200,
        help_text="Such as market, or filter.brand for the option brand of filter.",
        error_messages={"required": "Enter the name of the option."},
    )
    value = LineField(max_length=500, required=False, help_text="Empty: any value. Of a list, one of its values.")


class ListForm(RuleForm):
    texts = LinesField(
        label="Queries",
        most=MAX_TEXTS,
        help_text="One query per line. Upper and lower case do not matter.",
        widget=forms.Textarea(attrs={"rows": 10}),
        error_messages={"required": "Paste at least one query."},
    )


FORMS: Mapping[str, type[RuleForm]] = {
    Kind.WORDS: WordsForm,
    Kind.WORD_COUNT: RangeForm,
    Kind.LENGTH: RangeForm,
    Kind.DIGIT: RuleForm,
    Kind.SCRIPT: ScriptForm,
    Kind.PATTERN: PatternForm,
    Kind.RESULTS: RangeForm,
    Kind.OPTION: OptionForm,
    Kind.LIST: ListForm,
}


def build_form(kind: str, data: FormData | None = None, rule: TagRule | None = None) -> RuleForm:
    """Returns the form of a kind, with what was sent, or with the values of a rule."""
    return FORMS[kind](data, initial={"tag": rule.tag, **rule.settings} if rule else None)


def read_rule(kind: str, tag: str, settings: Mapping[str, Any]) -> RuleForm:
    """Returns the valid form of a rule that a program has written. Raises `ValidationError` for the field: the tag or a setting."""
    form = build_form(kind, {"ignores_case": True, **settings, "tag": tag})
    if unknown := sorted(settings.keys() - form.fields.keys()):
        names = ", ".join(name for name in form.fields if name != "tag") or "none"
        raise ValidationError(
            {"settings": f"A rule of the kind {kind} has no setting {unknown[0]!r}. It has: {names}."}
        )
    if not form.is_valid():
        raise form_error(form)
    return form
