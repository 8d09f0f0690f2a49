"""What the user of a request may do with a judge model on a book."""

from django.shortcuts import get_object_or_404

from relevancy.models import Book, Case, Role, User
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

from . import independence
from .models import JudgeModel


def get_book(request: HtmxRequest, book_id: int, *, needs: Role = Role.VIEWER) -> Book:
    """Returns a book on which the user has at least the role `needs`, with `role`; see `get_or_403`."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=needs)
    return book


def get_judge(request: HtmxRequest, book: Book, judge_id: int) -> JudgeModel:
    """Returns a judge model that the user may see, or that has answered for the book, with `role`. Raises `Http404`."""
    judges = JudgeModel.objects.of_book(book, request.user).select_related("rater", "owner")
    judge: JudgeModel = get_object_or_404(judges, pk=judge_id)
    return judge


def same_model_text(judge: JudgeModel, book: Book, user: User) -> str:
    """Returns the warning that the model judges what it has ranked itself; empty if no case of the book names it."""
    ranked = independence.find_cases_ranked_by(judge, book)
    if not ranked:
        return ""
    visible = set(Case.objects.visible_to(user).filter(book=book).values_list("pk", flat=True))
    names = [f"“{case}”" if case.pk in visible else "a case that you cannot see" for case in ranked]
    return (
        f"The search of {', '.join(dict.fromkeys(names))} names the model {judge.model}, too. A model tends to prefer what it has "
        "ranked itself: compare it with people, or let another model judge."
    )
