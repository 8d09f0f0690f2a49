"""The small charts drawn by the server: sparkline and score history."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from . import numbers

_TOP, _BOTTOM = Decimal(18), Decimal(78)  # y of 100 and of 0 in the history chart
_LEAST_SPAN = Decimal(20)  # points: a sparkline is at least so high, or noise would look like a change
_LEAST_MOVE = Decimal(1)  # points: less cannot be seen
_CROWDED = 60  # more dots than this touch each other


def _n(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.1')).normalize():f}"


def _spread(index: int, count: int) -> Decimal:
    """Where the point lies between 0 (oldest) and 100 (newest); a single point is the newest."""
    return Decimal(100) if count == 1 else Decimal(100) * index / (count - 1)


def _path(points: Iterable[tuple[Decimal, Decimal]]) -> str:
    return "M" + " L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def sparkline(values: Iterable[object]) -> SafeString:
    """Scores, oldest first, as a line of 108 × 22 over their own range, at least 20 points high.

    Missing values are left out. No values: "no runs"; only missing ones: nothing.
    """
    given = list(values)
    scores = [score for score in map(numbers.known, given) if score is not None]
    if not scores:
        return mark_safe("") if given else mark_safe('<span class="small muted">no runs</span>')
    low, high = min(scores), max(scores)
    if high - low < _LEAST_SPAN:
        middle = (low + high) / 2
        low, high = middle - _LEAST_SPAN / 2, middle + _LEAST_SPAN / 2
    points = [
        (2 + _spread(i, len(scores)) * Decimal("1.04"), 20 - 18 * (score - low) / (high - low))
        for i, score in enumerate(scores)
    ]
    line = format_html('<path d="{}"/>', _path(points)) if len(points) > 1 else ""
    x, y = points[-1]
    return format_html(
        '<svg class="sparkline" viewBox="0 0 108 22" role="img" aria-label="{}">{}<circle cx="{}" cy="{}" r="2.2"/></svg>',
        _in_words(scores),
        line,
        _n(x),
        _n(y),
    )


def _in_words(scores: Sequence[Decimal]) -> str:
    if len(scores) == 1:
        return f"One run, {numbers.score(scores[0])}"
    return f"Last {len(scores)} runs, from {numbers.score(scores[0])} to {numbers.score(scores[-1])}"


def _day(when: object) -> str:
    if isinstance(when, datetime):
        local = timezone.localtime(when) if timezone.is_aware(when) else when
        return date_format(local, "j M")
    if isinstance(when, date):
        return date_format(when, "j M")
    return "" if when is None else str(when)


def _caption(point: Mapping[str, Any]) -> str:
    return " · ".join(part for part in (str(point.get("label", "")), _day(point.get("when"))) if part)


def _hover(point: Mapping[str, Any], score: Decimal) -> str:
    if point.get("title"):
        return str(point["title"])
    between = numbers.span(point.get("low"), point.get("high"))
    text = f"{point.get('label', '')}: {numbers.score(score)}"
    return text + (f" ({between})" if between else "")


def _runs(present: Sequence[bool]) -> list[range]:
    """Stretches of neighbouring points that are all there: a line is not drawn across a gap."""
    stretches: list[range] = []
    start: int | None = None
    for i, is_present in enumerate([*present, False]):
        if is_present and start is None:
            start = i
        elif not is_present and start is not None:
            stretches.append(range(start, i))
            start = None
    return stretches


def _curves(points: Sequence[Mapping[str, Any]], scores: Sequence[Decimal | None]) -> SafeString:
    """Band and line, in a box of 100 × 100 that is stretched to the width of the chart."""
    count = len(points)
    bounds = [(numbers.known(p.get("low")), numbers.known(p.get("high"))) for p in points]
    bands, lines = [], []
    for stretch in _runs([low is not None and high is not None for low, high in bounds]):
        upper = [(_spread(i, count), 100 - _within(bounds[i][1])) for i in stretch]
        lower = [(_spread(i, count), 100 - _within(bounds[i][0])) for i in reversed(stretch)]
        if len(stretch) > 1:
            bands.append(format_html('<path class="band" d="{} Z"/>', _path([*upper, *lower])))
    for stretch in _runs([score is not None for score in scores]):
        if len(stretch) > 1:
            line = _path([(_spread(i, count), 100 - _within(scores[i])) for i in stretch])
            pending = " pending" if any(points[i].get("pending") for i in stretch) else ""
            lines.append(format_html('<path class="line{}" d="{}"/>', pending, line))
    return mark_safe("".join([*bands, *lines]))


def _within(value: Decimal | None) -> Decimal:
    return min(Decimal(100), max(Decimal(0), value or Decimal(0)))


def _height(score: Decimal) -> Decimal:
    """The y of a score."""
    return _BOTTOM - (_BOTTOM - _TOP) * _within(score) / 100


def _dots(points: Sequence[Mapping[str, Any]], scores: Sequence[Decimal | None]) -> SafeString:
    scored = [i for i, score in enumerate(scores) if score is not None]
    filled = next((i for i in scored if points[i].get("is_shown")), max(scored, default=-1))
    drawn = []
    for i, (point, score) in enumerate(zip(points, scores, strict=True)):
        if score is None or (i != filled and len(points) > _CROWDED):
            continue
        x, y = _n(_spread(i, len(points))), _n(_height(score))
        former = numbers.known(point.get("former"))
        if former is not None and abs(former - score) >= _LEAST_MOVE:
            drawn.append(
                format_html(
                    '<svg x="{}%" overflow="visible"><path class="former" d="M0 {} V{} M-3 {} h6"/></svg>',
                    x,
                    y,
                    _n(_height(former)),
                    _n(_height(former)),
                )
            )
        shape = format_html(
            '<circle class="{}{}" cx="{}%" cy="{}" r="{}"><title>{}</title></circle>',
            "now" if i == filled else "dot",
            " pending" if point.get("pending") else "",
            x,
            y,
            "5" if i == filled else "2.25",
            _hover(point, score),
        )
        if point.get("href"):
            shape = format_html('<a href="{}" aria-label="{}">{}</a>', point["href"], _hover(point, score), shape)
        drawn.append(shape)
    return mark_safe("".join(drawn))


def _flags(notes: Sequence[Mapping[str, Any]], count: int) -> SafeString:
    drawn = []
    flags_by_run: dict[int, int] = {}
    for i, note in enumerate(notes):
        at = int(note["at"])
        if not 0 <= at < count:
            continue
        # Several flags of one run are side by side, towards the middle of the chart.
        offset = flags_by_run.get(at, 0) * 15 * (-1 if at == count - 1 else 1)
        flags_by_run[at] = flags_by_run.get(at, 0) + 1
        letter = note.get("letter") or chr(ord("A") + i % 26)
        flag = format_html(
            '<rect class="flag" x="{}" width="14" height="14" rx="2"/><text class="flag-text" x="{}" y="10.5">{}</text>',
            offset - 7,
            offset,
            letter,
        )
        if note.get("href"):
            flag = format_html(
                '<a href="{0}" hx-get="{0}" hx-target="#dialog" hx-swap="innerHTML" aria-label="{1}: {2}">{3}</a>',
                note["href"],
                letter,
                note["text"],
                flag,
            )
        drawn.append(
            format_html(
                '<svg x="{}%" overflow="visible"><title>{}</title><line class="note" y1="15" y2="78"/>{}</svg>',
                _n(_spread(at, count)),
                note["text"],
                flag,
            )
        )
    return mark_safe("".join(drawn))


_GRID = mark_safe(
    '<line class="axis" x2="100%" y1="78" y2="78"/><text class="label" x="-8" y="82" text-anchor="end">0</text>'
    '<line class="grid" x2="100%" y1="48" y2="48"/><text class="label" x="-8" y="52" text-anchor="end">50</text>'
    '<line class="grid" x2="100%" y1="18" y2="18"/><text class="label" x="-8" y="22" text-anchor="end">100</text>'
)


def history_chart(
    points: Sequence[Mapping[str, Any]],
    notes: Sequence[Mapping[str, Any]] = (),
    empty: str = "No scores yet",
    name: str = "Score",
    lines: Iterable[tuple[object, Sequence[object]]] = (),
) -> SafeString:
    """Scores of runs, oldest first, from 0 to 100, 96 px high, as wide as its container.

    A point: label ("run 12"), when (date, datetime or text), score, low, high (0–100 or None), and optionally former (what the
    score was: a tick, with a line to what it is), title (for hover), href, is_shown, which fills its dot; otherwise that of the
    newest score is filled; and pending: whether the score is being computed from newer ratings, which is drawn hollow and dimmed.
    A missing score leaves a gap.
    A note: at (index of its point) and text, and optionally letter and href, of what opens as a dialog.
    name: of what the scores are. lines: names and scores of what they are the mean of, drawn behind them.
    """
    scores = [numbers.known(point.get("score")) for point in points]
    scored = [
        score for score, point in zip(scores, points, strict=True) if score is not None and not point.get("pending")
    ]
    words = f"{name}. {_in_words(scored)}" if scored else empty
    if any(point.get("pending") for point in points):
        words += ". Some scores are being rescored"
    role = "group" if any(part.get("href") for part in (*points, *notes)) else "img"
    opening = format_html('<svg class="chart" height="96" role="{}" aria-label="{}">{}', role, words, _GRID)
    if not any(score is not None for score in scores):
        text = format_html('<text class="label" x="50%" y="67" text-anchor="middle">{}</text></svg>', empty)
        return format_html("{}{}", opening, text)
    first = (
        format_html('<text class="label" y="94">{}</text>', _caption(points[0])) if len(points) > 1 else mark_safe("")
    )
    return format_html(
        '{}<svg y="18" width="100%" height="60" viewBox="0 0 100 100" preserveAspectRatio="none" overflow="visible">'
        '{}{}</svg>{}{}{}<text class="label" x="100%" y="94" text-anchor="end">{}</text></svg>',
        opening,
        _lines(lines),
        _curves(points, scores),
        _flags(notes, len(points)),
        _dots(points, scores),
        first,
        _caption(points[-1]),
    )


def _lines(lines: Iterable[tuple[object, Sequence[object]]]) -> SafeString:
    """Lines behind the others, in the box of `_curves`."""
    drawn = []
    for name, values in lines:
        scores = [numbers.known(value) for value in values]
        for stretch in _runs([score is not None for score in scores]):
            path = _path([(_spread(i, len(scores)), 100 - _within(scores[i])) for i in stretch])
            title = f"{name}: {numbers.score(scores[stretch[-1]])}"
            drawn.append(format_html('<path class="line pending" d="{}"><title>{}</title></path>', path, title))
    return mark_safe("".join(drawn))
