"""What the rating buttons and grade pills show, worked out before a template draws them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from . import numbers

MOST_BUTTONS = 11  # a longer scale is a number field
_NARROW_FROM = 8  # so many buttons only fit when they are narrow


def grade_pill(grade: object, lowest: object, top: object, label: str = "") -> SafeString:
    """A grade for reading: on its colour, or an outlined "·" if there is none."""
    kind = numbers.grade_class(grade, lowest, top)
    title = label or ("Unrated" if kind == "unrated" else "")
    return format_html(
        '<span class="grade {}"{}>{}</span>',
        kind,
        format_html(' title="{}"', title) if title else "",
        numbers.grade_text(grade),
    )


def rating(
    scale: Iterable[tuple[Any, str]],
    mine: object,
    grade: object,
    url: str,
    doc_id: str,
    *,
    title: str = "",
    label_id: str = "",
    can: bool = True,
    target: str = "",
    scale_key: str = "",
    csrf_token: object = "",
) -> dict[str, Any]:
    """The variables of `_ui/rate.html`.

    `scale` is (value, label) in rising order. `mine` is the chosen one; `grade`, the combined one, is shown beside it
    where it says something else. A chosen button sends an empty value: pressed again, it takes the rating back.
    `title` names the document, or the element with the id `label_id` does. `scale_key`, of the book, is sent with a grade.
    """
    steps = [(numbers.known(value), label) for value, label in scale]
    values = [value for value, _ in steps if value is not None]
    lowest, top = (min(values), max(values)) if values else (None, None)
    chosen, combined = numbers.known(mine), numbers.known(grade)
    labels = dict(steps)
    gaps = {numbers.grade_text(higher - lower) for lower, higher in pairwise(values)}
    buttons = [
        {
            "value": numbers.grade_text(value),
            "label": label,
            "kind": numbers.grade_class(value, lowest, top),
            "chosen": chosen is not None and value == chosen,
        }
        for value, label in steps
    ]
    return {
        "buttons": buttons if len(buttons) <= MOST_BUTTONS else [],
        "narrow": len(buttons) >= _NARROW_FROM,
        "rated": chosen is not None,
        "mine": "" if chosen is None else numbers.grade_text(chosen),
        "lowest": lowest,
        "top": top,
        "least": numbers.grade_text(lowest),
        "most": numbers.grade_text(top),
        "step": gaps.pop() if len(gaps) == 1 else "any",
        "grade": combined,
        "grade_label": labels.get(combined, ""),
        "differs": combined is not None and combined != chosen,
        "url": url,
        "doc_id": doc_id,
        "name": title or doc_id,
        "label_id": label_id,
        "can": can,
        "target": target,
        "scale_key": scale_key,
        "csrf_token": csrf_token,
    }
