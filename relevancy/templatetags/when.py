"""Times as people say them, with the exact time behind.

`naturaltime` of `django.contrib.humanize` says "1 day, 2 hours ago" for yesterday evening, which is too long for a table, and counts
days as 24 hours.
"""

from datetime import datetime

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from relevancy.wording import counted

MINUTE, HOUR, DAY = 60, 3600, 86400


def in_words(moment: datetime, now: datetime) -> str:
    """ "4 min ago", "1 h ago", "yesterday", "2 days ago"; days are days of the calendar, in the current time zone."""
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 45:
        return "just now"
    past = seconds > 0
    length = abs(seconds)
    days = abs((timezone.localtime(now).date() - timezone.localtime(moment).date()).days)
    if length < HOUR:
        text = f"{max(1, int(length // MINUTE))} min"
    elif length < DAY:
        text = f"{int(length // HOUR)} h"
    elif days <= 1:
        return "yesterday" if past else "tomorrow"
    elif days < 7:
        text = counted(days, "day")
    elif days < 30:
        text = counted(days // 7, "week")
    elif days < 365:
        text = counted(days // 30, "month")
    else:
        text = counted(days // 365, "year")
    return f"{text} ago" if past else f"in {text}"


def ago(moment: datetime | None, now: datetime | None = None, never: str = "never") -> SafeString:
    """The time relative to now, in a <time> whose title is the exact time; `never` if there is none."""
    if moment is None:
        return format_html('<span class="muted">{}</span>', never)
    if timezone.is_naive(moment):
        moment = timezone.make_aware(moment)
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        date_format(local, "j M Y, H:i T"),
        in_words(moment, now or timezone.now()),
    )
