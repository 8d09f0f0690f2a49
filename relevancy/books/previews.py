"""What a change of the grades of a book would do to the scores of its cases."""

from collections.abc import Callable, Sequence

from django.db import transaction

from relevancy import scores
from relevancy.models import Book, Case, User
from relevancy.models.write_queue import write_turn


def find_cases(*books: Book, by: User) -> tuple[list[Case], int]:
    """Returns the cases of books that a user can see, by name, and the number of others. Archived ones are left out."""
    cases = Case.objects.live().filter(book__in=books)
    visible = list(
        Case.objects.visible_to(by).live().filter(book__in=books).select_related("book").order_by("name", "pk")
    )
    return visible, cases.count() - len(visible)


def try_change[R](
    change: Callable[[], R], *, cases: Sequence[Case], book: Book
) -> tuple[R, list[scores.CaseScorePreview]]:
    """Does a change, scores the cases, whose book is `book` then, and takes the change back before it becomes visible.

    Returns what `change` returned, and the scores before and after. Ratings of the book wait for it.
    """
    before = [score for case in cases for score in scores.score_cases([case], case.book)]
    with write_turn(), transaction.atomic():
        result = change()
        after = scores.score_cases(cases, book)
        transaction.set_rollback(True)
    return result, scores.join_scores(before, after)
