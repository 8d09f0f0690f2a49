"""What is known about a query: tags, information need, notes. They belong to the book and change in every case on it."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import cases
from relevancy.models import CaseQuery

from .answers import go, refused
from .bench import Bench, find_case
from .rights import editable_book


class NotesForm(forms.Form):
    """Both texts; whether they can be kept is decided by `cases.queries.describe`."""

    information_need = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
        help_text="What somebody who types this wants, so that raters agree.",
    )
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 5}))


@require_GET
def about(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Tags, information need and notes as they are."""
    bench = Bench(request, find_case(request, case_id))
    return _shown(request, bench, bench.entry(entry_id))


@require_http_methods(["GET", "POST"])
def notes(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Edit information need and notes."""
    bench = editable_book(request, case_id)
    entry = bench.entry(entry_id)
    said = {"information_need": entry.query.information_need, "notes": entry.query.notes}
    form = NotesForm(request.POST or None, initial=said)
    if request.method == "POST" and form.is_valid():
        try:
            cases.queries.describe(query=entry.query, **form.cleaned_data)
        except cases.Refused as reason:
            form.add_error(reason.field, str(reason))
        else:
            return _shown(request, bench, entry)
    status = 422 if request.method == "POST" else 200
    return render(request, "query/notes.html", {"bench": bench, "entry": entry, "form": form}, status=status)


@require_POST
def tag(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Give the query the tags in `add`, take off the one in `remove`."""
    bench = editable_book(request, case_id)
    entry = bench.entry(entry_id)
    entry.query.book = bench.case.book
    gone = request.POST.get("remove", "").casefold()
    kept = [name for name in entry.query.tags if name.casefold() != gone]
    try:
        cases.tags.set_tags(query=entry.query, tags=[*kept, request.POST.get("add", "")])
    except cases.Refused as reason:
        return refused(request, bench.open_url(entry), reason)
    return _shown(request, bench, entry)


def _shown(request: HttpRequest, bench: Bench, entry: CaseQuery) -> HttpResponse:
    """The part of an opened query that says it, with the query's row, whose tags may have changed."""
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.open_url(entry))
    row: dict[str, Any] = {**bench.row(entry), "opened": True}
    return render(request, "query/about.html", {"bench": bench, "entry": entry, "row": row})


@require_GET
def segments(request: HttpRequest, case_id: int) -> HttpResponse:
    """How well the case does on the queries of each tag."""
    bench = Bench(request, find_case(request, case_id))
    run = bench.run if bench.run and not bench.run.under_way else None
    found = cases.tags.segments(case=bench.case, run=run, version=bench.version)
    return render(request, "case/segments.html", {"bench": bench, "segments": found})
