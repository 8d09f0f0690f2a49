"""What is left for a rater, and how fast the rater judges."""

from dataclasses import replace

from django.utils import timezone

from relevancy import judging
from relevancy.models import JudgingQueue, User


def progress_context(user: User, queue: JudgingQueue) -> dict[str, object]:
    """Returns what `judge/_progress.html` shows."""
    progress = judging.judging_progress(queue=queue, by=user)
    due = judging.count_due_repeats(queue=queue, by=user)
    if due:  # what comes again now is left, too
        progress = replace(progress, pairs=progress.pairs + due, left=progress.left + due)
    pace = judging.measure_sitting(book=queue.book, by=user, now=timezone.now())
    return {"progress": progress, "pace": pace, "pace_text": describe_pace(pace, progress)}


def describe_pace(pace: judging.Sitting, progress: judging.JudgingProgress) -> str:
    """Returns the pace and about how long the rest takes, such as “140 an hour, about 25 min left”; empty without a pace."""
    minutes = pace.minutes_for(progress.left)
    if pace.per_hour is None or minutes is None:
        return ""
    if not progress.left:
        return f"{pace.per_hour:,} an hour"
    hours, rest = divmod(minutes, 60)
    length = f"{minutes} min" if not hours else f"{hours:,} h {rest} min" if rest and hours < 10 else f"{hours:,} h"
    most = "" if progress.is_counted else "more than "
    return f"{pace.per_hour:,} an hour, {most or 'about '}{length} left"
