"""Ratings given on the workbench. The answer brings what they changed: the result, the query's row, the case's score."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from relevancy import evaluation, judging, tasks
from relevancy.models import CaseQuery

from .answers import go, refused, toast
from .bench import Bench, find_case


@require_POST
def rate(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Rate one document, or take the rating back where `value` is empty."""
    bench, entry = _rateable(request, case_id, entry_id)
    value = request.POST.get("value", "").strip()
    try:
        doc_id = judging.check_document(request.POST.get("doc_id", ""))
        if value:
            judging.rate(query=entry.query, doc_id=doc_id, value=_number(value), by=request.user, run=bench.run)
        else:
            judging.take_back(query=entry.query, doc_ids=[doc_id], by=request.user, run=bench.run)
    except judging.CannotRate as reason:
        return refused(request, bench.open_url(entry), reason)
    _tell_others(bench)
    return _changed(bench, entry_id, doc_id)


@require_POST
def rate_shown(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Give every result shown that is not rated by the user the same grade; with `all`, the rated ones too."""
    bench, entry = _rateable(request, case_id, entry_id)
    shown = {result.doc_id: result.mine for result in bench.inside(bench.entry(entry_id))["results"]}
    wanted = [doc_id for doc_id, mine in shown.items() if mine is None or request.POST.get("all")]
    try:
        value = _number(request.POST.get("value", ""))
        judging.rate_many(query=entry.query, values=dict.fromkeys(wanted, value), by=request.user, run=bench.run)
    except judging.CannotRate as reason:
        return refused(request, bench.open_url(entry), reason)
    _tell_others(bench)
    response = _changed(bench, entry_id)
    text = f"{len(wanted)} document{pluralize(len(wanted))} rated {value:g}"
    return toast(response, text) if request.htmx else response  # type: ignore[attr-defined]


def _rateable(request: HttpRequest, case_id: int, entry_id: int) -> tuple[Bench, CaseQuery]:
    """Who may rate what: no more is read than that, for the answer reads the rest when it has changed."""
    bench = Bench(request, find_case(request, case_id))
    if not bench.can_rate:
        raise PermissionDenied("You may look at this case, but not rate. A team owner can make you a rater.")
    entry = get_object_or_404(bench.case.case_queries.present().select_related("query"), pk=entry_id)
    entry.query.book = bench.case.book
    return bench, entry


def _tell_others(bench: Bench) -> None:
    """Every other newest run on the book is scored anew; this case's own too, where an older run was rated."""
    tasks.ratings_changed(bench.case.book, seen=None if bench.older else bench.case)


def _rated(bench: Bench, entry: CaseQuery, doc_id: str) -> dict[str, Any]:
    """What is said by now of a document that is not shown."""
    mine = entry.query.ratings.filter(rater_id=bench.user.pk, doc_id=doc_id).first()
    grade = evaluation.known_grades(bench.case.book, [entry.query_id])[entry.query_id].get(doc_id)
    return {"doc_id": doc_id, "mine": mine.value if mine else None, "grade": grade}


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise judging.CannotRate(f"{text!r} is no number. Choose one of the scale's grades.") from None


def _changed(rated: Bench, entry_id: int, doc_id: str = "") -> HttpResponse:
    """What a rating changed, read anew: for one document where it stood, else the whole query."""
    request = rated.request
    bench = Bench(request, rated.case)
    bench.run, bench.newest = rated.run, rated.newest  # of all that the page shows, a rating changes neither
    entry = bench.entry(entry_id)
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.open_url(entry))
    row: dict[str, Any] = bench.row(entry, opened=True)
    if request.GET.get("missing"):
        context = {"bench": bench, "row": row, "document": _rated(bench, entry, doc_id)}
        return render(request, "query/_missing_rated.html", context)
    rank = request.GET.get("rank", "")
    results = [result for result in row["inside"]["results"] if result.doc_id == doc_id]
    results.sort(key=lambda result: str(result.rank) != rank)
    if results and str(results[0].rank) == rank:
        return render(request, "query/_rated.html", {"bench": bench, "row": row, "results": results})
    # The ranking is another one by now, so the place that was pressed may hold another document.
    response = render(request, "query/_query.html", {"bench": bench, "row": row, "with_head": True})
    return reswap(retarget(response, f"#query-{entry_id}"), "outerHTML")
