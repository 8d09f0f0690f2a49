"""What the workbench shows, gathered once: the case, the run, its scores, its list of queries, the tune pane."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from relevancy.models import Case

from .bench_queries import QueriesShown
from .tune_pane import tune_pane


def find_case(request: HttpRequest, case_id: int) -> Case:
    """A case the user may see, with `role`; 404 for any other."""
    return get_object_or_404(Case.objects.visible_to(request.user).select_related("book", "owner"), pk=case_id)


class Bench(QueriesShown):
    """One request's view of a case. Everything is read once, when first asked for."""

    def tune(self, number: str = "", typed: Any = None) -> dict[str, Any]:
        """What the tune pane shows; see `tune_pane`."""
        return tune_pane(self.case, self.version, self.user, number, typed)


def editable(request: HttpRequest, case_id: int) -> Bench:
    """The workbench of a case the user may change; 404 for one he does not see, 403 for one he may only look at or rate."""
    bench = Bench(request, find_case(request, case_id))
    if not bench.can_edit:
        raise PermissionDenied("You may not run or change this case. A team owner can make you an editor.")
    return bench
