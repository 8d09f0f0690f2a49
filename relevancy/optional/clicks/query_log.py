"""Queries from a search log: a sample with weights, previewed and added."""

import random
from functools import partial

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import tasks
from relevancy.formats.errors import BadFile
from relevancy.models import Case
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.views.workbench.access import get_case_with_editable_book
from relevancy.wording import counted

from . import query_samples
from .forms import MAX_SEED, QueryLogForm
from .query_samples import LogSample
from .search_log import LeftOut
from .weights import add_weighted

MAX_LISTED = 200  # drawn queries


@require_http_methods(["GET", "POST"])
def query_log(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Draws queries of a log that is uploaded, shows them (`do=preview`), and adds them with their weights (`do=import`)."""
    case = get_case_with_editable_book(request, case_id)
    if request.method == "GET":
        return _render(
            request, case, QueryLogForm(request.user, initial={"seed": random.SystemRandom().randrange(MAX_SEED + 1)})
        )
    action = submitted(request, ImportAction)
    form = QueryLogForm(request.user, request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, case, form, status=422)
    data = form.cleaned_data
    try:
        with form.read(with_events=False) as log:
            sample = query_samples.sample_log(
                case=case, log=log, method=data["method"], size=data["size"], seed=data["seed"]
            )
        if action == ImportAction.IMPORT:
            added = add_weighted(case=case, weights=sample.weights, only_these=data["only_these"], by=request.user)
            transaction.on_commit(partial(tasks.enqueue_book_rescore, case.book_id))
            text = (
                f"{counted(added.added, 'query', 'queries')} added and {counted(added.reweighted, 'weight')} changed, "
                f"with the seed {data['seed']}."
            )
            return redirect_with_message(request, reverse("case", args=[case.pk]), text)
    except BadFile as error:
        form.add_error("endpoint" if data.get("endpoint") else "file", str(error))
    except ValidationError as error:
        add_errors(form, error)
    if form.errors:
        return _render(request, case, form, status=422)
    return _render(request, case, form, sample, log.left_out)


def _render(
    request: HtmxRequest,
    case: Case,
    form: QueryLogForm,
    sample: LogSample | None = None,
    left_out: LeftOut | None = None,
    status: int = 200,
) -> HttpResponse:
    """Renders the page; for a file sent by htmx the preview alone."""
    context: dict[str, object] = {"case": case, "form": form, "sample": sample, "left_out": left_out}
    if sample is not None:
        data = form.cleaned_data
        context |= {
            "listed": sample.drawn[:MAX_LISTED],
            "mean": query_samples.describe_mean(sample=sample, method=data["method"], only_these=data["only_these"]),
        }
    name = "_query_log_preview" if request.htmx and request.method == "POST" else "query_log"
    return render(request, f"clicks/{name}.html", context, status=status)
