"""The page that shows how a case is read into pandas, and the same as a notebook."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy.models import Case, Run
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import as_file
from relevancy.views.workbench.access import get_case

from .snippets import Snippet, list_snippets, write_notebook


@require_GET
def case_notebook(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Snippets with the ids of the case and of its newest finished run."""
    case = get_case(request, case_id)
    run = _newest_run(case)
    return render(
        request, "notebooks/notebook.html", {"case": case, "run": run, "snippets": _snippets(request, case, run)}
    )


@require_GET
def case_notebook_file(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The snippets as a notebook."""
    case = get_case(request, case_id)
    text = write_notebook(title=case.name, snippets=_snippets(request, case, _newest_run(case)))
    return as_file(HttpResponse(text, content_type="application/x-ipynb+json"), case.name, ".ipynb")


def _snippets(request: HtmxRequest, case: Case, run: Run | None) -> list[Snippet]:
    site = request.build_absolute_uri(reverse("home")).rstrip("/")
    return list_snippets(site=site, case_id=case.pk, run_id=run.pk if run else None)


def _newest_run(case: Case) -> Run | None:
    run: Run | None = Run.objects.finished().newest_for(case).first()
    return run
