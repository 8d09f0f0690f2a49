"""What a page says about what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.hooks import Link


@dataclass(frozen=True)
class NextSteps:
    """What `_ui/next.html` shows. why: a sentence that goes on after “Next:”; may be empty. steps: the most useful one first."""

    why: str
    steps: Sequence[Link]
