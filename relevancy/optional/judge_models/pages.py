"""The judge models of a book: which there are, a new one, its key, and its end."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import endpoints
from relevancy.models import Book, Role
from relevancy.models.errors import error_text
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from . import counting, judges, protocols
from .access import get_book, get_judge, page_context
from .forms import JudgeModelForm, KeyForm
from .models import JudgeModel


@require_GET
def judge_model_list(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The judge models that the user may see, and those that have answered for the book."""
    book = get_book(request, book_id)
    counts = counting.count_answers(book)
    judges = JudgeModel.objects.of_book(book, request.user)
    context = {
        "book": book,
        "rows": [(judge, counts.get(judge.pk, counting.AnswerCounts())) for judge in judges],
        "can_add": book.is_editable and endpoints.may_create(request.user),
        "can_edit": book.is_editable,
    }
    return render(request, "judge_models/list.html", context)


@require_http_methods(["GET", "POST"])
def judge_model_new(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Creates a judge model. Nothing is sent to it before a job is started."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    if not endpoints.may_create(request.user):
        raise PermissionDenied(endpoints.CREATE_DENIED)
    form = JudgeModelForm(request.user, request.POST or None)
    if form.is_valid():
        with errors_to(form):
            judge = judges.create(by=request.user, **form.values)
            text = f"{judge.name} was added. Nothing has been sent to it yet."
            return redirect_with_message(request, reverse("judge_model", args=[book.pk, judge.pk]), text)
    return render(request, "judge_models/new.html", {"book": book, "form": form}, status=422 if form.is_bound else 200)


@require_GET
def judge_model_settings(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """What the judge model is, and for its owner the key and its end."""
    book = get_book(request, book_id)
    judge = get_judge(request, book, judge_id)
    has_key_form = book.is_editable and judge.is_owned and judge.archived_at is None
    context = {
        **page_context(request, book, judge),
        "template": judges.template_of(judge),
        "protocol": protocols.PROTOCOLS[judge.protocol].label,
        "key_form": KeyForm() if has_key_form else None,
    }
    return render(request, "judge_models/settings.html", context)


@require_POST
def judge_model_key(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Replaces the key of a judge model; an empty one removes it."""
    book, judge = _get_owned(request, book_id, judge_id)
    form = KeyForm(request.POST)
    text = error_text(ValidationError(form.errors.as_data()))
    if form.is_valid():
        judges.set_key(judge=judge, key=form.cleaned_data["key"])
        text = f"{judge.name} has another key." if judge.secrets else f"The key of {judge.name} was removed."
    return redirect_with_message(request, reverse("judge_model_settings", args=[book.pk, judge.pk]), text)


@require_POST
def judge_model_archive(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Archives a judge model. Its answers and ratings stay."""
    book, judge = _get_owned(request, book_id, judge_id)
    judges.archive(judge=judge)
    text = f"{judge.name} was archived. Its answers and ratings are kept."
    return redirect_with_message(request, reverse("judge_models", args=[book.pk]), text)


def _get_owned(request: HtmxRequest, book_id: int, judge_id: int) -> tuple[Book, JudgeModel]:
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge: JudgeModel = get_or_403(JudgeModel.objects.live(), request.user, judge_id, needs=Role.OWNER)
    return book, judge
