"""Scorers as small files, out and in."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from relevancy import cases, transfer

from .answers import said
from .forms import ScorerFileForm, refuse
from .scorers_access import menu, newest, seen

LARGEST = 1_000_000  # bytes


@require_GET
def scorer_export(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Its newest version."""
    scorer = seen(request, scorer_id)
    text = transfer.scorer_file.export(scorer=scorer, version=newest(scorer))
    name = f"{slugify(scorer.name) or 'scorer'}.scorer.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers=headers)


@require_http_methods(["GET", "POST"])
def scorer_import(request: HttpRequest) -> HttpResponse:
    """One file, one scorer of one's own."""
    form = ScorerFileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            scorer = _taken_over(request, form)
        except transfer.BadFile as reason:
            form.add_error("file", str(reason))
        except cases.Refused as reason:
            refuse(form, cases.Refused(str(reason), field="name" if reason.field == "name" else "file"))
        else:
            return said(
                request, reverse("scorer", args=[scorer.pk]), f"{scorer.name} is yours.", level=messages.SUCCESS
            )
    context = {"menu": menu(request), "form": form}
    return render(request, "scorer/import.html", context, status=422 if form.errors else 200)


def _taken_over(request: HttpRequest, form: ScorerFileForm) -> Any:
    upload = form.cleaned_data["file"]
    if upload.size > LARGEST:
        raise transfer.BadFile(f"The file has {upload.size:,} bytes; {LARGEST:,} are possible.")
    text = transfer.decode(upload.read())
    return transfer.scorer_file.load(text=text, by=request.user, name=form.cleaned_data["name"])
