"""The parts of the page of all attempts, put together for one request."""

from dataclasses import dataclass
from functools import cached_property

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from relevancy import runs, scores
from relevancy.models import Attempt, Case, ScorerVersion, User
from relevancy.views.workbench.access import CaseAccess

PAGE_SIZE = 30
MAX_INDENT = 8  # steps: deeper branches stand below each other


@dataclass(frozen=True)
class AttemptRow:
    """An attempt of the list.

    indent: how deep it is in the tree, from 0. changes: in its parent. children: numbers of the attempts made from it.
    """

    scored: scores.ScoredAttempt
    indent: int
    changes: runs.AttemptChanges
    children: list[int]

    @property
    def attempt(self) -> Attempt:
        return self.scored.attempt

    @property
    def scored_run(self) -> int | None:
        """The number of the run that the score is of."""
        return self.scored.case_score.run.number if self.scored.case_score else None


class AttemptList:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`."""

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.access = CaseAccess(case, user)
        self.version = ScorerVersion.objects.used_by(case)[0]
        self._page = parameters.get("page", "1")

    @cached_property
    def _tree(self) -> list[tuple[int, int, int | None]]:
        """Id, number and parent of each attempt, in the order of a tree: each one is followed by those made from it, newest first."""
        rows: list[tuple[int, int, int | None]] = list(
            self.case.attempts.order_by("-number").values_list("pk", "number", "parent_id")
        )
        present = {pk for pk, *_ in rows}
        by_parent: dict[int | None, list[tuple[int, int, int | None]]] = {}
        for row in rows:
            by_parent.setdefault(row[2] if row[2] in present else None, []).append(row)
        ordered: list[tuple[int, int, int | None]] = []
        waiting = by_parent.get(None, [])[::-1]
        while waiting:
            row = waiting.pop()
            ordered.append(row)
            waiting += by_parent.get(row[0], [])[::-1]
        return ordered

    @cached_property
    def page(self) -> Page[tuple[int, int, int | None]]:
        return Paginator(self._tree, PAGE_SIZE).get_page(self._page)

    @cached_property
    def rows(self) -> list[AttemptRow]:
        depths: dict[int, int] = {}
        children: dict[int, list[int]] = {}
        for pk, number, parent_id in self._tree:
            depths[pk] = depths[parent_id] + 1 if parent_id in depths else 0
            if parent_id is not None:
                children.setdefault(parent_id, []).append(number)
        numbers = [number for _, number, _ in self.page]
        scored_attempts = scores.attempts_with_scores(self.case, self.version, numbers=numbers) if numbers else []
        by_id = {scored.attempt.pk: scored for scored in scored_attempts}
        return [
            AttemptRow(
                by_id[pk],
                min(depths[pk], MAX_INDENT),
                runs.find_changes(by_id[pk].attempt),
                sorted(children.get(pk, [])),
            )
            for pk, *_ in self.page
            if pk in by_id
        ]

    @property
    def can_compare(self) -> bool:
        """Whether there are two attempts."""
        return len(self._tree) > 1
