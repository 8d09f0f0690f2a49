"""What the app adds to the core: who may rate in a book, a link on its page, and what belongs to a book."""

from collections.abc import Iterator, Mapping

from django.core.exceptions import ValidationError
from django.urls import reverse

from relevancy import hooks
from relevancy.glossary import Term, terms
from relevancy.hooks import GradeField, Link, Place, Refusal, Work, add_links, help_pages
from relevancy.models import Book, User

from . import qualification
from .models import QualificationAnswer, QualificationPair

terms["qualification"] = Term(
    "Qualification",
    "New raters judge documents with known grades first; their ratings count if enough of them agree.",
    "qualification",
    "qualification-of-new-raters",
)
hooks.unattended_sources.append(qualification.SOURCE)
hooks.parts_of_book.append("qualification")
hooks.grade_fields += [
    GradeField(QualificationPair, must_fit=True),
    GradeField(QualificationAnswer, book="pair__query__book", must_fit=True),
]
hooks.activity_sentences.update(
    {
        qualification.RULE_CHANGED: "Changed the qualification of new raters of the book “{subject}”: {changed}",
        qualification.SET_CHANGED: "Changed the qualification set of the book “{subject}”: {changed}",
        qualification.RATER_QUALIFIED: "Passed the qualification of the book “{subject}”: {agreed} of {answered} agree with the key",
        qualification.RATER_ACCEPTED: "Let the ratings of {person} count in the book “{subject}”",
    }
)
help_pages["books/<int:book_id>/qualification/"] = "qualification"


@hooks.rating_refusal.add
def refuse_new_rater(book: Book, user: User) -> Refusal | None:
    """Refuses ratings of a user who has not qualified."""
    if qualification.is_qualified(book, user):
        return None
    reason = f"Your ratings of the book {book} count once you have judged its qualification set."
    return Refusal(f"{reason} Choose “Judge” on the page of the book.", reverse("qualify", args=[book.pk]))


@hooks.work.add
def sets_to_judge(user: User) -> Iterator[Work]:
    """Yields the qualification sets that a user has to judge, and those that the user has not passed."""
    for book in qualification.books_to_qualify(user):
        progress = qualification.measure_progress(book=book, by=user)
        if progress.left:
            text = f"Qualification: {progress.left} to judge of {progress.pairs}"
        else:
            ended = qualification.find_qualification(book, user)
            text = (
                f"Qualification: not passed, {ended.agreed} of {ended.answered} agree with the key. Ask {book.owner}."
            )
        yield Work(
            title=book.name,
            text=text,
            url=reverse("qualify", args=[book.pk]),
            id=f"work-qualification-{book.pk}",
            button="Qualify" if progress.left else "Result",
            done=progress.done,
            total=progress.pairs,
        )


@hooks.books_merged.add
def prepare_merge(book: Book, other: Book, partners: Mapping[int, int]) -> None:
    """Deletes the set of the book that goes, whose answers are ratings by now. Raises `ValidationError` if raters have to qualify."""
    if qualification.find_rule(other).share is not None:
        raise ValidationError(
            f"New raters of “{other}” have to qualify. Switch that off in “{other}” before you merge it."
        )
    QualificationPair.objects.filter(query__book=other).delete()


@add_links[Place.BOOK_JUDGING]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link for editors of the book."""
    if book.is_editable:
        yield Link("Qualification", reverse("book_qualification", args=[book.pk]), "qualification-link")
