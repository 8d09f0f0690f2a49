"""Queries on the workbench: opened, added, edited, removed, searched again."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from relevancy import cases, evaluation
from relevancy.models import CaseQuery

from .answers import as_json, go, refused, said, toast
from .bench import Bench, editable, find_case
from .query_forms import QueryForm
from .rights import editable_book

NAMED = 5


@require_GET
def show(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """One query, open; by `closed=1` closed. Without htmx the whole page with it so."""
    bench = Bench(request, find_case(request, case_id))
    entry = bench.entry(entry_id)
    opened = request.GET.get("closed") != "1"
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.open_url(entry) if opened else f"{bench.url()}#query-{entry.pk}")
    row = bench.row(entry, opened=opened)
    return render(request, "query/_query.html", {"bench": bench, "row": row})


@require_GET
def document(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """One result with all its fields and everybody's ratings."""
    bench = Bench(request, find_case(request, case_id))
    doc_id = request.GET.get("doc_id", "")
    results = bench.inside(bench.entry(entry_id))["results"]
    result = next((found for found in results if found.doc_id == doc_id), None)
    fields = [(name, _readable(value)) for name, value in sorted(result.fields.items())] if result else []
    return render(
        request, "query/document.html", {"bench": bench, "result": result, "fields": fields, "doc_id": doc_id}
    )


def _readable(value: Any) -> str:
    """A field for people: texts as they are, plain lists with commas, anything nested as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join(map(str, value))
    return as_json(value)


@require_GET
def as_sent(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """What the run sent for a query."""
    bench = Bench(request, find_case(request, case_id))
    entry, error, sent = bench.entry(entry_id), "", ""
    ranking = bench.run.rankings.filter(query=entry.query_id).first() if bench.run else None
    if ranking is not None:
        try:
            sent = as_json(evaluation.as_sent(ranking))
        except evaluation.EngineError as reason:
            error = str(reason)
    return render(request, "query/as_sent.html", {"bench": bench, "entry": entry, "sent": sent, "error": error})


@require_POST
def add(request: HttpRequest, case_id: int) -> HttpResponse:
    """Queries, one a line. What could not be taken is named, with its line."""
    bench = editable_book(request, case_id)
    pasted, in_a_dialog = request.POST.get("queries", ""), bench.query_count > 0
    try:
        added = cases.queries.add(case=bench.case, texts=pasted.split("\n"))
    except cases.Refused as reason:
        return refused(request, bench.url(), reason)
    _rescore(bench)
    if added.refused or not added.new:
        context = {
            "bench": bench,
            "pasted": _left(pasted, added),
            "shown": added.refused[:20],
            "summary": _summary(added),
        }
        response = render(request, "query/add.html", context, status=422)
        # Without queries the form stands in the list itself: a new list would take what is to be mended away.
        return trigger_client_event(response, "run-progress", {}) if added.new and in_a_dialog else response
    return said(request, bench.url(), _summary(added))


def _summary(added: cases.queries.Added) -> str:
    """What became of pasted queries, in a sentence."""
    text = f"{len(added.new):,} queries added" if len(added.new) != 1 else f"“{added.new[0].query}” added"
    if added.again:
        more = "…" if len(added.again) > NAMED else ""
        text += f"; {len(added.again):,} there already: {', '.join(added.again[:NAMED])}{more}"
    if added.refused:
        text += f"; {len(added.refused):,} not taken, see above"
    return text


def _left(pasted: str, added: cases.queries.Added) -> str:
    """The refused lines, to be mended in place; the others are in the case."""
    lines = pasted.split("\n")
    return "\n".join(lines[number - 1].strip("\r") for number, _ in added.refused)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Text, information need, notes, tags, options and weight of a query."""
    bench = editable_book(request, case_id)
    entry = bench.entry(entry_id)
    entry.query.book = bench.case.book
    form = QueryForm(request.POST or None, initial=QueryForm.initial_of(entry))
    if request.method == "POST" and form.is_valid():
        try:
            cases.queries.edit(entry=entry, **form.values())
        except cases.Refused as reason:
            form.add_error(reason.field if reason.field in form.fields else None, str(reason))
        else:
            _rescore(bench)
            return go(request, bench.open_url(entry))
    status = 422 if request.method == "POST" else 200
    return render(request, "query/edit.html", {"bench": bench, "entry": entry, "form": form}, status=status)


@require_POST
def remove(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Out of the case, with Undo."""
    bench = editable(request, case_id)
    entry = bench.entry(entry_id)
    cases.queries.remove(entry=entry)
    _rescore(bench)
    undo = reverse("query_restore", args=[case_id, entry_id])
    text = f"“{entry.query}” removed from this case; its ratings stay in the book"
    if not request.htmx:  # type: ignore[attr-defined]
        return said(request, bench.url(), text, undo=undo)
    fresh = Bench(request, find_case(request, case_id))
    return toast(render(request, "query/_removed.html", {"bench": fresh}), text, undo=undo)


@require_POST
def restore(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Undo of `remove`."""
    bench = editable(request, case_id)
    entry = get_object_or_404(CaseQuery.objects.filter(case=bench.case), pk=entry_id)
    cases.queries.bring_back(entry=entry)
    _rescore(bench)
    return go(request, bench.url())


def _rescore(bench: Bench) -> None:
    if bench.run and bench.run.done and not bench.run.under_way and not bench.run.pinned_at:
        evaluation.score_case(bench.run, bench.versions)


@require_POST
def search_again(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Ask one query again, now."""
    bench = editable(request, case_id)
    entry: Any = bench.entry(entry_id)
    if bench.run is None:
        return refused(request, bench.url(), "Nothing has been run yet. Run the attempt first.")
    try:
        evaluation.search_again(run=bench.run, entry=entry)
    except (evaluation.CannotRun, evaluation.EngineError) as reason:
        return refused(request, bench.open_url(entry), f"“{entry.query}” was not searched: {reason}")
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.open_url(entry))
    fresh = Bench(request, find_case(request, case_id))
    row = fresh.row(fresh.entry(entry_id), opened=True)
    return render(request, "query/_query.html", {"bench": fresh, "row": row, "with_head": True})
