"""What a comparison says of tags, in words: which kinds of queries gain, and which lose."""

from __future__ import annotations

from collections.abc import Sequence

from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.wording import counted, listed

from .tag_figures import TagDifference

MAX_NAMED = 3  # tags of a sentence, in each direction


def describe_tags(tags: Sequence[TagDifference]) -> str:
    """Returns which tags lose and which ones gain, largest difference first, and for how many that is not known; empty without tags."""
    if not tags:
        return ""
    tested = [figures for figures in tags if figures.p_holm is not None]
    untested = len(tags) - len(tested)
    if not tested:
        return f"No tag has enough queries for a test: {listed([f'“{figures.tag}”' for figures in tags], MAX_NAMED)}."
    shown = sorted((figures for figures in tested if figures.is_shown), key=lambda figures: -abs(figures.difference))
    parts = [
        listed([_describe(figures, verb) for figures in found], MAX_NAMED)
        for verb, found in (
            ("lose", [figures for figures in shown if figures.difference < 0]),
            ("gain", [figures for figures in shown if figures.difference > 0]),
        )
        if found
    ]
    rest = len(tested) - len(shown)
    sentence = f"Queries tagged {', and '.join(parts)}" if shown else ""
    if rest:
        if shown:
            sentence += f"; the other {'tag shows' if rest == 1 else f'{rest} tags show'} no clear difference"
        else:
            sentence = f"The {'only tag shows' if rest == 1 else f'{rest} tags show'} no clear difference"
    if untested:
        sentence += f". {counted(untested, 'tag has', 'tags have')} too few queries for a test"
    return f"{sentence}."


def _describe(figures: TagDifference, verb: str) -> str:
    interval = figures.interval
    span = f" ({format_signed(interval.low, 1)} to {format_signed(interval.high, 1)})" if interval else ""
    return f"“{figures.tag}” {verb} {format_rounded(abs(figures.difference), 1)} points{span}"


def describe_correction(tags: Sequence[TagDifference], runs: int = 1) -> str:
    """Returns what the p of tags is corrected for. Tags with too few queries have no p, and do not count.

    tags: of all runs that are compared with the baseline; runs: how many these are.
    """
    tested = {figures.tag for figures in tags if figures.p is not None}
    if not tested:
        return "No tag has enough queries for a p below .05"
    among = counted(len(tested), "tag") + (f" in {runs} runs" if runs > 1 else "")
    return f"p is corrected for {among} by Holm's method"
