"""The forms for files of a case."""

from typing import cast

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.utils.datastructures import MultiValueDict

from relevancy import endpoints
from relevancy.formats import file_formats
from relevancy.formats.cases import case_attempts, case_content, case_import
from relevancy.models import Endpoint, Scorer, User
from relevancy.views.forms import FormData, LineField, UncheckedTextField


def format_field(kind: file_formats.FileKind) -> forms.ChoiceField:
    """Returns the choice of a format, for files that fit several."""
    choices = [
        (file_format.name, str(file_format)[:1].upper() + str(file_format)[1:])
        for file_format in file_formats.of_kind(kind)
    ]
    return forms.ChoiceField(required=False, choices=[("", "Recognised by the file"), *choices])


class _FileForm(forms.Form):
    """A file, or the text of one that was pasted where queries are added."""

    queries = UncheckedTextField(widget=forms.HiddenInput)

    def __init__(self, data: FormData | None = None, files: MultiValueDict[str, UploadedFile] | None = None) -> None:
        super().__init__(data, files)
        if self.is_bound and (pasted := self["queries"].data):
            self.files = MultiValueDict({"file": [SimpleUploadedFile("pasted", str(pasted).encode())]})


class RatingsFileForm(_FileForm):
    """A file of ratings. It is read line by line when it is used."""

    file = forms.FileField(
        label="Ratings",
        help_text="CSV with query, docid and rating, or with a column for each rater; TREC qrels; learning to rank; JSON of RRE, "
        "Quepid, SearchTweak or Rankquest. Ratings without a rater in the file become yours; a row without a rating only adds its "
        "query.",
        error_messages={"required": "Choose a file of ratings."},
    )
    format = format_field(file_formats.FileKind.RATINGS)


class QueriesFileForm(_FileForm):
    """A file of queries. It is read line by line when it is used."""

    file = forms.FileField(
        label="Queries",
        help_text="One query per line, or CSV with the column query and, if you like, information_need, notes, tags, options and "
        "weight; also Quepid's information needs. Queries that the case has get the details of the file; an empty cell leaves "
        "what is there.",
        error_messages={"required": "Choose a file of queries."},
    )
    format = format_field(file_formats.FileKind.QUERIES)


class RunsFileForm(forms.Form):
    """A file of rankings that were made elsewhere."""

    name = LineField(
        required=False, max_length=80, help_text="Of the run. Leave it empty to take the name or tag in the file."
    )
    file = forms.FileField(
        label="Rankings",
        help_text="A TREC run; snapshots, one or several; or CSV with the columns query, docid and position. Further columns are "
        "displayed with the results.",
        error_messages={"required": "Choose a file of rankings."},
    )


class CaseImportForm(forms.Form):
    """What has to be decided before a case is made of a file. Its controls belong to the form with the file."""

    NONE = "none"

    name = LineField(max_length=191)
    scorer = forms.ModelChoiceField(Scorer.objects.none(), required=False, empty_label="As in the file")
    endpoint = forms.ChoiceField(error_messages={"required": "Choose which endpoint the attempt searches."})

    def __init__(self, data: FormData | None = None, *, plan: case_import.CasePlan, user: User, form_id: str) -> None:
        """form_id: id of the form with the file."""
        super().__init__(data)
        self.plan = plan
        self.user = user
        self.fields["name"].initial = plan.content.name
        scorer = cast(forms.ModelChoiceField[Scorer], self.fields["scorer"])
        scorer.queryset = Scorer.objects.offered(user).exclude(versions=None).order_by("-is_default", "name").distinct()
        if not plan.scorers:
            scorer.empty_label, scorer.required = "Choose a scorer", True
        if plan.endpoint is None:
            del self.fields["endpoint"]
        else:
            self._offer_endpoints(plan.endpoint)
        for field in self.fields.values():
            field.widget.attrs["form"] = form_id

    def _offer_endpoints(self, content: case_content.EndpointContent) -> None:
        choices = [("", "Choose an endpoint")]
        if not content.problem and endpoints.may_create(self.user):
            choices.append((self._from_file(content), f"Create “{content.name}” at {content.url}"[:300]))
        usable = Endpoint.objects.usable_by(self.user).live().order_by("name")
        choices += [(str(pk), name) for pk, name in usable.values_list("pk", "name")]
        without = (
            "keep the attempts, without an address" if self.plan.content.is_complete else "import without the attempt"
        )
        choices.append((self.NONE, f"None: {without}"))
        field = cast(forms.ChoiceField, self.fields["endpoint"])
        field.choices = choices
        matching = case_attempts.matching_endpoint(content, self.user)
        field.initial = str(matching.pk) if matching else ""

    @staticmethod
    def _from_file(content: case_content.EndpointContent) -> str:
        """Returns the value of the choice, with the address that the user has seen: another file may be sent with it."""
        return f"file:{content.engine}:{content.url}"

    def chosen_endpoint(self) -> Endpoint | None:
        """Returns the endpoint that was chosen, not saved if it is to be created. Raises `ValidationError`."""
        value = self.cleaned_data.get("endpoint", self.NONE)
        if value == self.NONE or self.plan.endpoint is None:
            return None
        if value == self._from_file(self.plan.endpoint):
            return case_import.build_endpoint(content=self.plan.endpoint, by=self.user)
        return cast(Endpoint, Endpoint.objects.usable_by(self.user).live().get(pk=int(value)))
