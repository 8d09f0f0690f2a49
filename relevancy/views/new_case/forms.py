"""The forms of a new case, one for each step."""

from dataclasses import dataclass
from io import BytesIO
from typing import IO, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from relevancy import endpoints, hooks, runs, scorers
from relevancy.formats.cases.first_queries import FirstQueries
from relevancy.models import Book, Endpoint, Scorer, ScorerVersion, Team, User
from relevancy.views.endpoints.forms import EndpointForm, NeededFile, NeededModel, NeededText
from relevancy.views.forms import CodeField, FormData, InitialValues, LineField, errors_to

NEW_ENDPOINT = ("name", "engine", "url", "file")
MAX_PASTED = 11_000_000  # bytes; `DATA_UPLOAD_MAX_MEMORY_SIZE` has to hold them
RECOMMENDED_SCORERS = {"nDCG@10", "P@10"}  # besides the defaults of the site and the user


@dataclass(frozen=True)
class ScorerChoice:
    """A scorer that a new case can start with, in its newest version."""

    scorer: Scorer
    version: ScorerVersion
    is_recommended: bool


class NameForm(forms.Form):
    """The name of a case."""

    name = LineField(max_length=191)


class ScaleForm(forms.Form):
    """Name, scorer, and where the rating scale comes from."""

    SCORER, OWN, BOOK = "scorer", "own", "book"

    name = LineField(max_length=191, widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}))
    scorer = forms.ModelChoiceField(Scorer.objects.none(), empty_label=None)
    scale_from = forms.ChoiceField(
        label="Rating scale",
        widget=forms.RadioSelect,
        initial=SCORER,
        choices=[
            (SCORER, "The scale of the scorer"),
            (OWN, "Another scale"),
            (BOOK, "The queries and ratings of an existing book"),
        ],
    )
    scale = NeededText(
        label="Scale",
        max_length=4000,
        help_text="1:10, or grades with labels: 0 Poor, 1 Fair, 2 Good, 3 Perfect.",
    )
    book = NeededModel(
        Book.objects.none(), empty_label="Choose a book", help_text="All its queries are added to the case."
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), label="Share with", required=False, empty_label="No team: only you can see the case"
    )
    new_team = LineField(
        label="New team",
        required=False,
        max_length=120,
        help_text="You are not in a team yet. This one is made with the case, which is shared with it; you can invite others on its "
        "page. Leave it empty to keep the case to yourself.",
    )

    def __init__(self, data: FormData | None = None, *, user: User, initial: InitialValues | None = None) -> None:
        super().__init__(data, initial=initial)
        self.user = user
        shareable = Team.objects.shareable_by(user)
        cast(forms.ModelChoiceField[Team], self.fields["team"]).queryset = shareable
        self.fields["new_team"].initial = f"Team of {user}"[:120]
        if user.memberships.exists():
            del self.fields["new_team"]
        if not shareable.exists():
            del self.fields["team"]
        offered = Scorer.objects.offered(user).order_by("-is_default", "name").prefetch_related("versions")
        default = scorers.default_scorer(user)
        self.scorers = [
            ScorerChoice(
                scorer,
                scorers.newest_version(scorer),
                is_recommended=scorer == default or scorer.is_default or scorer.name in RECOMMENDED_SCORERS,
            )
            for scorer in offered
        ]
        scorer_field = cast(forms.ModelChoiceField[Scorer], self.fields["scorer"])
        scorer_field.queryset = offered
        scorer_field.choices = [
            (title, [(choice.scorer.pk, choice.scorer.name) for choice in choices])
            for title, choices in (("Recommended", self.recommended), ("All others", self.others))
            if choices
        ]
        scorer_field.initial = default.pk
        # Only books the user may edit: the case would otherwise give its members access to the book's queries.
        books = Book.objects.editable_by(user)
        cast(forms.ModelChoiceField[Book], self.fields["book"]).queryset = books

    @property
    def recommended(self) -> list[ScorerChoice]:
        """The scorers to choose from unless you know what you need."""
        return [choice for choice in self.scorers if choice.is_recommended]

    @property
    def others(self) -> list[ScorerChoice]:
        return [choice for choice in self.scorers if not choice.is_recommended]

    def clean(self) -> dict[str, object]:
        data = super().clean() or self.cleaned_data
        if data.get("scale_from") == self.BOOK and not data.get("book") and "book" not in self.errors:
            self.add_error("book", "Choose a book.")
        if data.get("team") or data.get("new_team"):
            self._check_sharing(data)
        if data.get("scale_from") == self.OWN and "scale" not in self.errors:
            with errors_to(self):
                data["grades"] = scorers.parse_scale(data.get("scale", ""))
        return data

    def _check_sharing(self, data: dict[str, object]) -> None:
        """Adds an error if an existing book would be shared with the case although the user may not share it."""
        book = data.get("book") if data.get("scale_from") == self.BOOK else None
        if isinstance(book, Book) and not Book.objects.owned_by(self.user).filter(pk=book.pk).exists():
            message = f"The case shares its book “{book}” with the team. You need the role Owner on the book for that."
            self.add_error("team" if "team" in self.fields else "new_team", message)


class EndpointStepForm(EndpointForm):
    """An existing endpoint, or a new one; and a query to test it with."""

    endpoint_id = NeededModel(Endpoint.objects.none(), label="Endpoint", empty_label="A new endpoint")
    documents = forms.FileField(
        required=False,
        help_text="Fills a new index: JSON lines, one object per line, or CSV with the names of the fields in the first line. "
        "Each document needs a field id, unique and permanent: ratings refer to it.",
    )
    text = forms.CharField(
        label="Try it with the query",
        required=False,
        max_length=2048,
        help_text="Something users search for in this index.",
    )

    def __init__(
        self,
        data: FormData | None = None,
        *,
        user: User,
        sealed: str = "",
        stored_file: str = "",
        initial: InitialValues | None = None,
    ) -> None:
        """sealed: encrypted credentials that were entered before. stored_file: name of a file that was uploaded before."""
        self.sealed = sealed
        super().__init__(data, stored_file=stored_file, initial=initial)
        self.can_create = endpoints.may_create(user)
        self.create_denied = endpoints.CREATE_DENIED
        installed = [engine.key for engine in endpoints.available_engines()]
        endpoint_field = cast(forms.ModelChoiceField[Endpoint], self.fields["endpoint_id"])
        endpoint_field.queryset = (
            Endpoint.objects.usable_by(user).live().filter(engine__in=installed).defer("credentials", "headers")
        )
        if not self.can_create:
            endpoint_field.empty_label = "Choose an endpoint"
        for name in ("preset", "headers", "parallel", "per_minute"):
            self.fields.pop(name, None)
        self.is_chosen = not self.can_create or bool(self["endpoint_id"].value())
        if self.is_bound and self.is_chosen:
            for name in NEW_ENDPOINT:
                self.fields[name].required = False

    @property
    def stored(self) -> bool:
        """Credentials were entered before."""
        return bool(self.sealed)

    def clean(self) -> dict[str, object]:
        if not self.can_create and not self.cleaned_data.get("endpoint_id") and "endpoint_id" not in self.errors:
            self.add_error("endpoint_id", "Choose an endpoint.")
        if not self.is_chosen:
            return super().clean()
        for name in NEW_ENDPOINT:  # what was entered for a new endpoint is kept but not checked
            self.errors.pop(name, None)
        return self.cleaned_data


class FieldsForm(forms.Form):
    """The displayed fields and the query template."""

    _named = {"attrs": {"list": "field-names", "class": "mono", "autocomplete": "off", "spellcheck": "false"}}

    title = forms.CharField(max_length=200, widget=forms.TextInput(**_named), help_text="The heading of a result.")
    id = forms.CharField(
        label="Document id",
        max_length=200,
        widget=forms.TextInput(**_named),
        help_text="Unique and permanent: ratings refer to it.",
    )
    thumb = forms.CharField(
        label="Picture",
        required=False,
        max_length=200,
        widget=forms.TextInput(**_named),
        help_text="A field with the URL of an image.",
    )
    more = forms.CharField(
        label="Further fields",
        required=False,
        max_length=1200,
        widget=forms.TextInput(
            attrs=_named["attrs"] | {"list": "further-fields", "data-completes": "", "data-names": "field-names"}
        ),
        help_text="Shown below the title, separated by spaces.",
    )
    template = CodeField(
        max_length=runs.attempts.MAX_TEMPLATE,
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
    def chosen(self) -> endpoints.suggestions.Fields:
        """The fields that were entered."""
        data = self.cleaned_data
        return endpoints.suggestions.Fields(
            data.get("id", ""), data.get("title", ""), data.get("thumb", ""), tuple(data.get("more", "").split())
        )


class QueriesForm(forms.Form):
    """Where the queries of the case come from: pasted lines, a file, a page of an optional app, or nothing yet.

    formats: name and label of those in which an unclear file can be read.
    """

    PASTE, FILE, LATER = "paste", "file", "later"

    source = forms.ChoiceField(label="Start with", required=False, initial=PASTE, widget=forms.RadioSelect)
    queries = NeededText(
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 12, "spellcheck": "false", "data-max-lines": 20_000, "data-max-bytes": MAX_PASTED}
        ),
        help_text="One query per line, at most 20,000 lines of 2,048 characters.",
    )
    file = NeededFile(
        help_text="Queries: one per line, or CSV with the column query. Ratings: CSV with query, docid and rating; TREC qrels; "
        "learning to rank; JSON of RRE, Quepid, SearchTweak or Rankquest.",
    )
    format = forms.CharField(required=False)

    def __init__(
        self,
        data: FormData | None = None,
        files: MultiValueDict[str, UploadedFile] | None = None,
        *,
        initial: InitialValues | None = None,
        needs_queries: bool = True,
    ) -> None:
        """needs_queries: whether none but later ones is an error; those of a book are enough."""
        super().__init__(data, files, initial=initial)
        self.formats: list[tuple[str, str]] = []
        self._needs_queries = needs_queries
        cast(forms.ChoiceField, self.fields["source"]).choices = [
            (self.PASTE, "Paste queries"),
            (self.FILE, "File with queries or ratings"),
            *hooks.query_pages.items(),
            (self.LATER, "Later"),
        ]

    def clean(self) -> dict[str, object]:
        data = self.cleaned_data
        if self.chosen_source == self.FILE and not data.get("file") and "file" not in self.errors:
            self.add_error("file", "Choose a file.")
        if self.chosen_source == self.PASTE and self._needs_queries and not data.get("queries", "").strip():
            self.add_error("queries", "Enter at least one query. Twenty important ones are a good start.")
        return data

    @property
    def chosen_source(self) -> str:
        """Where the queries come from: a value of the field, by default `PASTE`."""
        return self.cleaned_data.get("source") or self.PASTE

    @property
    def source_field(self) -> str:
        """The field with what is read."""
        return "file" if self.chosen_source == self.FILE else "queries"

    @property
    def content(self) -> IO[bytes] | None:
        """What is read; None for nothing."""
        if self.chosen_source == self.FILE:
            return cast(IO[bytes], self.cleaned_data["file"])
        text = self.cleaned_data["queries"] if self.chosen_source == self.PASTE else ""
        return BytesIO(text.encode()) if text.strip() else None

    @property
    def file_name(self) -> str:
        """The name of the file; empty for pasted lines."""
        return str(self.cleaned_data["file"].name) if self.chosen_source == self.FILE else ""

    def must_confirm(self, first: FirstQueries) -> bool:
        """Returns whether pasted text looks like a file, and the user has not said yet how it is to be read."""
        return self.chosen_source == self.PASTE and not self.cleaned_data["format"] and not first.is_list
