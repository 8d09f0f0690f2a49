"""What the page shows of one document to judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.http import HttpRequest

from relevancy import judging
from relevancy.models import Book, JudgingPair, User, Verdict
from relevancy.templatetags.numbers import grade_class, grade_text

MAX_CHOICES = 11  # a longer scale is a number field
ENDS = "Not relevant", "Perfect"  # what the ends of a scale without labels say


@dataclass(frozen=True)
class Choice:
    """A button for a grade. value: what it sends; text: what it shows; label: a phrase; key: what presses it.

    Label and key may be empty. is_own: whether it is the rater's present grade.
    """

    value: str
    text: str
    label: str
    css_class: str
    key: str
    is_own: bool = False


@dataclass(frozen=True)
class Card:
    """A document with the buttons to judge it. choices: empty for a scale with too many grades.

    query_count: how many documents of the query need no judgment by the rater, and how many there are; None where that is not said.
    """

    document: judging.JudgedDocument
    choices: Sequence[Choice]
    query_count: tuple[int, int] | None = None

    @property
    def own_grade(self) -> float | None:
        own = self.document.own
        return own.value if own else None

    @property
    def note(self) -> str:
        """The rater's own note."""
        return self.document.own.note if self.document.own else ""

    @property
    def cannot_judge(self) -> bool:
        """Whether the rater has said so."""
        return self.document.own is not None and self.document.own.verdict == Verdict.CANNOT

    @property
    def others(self) -> Sequence[object]:
        """The judgments of other raters; none that the rater may not see yet."""
        if not self.document.shows_others:
            return []
        return [judgment for judgment in self.document.judgments if judgment is not self.document.own]


def build_choices(book: Book, own: float | None = None) -> list[Choice]:
    """Returns the grades of the book's scale, ascending, with their labels and keys. A scale without labels gets them at its ends.

    The key is the grade if it is a digit; 0 is 10 on a scale without 0. On scales with other grades, keys count from 1.
    """
    if len(book.scale) > MAX_CHOICES:
        return []
    values = [float(value) for value, _ in book.scale]
    are_digits = all(value in range(10) or (value == 10 and 0 not in values) for value in values)
    labels = [label for _, label in book.scale]
    if not any(labels):
        labels[0], labels[-1] = ENDS
    choices = []
    for number, (value, label) in enumerate(zip(values, labels, strict=True), 1):
        key = str(int(value) % 10) if are_digits else str(number % 10) if number <= 10 else ""
        css_class = grade_class(value, book.lowest, book.top)
        choices.append(
            Choice(f"{value:.17g}", grade_text(value), label, css_class, key, own is not None and own == value)
        )
    return choices


def read_cards(
    book: Book, pairs: Sequence[JudgingPair], by: User, counts: Mapping[int, tuple[int, int]] = MappingProxyType({})
) -> list[Card]:
    """Returns the cards of pairs, in their order. counts: of `judging.count_by_query`."""
    return build_cards(book, judging.read_documents(pairs, by=by), counts)


def build_cards(
    book: Book,
    documents: Sequence[judging.JudgedDocument],
    counts: Mapping[int, tuple[int, int]] = MappingProxyType({}),
) -> list[Card]:
    """Returns the cards of documents, in their order."""
    return [
        Card(
            document,
            build_choices(book, document.own.value if document.own else None),
            counts.get(document.pair.query_id),
        )
        for document in documents
    ]


def parse_card(request: HttpRequest) -> int:
    """Returns the id of the card that `pair` in the address names; 0 without one. It may be larger than an id of the database."""
    text = request.GET.get("pair", "")
    return int(text) if text.isdecimal() and len(text) < 19 else 0
