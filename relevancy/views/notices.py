"""Notices: lines across a page that say what needs attention, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class NoticeAction:
    """A button of a notice: a link, or a form that is posted if `post` is true.

    is_next: whether it is the blue button of the page; its form leads to another page.
    """

    label: str
    url: str
    post: bool = False
    is_next: bool = False


@dataclass(frozen=True)
class Notice:
    """One notice, rendered by `_ui/notice.html`.

    kind: short, stable name of what it is about (`data-notice` on the page).
    text: the sentence after the title; HTML only if it is marked as safe.
    title: the first, bold words.
    level: "bad" for errors, else attention is asked for in a neutral way.
    icon: name of an icon.
    poll_url: address that the notice asks every two seconds for the new state of the page; empty if it does not.
    """

    kind: str
    text: str
    title: str = ""
    level: Literal["warn", "bad"] = "warn"
    icon: str = "alert"
    actions: Sequence[NoticeAction] = ()
    poll_url: str = ""
