"""Judge models that judge new results of a book by themselves, after a run, until a budget is spent."""

from decimal import ROUND_DOWN, Decimal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from relevancy import activity
from relevancy.models import Book, User
from relevancy.models.saving import clean_and_save

from .jobs import ACTIVE, DocumentChoice, estimate, start
from .models import AutomaticJudging, JudgeJob, JudgeModel

SWITCHED = "rating.judge_automatic"
NOTHING = "No result without a rating or an answer."
UNRATED = DocumentChoice(only_unrated=True)
WAITS = "A job is running; new results are judged after it."


def set_automatic(*, judge: JudgeModel, book: Book, is_on: bool, budget: Decimal | None, by: User) -> AutomaticJudging:
    """Switches it on or off. From then on `by` is who starts its jobs. Jobs that are running go on.

    budget: of all its jobs together, those of the past included. Raises `ValidationError` without one if the judge model has prices.
    """
    if is_on and budget is None and judge.is_paid:
        raise ValidationError({"budget": "Enter the most that may be spent in all."})
    with transaction.atomic():
        automatic, _ = AutomaticJudging.objects.get_or_create(judge=judge, book=book, defaults={"created_by": by})
        former = (automatic.is_on, automatic.budget)
        clean_and_save(automatic, is_on=is_on, budget=budget, created_by=by)
        if former != (is_on, budget):
            limit = "" if budget is None else f", with a budget of {budget.normalize():f}"
            state = f"on{limit}" if is_on else "off"
            activity.record_for_book(SWITCHED, book=book, by=by, judge=str(judge), state=state)
    return automatic


def find_automatic(judge: JudgeModel, book: Book) -> AutomaticJudging | None:
    """Returns whether a judge model judges a book by itself; None if it was never switched on."""
    return AutomaticJudging.objects.filter(judge=judge, book=book).first()


def count_spent(automatic: AutomaticJudging) -> Decimal:
    """Returns what all jobs that were started in this way have cost."""
    return automatic.jobs.aggregate(spent=Sum("spent"))["spent"] or Decimal(0)


def find_left(automatic: AutomaticJudging) -> Decimal | None:
    """Returns what is left of the budget, with as many decimals as the budget of a job has; None without one."""
    if automatic.budget is None:
        return None
    return max(Decimal(0), automatic.budget - count_spent(automatic)).quantize(Decimal("0.0001"), ROUND_DOWN)


def start_automatic(book: Book) -> list[JudgeJob]:
    """Starts a background job for each judge model that judges the book by itself and has not answered for new results without a
    rating. Notes for each what it did. Returns the jobs, to be enqueued.
    """
    settings = AutomaticJudging.objects.filter(book=book, is_on=True, judge__archived_at=None)
    jobs = []
    for automatic in settings.select_related("judge__rater", "book", "created_by").order_by("pk"):
        job, note = _start(automatic)
        AutomaticJudging.objects.filter(pk=automatic.pk).update(note=note, checked_at=timezone.now())
        if job is not None:
            jobs.append(job)
    return jobs


def _start(automatic: AutomaticJudging) -> tuple[JudgeJob | None, str]:
    judge, book, by = automatic.judge, automatic.book, automatic.created_by
    if not (
        by.is_active
        and JudgeModel.objects.editable_by(by).filter(pk=judge.pk).exists()
        and Book.objects.editable_by(by).filter(pk=book.pk).exists()
    ):
        return None, f"{by}, who switched this on, may no longer start jobs. Another editor can switch it on again."
    if JudgeJob.objects.filter(judge=judge, book=book, status__in=ACTIVE).exists():
        return None, WAITS
    wanted = estimate(judge=judge, book=book, choice=UNRATED).documents
    if not wanted:
        return None, NOTHING
    left = find_left(automatic)
    if left is not None and left <= 0:
        return None, f"The budget of {automatic.budget:f} is spent; {wanted:,} results wait."
    try:
        job = start(
            judge=judge,
            book=book,
            by=by,
            budget=left,
            choice=UNRATED,
            is_background=True,
            automatic=automatic,
        )
    except ValidationError as error:
        return None, " ".join(error.messages)
    return job, f"A job was started for {wanted:,} new results."
