"""Which run of a case a page looks at, what the user may do there, and the page's addresses."""

from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from relevancy import evaluation
from relevancy.models import Book, Role, Run

from .listing import Listing, number


class RunShown:
    """One request's view of a case: rights, run, addresses. Everything is read once, when first asked for."""

    def __init__(self, request: HttpRequest, case: Any) -> None:
        self.request = request
        self.case = case
        self.user = request.user
        self.listing = Listing.read(request.GET)

    @cached_property
    def can_rate(self) -> bool:
        return bool(self.case.role >= Role.RATER)

    @cached_property
    def can_edit(self) -> bool:
        return bool(self.case.role >= Role.EDITOR)

    @cached_property
    def can_edit_book(self) -> bool:
        return self.can_edit and Book.objects.editable_by(self.user).filter(pk=self.case.book_id).exists()

    @cached_property
    def run(self) -> Run | None:
        """The run shown: the newest, or the one whose number the address says."""
        run = evaluation.run_to_show(self.case, self.asked_run) or self.newest
        if run is not None:
            run.case = self.case
        return run

    @cached_property
    def asked_run(self) -> int:
        """The number of an older run, 0 for the newest."""
        return self.listing.run or number(self.request.POST.get("run", ""))

    @cached_property
    def newest(self) -> Run | None:
        return evaluation.newest_run(self.case)

    @cached_property
    def older(self) -> bool:
        """Whether the run shown is not the newest one: it can be looked at and rated, not searched."""
        return bool(self.run and self.newest and self.run.pk != self.newest.pk)

    @cached_property
    def unsearched(self) -> dict[str, int]:
        if self.run is None or self.run.under_way or self.older:
            return {"new": 0, "edited": 0}
        return evaluation.unsearched(self.run)

    @cached_property
    def unsearched_total(self) -> int:
        return sum(self.unsearched.values())

    # --- addresses ---

    @cached_property
    def case_url(self) -> str:
        return reverse("case", args=[self.case.pk])

    def url(self, **said: Any) -> str:
        """The workbench's address, as it is looked at now."""
        query = self.listing.address(**said)
        return self.case_url + (f"?{query}" if query else "")
