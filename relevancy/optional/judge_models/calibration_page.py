"""How far a judge model agrees with people, and the case score that people would give."""

import random
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy.models import Book, Case, Role, Run, ScorerVersion, User
from relevancy.models.errors import error_text
from relevancy.optional.agreement.statistics import Coefficient
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from . import calibration
from .access import get_book, get_judge, page_context
from .forms import CalibrationForm, SampleForm

AUTOMATIC_QUERIES = 1_000  # of a book: with more, the comparison takes seconds and is made when it is asked for
SHOWN_QUERIES = 20
FIGURES_HINT = (
    "Intervals are a bootstrap over queries. Alpha is not shown below 30 documents with two ratings, nor if all grades are "
    "the same."
)


@require_GET
def judge_model_calibration(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """The sample; with the parameter `by`, the comparison on it."""
    book = get_book(request, book_id)
    judge = get_judge(request, book, judge_id)
    sample = calibration.newest_sample(book)
    targets = _targets(book, request.user)
    choices = [(key, f"{run.case} · run {run.number} · {version}") for key, (run, version) in targets.items()]
    by = request.GET.get("by", choices[0][0] if choices and book.queries.count() <= AUTOMATIC_QUERIES else None)
    form = CalibrationForm(choices, None if by is None else {"by": by})
    context: dict[str, object] = {
        **page_context(request, book, judge),
        "sample": sample,
        "form": form,
    }
    if sample is not None:
        context["queries"] = book.queries.filter(pk__in=sample.query_ids).order_by("text")
        if form.is_valid():
            run, version = targets[form.cleaned_data["by"]]
            result = calibration.calibrate(judge=judge, sample=sample, run=run, version=version)
            context |= {
                "result": result,
                "reliability": result.describe_reliability(judge.name),
                "figures": _figures(result),
                "figures_hint": FIGURES_HINT,
                "summary": result.summarize(),
                **_query_context(result, run.case),
            }
    if book.is_editable:
        context["sample_form"] = SampleForm()
    return render(
        request, "judge_models/calibration.html", context, status=422 if form.is_bound and form.errors else 200
    )


@require_POST
def sample_draw(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Draws queries at random, which people rate completely: for all judge models of the book."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    url = reverse("judge_model_calibration", args=[book.pk, get_judge(request, book, judge_id).pk])
    form = SampleForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    seed = random.SystemRandom().randrange(2**31)
    try:
        sample = calibration.draw_sample(book=book, size=form.cleaned_data["size"], by=request.user, seed=seed)
    except ValidationError as error:
        return conflict(request, url, error_text(error))
    text = (
        f"{counted(len(sample.query_ids), 'query was', 'queries were')} drawn. People have to rate all their results."
    )
    return redirect_with_message(request, url, text)


def _query_context(result: calibration.Calibration, case: Case) -> dict[str, object]:
    """Returns the sampled queries with text and address, the largest difference first, and those that are not judged completely."""
    texts = case.case_queries.present().values_list("query_id", "pk", "query__text")
    linked = {query_id: (text, f"{reverse('case', args=[case.pk])}?open={pk}") for query_id, pk, text in texts}
    scored = sorted(
        result.scored, key=lambda row: -1.0 if row.difference is None else abs(row.difference), reverse=True
    )
    return {
        "scored": [(*linked[row.query_id], row) for row in scored],
        "open_by_people": [linked[pk] for pk in result.open_by_people],
        "open_by_judge": [linked[pk] for pk in result.open_by_judge[:SHOWN_QUERIES]],
    }


def _targets(book: Book, user: User) -> dict[str, tuple[Run, ScorerVersion]]:
    """Returns the newest complete run and the scorer by the value of their choice, of the cases that the user can see. Scripts would
    have to score all queries four times while the page is opened: the command does that."""
    targets = {}
    for case in Case.objects.visible_to(user).live().filter(book=book).select_related("book"):
        run = case.runs.filter(status=Run.Status.COMPLETE).order_by("-number").first()
        if run is None:
            continue
        for version in ScorerVersion.objects.used_by(case).filter(script=""):
            targets[f"{case.pk}-{version.pk}"] = (run, version)
    return targets


def _figures(result: calibration.Calibration) -> Sequence[tuple[str, Coefficient, str]]:
    """Returns figures with their names and meanings."""
    agreement = result.agreement
    commonest = f"{100 * (agreement.commonest or 0):.0f} %"
    return [
        (
            "Krippendorff’s alpha, ordinal",
            agreement.alpha["ordinal"],
            "1: the judge model always agrees with people; 0: no more than by chance. Close grades count as near misses.",
        ),
        (
            "Same grade",
            agreement.agreement,
            f"The share of documents with the same grade. Always giving the commonest grade would agree with {commonest}.",
        ),
    ]
