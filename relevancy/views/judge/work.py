"""The page Judge: everything that a user can judge, each with a bar and a button."""

from collections.abc import Iterator

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from relevancy import books, hooks, judging, ratings, tasks
from relevancy.hooks import Work
from relevancy.models import Book, Invitation, Membership, Role, Team, User
from relevancy.views.requests import HtmxRequest

MAX_BOOKS = 25


@never_cache
@require_GET
def judging_work(request: HtmxRequest) -> HttpResponse:
    """The page; for htmx the list alone. Has the documents of books chosen that nobody has opened yet."""
    for book in books.books_without_queue(request.user, count=MAX_BOOKS):
        tasks.enqueue_judging_queue(judging.judging_queue(book))
    coming = books.books_without_queue(request.user, count=MAX_BOOKS)
    ready = list_work(request.user)
    present = {line.id for line in ready}  # chosen between the two
    work = [*ready, *(line for line in map(_coming, coming) if line.id not in present)]
    context: dict[str, object] = {"work": work, "is_coming": bool(coming)}
    if request.htmx:
        return render(request, "judge/_work.html", context)
    context["invitations"] = Invitation.objects.waiting_for(request.user)
    if not work:
        context["nothing"] = _why_nothing(request.user)
    return render(request, "judge/work.html", context)


def list_work(user: User, *, count: int = MAX_BOOKS) -> list[Work]:
    """Returns what a user can judge: books with documents, at most `count`, then what optional apps have, such as a qualification."""
    return [*_books_to_judge(user, count), *(line for added in hooks.work(user) for line in added)]


def find_first_work(user: User, team: Team) -> str:
    """Returns the address of the first book of a team that the user can judge; that of the page Judge if there is none."""
    judgeable = [*books.books_to_judge(user, count=MAX_BOOKS), *books.books_without_queue(user, count=MAX_BOOKS)]
    shared = set(team.books.values_list("pk", flat=True))
    book = next((book for book in judgeable if book.pk in shared), None)
    return reverse("judge", args=[book.pk]) if book else reverse("judging_work")


def start_url(user: User, url: str) -> str:
    """Returns where a user who has signed in goes instead of the list of cases: raters go to their work."""
    is_rater = User.objects.only_raters().filter(pk=user.pk).exists()
    return reverse("judging_work") if url == reverse("home") and is_rater else url


def _books_to_judge(user: User, count: int) -> Iterator[Work]:
    for book in books.books_to_judge(user, count=count):
        if ratings.find_refusal(book, user):
            continue
        is_counted = book.left < judging.COUNTED
        left = f"{book.left:,}" if is_counted else f"{judging.COUNTED:,} or more"
        text = f"{left} to judge" + (f" of {book.pairs:,}" if is_counted else "")
        url = reverse("judge", args=[book.pk])
        done = book.pairs - book.left if is_counted else 0
        yield Work(book.name, text, url, f"work-book-{book.pk}", done=done, total=book.pairs)


def _coming(book: Book) -> Work:
    url = reverse("judge", args=[book.pk])
    return Work(book.name, "The documents are being chosen", url, f"work-book-{book.pk}", is_coming=True)


def _why_nothing(user: User) -> tuple[str, str]:
    """Returns why there is nothing to judge, and what to do."""
    if Book.objects.rateable_by(user).filter(judging_queue__pair_count__gt=0).exists():
        return "All is judged", "New documents appear after the next run."
    if Book.objects.rateable_by(user).exists():
        return "There is nothing to judge yet", "Documents appear here after the first run of a case."
    of_teams = Membership.objects.filter(team__memberships__user=user, role=Role.OWNER).exclude(user=user)
    owner = of_teams.select_related("user").order_by("pk").first()
    if owner is None:
        return "Nothing is shared with you", "Join a team that rates documents, or create a case of your own."
    return (
        f"{owner.user} has not shared anything with you yet",
        "Documents appear here once a case or a book is shared.",
    )
