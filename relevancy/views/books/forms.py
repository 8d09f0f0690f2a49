"""Forms of books."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import TextChoices

from relevancy import books, judging, queries, scorers
from relevancy.models import Book, Case, JudgingQueue, Run, ScorerVersion, User, Verdict
from relevancy.templatetags import numbers
from relevancy.views.forms import FormData, LineField, MultilineField, UncheckedTextField, add_errors, errors_to
from relevancy.views.scorers.descriptions import scale_text

KEEP, MAP = "keep", "map"
MAX_OFFERED_RUNS = 200  # the newest ones
MAX_PHRASES = 11  # grades that have a field for a phrase each
COMPARED_FIELDS = ("run_a", "run_b", "version")
QUEUE_FIELDS = ("ratings_per_pair", "depth", "order", *COMPARED_FIELDS, "repeat_share")


class RunChoiceField(forms.ModelChoiceField):
    """A choice of runs of several cases."""

    def label_from_instance(self, run: Run) -> str:
        return f"{run.case} · {run.name or f'run {run.number}'}"


class JudgingForm(forms.ModelForm):
    """What is judged in a book and in which order, and the guidelines for raters.

    offered: values that a link proposes instead of those of the queue.
    """

    guidelines = MultilineField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="What each grade means, in Markdown. Raters see it beside each document.",
    )
    raters_are_blind = forms.BooleanField(
        required=False,
        label="Raters judge blind",
        help_text="They see the grades of others only after they have rated a document themselves.",
    )

    class Meta:
        model = JudgingQueue
        fields = QUEUE_FIELDS
        field_classes = {"run_a": RunChoiceField, "run_b": RunChoiceField}

    def __init__(self, queue: JudgingQueue, user: User, data: FormData | None = None, offered: Any = None) -> None:
        initial = {
            "guidelines": queue.book.guidelines,
            "raters_are_blind": queue.book.raters_are_blind,
            **(offered or {}),
        }
        super().__init__(data, instance=queue, initial=initial)
        cases = Case.objects.editable_by(user).live().filter(book=queue.book)
        finished = Run.objects.filter(case__in=cases).finished().exclude(status=Run.Status.FAILED)
        newest = list(finished.order_by("-pk").values_list("pk", flat=True)[:MAX_OFFERED_RUNS])
        chosen = {str(self[name].value()) for name in ("run_a", "run_b")}
        runs = finished.filter(pk__in=[*newest, *(int(pk) for pk in chosen if pk.isdecimal() and len(pk) < 19)])
        used = ScorerVersion.objects.filter(case_scorers__case__in=cases, script="").distinct()
        versions = used.filter(pk__in=[version.pk for version in used if judging.has_bounds(version)])
        fields: dict[str, Any] = self.fields
        for name in ("run_a", "run_b"):
            fields[name].queryset = runs.select_related("case").order_by("case__name", "case_id", "-number")
            fields[name].empty_label = "Choose a run"
        fields["version"].queryset = versions.select_related("scorer").order_by("scorer__name", "number")
        fields["version"].empty_label = "Choose a scorer"

    @property
    def changed_settings(self) -> dict[str, Any]:
        """What the valid form changes of the queue; its documents have to be chosen again then."""
        return {name: self.cleaned_data[name] for name in self.changed_data if name in QUEUE_FIELDS}

    @property
    def compared_fields(self) -> list[forms.BoundField]:
        """What the order by the comparison of two runs needs."""
        return [self[name] for name in COMPARED_FIELDS]

    @property
    def is_by_difference(self) -> bool:
        """Whether the order that is chosen compares two runs."""
        return bool(self["order"].value() == JudgingQueue.Order.DIFFERENCE)


@dataclass(frozen=True)
class NewGrade:
    """A grade that raters gave, the grade that it becomes, and the names of both on their scales."""

    name: str
    value: float
    label: str
    new_value: float


class GradesForm(forms.Form):
    """The rule, the scale with a phrase for each grade, and what becomes of the ratings on another scale.

    After validation, `settings` holds the settings, and `new_grades` the new grades of ratings, None if they stay as they are.
    seen: the settings when the page was opened. previewed: what a preview has shown; see `token`.
    """

    rule = forms.ChoiceField(
        label="What counts of several ratings",
        help_text="Ties go to the lower grade.",
    )
    scale = forms.CharField(
        max_length=2_000,
        help_text="Lowest:highest, such as 0:3, or the grades with commas between them. A phrase may follow each grade.",
    )
    relevant_from = forms.FloatField(
        required=False,
        help_text="The lowest grade that counts as relevant. Empty: 1 on scales from 0, on others the lowest grade of the upper half.",
    )
    ratings = forms.ChoiceField(
        label="Ratings on another scale",
        choices=[(KEEP, "Keep their grades"), (MAP, "Get grades of the new scale")],
        widget=forms.RadioSelect,
        required=False,
    )
    mapped_for = forms.CharField(required=False, max_length=2_000, widget=forms.HiddenInput)
    seen = forms.CharField(required=False, max_length=20_000, widget=forms.HiddenInput)
    previewed = forms.CharField(required=False, max_length=40_000, widget=forms.HiddenInput)
    can_merge_grades = forms.BooleanField(required=False)
    name = LineField(required=False, max_length=191)

    def __init__(self, book: Book, data: FormData | None = None) -> None:
        self._book = book
        self._present = books.BookSettings.of(book)
        has_phrases = len(book.scale) <= MAX_PHRASES
        scale = [[grade, "" if has_phrases else label] for grade, label in book.scale]
        initial = {
            "rule": book.rule,
            "scale": scale_text(scale),
            "relevant_from": book.relevant_from,
            "ratings": KEEP,
            "seen": _as_text(self._present),
        }
        super().__init__(data, initial=initial)
        self.settings = self._present
        self.new_grades: dict[float, float] | None = None
        rule: Any = self.fields["rule"]
        rule.choices = [(rule, Book.Rule(rule).label) for rule in books.offered_rules(book)]
        for number, (grade, label) in enumerate(book.scale if has_phrases else ()):
            self.fields[f"phrase_{number}"] = LineField(
                label=numbers.grade_text(grade), initial=label, required=False, max_length=60
            )
        for field in self.fields.values():
            field.widget.use_required_attribute = lambda *_: False  # the errors stand at the fields

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = self.cleaned_data
        if self.errors:
            return data
        try:
            scale = self._with_phrases(scorers.parse_scale(data["scale"]))
            self.settings = books.book_settings(rule=data["rule"], scale=scale, relevant_from=data["relevant_from"])
        except ValidationError as error:
            add_errors(self, error)
            return data
        if data["ratings"] == MAP and self.settings.grades != self._present.grades:
            self.new_grades = books.suggest_grades(self._book, self.settings)
            if data["mapped_for"] == data["scale"]:
                self._read_new_grades()
        return data

    def _with_phrases(self, scale: list[list[Any]]) -> list[list[Any]]:
        """Returns the scale of the form with the phrases of its grades, if the grades are the present ones."""
        if [grade for grade, _ in scale] != [grade for grade, _ in self._book.scale]:
            return scale
        phrases = [
            self.cleaned_data[f"phrase_{number}"] if f"phrase_{number}" in self.data else label
            for number, (_, label) in enumerate(self._book.scale)
        ]
        return [[grade, label or phrase] for (grade, label), phrase in zip(scale, phrases, strict=True)]

    def _read_new_grades(self) -> None:
        assert self.new_grades is not None
        for value in self.new_grades:
            text = str(self.data.get(_name(value), ""))
            chosen = next((grade for grade in self.settings.grades if f"{grade:.17g}" == text), None)
            if chosen is not None:
                self.new_grades[value] = chosen
            elif text:
                self.add_error("scale", f"{text[:40]!r} is not a grade of the new scale.")

    @property
    def phrases(self) -> list[tuple[float, forms.BoundField]]:
        """The grades of the book with the fields of their phrases; none for a scale with many grades."""
        grades = self._book.grades if len(self._book.scale) <= MAX_PHRASES else ()
        return [(grade, self[f"phrase_{number}"]) for number, grade in enumerate(grades)]

    @property
    def is_other_scale(self) -> bool:
        """Whether the valid form has other grades, or another one from which they count as relevant."""
        return (self.settings.grades, self.settings.relevant_from) != (
            self._present.grades,
            self._present.relevant_from,
        )

    @property
    def is_outdated(self) -> bool:
        """Whether another user has changed the settings since the page was opened."""
        return bool(self.cleaned_data["seen"]) and self.cleaned_data["seen"] != _as_text(self._present)

    @property
    def rows(self) -> Sequence[NewGrade]:
        """The grades that raters gave, ascending, if they get others."""
        labels = {float(value): label for value, label in self._book.scale}
        return [
            NewGrade(_name(value), value, labels.get(value, ""), new)
            for value, new in sorted((self.new_grades or {}).items())
        ]

    @property
    def grade_choices(self) -> Sequence[tuple[str, float, str]]:
        """The grades of the new scale: what is sent, the grade and its label."""
        return [(f"{float(value):.17g}", float(value), label) for value, label in self.settings.scale]

    @property
    def seen_text(self) -> str:
        """What a page that is shown now sends as `seen`."""
        return _as_text(self._present)

    @property
    def token(self) -> str:
        """What a preview of the valid form sends as `previewed`: what would be changed, and how."""
        change = [self.settings.rule, self.settings.grades, self.settings.relevant_from]
        return json.dumps([_as_text(self._present), change, sorted((self.new_grades or {}).items())])


def _as_text(settings: books.BookSettings) -> str:
    return json.dumps([settings.rule, settings.scale, settings.relevant_from])


def _name(value: float) -> str:
    return f"to_{value:.17g}"


class NewBookForm(forms.Form):
    """A book without a case."""

    name = LineField(max_length=191, widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}))
    scale = forms.CharField(
        max_length=2_000, initial="0:3", help_text="1:10, or grades with phrases: 0 Poor, 1 Fair, 2 Good, 3 Perfect."
    )
    queries = UncheckedTextField(
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="One query per line. More can be added in a case, with the results of a search engine.",
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = self.cleaned_data
        with errors_to(self):
            data["grades"] = scorers.parse_scale(data.get("scale", "")) if "scale" in data else []
            data["pasted"] = queries.parse_pasted(data.get("queries", ""))
            if rejected := data["pasted"].rejected:
                number, reason = rejected[0]
                self.add_error("queries", f"Line {number:,}: {reason}")
        return data


class QueryFilterForm(forms.Form):
    """Which queries of a book are listed."""

    TO_JUDGE, RATED, NO_RUN = "to-judge", "rated", "no-run"

    text = LineField(label="Query contains", required=False, max_length=200)
    state = forms.ChoiceField(
        label="Show",
        required=False,
        choices=[("", "all"), (TO_JUDGE, "to judge"), (RATED, "rated"), (NO_RUN, "no run")],
    )


class ConflictFilterForm(forms.Form):
    """Which disagreements are listed."""

    difference = forms.FloatField(label="Differ by at least", min_value=0, max_value=1_000_000)
    state = forms.ChoiceField(
        label="Show",
        choices=[(judging.OPEN, "not decided"), (judging.DECIDED, "decided"), ("all", "all")],
    )


class DecisionForm(forms.Form):
    """The grade that an adjudicator gives to a document; empty to take the decision back."""

    doc_id = UncheckedTextField()
    value = forms.FloatField(required=False)
    scale = forms.CharField(required=False)


class MergeForm(forms.Form):
    """The book whose queries, ratings and cases another one gets."""

    other = forms.ModelChoiceField(
        queryset=Book.objects.none(), label="Book to merge into this one", empty_label="Choose a book"
    )

    def __init__(self, book: Book, user: User, data: FormData | None = None) -> None:
        super().__init__(data)
        other: Any = self.fields["other"]
        other.queryset = Book.objects.owned_by(user).exclude(pk=book.pk).order_by("name", "pk")


class RatingFilterForm(forms.Form):
    """Which ratings of a rater are listed."""

    text = LineField(label="Query or document id contains", required=False, max_length=200)
    grade = forms.ChoiceField(label="Rating", required=False)

    def __init__(self, book: Book, data: FormData) -> None:
        super().__init__(data)
        grade: Any = self.fields["grade"]
        grades = [(f"{value:.17g}", f"{numbers.grade_text(value)} {label}".strip()) for value, label in book.scale]
        verdicts = [(verdict.value, verdict.label) for verdict in (Verdict.CANNOT, Verdict.LATER)]
        grade.choices = [("", "all"), *grades, *verdicts]


class RaterAction(TextChoices):
    """What an editor does with the ratings of one rater in a book."""

    REMOVE = "remove", "Remove all ratings"
    CANNOT = "cannot", "Remove only “cannot judge”"
    LATER = "later", "Remove only “later”"
    ASSIGN = "assign", "Give the ratings to a person’s account"


class RaterActionForm(forms.Form):
    """What to do with the ratings of one rater in a book. It offers only what is possible, which may be nothing.

    seen: how many ratings the rater had when the preview was made.
    """

    action = forms.TypedChoiceField(label="What to do", coerce=RaterAction, widget=forms.RadioSelect)
    person = forms.ModelChoiceField(
        queryset=User.objects.none(),
        required=False,
        label="Person who gets them",
        empty_label="Choose a person",
        help_text="Only for giving ratings to an account: you, or a member of one of your teams.",
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, rater: User, ratings: dict[str, int], user: User, data: FormData | None = None, *, can_change: bool
    ) -> None:
        super().__init__(data)
        self.is_file = rater.kind == User.Kind.FILE
        counts = {
            RaterAction.REMOVE: ratings["total"],
            RaterAction.CANNOT: ratings["cannot"],
            RaterAction.LATER: ratings["later"],
            RaterAction.ASSIGN: ratings["total"] if self.is_file else 0,
        }
        choices = [(action.value, f"{action.label} ({count:,})") for action, count in counts.items() if count]
        action: Any = self.fields["action"]
        action.choices = choices if can_change else []
        person: Any = self.fields["person"]
        person.queryset = books.people_to_assign(by=user)

    def clean(self) -> None:
        if self.cleaned_data.get("action") == RaterAction.ASSIGN and not self.cleaned_data.get("person"):
            self.add_error("person", "Choose whose ratings these are.")
