"""Export and import of scorers as files."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from relevancy import formats, scorers
from relevancy.formats.relevancy import scorer_file
from relevancy.models import Scorer
from relevancy.models.errors import error_fields, error_text
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from .library import get_scorer, menu
from .preview_forms import ScorerFileForm

MAX_BYTES = 1_000_000


@require_GET
def scorer_export(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Downloads the newest version of a scorer."""
    scorer = get_scorer(request, scorer_id)
    text = scorer_file.export_scorer(scorer=scorer, version=scorers.newest_version(scorer))
    name = f"{slugify(scorer.name) or 'scorer'}.scorer.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers=headers)


@require_http_methods(["GET", "POST"])
def scorer_import(request: HtmxRequest) -> HttpResponse:
    """Creates a scorer, owned by the user, from an uploaded file."""
    form = ScorerFileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            scorer = _load_upload(request, form)
        except formats.BadFile as reason:
            form.add_error("file", str(reason))
        except ValidationError as error:
            form.add_error("name" if error_fields(error) == ["name"] else "file", error_text(error))
        else:
            return redirect_with_message(
                request,
                reverse("scorer", args=[scorer.pk]),
                f"Scorer “{scorer.name}” imported.",
                level=messages.SUCCESS,
            )
    context = {"menu": menu(request), "form": form}
    return render(request, "scorers/import.html", context, status=422 if form.errors else 200)


def _load_upload(request: HtmxRequest, form: ScorerFileForm) -> Scorer:
    upload = form.cleaned_data["file"]
    if upload.size > MAX_BYTES:
        raise formats.BadFile(f"The file has {upload.size:,} bytes; the limit is {MAX_BYTES:,}. Import a smaller file.")
    text = formats.decode(upload.read())
    return scorer_file.import_scorer(text=text, by=request.user, name=form.cleaned_data["name"])
