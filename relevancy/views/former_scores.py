"""What pages say about a score that is not what it was: "was 71.2 on 23 November: 112 ratings since"."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format

from relevancy import scores
from relevancy.models import Case
from relevancy.wording import counted


@dataclass(frozen=True)
class FormerText:
    """A former score in words. score: what it was. when: such as "on 23 November". reason: what has changed since. url: of the list of
    these changes."""

    score: float
    when: str
    reason: str
    url: str


def describe_former(
    case: Case, former: scores.FormerScore, changes: scores.ChangesSince, *, run: int, scorer: int
) -> FormerText:
    """Returns what a page says about a former score. run: its number. scorer: the id of the scorer."""
    url = reverse("changed_score", args=[case.pk, run], query={"scorer": scorer})
    return FormerText(former.score, describe_day(former.at), describe_changes(changes), url)


def describe_changes(changes: scores.ChangesSince) -> str:
    """Returns what has changed since, such as "112 ratings, 3 removed since"."""
    parts = []
    if changes.given:
        parts.append(counted(changes.given, "rating"))
    if changes.removed:
        parts.append(f"{changes.removed:,} removed" if parts else f"{counted(changes.removed, 'rating')} removed")
    if not parts and changes.is_partial:
        parts.append("many ratings")
    elif changes.is_partial:
        parts[0] = f"at least {parts[0]}"
    if not parts:
        parts.append("queries, weights or the rule of the book changed")
    elif changes.others:
        parts.append("other changes")
    return f"{', '.join(parts)} since"


def describe_day(moment: datetime) -> str:
    """Returns "at 14:05" for today, "on 23 November" for another day, with the year if it is not this one."""
    local, today = timezone.localtime(moment), timezone.localdate()
    if local.date() == today:
        return date_format(local, r"\a\t H:i")
    return date_format(local, r"\o\n j F" if local.year == today.year else r"\o\n j F Y")
