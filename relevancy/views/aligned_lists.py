"""Two result lists of a query side by side: what moved, came in and went out, with lines from rank to rank."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from relevancy import runs

ROW_HEIGHT = 32  # of a result, in pixels; the links between the lists are drawn by it

type AlignedLists = dict[str, Any]
"""What `_ui/aligned_lists.html` draws: `before` and `after`, each with the `name` of what returned it, its `results` and the `error` if
there are none; `links`, lines from rank to rank as the data of a `path` with the move that each stands for; `links_height`, the height
of their drawing; and `movement_text`."""


def align(
    names: tuple[str, str],
    before: Sequence[runs.Result],
    after: Sequence[runs.Result],
    errors: tuple[str, str] = ("", ""),
) -> AlignedLists:
    """Returns two result lists side by side.

    The `move` of a result is "same", "up", "down", "new" or "gone", by so many `ranks`.
    """
    ranks_before, ranks_after = best_ranks(before), best_ranks(after)
    listed_before: list[dict[str, Any]] = [
        {"result": result, "move": "same" if result.doc_id in ranks_after else "gone", "ranks": 0} for result in before
    ]
    listed_after: list[dict[str, Any]] = []
    links = []
    for result in after:
        end, former = ROW_HEIGHT * (result.rank - 0.5), ranks_before.get(result.doc_id)
        if former is None:
            move, ranks, path = "new", 0, f"M44 {end} H70"
        else:
            start, gained = ROW_HEIGHT * (former - 0.5), former - result.rank
            move, ranks = "up" if gained > 0 else "down" if gained < 0 else "same", abs(gained)
            path = f"M2 {start} C36 {start} 36 {end} 70 {end}"
        listed_after.append({"result": result, "move": move, "ranks": ranks})
        if not result.repeat:
            links.append((path, move))
    moves = Counter(listed["move"] for listed in (*listed_before, *listed_after))
    return {
        "before": {"name": names[0], "results": listed_before, "error": errors[0]},
        "after": {"name": names[1], "results": listed_after, "error": errors[1]},
        "links": links,
        "links_height": ROW_HEIGHT * max(1, len(before), len(after)),
        "movement_text": f"{moves['new']} in, {moves['gone']} out, {moves['up'] + moves['down']} moved",
    }


def best_ranks(results: Sequence[runs.Result]) -> dict[str, int]:
    """Returns the best rank of each document."""
    return {result.doc_id: result.rank for result in reversed(results)}
