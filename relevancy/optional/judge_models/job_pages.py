"""One judge model on a book: what a job would cost, its progress, its answers, and whether they count."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from relevancy import judging, tasks
from relevancy.models import Book, Role
from relevancy.tasks import send
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from . import counting, jobs, prompts
from .access import get_book, get_judge, same_model_text
from .automatic import automatic_state, set_automatic
from .forms import AutomaticForm, JobForm, KeyForm
from .models import JudgeJob, JudgeModel
from .tasks import run_judge_job


class CountAction(StrEnum):
    """Whether the answers become ratings, or stop being ones."""

    COUNT = "count"
    WITHDRAW = "withdraw"


@dataclass(frozen=True)
class JobPanel:
    """The last job of a judge model on a book, and the form for the next one.

    total: documents of the job. estimate, form: None while a job is active, and for those who may not start one.
    """

    job: JudgeJob | None
    progress: jobs.JobProgress | None
    estimate: jobs.JobEstimate | None
    form: JobForm | None
    can_stop: bool
    is_queue_built: bool

    @property
    def is_active(self) -> bool:
        return self.job is not None and self.job.is_active

    @property
    def done(self) -> int:
        return self.progress.answered + self.progress.failed if self.progress else 0

    @property
    def total(self) -> int:
        return self.done + self.progress.open if self.progress else 0

    @property
    def progress_text(self) -> str:
        """What the job has done so far, and what it has spent."""
        if self.progress is None or self.job is None:
            return ""
        progress = self.progress
        parts = [
            f"{self.done:,} of {self.total:,}",
            f"{progress.rated:,} rated",
            f"{progress.cannot:,} cannot judge",
            f"{progress.failed:,} failed",
        ]
        spent = f"{write_amount(progress.spent)} spent"
        budget = "" if self.job.budget is None else f" of {write_amount(self.job.budget)}"
        return " · ".join([*parts, spent + budget])

    @property
    def estimate_text(self) -> str:
        """What the next job would send and cost."""
        if self.estimate is None:
            return ""
        estimate = self.estimate
        if not estimate.documents:
            return "No document is left to send."
        pictures = ""
        if estimate.images:
            noun = "document has a picture" if estimate.images == 1 else "documents have a picture"
            pictures = f"About {estimate.images:,} {noun}. "
        return (
            f"{pictures}About {estimate.input_tokens:,} tokens to read and at most {estimate.output_tokens:,} to write: "
            f"{write_amount(estimate.cost)} at most."
        )


def write_amount(amount: Decimal) -> str:
    """Returns an amount with two decimals, or as many as it takes to be other than 0, at most six."""
    if not amount:
        return "0.00"
    places = next((places for places in range(2, 6) if round(abs(amount), places)), 6)
    return f"{amount:,.{places}f}"


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
            only_unrated=form.choice["only_unrated"],
            repeat_failed=form.choice["repeat_failed"],
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
        try:
            set_automatic(judge=judge, book=book, is_on=data["is_on"], budget=data.get("budget"), by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
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
    judge = get_object_or_404(JudgeModel.objects.of_book(book, request.user).select_related("rater"), pk=judge_id)
    if submitted(request, CountAction) == CountAction.COUNT:
        result = counting.let_count(judge=judge, book=book, by=request.user)
        changed = result.changed
        text = (
            f"{changed:,} ratings by {judge.rater} are new or changed. {result.left_out:,} documents have ratings by others "
            f"and were left out. {result.off_scale:,} answers are not on the present scale."
        )
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
    automatic = automatic_state(judge, book)
    if automatic_form is None:
        automatic_form = AutomaticForm(judge, instance=automatic.automatic if automatic else None)
    can_start = book.is_editable and judge.is_editable and judge.archived_at is None
    counts = counting.count_answers(book).get(judge.pk, counting.AnswerCounts())
    context = {
        "book": book,
        "judge": judge,
        "panel": _job_panel(book, judge, form, can_start=can_start),
        "counts": counts,
        "spent": write_amount(counts.cost),
        "failures": counting.read_failures(judge, book) if counts.failed else [],
        "can_edit": book.is_editable,
        "key_form": KeyForm() if book.is_editable and judge.is_owned and judge.archived_at is None else None,
        "same_model": same_model_text(judge, book, request.user),
        "automatic": automatic,
        "automatic_form": automatic_form if can_start else None,
        "automatic_spent": write_amount(automatic.spent) if automatic else "",
        "template": prompts.find_template(judge.prompt),
    }
    name = "_job" if request.htmx and request.method == "GET" else "judge_model"
    return render(request, f"judge_models/{name}.html", context, status=status)


def _job_panel(book: Book, judge: JudgeModel, form: JobForm | None, *, can_start: bool) -> JobPanel:
    job = jobs.latest_job(judge, book)
    queue = judging.judging_queue(book)
    if can_start:
        tasks.enqueue_judging_queue(queue)
    is_active = job is not None and job.is_active
    estimate = None
    if can_start and not is_active:
        form = form or JobForm(judge)
        estimate = jobs.estimate(judge=judge, book=book, **form.choice)
    return JobPanel(
        job=job,
        progress=jobs.progress(job) if job else None,
        estimate=estimate,
        form=form if estimate else None,
        can_stop=book.is_editable and is_active,
        is_queue_built=queue.built_at is not None,
    )
