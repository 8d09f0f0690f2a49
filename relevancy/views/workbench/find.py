"""Documents that an editor looks for: found in the engine, with their rank in the run, to be rated."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest

from .forms import FindForm
from .rankings import get_ranking
from .workbench import open_workbench


def _position_text(document: runs.FoundDocument, search: runs.FoundDocuments, depth: int) -> str:
    """Returns where the query of the run has a document. depth: how many results of the run are shown."""
    position = document.position
    if position.rank is not None:
        return f"rank {position.rank}" + ("" if position.rank <= depth else ", not shown")
    if position.rank_now is not None:
        return f"rank {position.rank_now:,} now"
    if position.matches:
        return f"matches, beyond rank {search.searched_ranks:,}"
    if position.matches is False:
        return "does not match"
    if search.rank_error:
        return "rank not known"
    if search.searched_ranks:
        return f"not among the first {search.searched_ranks:,}"
    return "no rank: the query finds nothing"


@require_GET
def find(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Searches the engine of the run for documents, and lists them. For editors: the engine is asked. Without `text`, only the
    form to enter it."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    engine, abilities = runs.engine_of(ranking.run), runs.abilities(ranking.run)
    form = FindForm(request.GET if "text" in request.GET else None, can_look_up=abilities.lookup)
    form.auto_id = f"find-{case_query.pk}-%s"
    search, rows, error = None, [], ""
    if form.is_bound and form.is_valid():
        try:
            search = runs.find_documents(
                ranking, form.cleaned_data["text"], by=request.user, method=form.cleaned_data["method"]
            )
            depth = ranking.run.config["depth"]
            rows = [(document, _position_text(document, search, depth)) for document in search.documents]
        except runs.SEARCH_ERRORS as reason:
            error = str(reason)
    return workbench.render(
        "workbench/find.html",
        status=422 if form.errors else 200,
        case_query=case_query,
        form=form,
        help=engine.find_help if engine else "",
        rule_text=workbench.case.book.get_rule_display(),
        can_explain=abilities.explain,
        search=search,
        found=rows,
        error=error,
    )
