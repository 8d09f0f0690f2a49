"""One judge model on a book: what a job would cost, its progress, its answers, and whether they count."""

from datetime import timedelta
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from relevancy import judging, tasks
from relevancy.models import Book, Role
from relevancy.tasks import send
from relevancy.views.forms import add_errors, errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import conflict, redirect_to, redirect_with_message
from relevancy.wording import counted, describe_pace

from . import answer_list, counting, jobs
from .access import get_book, get_judge, page_context
from .automatic import count_spent, find_automatic, set_automatic
from .forms import AutomaticForm, JobForm
from .models import JudgeJob, JudgeModel
from .tasks import run_judge_job

NOTHING_LEFT = "No document is left to send. Run an attempt, or choose documents to judge again."
OBSERVED_SECONDS = 30  # that the pace of a job is measured over


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
    if request.htmx and not (job and job.is_active) and judging.judging_queue(book).built_at is not None:
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
    if not jobs.estimate(judge=judge, book=book, choice=form.choice).documents:
        return conflict(request, url, NOTHING_LEFT)
    try:
        job = jobs.start(
            judge=judge,
            book=book,
            by=request.user,
            budget=form.cleaned_data.get("budget"),
            is_background=True,
            choice=form.choice,
        )
    except ValidationError as error:
        add_errors(form, error)
        return _render(request, book, judge, form, status=422)
    send(run_judge_job, job.pk)
    return redirect_with_message(request, url, f"{judge.name} is judging {book}.")


@require_POST
def job_trial(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Sends five documents, whose answers the page shows as they come."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge: JudgeModel = get_or_403(JudgeModel.objects.live(), request.user, judge_id, needs=Role.EDITOR)
    url = reverse("judge_model", args=[book.pk, judge.pk])
    try:
        job = jobs.start_trial(judge=judge, book=book, by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    send(run_judge_job, job.pk)
    return redirect_to(request, url)


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
    former = counting.count_former(judge, book)
    context = {
        **page_context(request, book, judge),
        "counts": counts,
        "counts_text": ", ".join(
            [*counts.describe(), *([f"{jobs.write_amount(counts.spent)} spent"] if judge.is_paid else [])]
        ),
        "former": former,
        "can_edit": book.is_editable,
        "automatic": automatic,
        "automatic_form": (automatic_form or AutomaticForm(judge, instance=automatic)) if can_start else None,
        "automatic_spent": jobs.write_amount(count_spent(automatic)) if automatic else "",
        **_job_context(book, judge, form, counts, former, can_start=can_start),
    }
    name = "_job" if request.htmx and request.method == "GET" else "judge_model"
    return render(request, f"judge_models/{name}.html", context, status=status)


def _job_context(
    book: Book,
    judge: JudgeModel,
    form: JobForm | None,
    counts: counting.AnswerCounts,
    former: int,
    *,
    can_start: bool,
) -> dict[str, object]:
    """Returns what the page says about the last job and, for those who may start another one while none is active, its estimate."""
    job = jobs.latest_job(judge, book)
    queue = judging.judging_queue(book)
    if can_start:
        tasks.enqueue_judging_queue(queue)
    context: dict[str, object] = {"job": job, "is_queue_built": queue.built_at is not None}
    if can_start and not (job and job.is_active):
        form = form or JobForm(judge)
        estimate = jobs.estimate(judge=judge, book=book, choice=form.choice)
        could_differ = estimate.documents or counts.failed or counts.unreadable or former
        trial = min(jobs.TRIAL_DOCUMENTS, queue.pair_count) if could_differ else 0
        context |= {"form": form, "estimate": estimate, "trial": trial}
        if judge.is_paid and estimate.documents:
            context["trial_cost"] = jobs.write_amount(estimate.cost * trial / estimate.documents)
    if job is not None:
        progress = counting.count_job(job)
        context |= {"progress": progress, "progress_text": _describe_progress(job, progress)}
        if job.is_trial and book.is_editable:
            answers = answer_list.read_answers(judge=judge, book=book, job=job)
            context["rows"] = answer_list.read_page(judge, book, answers)
    return context


def _describe_progress(job: JudgeJob, progress: counting.AnswerCounts) -> str:
    """Returns how far a job is, what became of its documents, and for an active one how long the rest will take."""
    parts = [f"{progress.done:,} of {progress.total:,}", *progress.describe()]
    if job.judge.is_paid:
        budget = "" if job.budget is None else f" of {jobs.write_amount(job.budget)}"
        parts.append(f"{jobs.write_amount(progress.spent)} spent{budget}")
    now = timezone.now()
    seconds = min(OBSERVED_SECONDS, (now - job.created_at).total_seconds())
    recent = job.answers.filter(answered_at__gte=now - timedelta(seconds=seconds)).count() if job.is_active else 0
    if recent and progress.open:
        parts.append(describe_pace(recent / seconds, progress.open))
    return " · ".join(parts)
