"""Background tasks of judge models."""

from relevancy.background_task import background_task
from relevancy.models import Book
from relevancy.tasks import LOWEST_PRIORITY, send

from . import automatic, jobs
from .models import JudgeJob

JUDGE_SECONDS = 10.0  # then other tasks have their turn


@background_task(priority=LOWEST_PRIORITY)
def run_judge_job(job_id: int) -> None:
    """Asks a judge model for some seconds, and enqueues the rest of the job."""
    job = JudgeJob.objects.select_related("judge__rater", "book").get(pk=job_id)
    jobs.run(job, seconds=JUDGE_SECONDS)
    if job.is_active and not job.claimed_by:
        send(run_judge_job, job.pk)
    elif job.status == JudgeJob.Status.COMPLETE:  # a run may have brought new results meanwhile
        judge_automatically(job.book)


def judge_automatically(book: Book) -> None:
    """Lets the judge models of a book that judge by themselves begin with what is new."""
    for job in automatic.start_automatic(book):
        send(run_judge_job, job.pk)
