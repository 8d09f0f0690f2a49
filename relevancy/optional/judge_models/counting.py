"""Lets the answers of a judge model count as ratings of its rater, and takes them back."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from relevancy import activity
from relevancy.models import Book, Rating, User
from relevancy.ratings.separate_ratings import Counted, accept_grades, withdraw_ratings
from relevancy.wording import counted

from .judges import build_instructions
from .models import JudgeAnswer, JudgeJob, JudgeModel

SOURCE = "judge"
JUDGED = (JudgeAnswer.State.RATED, JudgeAnswer.State.CANNOT)
STATES = {str(state): Count("pk", filter=Q(state=state)) for state in JudgeAnswer.State.values}
COUNTED, WITHDRAWN = "rating.judge_counted", "rating.judge_withdrawn"  # verbs of the activity log


@dataclass(frozen=True)
class AnswerCounts:
    """Documents by the state of a judge model's answer, what they have cost, and how many of its ratings count."""

    rated: int = 0
    cannot: int = 0
    unreadable: int = 0
    failed: int = 0
    open: int = 0
    spent: Decimal = Decimal(0)
    counting: int = 0

    @property
    def done(self) -> int:
        return self.rated + self.cannot + self.unreadable + self.failed

    @property
    def total(self) -> int:
        return self.done + self.open

    def describe(self) -> list[str]:
        """Returns the numbers of documents by what became of them, without zeros."""
        counts = {
            "rated": self.rated,
            "cannot judge": self.cannot,
            "not understood": self.unreadable,
            "failed": self.failed,
        }
        return [f"{count:,} {name}" for name, count in counts.items() if count]


def count_answers(book: Book) -> dict[int, AnswerCounts]:
    """Returns the counts by the ids of the judge models that have answered for a book. Two SQL statements."""
    answers = JudgeAnswer.objects.filter(query__book=book).order_by().values("judge")
    ratings = Rating.objects.filter(query__book=book, rater__judge_model__isnull=False).order_by()
    counting = dict(
        ratings.values("rater__judge_model").annotate(count=Count("pk")).values_list("rater__judge_model", "count")
    )
    rows: Any = answers.annotate(**STATES, spent=Sum("cost"))
    return {
        judge_id: AnswerCounts(**row, counting=counting.get(judge_id, 0))
        for row in rows
        if (judge_id := row.pop("judge"))
    }


def count_job(job: JudgeJob) -> AnswerCounts:
    """Returns the counts of the documents of a job, which has been read lately. One SQL statement."""
    return AnswerCounts(**job.answers.aggregate(**STATES), spent=job.spent)


def count_former(judge: JudgeModel, book: Book) -> int:
    """Returns how many documents were judged with other instructions than the present ones."""
    judged = JudgeAnswer.objects.filter(judge=judge, query__book=book, state__in=JUDGED)
    return judged.exclude(job__instructions=build_instructions(judge, book)).count()


def let_count(*, judge: JudgeModel, book: Book, by: User) -> Counted:
    """Makes ratings of the judge model's answers for the documents of a book that nobody else has rated.

    Answers that arrive later do not count until this is called again. Computes no scores; see `accept_grades`.
    """
    rated = JudgeAnswer.objects.filter(judge=judge, query__book=book, state=JudgeAnswer.State.RATED)
    answers = rated.order_by("pk")
    result = accept_grades(
        book=book,
        rater=judge.rater,
        by=by,
        source=SOURCE,
        query_ids=list(answers.values_list("query_id", flat=True).distinct()),
        read=lambda query_ids: answers.filter(query__in=query_ids).values_list("query_id", "doc_id", "value"),
    )
    activity.record_for_book(COUNTED, book=book, by=by, judge=str(judge), count=result.changed)
    return result


def describe(result: Counted, judge: JudgeModel) -> str:
    """Returns what `let_count` did, in sentences."""
    rater = judge.rater
    text = f"{counted(result.changed, f'rating by {rater} is', f'ratings by {rater} are')} new or changed."
    if result.left_out:
        text += f" {counted(result.left_out, 'document that others have rated was', 'documents that others have rated were')} left out."
    if result.off_scale:
        text += f" {counted(result.off_scale, 'answer is', 'answers are')} not on the present scale."
    return text


def withdraw(*, judge: JudgeModel, book: Book, by: User) -> int:
    """Removes the ratings of a judge model from a book; its answers stay. Returns how many. Computes no scores."""
    removed = withdraw_ratings(book=book, rater=judge.rater, by=by, source=SOURCE)
    activity.record_for_book(WITHDRAWN, book=book, by=by, judge=str(judge), count=removed)
    return removed
