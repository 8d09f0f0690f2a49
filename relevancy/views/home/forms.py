"""The forms of actions on a whole case."""

from typing import Any

from django import forms

from relevancy import cases
from relevancy.models import Book, Case, User
from relevancy.views.forms import LineField

MAX_NAME = 191


class DuplicateForm(forms.Form):
    """Name of the copy, and what is copied besides queries and scorers."""

    name = LineField(max_length=MAX_NAME)
    ratings = forms.ChoiceField(widget=forms.RadioSelect)
    with_attempts = forms.BooleanField(label="Copy the attempts that are not archived", required=False, initial=True)

    def __init__(self, *args: Any, case: Case, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = f"Copy of {case.name}"[:MAX_NAME]
        choices = [
            ("copy", "Copy the ratings into a new book. Later ratings count in one case only."),
            ("none", "No ratings: a new book with the queries only."),
        ]
        if Book.objects.editable_by(user).filter(pk=case.book_id).exists():
            choices.insert(1, ("share", f"Use the same book, “{case.book}”. Every rating counts in both cases."))
        ratings: Any = self.fields["ratings"]
        ratings.choices = choices
        ratings.initial = "copy"


class DeleteForm(forms.Form):
    """Whether the book goes with the case, if that is possible."""

    with_book = forms.BooleanField(required=False)

    def __init__(self, *args: Any, losses: cases.Losses, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        plural = "" if losses.ratings == 1 else "s"
        self.fields["with_book"].label = f"Delete the book and its {losses.ratings:,} rating{plural} as well"
