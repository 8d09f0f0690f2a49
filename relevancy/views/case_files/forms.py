"""The forms for files of a case."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from relevancy import transfer
from relevancy.views.forms import LineField


class TextFileField(forms.FileField):
    """A text file in UTF-8. The cleaned value is its text."""

    def clean(self, data: UploadedFile | None, initial: object = None) -> str:
        file = super().clean(data, initial)
        try:
            return transfer.decode(file.read())
        except transfer.BadFile as error:
            raise ValidationError(str(error)) from None


class RatingsFileForm(forms.Form):
    """A file of ratings."""

    file = TextFileField(
        label="Ratings",
        help_text="CSV in UTF-8 with the header query,docid,rating. They become your ratings; a row without a rating only adds "
        "its query.",
        error_messages={"required": "Choose a file of ratings."},
    )


class QueriesFileForm(forms.Form):
    """A file of queries."""

    file = TextFileField(
        label="Queries",
        help_text="Text in UTF-8 with one query per line, or CSV with a column named query. Queries that the case has are left "
        "out.",
        error_messages={"required": "Choose a file of queries."},
    )


class RunsFileForm(forms.Form):
    """A file of rankings that were made elsewhere."""

    name = LineField(
        required=False, max_length=80, help_text="Of the run. Leave it empty to take the name or tag in the file."
    )
    file = TextFileField(
        label="Rankings",
        help_text="A TREC run; Quepid's snapshot CSV, with one snapshot or several; or CSV with the columns query, docid and "
        "position. Further columns are displayed with the results.",
        error_messages={"required": "Choose a file of rankings."},
    )
