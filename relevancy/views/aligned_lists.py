"""Two result lists of a query side by side: what moved, came in and went out, with lines from rank to rank."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy import runs

ROW_HEIGHT = 32  # of a result, in pixels; the links between the lists are drawn by it


@dataclass(frozen=True)
class SideResult:
    """A result in one of the lists. move: "same", "up", "down", "new" or "gone"; ranks: by how many."""

    result: runs.Result
    move: str
    ranks: int


@dataclass(frozen=True)
class AlignedSide:
    """One of the lists. name: of what returned it. error: why the search failed or found nothing; empty if there are results."""

    name: str
    results: Sequence[SideResult]
    error: str = ""


@dataclass(frozen=True)
class AlignedLists:
    """Both lists. links: lines from ranks in the first list to ranks in the second, as the data of a `path`, and the move that each
    stands for, as in `SideResult`. links_height: of the drawing between the lists."""

    before: AlignedSide
    after: AlignedSide
    links: Sequence[tuple[str, str]]
    links_height: int

    @property
    def movement_text(self) -> str:
        """Returns how many documents came in, left and moved."""
        moves = [result.move for result in self.after.results]
        gone = sum(result.move == "gone" for result in self.before.results)
        return f"{moves.count('new')} in, {gone} out, {moves.count('up') + moves.count('down')} moved"


def align(
    names: tuple[str, str],
    before: Sequence[runs.Result],
    after: Sequence[runs.Result],
    errors: tuple[str, str] = ("", ""),
) -> AlignedLists:
    """Returns two result lists side by side."""
    ranks_before, ranks_after = best_ranks(before), best_ranks(after)
    listed_before = [_side_result(result, ranks_after, is_after=False) for result in before]
    listed_after = [_side_result(result, ranks_before, is_after=True) for result in after]
    return AlignedLists(
        AlignedSide(names[0], listed_before, errors[0]),
        AlignedSide(names[1], listed_after, errors[1]),
        _links(listed_after, ranks_before),
        ROW_HEIGHT * max(1, len(before), len(after)),
    )


def best_ranks(results: Sequence[runs.Result]) -> dict[str, int]:
    """Returns the best rank of each document."""
    return {result.doc_id: result.rank for result in reversed(results)}


def _side_result(result: runs.Result, other: dict[str, int], *, is_after: bool) -> SideResult:
    """`other`: ranks in the other list, which is the earlier one if `is_after`."""
    rank = other.get(result.doc_id)
    if rank is None:
        return SideResult(result, "new" if is_after else "gone", 0)
    gained = rank - result.rank if is_after else 0
    return SideResult(result, "up" if gained > 0 else "down" if gained < 0 else "same", abs(gained))


def _links(after: Sequence[SideResult], ranks_before: dict[str, int]) -> list[tuple[str, str]]:
    links = []
    for listed in after:
        if listed.result.repeat:
            continue
        # From the middle of one row to that of another.
        end = ROW_HEIGHT * (listed.result.rank - 0.5)
        rank_before = ranks_before.get(listed.result.doc_id)
        if rank_before is None:
            links.append((f"M44 {end} H70", "new"))
        else:
            start = ROW_HEIGHT * (rank_before - 0.5)
            links.append((f"M2 {start} C36 {start} 36 {end} 70 {end}", listed.move))
    return links
