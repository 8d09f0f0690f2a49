"""What the app adds to the core: links, what the worker does, and what becomes of answers and judge models with books and accounts."""

from collections.abc import Iterator, Mapping
from itertools import batched

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from relevancy import accounts, hooks
from relevancy.glossary import Term, terms
from relevancy.hooks import BookRater, GradeField, Link, Loss, Place, activity_sentences, add_links, help_pages
from relevancy.models import Book, User
from relevancy.tasks import send

from . import automatic, counting, jobs, tasks
from .history_marks import mark_judges
from .models import CalibrationSample, JudgeAnswer, JudgeJob, JudgeModel

BATCH = 500

terms |= {
    "judge-model": Term(
        "Judge model",
        "A language model that rates documents; its answers count only if you let them.",
        "judge-models",
        "judge-models",
    ),
    "calibration": Term(
        "Calibration",
        "People rate a random sample of queries, which shows how far the judge model agrees with them.",
        "judge-models",
        "calibrate-first",
    ),
    "corrected": Term(
        "Corrected score",
        "The case score by the answers of the judge model, corrected by the sample that people rated.",
        "judge-models",
        "the-corrected-case-score",
    ),
}
activity_sentences.update(
    {
        jobs.STARTED: "Started a job of the judge model {judge} in the book “{subject}”",
        counting.COUNTED: "Let answers of the judge model {judge} count in the book “{subject}”: {count:,} ratings",
        counting.WITHDRAWN: "Removed the ratings of the judge model {judge} from the book “{subject}”: {count:,}",
        automatic.SWITCHED: "Switched automatic judging by {judge} in the book “{subject}” {state}",
    }
)
hooks.query_models.append(JudgeAnswer)
hooks.grade_fields.append(GradeField(JudgeAnswer))
hooks.parts_of_book.append("answers of judge models")
hooks.history_marks.add(mark_judges)
hooks.judging_queue_built.add(tasks.judge_automatically)
help_pages["books/<int:book_id>/judge-models/"] = "judge-models"


@add_links[Place.BOOK_SOURCES]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the judge models of a book."""
    yield Link("Judge models", reverse("judge_models", args=[book.pk]), "judge-models-link")


@add_links[Place.RATER]
def rater_links(shown: BookRater) -> Iterator[Link]:
    """Yields the link to the judge model that a rater stands for."""
    judge = JudgeModel.objects.filter(rater=shown.rater).first()
    if judge is not None:
        yield Link("Judge models", reverse("judge_models", args=[shown.book.pk]), "judge-models-link")


@hooks.sweep.add
def continue_jobs() -> None:
    """Enqueues the jobs whose worker has died."""
    for job_id in jobs.sweep():
        send(tasks.run_judge_job, job_id)


@hooks.check_unused.add
def check_no_job(book: Book) -> None:
    """Raises `ValidationError` while a judge model works on the book."""
    job = jobs.working_jobs(book).select_related("judge").first()
    if job is not None:
        raise ValidationError(
            f"The judge model {job.judge} is rating documents of “{book}”. Stop it, or try again when it has finished."
        )


@hooks.books_merged.add
def merge_answers(book: Book, other: Book, partners: Mapping[int, int]) -> None:
    """Moves the jobs, drops the samples, which were drawn from the queries of one book, and one of two answers of a judge model for the
    same document: one without a verdict before one with, else the older."""
    JudgeJob.objects.filter(book=other).update(book=book, automatic=None)
    CalibrationSample.objects.filter(book__in=(book, other)).delete()
    judged = (JudgeAnswer.State.RATED, JudgeAnswer.State.CANNOT)
    for batch in batched(sorted(partners.items()), BATCH):
        targets = dict(batch)
        answers = JudgeAnswer.objects.filter(query__in=[*targets, *targets.values()]).order_by("answered_at", "pk")
        rows = answers.values_list("pk", "judge_id", "query_id", "doc_id", "state")
        kept: dict[tuple[int, int, str], int] = {}
        repeated: list[int] = []
        for pk, judge_id, query_id, doc_id, _ in sorted(rows, key=lambda row: row[-1] in judged):
            key = judge_id, targets.get(query_id, query_id), doc_id
            if key in kept:
                repeated.append(kept[key])
            kept[key] = pk
        for pks in batched(repeated, BATCH):
            JudgeAnswer.objects.filter(pk__in=pks).delete()


@hooks.user_losses.add
def archived(user: User) -> Iterator[Loss]:
    """Yields the judge models that nobody else can see."""
    if judges := accounts.deletion.unshared(user, JudgeModel.objects.live()):
        yield Loss("archived", "judge models", f"judge models: {', '.join(map(str, judges))}")


@hooks.user_deletion.add
def archive_unshared(user: User) -> None:
    """Archives the judge models that nobody else can see, and erases their keys."""
    for judge in accounts.deletion.unshared(user, JudgeModel.objects.live()):
        judge.archived_at, judge.secrets = timezone.now(), {}
        judge.save(update_fields=["archived_at", "secrets"])
