"""The form of one document to judge."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy.models import Verdict
from relevancy.views.forms import MultilineField, UncheckedTextField

MAX_ID = 2**31 - 1
MAX_NOTE = 5_000


IN_NOTE = "As in my note"
REASONS = (
    "The query is not clear",
    "Too little of the document is shown",
    "I do not know the subject",
    IN_NOTE,
)


LISTED_REASONS = REASONS[:-1]  # documents of a list have no field for a note


def note_with_reason(reason: str, note: str) -> str:
    """Returns a note that begins with the reason why a document cannot be judged."""
    return note if note.startswith(reason) else "\n".join(filter(None, [reason, note]))


class JudgeForm(forms.Form):
    """A grade, "cannot judge" with a reason, or "later", by the button that was pressed.

    query: the id of the query. scale: `Book.scale_key` of the scale on the page. have: ids of the pairs that the page has already.
    card: the id of the card, which tells a document that is judged again.
    """

    query = forms.IntegerField(min_value=1, max_value=MAX_ID)
    doc_id = UncheckedTextField()
    grade = forms.FloatField(required=False)
    cannot = forms.ChoiceField(choices=[(reason, reason) for reason in REASONS], required=False)
    later = forms.BooleanField(required=False)
    note = MultilineField(required=False, max_length=MAX_NOTE)
    card = forms.IntegerField(required=False, min_value=0, max_value=10**15)
    scale = forms.CharField(required=False, max_length=40)
    have = forms.RegexField(r"^[0-9,]*$", required=False, max_length=1_000)

    def clean(self) -> dict[str, Any]:
        """Requires exactly one judgment. The reason of "cannot judge" becomes the beginning of the note."""
        data: dict[str, Any] = self.cleaned_data
        data["card"] = data.get("card") or 0
        if self.errors:
            return data
        if [data["grade"] is not None, bool(data["cannot"]), data["later"]].count(True) != 1:
            raise ValidationError("Choose a grade, “Cannot judge” or “Later”.")
        if data["cannot"] == IN_NOTE and not data["note"]:
            raise ValidationError("The note is empty. Write why you cannot judge the document, or choose a reason.")
        if data["cannot"] and data["cannot"] != IN_NOTE:
            data["note"] = note_with_reason(data["cannot"], data["note"])
        return data

    @property
    def verdict(self) -> str:
        """The verdict of a valid form."""
        if self.cleaned_data["later"]:
            return Verdict.LATER
        return Verdict.CANNOT if self.cleaned_data["cannot"] else Verdict.RATED

    @property
    def judgment(self) -> dict[str, Any]:
        """What `judging.judge` takes of a valid form."""
        data = self.cleaned_data
        return {
            "doc_id": data["doc_id"],
            "verdict": self.verdict,
            "value": data["grade"],
            "note": data["note"],
            "expected_scale": data["scale"],
        }

    @property
    def known_pairs(self) -> set[int]:
        """The ids of the pairs that the page has already."""
        return {int(part) for part in self.cleaned_data["have"].split(",") if part and len(part) < 19}


class ListedDocumentForm(forms.Form):
    """A grade or "cannot judge" for a document of a list; neither takes the judgment back. scale: as in `JudgeForm`."""

    doc_id = UncheckedTextField()
    value = forms.FloatField(required=False)
    cannot = forms.ChoiceField(choices=[(reason, reason) for reason in LISTED_REASONS], required=False)
    scale = forms.CharField(required=False, max_length=40)

    @property
    def takes_back(self) -> bool:
        """Whether the valid form has neither a grade nor a reason."""
        return self.cleaned_data["value"] is None and not self.cleaned_data["cannot"]

    @property
    def verdict(self) -> str:
        """The verdict of a valid form that does not take a judgment back."""
        return Verdict.CANNOT if self.cleaned_data["cannot"] else Verdict.RATED

    def note_after(self, note: str) -> str:
        """Returns the rater's present note with the reason before it."""
        return note_with_reason(self.cleaned_data["cannot"], note)

    def clean(self) -> dict[str, Any]:
        """Rejects a grade together with a reason."""
        data: dict[str, Any] = self.cleaned_data
        if data.get("value") is not None and data.get("cannot"):
            raise ValidationError("Choose a grade or “Cannot judge”, not both.")
        return data
