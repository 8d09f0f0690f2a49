"""Documents that an editor looks for: found in the engine, with their rank in the run, to be rated."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Role
from relevancy.slow_requests import Busy
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .forms import FindForm
from .rankings import get_ranking
from .workbench import Workbench


@dataclass(frozen=True)
class FoundRow:
    """A document that was found, and where the query of the run has it. rank: in the run; None if it is not there."""

    document: runs.FoundDocument
    rank: int | None
    text: str
    title: str = ""

    @classmethod
    def of(cls, document: runs.FoundDocument, search: runs.FoundDocuments, depth: int) -> "FoundRow":
        """Returns the row of a document. depth: how many results of the run are shown."""
        position = document.position
        if position.rank is not None:
            is_shown = position.rank <= depth
            return cls(document, position.rank, f"rank {position.rank}" + ("" if is_shown else ", not shown"))
        if position.rank_now is not None:
            title = "The run did not return it. This is its rank in the index as it is now."
            return cls(document, None, f"rank {position.rank_now:,} now", title)
        if position.matches:
            return cls(document, None, f"matches, beyond rank {search.searched_ranks:,}")
        if position.matches is False:
            return cls(document, None, "does not match")
        return cls(document, None, _unknown_rank(search))


def _unknown_rank(search: runs.FoundDocuments) -> str:
    if search.rank_error:
        return "rank not known"
    return (
        f"not among the first {search.searched_ranks:,}"
        if search.searched_ranks
        else "no rank: the query finds nothing"
    )


@require_GET
def find(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Searches the engine of the run for documents, and lists them. For editors: the engine is asked. Without `text`, only the
    form to enter it."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    form = FindForm(request.GET if "text" in request.GET else None, can_look_up=runs.can_look_up(ranking))
    form.auto_id = f"find-{case_query.pk}-%s"
    context: dict[str, object] = {
        **workbench.base_context(),
        "case_query": case_query,
        "form": form,
        "help": runs.find_help(ranking) if runs.can_find(ranking) else "",
        "rule_text": workbench.case.book.get_rule_display(),
        "can_explain": runs.can_explain(ranking),
    }
    if form.is_bound and form.is_valid():
        try:
            search = runs.find_documents(
                ranking, form.cleaned_data["text"], by=request.user, method=form.cleaned_data["method"]
            )
        except (runs.RunNotAllowed, EngineError, Busy) as reason:
            context["error"] = str(reason)
        else:
            depth = ranking.run.config["depth"]
            rows = [FoundRow.of(document, search, depth) for document in search.documents]
            context |= {"search": search, "rows": rows}
    return render(request, "workbench/find.html", context, status=422 if form.errors else 200)
