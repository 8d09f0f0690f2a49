"""The forms of a new case, a step each."""

from typing import Any

from django import forms

from relevancy import cases
from relevancy.models import Book, Endpoint, Scorer

from .endpoint import EndpointForm, NeededModel, NeededText


class NameForm(forms.Form):
    name = forms.CharField(max_length=191)


class ScaleForm(forms.Form):
    """Name, scorer, and where the rating scale comes from."""

    SCORER, OWN, BOOK = "scorer", "own", "book"

    name = forms.CharField(max_length=191, widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}))
    scorer = forms.ModelChoiceField(Scorer.objects.none(), empty_label=None)
    scale_from = forms.ChoiceField(
        label="Rating scale",
        widget=forms.RadioSelect,
        initial=SCORER,
        choices=[
            (SCORER, "The scale the scorer was made for"),
            (OWN, "Another scale"),
            (BOOK, "The queries and ratings of a book that exists"),
        ],
    )
    scale = NeededText(
        label="Scale",
        max_length=4000,
        help_text="1:10, or grades with labels: 0 Poor, 1 Fair, 2 Good, 3 Perfect.",
    )
    book = NeededModel(
        Book.objects.none(),
        empty_label="Choose a book",
        help_text="All its queries come into the case.",
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scorers = Scorer.objects.visible_to(user).live().order_by("-is_default", "name")
        self.fields["scorer"].queryset = scorers  # type: ignore[attr-defined]
        self.fields["scorer"].initial = scorers.first()
        # Only who may change a book: a case of one's own on it would otherwise let its queries in through the back door.
        self.fields["book"].queryset = Book.objects.editable_by(user)  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        return " ".join(self.cleaned_data["name"].split())

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("scale_from") == self.BOOK and not data.get("book") and "book" not in self.errors:
            self.add_error("book", "Choose a book.")
        if data.get("scale_from") == self.OWN and "scale" not in self.errors:
            try:
                data["grades"] = cases.parse_scale(data.get("scale", ""))
            except cases.Refused as reason:
                self.add_error("scale", str(reason))
        return data


class WhereForm(EndpointForm):
    """An endpoint that exists, or a new one; and a query to try it with."""

    endpoint_id = NeededModel(Endpoint.objects.none(), label="Endpoint", empty_label="A new endpoint")
    text = forms.CharField(
        label="Try it with the query",
        required=False,
        max_length=2048,
        help_text="Something people search for in this index.",
    )

    def __init__(self, *args: Any, user: Any, sealed: str = "", **kwargs: Any) -> None:
        self.sealed = sealed
        super().__init__(*args, **kwargs)
        self.may_create = cases.endpoints.may_create(user)
        self.fields["endpoint_id"].queryset = Endpoint.objects.visible_to(user).live().defer("credentials", "headers")  # type: ignore[attr-defined]
        if not self.may_create:
            self.fields["endpoint_id"].empty_label = "Choose an endpoint"  # type: ignore[attr-defined]
        del self.fields["headers"], self.fields["parallel"], self.fields["per_minute"]

    @property
    def stored(self) -> bool:
        return bool(self.sealed)

    def clean(self) -> dict[str, Any]:
        if not self.may_create and not self.cleaned_data.get("endpoint_id") and "endpoint_id" not in self.errors:
            self.add_error("endpoint_id", "Choose an endpoint.")
        if self.cleaned_data.get("endpoint_id") or "endpoint_id" in self.errors or not self.may_create:
            # What is half typed of a new one is kept, but does not count.
            for name in [name for name in self.errors if name in ("name", "engine", "url", "file")]:
                del self.errors[name]
            return self.cleaned_data
        return super().clean()


class FieldsForm(forms.Form):
    """Which fields are shown, and the template that asks."""

    _named = {"attrs": {"list": "field-names", "class": "mono", "autocomplete": "off", "spellcheck": "false"}}

    title = forms.CharField(max_length=200, widget=forms.TextInput(**_named), help_text="What a result is called.")
    id = forms.CharField(
        label="Document id",
        max_length=200,
        widget=forms.TextInput(**_named),
        help_text="Unique and lasting: ratings belong to it.",
    )
    thumb = forms.CharField(
        label="Picture",
        required=False,
        max_length=200,
        widget=forms.TextInput(**_named),
        help_text="A field with its address.",
    )
    more = forms.CharField(
        label="Further fields", required=False, max_length=1200, widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text="Shown below the title, separated by blanks.",
    )  # fmt: skip
    template = forms.CharField(
        strip=False,
        max_length=cases.attempts.MAX_TEMPLATE,
        widget=forms.Textarea(attrs={"rows": 10, "class": "mono", "spellcheck": "false"}),
    )
    text = forms.CharField(label="Try it with the query", required=False, max_length=2048)

    def _one_field(self, name: str) -> str:
        value = self.cleaned_data[name].strip()
        if any(char in value for char in " ,+:{"):
            raise forms.ValidationError(f"“{value}” is not the name of one field.")
        return value

    def clean_title(self) -> str:
        return self._one_field("title")

    def clean_id(self) -> str:
        return self._one_field("id")

    def clean_thumb(self) -> str:
        return self._one_field("thumb")

    @property
    def chosen(self) -> cases.offers.Fields:
        """The fields as they were typed, for a specification or a template."""
        data = self.cleaned_data
        return cases.offers.Fields(
            data.get("id", ""), data.get("title", ""), data.get("thumb", ""), tuple(data.get("more", "").split())
        )


class QueriesForm(forms.Form):
    """Queries, one to a line."""

    queries = NeededText(
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        help_text="One query to a line, up to 2,048 characters each and 20,000 lines.",
    )
