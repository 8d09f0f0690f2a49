"""Scores with their bars, and progress: SVG with number attributes, because the page forbids inline style."""

from collections.abc import Iterable
from decimal import Decimal

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from . import numbers

WIDTH = 64  # of a score bar, in pixels
_RAIL = mark_safe('<rect class="bar-track" y="2" width="64" height="4" rx="1"/>')
_TICK = Decimal("1.5")  # width of the mark at the score


def _px(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.1')).normalize():f}"


def _on_bar(value: Decimal) -> Decimal:
    return min(Decimal(100), max(Decimal(0), value)) * WIDTH / 100


def bar(value: object, low: object = None, high: object = None) -> SafeString:
    """A 64 × 8 bar of a score 0–100: solid to the low bound, pale to the high bound, a tick at the score.

    Without bounds, or with bounds closer than 0.5, it is solid to the score. Without a score only the rail is left.
    """
    number = numbers.known(value)
    if number is None:
        return format_html('<svg class="bar" viewBox="0 0 64 8" aria-hidden="true">{}</svg>', _RAIL)
    parts, between = [_RAIL], numbers.bounds(low, high)
    solid, end = map(_on_bar, between or (number, number))
    if between:
        parts.append(
            format_html('<rect class="bar-possible" x="{}" y="2" width="{}" height="4"/>', _px(solid), _px(end - solid))
        )
    if solid > 0:
        parts.append(format_html('<rect class="bar-certain" y="2" width="{}" height="4" rx="1"/>', _px(solid)))
    if between:
        at = min(WIDTH - _TICK, max(Decimal(0), _on_bar(number) - _TICK / 2))
        parts.append(format_html('<rect class="bar-tick" x="{}" width="1.5" height="8"/>', _px(at)))
    return format_html(
        '<svg class="bar {}" viewBox="0 0 64 8" aria-hidden="true">{}</svg>',
        numbers.score_class(number),
        mark_safe("".join(parts)),
    )


def score_cell(
    value: object,
    low: object = None,
    high: object = None,
    *,
    dim: bool = False,
    why: str = "",
    failed: bool = False,
    note: str = "",
) -> SafeString:
    """A score in a list: number, bar and range in three fixed columns.

    `dim` greys the number (a score of an earlier run), `note` replaces the range ("was"). Without a value:
    "–" with an empty bar, or without a bar if `failed`, and `why` as its title.
    """
    if numbers.known(value) is None:
        reason = why or ("No score: the search failed" if failed else "Not scoreable")
        rest = mark_safe("") if failed else format_html('{}<span class="range">{}</span>', bar(None), note)
        return format_html(
            '<span class="score"><span class="none" title="{0}">–<span class="visually-hidden"> {0}</span></span>{1}</span>',
            reason,
            rest,
        )
    return format_html(
        '<span class="score">{}{}</b>{}<span class="range">{}</span></span>',
        mark_safe('<b class="muted">' if dim else "<b>"),
        numbers.score(value),
        bar(value, low, high),
        note or numbers.span(low, high),
    )


def big_score(
    value: object, low: object = None, high: object = None, *, dim: bool = False, note: str = "", why: str = ""
) -> SafeString:
    """The case's score: whole part large, decimal at half size, range in brackets, bar. `note` replaces the range."""
    opening = mark_safe('<b class="muted">' if dim else "<b>")
    text = numbers.score(value)
    if text == numbers.MISSING:
        return format_html(
            '<div class="big-score"><b class="muted" title="{}">–</b>{}</div>',
            why or "No score yet",
            format_html('<span class="range">{}</span>', note) if note else "",
        )
    before, _, after = text.partition(".")
    between = numbers.span(low, high)
    secondary_scores = note or (f"({between})" if between else "")
    return format_html(
        '<div class="big-score">{}{}<small>.{}</small></b>{}{}</div>',
        opening,
        before,
        after,
        format_html('<span class="range">{}</span>', secondary_scores) if secondary_scores else "",
        bar(value, low, high),
    )


def difference_cell(value: object, *, arrow: bool = False) -> SafeString:
    """A difference in its colour and with its sign: +6.2, −2.9; 0.0 and "–" quiet. `arrow` puts ▲ or ▼ before it."""
    text = numbers.difference(value)
    way, sign = {"+": ("up", "▲ "), numbers.MINUS: ("down", "▼ ")}.get(text[0], ("same", ""))
    if way == "same":
        return format_html('<span class="muted">{}</span>', text)
    return format_html('<span class="delta {}">{}{}</span>', way, sign if arrow else "", text)


def grade_bar(grades: Iterable[tuple[float, int]], lowest: object, top: object) -> SafeString:
    """How often each grade was given, as one bar of 100 × 8 in the colours of the grades. grades: `(grade, count)`, ascending.

    Its label says the counts; a bar without a grade is an empty rail.
    """
    given = [(grade, count) for grade, count in grades if count]
    total = sum(count for _, count in given)
    parts, start = [mark_safe('<rect class="bar-track" width="100" height="8"/>')], Decimal(0)
    for grade, count in given:
        width = Decimal(100) * count / total
        parts.append(
            format_html(
                '<rect class="{}" x="{}" width="{}" height="8"><title>{}: {}</title></rect>',
                numbers.grade_class(grade, lowest, top),
                _px(start),
                _px(width),
                numbers.grade_text(grade),
                f"{count:,}",
            )
        )
        start += width
    words = ", ".join(f"{numbers.grade_text(grade)}: {count:,}" for grade, count in given)
    return format_html(
        '<svg class="grade-bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>',
        words or "no grade",
        mark_safe("".join(parts)),
    )


def progress(done: int | None, total: int | None, failed: int | None = 0, label: str = "Progress") -> SafeString:
    """A bar for "done of total", with the failed part of what is done at its end in the colour of errors."""
    whole = total or 0
    part = min(whole, done or 0)
    unit = Decimal(100) / whole if whole else Decimal(0)
    wrong = min(part, failed or 0)
    return format_html(
        '<svg class="progress" viewBox="0 0 100 4" preserveAspectRatio="none" role="progressbar" aria-label="{}"'
        ' aria-valuemin="0" aria-valuemax="{}" aria-valuenow="{}" aria-valuetext="{} of {}">'
        '<rect class="done" width="{good}" height="4"/><rect class="failed" x="{good}" width="{bad}" height="4"/></svg>',
        label,
        whole,
        part,
        f"{part:,}",
        f"{whole:,}",
        good=_px((part - wrong) * unit),
        bad=_px(wrong * unit),
    )
