"""One judge model on a book: what a job would cost, its progress, its answers, and whether they count."""

from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from relevancy import judging, tasks
from relevancy.models import Book, Role
from relevancy.tasks import send
from relevancy.views.forms import add_errors, errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from . import counting, jobs, prompts
from .access import get_book, get_judge, same_model_text
from .automatic import count_spent, find_automatic, set_automatic
from .forms import AutomaticForm, JobForm, KeyForm
from .models import JudgeModel
from .tasks import run_judge_job


class CountAction(StrEnum):
    """Whether the answers become ratings, or stop being ones."""

    COUNT = "count"
    WITHDRAW = "withdraw"


@require_GET
def judge_model(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """The page; for htmx only its part about jobs, which is asked for again while a job is active."""
    book = get_book(request, book_id)
    judge = get_judge(request, book, judge_id)
    if request.htmx and "estimate" in request.GET:
        return _render(request, book, judge, JobForm(judge, initial=request.GET.dict()))
    job = jobs.latest_job(judge, book)
    if request.htmx and (job is None or not job.is_active):
        return HttpResponseClientRefresh()  # the job has ended, and everything else on the page has changed
    return _render(request, book, judge)


@require_POST
def job_start(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Starts a job, which the worker continues in the background."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge: JudgeModel = get_or_403(JudgeModel.objects.live(), request.user, judge_id, needs=Role.EDITOR)
    form = JobForm(judge, request.POST)
    url = reverse("judge_model", args=[book.pk, judge.pk])
    if not form.is_valid():
        return _render(request, book, judge, form, status=422)
    if not jobs.estimate(judge=judge, book=book, **form.choice).documents:
        return conflict(request, url, "No document is left to send. Run an attempt, or choose failed documents again.")
    try:
        job = jobs.start(
            judge=judge,
            book=book,
            by=request.user,
            budget=form.cleaned_data.get("budget"),
            is_background=True,
            **form.choice,
        )
    except ValidationError as error:
        add_errors(form, error)
        return _render(request, book, judge, form, status=422)
    send(run_judge_job, job.pk)
    return redirect_with_message(request, url, f"{judge.name} is judging {book}.")


@require_POST
def job_stop(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Stops the job. Editors of the book may, also one that another user has started."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge = get_judge(request, book, judge_id)
    job = jobs.latest_job(judge, book)
    if job is not None and job.is_active:
        jobs.cancel(job)
    text = "The job is being stopped. Answers in progress are stored."
    return redirect_with_message(request, reverse("judge_model", args=[book.pk, judge.pk]), text)


@require_POST
def automatic_change(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Switches automatic judging on or off."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge: JudgeModel = get_or_403(JudgeModel.objects.live(), request.user, judge_id, needs=Role.EDITOR)
    form = AutomaticForm(judge, request.POST)
    if form.is_valid():
        data = form.cleaned_data
        with errors_to(form):
            set_automatic(judge=judge, book=book, is_on=data["is_on"], budget=data.get("budget"), by=request.user)
            judging.judging_queue(book)  # new results are chosen for books that have one
            text = (
                f"{judge.name} judges new results after each run."
                if data["is_on"]
                else "Nothing is judged automatically."
            )
            return redirect_with_message(request, reverse("judge_model", args=[book.pk, judge.pk]), text)
    return _render(request, book, judge, automatic_form=form, status=422)


@require_POST
def ratings_count(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Makes ratings of the answers (`do=count`), or removes these ratings (`do=withdraw`)."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge = get_judge(request, book, judge_id)
    if submitted(request, CountAction) == CountAction.COUNT:
        result = counting.let_count(judge=judge, book=book, by=request.user)
        changed, text = result.changed, counting.describe(result, judge)
    else:
        changed = counting.withdraw(judge=judge, book=book, by=request.user)
        text = f"{counted(changed, 'rating')} by {judge.rater} {'was' if changed == 1 else 'were'} removed. Its answers are kept."
    if changed:
        tasks.enqueue_book_rescore(book.pk)
    return redirect_with_message(request, reverse("judge_model", args=[book.pk, judge.pk]), text)


def _render(
    request: HtmxRequest,
    book: Book,
    judge: JudgeModel,
    form: JobForm | None = None,
    *,
    automatic_form: AutomaticForm | None = None,
    status: int = 200,
) -> HttpResponse:
    automatic = find_automatic(judge, book)
    can_start = book.is_editable and judge.is_editable and judge.archived_at is None
    counts = counting.count_answers(book).get(judge.pk, counting.AnswerCounts())
    context = {
        "book": book,
        "judge": judge,
        "counts": counts,
        "spent": jobs.write_amount(counts.spent),
        "failures": counting.read_failures(judge, book) if counts.failed else [],
        "can_edit": book.is_editable,
        "key_form": KeyForm() if book.is_editable and judge.is_owned and judge.archived_at is None else None,
        "same_model": same_model_text(judge, book, request.user),
        "automatic": automatic,
        "automatic_form": (automatic_form or AutomaticForm(judge, instance=automatic)) if can_start else None,
        "automatic_spent": jobs.write_amount(count_spent(automatic)) if automatic else "",
        "template": prompts.TEMPLATES[judge.prompt],
        **_job_context(book, judge, form, can_start=can_start),
    }
    name = "_job" if request.htmx and request.method == "GET" else "judge_model"
    return render(request, f"judge_models/{name}.html", context, status=status)


def _job_context(book: Book, judge: JudgeModel, form: JobForm | None, *, can_start: bool) -> dict[str, object]:
    """Returns what the page says about the last job and, for those who may start another one while none is active, its estimate."""
    job = jobs.latest_job(judge, book)
    queue = judging.judging_queue(book)
    if can_start:
        tasks.enqueue_judging_queue(queue)
    context: dict[str, object] = {"job": job, "is_queue_built": queue.built_at is not None}
    if can_start and not (job and job.is_active):
        form = form or JobForm(judge)
        context |= {"form": form, "estimate": jobs.estimate(judge=judge, book=book, **form.choice)}
    if job is not None:
        progress = counting.count_job(job)
        budget = "" if job.budget is None else f" of {jobs.write_amount(job.budget)}"
        parts = [
            f"{progress.done:,} of {progress.total:,}",
            f"{progress.rated:,} rated",
            f"{progress.cannot:,} cannot judge",
            f"{progress.failed:,} failed",
            f"{jobs.write_amount(progress.spent)} spent{budget}",
        ]
        context |= {"progress": progress, "progress_text": " · ".join(parts)}
    return context
