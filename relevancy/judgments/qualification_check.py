"""Whether a user's ratings of a book count."""

from relevancy.models import Book, Qualification, User

COUNTING = (Qualification.State.PASSED, Qualification.State.ACCEPTED)


def is_qualified(book: Book, user: User) -> bool:
    """Returns whether the user's ratings of a book count: always in a book without qualification, and for editors of the book.

    No SQL statement in a book without qualification, else one or two.
    """
    if book.qualification_share is None:
        return True
    if Qualification.objects.filter(book=book, rater=user, state__in=COUNTING).exists():
        return True
    return bool(Book.objects.editable_by(user).filter(pk=book.pk).exists())
