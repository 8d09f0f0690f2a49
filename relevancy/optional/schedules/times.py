"""When a schedule is due: the five fields of cron, by cronsim, which knows what cron does at the change of daylight saving time."""

import re
from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.core.exceptions import ValidationError

from relevancy.wording import counted

MIN_PAUSE = timedelta(minutes=10)
TRIED = 100  # times that are looked at for a shorter pause


def next_time(cron: str, time_zone: str, *, after: datetime) -> datetime:
    """Returns the first time after `after`, in UTC.

    cron: minute, hour, day of the month, month, day of the week. time_zone: a name such as Europe/Berlin.
    Raises `ValidationError` if there is none.
    """
    return _times(cron, time_zone, after, 1)[0]


def check_times(cron: str, time_zone: str, *, now: datetime) -> None:
    """Raises `ValidationError` if the times cannot be read, never come, or come more often than every ten minutes."""
    times = _times(cron, time_zone, now, TRIED)
    shortest = min((later - earlier for earlier, later in pairwise(times)), default=MIN_PAUSE)
    if shortest < MIN_PAUSE:
        least, pause = (int(length.total_seconds() // 60) for length in (MIN_PAUSE, shortest))
        raise ValidationError(
            {
                "cron": f"“{cron}” is due every {counted(pause, 'minute') if pause > 1 else 'minute'}. There have to be at least "
                f"{least} minutes between two times."
            }
        )


def describe_times(cron: str) -> str:
    """Returns the times in words, such as “At 02:00 every day”; the expression itself if it cannot be read."""
    try:
        return str(CronSim(cron, datetime.now(UTC)).explain())
    except CronSimError:
        return cron


def split_days(cron: str) -> tuple[str, time] | None:
    """Returns the days of the week, as cron writes them, and the time of a schedule that is due once on each; None for others."""
    match = re.fullmatch(r"(\d+) (\d+) \* \* (\S+)", cron)
    return (match[3], time(int(match[2]), int(match[1]))) if match else None


def _times(cron: str, time_zone: str, after: datetime, count: int) -> list[datetime]:
    try:
        local = after.astimezone(ZoneInfo(time_zone))
        times = [due.astimezone(UTC) for due in islice(CronSim(cron, local), count)]
    except CronSimError as error:
        raise ValidationError(
            {
                "cron": f"“{cron}” is not a time: {str(error).lower()}. Write minute, hour, day of the month, month and day of the "
                "week, such as 0 2 * * * for every night at 2:00."
            }
        ) from None
    if not times:
        raise ValidationError({"cron": f"“{cron}” never comes. Check the day of the month."})
    return times
