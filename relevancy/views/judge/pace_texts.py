"""The pace of a rater in words."""

from relevancy import judgments


def describe_pace(pace: judgments.Sitting, progress: judgments.JudgingProgress) -> str:
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
