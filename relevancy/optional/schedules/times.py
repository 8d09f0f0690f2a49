"""When a schedule is due: the five fields of cron, by cronsim, which knows what cron does at the change of daylight saving time."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.core.exceptions import ValidationError

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
        minutes = int(MIN_PAUSE.total_seconds() // 60)
        raise ValidationError(
            {
                "cron": f"“{cron}” is due every {shortest}. There have to be at least {minutes} minutes between two times."
            }
        )


def describe_times(cron: str) -> str:
    """Returns the times in words, such as “At 02:00 every day”; the expression itself if it cannot be read."""
    try:
        return str(CronSim(cron, datetime.now(UTC)).explain())
    except CronSimError:
        return cron


def _times(cron: str, time_zone: str, after: datetime, count: int) -> list[datetime]:
    try:
        local = after.astimezone(ZoneInfo(time_zone))
        times = [time.astimezone(UTC) for time in islice(CronSim(cron, local), count)]
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
