"""The forms of the workbench except that of the tune pane.

The services check what the forms cannot, such as whether the book already has a query.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import model_to_dict
from django.http import HttpResponse, QueryDict

from relevancy import ratings, runs
from relevancy.models import Case, CaseQuery, Query, Scorer, User
from relevancy.views.forms import FormData, LineField, UncheckedTextField, form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, pretty_json, refresh_after_conflict

MAX_LISTED_RUNS = 60
SCORER_NOT_AVAILABLE = "This scorer is no longer available. Reload the page and choose another one."

INFORMATION_NEED_HELP = "What users who type this query are looking for, so that raters agree."


class FindForm(forms.Form):
    """What to look for in the engine of a run. `ids` is a choice if the engine finds documents by their ids."""

    text = forms.CharField(
        label="Look for",
        required=False,
        max_length=runs.MAX_FIND_TEXT,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    method = forms.ChoiceField(
        label="By",
        required=False,
        choices=[
            ("query", "a query of your own"),
            ("template", "the template, with other words"),
            ("ids", "document ids"),
        ],
    )

    def __init__(self, data: QueryDict | None, *, can_look_up: bool) -> None:
        super().__init__(data)
        if not can_look_up:
            method = self.fields["method"]
            assert isinstance(method, forms.ChoiceField)
            method.choices = list(method.choices)[:2]  # type: ignore[arg-type]

    def clean_method(self) -> str:
        """Returns the first choice if the address names none."""
        return self.cleaned_data["method"] or "query"


class QueryForm(forms.Form):
    """Everything about a query of a case."""

    text = forms.CharField(max_length=4096, strip=True, widget=forms.TextInput(attrs={"autofocus": True}))
    information_need = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text=INFORMATION_NEED_HELP
    )
    tags = forms.CharField(required=False, max_length=1200, help_text="Separated by commas.")
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    weight = forms.FloatField(
        min_value=0, initial=1, help_text="Its weight in the mean that is the case's score; usually 1."
    )
    options = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text='JSON that the template reads as #$qOption.name##, such as {"lang": "en"}.',
    )

    def __init__(self, case_query: CaseQuery, data: FormData | None = None) -> None:
        initial = model_to_dict(case_query.query, ["text", "information_need", "notes"])
        initial |= {
            "tags": ", ".join(case_query.query.tags),
            "weight": case_query.weight,
            "options": pretty_json(case_query.options) if case_query.options else "",
        }
        super().__init__(data, initial=initial)


class AttemptDetailsForm(forms.Form):
    """Name and note of an attempt, which can change at any time."""

    name = LineField(required=False, max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    note = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What was tried, and what was learned from it.",
    )


class NotesForm(forms.Form):
    """Information need, reference answer and notes of a query."""

    information_need = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
        help_text=INFORMATION_NEED_HELP,
    )
    reference_answer = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What a good answer says. Raters see it, people and machines, and templates read it as #$qOption.reference_answer##.",
    )
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 5}))


class AddQueriesForm(forms.Form):
    """Queries to add, one per line. The service checks each line. is_list: not a file, even if it looks like one."""

    queries = UncheckedTextField()
    is_list = forms.BooleanField(required=False)


class TagsForm(forms.Form):
    """Tags to add to a query, separated by commas, and one to remove."""

    add = UncheckedTextField()
    remove = UncheckedTextField()


# --- annotations ---


class AnnotationTextForm(forms.Form):
    """The text of an annotation."""

    text = LineField(
        label="What happened",
        max_length=500,
        widget=forms.TextInput(
            attrs={"autofocus": True, "placeholder": "New synonyms, index rebuilt, sale began…", "autocomplete": "off"}
        ),
    )


class AnnotationForm(AnnotationTextForm):
    """A new annotation and the run that it is about."""

    def __init__(self, case: Case, data: FormData | None = None, *, run_number: int = 0) -> None:
        """`run_number` is selected first. The newest runs are listed, and every run is accepted."""
        super().__init__(data, auto_id="annotate-%s", initial={"at": run_number})
        runs = case.runs.order_by("-number")
        numbers = list(runs.values_list("number", flat=True)[:MAX_LISTED_RUNS])
        if run_number and run_number not in numbers:
            numbers.append(run_number)
        at = forms.ModelChoiceField(
            runs,
            to_field_name="number",
            label="At run",
            error_messages={"invalid_choice": "The case has no run %(value)s. Choose one from the list."},
        )
        at.choices = [(number, str(number)) for number in numbers]
        self.fields["at"] = at
        self.order_fields(["at", "text"])
        self.has_runs = bool(numbers)


# --- scorers of the case ---


class ScorerField(forms.TypedChoiceField):
    """One of the scorers that are passed to the form."""

    def __init__(self, scorers: Iterable[Scorer]) -> None:
        by_id = {str(scorer.pk): scorer for scorer in scorers}
        super().__init__(
            choices=[(pk, scorer.name) for pk, scorer in by_id.items()],
            coerce=by_id.__getitem__,
            error_messages=dict.fromkeys(("required", "invalid_choice"), SCORER_NOT_AVAILABLE),
        )


class CaseScorerForm(forms.Form):
    """The choice of a scorer."""

    def __init__(self, scorers: Iterable[Scorer], data: FormData) -> None:
        super().__init__(data)
        self.fields["scorer"] = ScorerField(scorers)


class RestoreScorerForm(forms.Form):
    """Where a removed scorer was among the scorers of the case, counted from 0, and in which version."""

    position = forms.IntegerField(required=False, min_value=0, max_value=1000)
    version = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)


# --- ratings ---


class GradeField(forms.Field):
    """A grade, with a decimal point or comma. The service checks that it is on the scale of the book."""

    default_error_messages = {"required": "Choose a grade of the scale."}

    def to_python(self, value: object) -> float | None:
        text = str(value or "").strip()
        try:
            return float(text.replace(",", ".")) if text else None
        except ValueError:
            raise ValidationError(f"{text[:40]!r} is not a number. Choose a grade of the scale.") from None


class RatingForm(forms.Form):
    """The rating of a document; without a value the user's rating is taken back. The service checks the document id.

    scale: `Book.scale_key` of the scale on the page.
    """

    doc_id = UncheckedTextField()
    value = GradeField(required=False)
    scale = forms.CharField(required=False)

    def store(self, query: Query, *, by: User) -> int:
        """Stores the rating, or takes it back. Returns the number of ratings that changed; raises `ratings.InvalidRating`."""
        if not self.is_valid():
            raise ratings.InvalidRating(form_error(self))
        value = self.cleaned_data["value"]
        if value is None:
            return ratings.remove(query=query, doc_ids=[ratings.clean_doc_id(self.rated_id)], by=by)
        scale = self.cleaned_data["scale"]
        return ratings.rate(query=query, doc_id=self.rated_id, value=value, by=by, expected_scale=scale)

    @property
    def rated_id(self) -> str:
        """The id of the rated document, once it has been stored."""
        return str(self.cleaned_data["doc_id"]).strip()


def rating_refused(request: HtmxRequest, url: str, reason: ratings.InvalidRating) -> HttpResponse:
    """Returns the response to a rating that was not stored. The page is loaded again if the scale of the book has changed."""
    refuse = refresh_after_conflict if isinstance(reason, ratings.ScaleChanged) else conflict
    return refuse(request, url, reason)


class RateShownForm(forms.Form):
    """One grade for all documents shown: those that the user has not rated, or with `all` every one."""

    value = GradeField()
    all = forms.BooleanField(required=False)
    scale = forms.CharField(required=False)


class LinkForm(forms.Form):
    """The queries of a case to link with each other. The service checks their number."""

    queries = forms.ModelMultipleChoiceField(
        CaseQuery.objects.none(),
        error_messages={
            "required": "Select at least two queries to link.",
            "invalid_choice": "A selected query has been removed from this case. Reload the page and select again.",
        },
    )

    def __init__(self, case: Case, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["queries"].queryset = case.case_queries.present().select_related("query")
