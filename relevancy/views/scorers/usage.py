"""Changes to the cases that use a scorer: rescoring with its newest version, and replacing it."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import scorers, tasks
from relevancy.models import Case, Scorer
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from .actions import scorer_url
from .library import editable_cases, get_scorer, menu
from .pages import uses_of
from .preview_forms import ReplaceForm


def _selected_cases(request: HtmxRequest) -> list[Case]:
    """Returns the cases selected in the form that the user can edit."""
    selected = [pk for word in request.POST.getlist("case") if (pk := parse_number(word))]
    return list(editable_cases(request).filter(pk__in=selected))


def _rescore(changed: list[Case]) -> str:
    """Starts the rescoring of the cases. Returns their number as the beginning of a sentence."""
    for case in changed:
        tasks.enqueue_book_rescore(case.book_id)
    return counted(len(changed), "case is", "cases are")


@require_POST
def scorer_adopt(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Rescores the selected cases, or all that the user can edit, with the newest version, in the background."""
    scorer = get_scorer(request, scorer_id)
    selected = _selected_cases(request) if "case" in request.POST else list(editable_cases(request))
    changed = scorers.adopt(scorer=scorer, cases=selected, by=request.user)
    if not changed:
        return conflict(
            request, scorer_url(scorer), "None of the cases you can edit uses an older version of this scorer."
        )
    return redirect_with_message(
        request, scorer_url(scorer), f"{_rescore(changed)} being rescored with the newest version."
    )


@require_http_methods(["GET", "POST"])
def scorer_replace(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Replaces a scorer in the selected cases; cases the user cannot edit keep it."""
    scorer = get_scorer(request, scorer_id)
    form = ReplaceForm(Scorer.objects.offered(request.user).exclude(pk=scorer.pk), request.POST or None)
    if form.is_valid():
        replacement = form.cleaned_data["replacement"]
        with errors_to(form):
            selected = _selected_cases(request)
            if not selected:
                raise ValidationError("No case is selected. Select at least one case in which to replace the scorer.")
            changed = scorers.replace(scorer=scorer, replacement=replacement, cases=selected, by=request.user)
            text = (
                f"{_rescore(changed)} now scored with {replacement.name}. Scores computed with {scorer.name} are kept."
            )
            return redirect_with_message(request, scorer_url(scorer), text)
    context = {"menu": menu(request, scorer), "scorer": scorer, "form": form, **uses_of(request, scorer)}
    return render(request, "scorers/replace.html", context, status=422 if form.errors else 200)
