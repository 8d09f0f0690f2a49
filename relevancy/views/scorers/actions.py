"""Actions on a scorer: duplicate, share, retire, restore, delete, make default, make global; and the site settings."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import scorers
from relevancy.models import Policy, Role, Scorer
from relevancy.views.forms import errors_to
from relevancy.views.permissions import require_admin
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.views.teams.sharing import ShareForm

from .library import get_scorer, menu
from .preview_forms import PolicyForm


def scorer_url(scorer: Scorer) -> str:
    """Returns the URL of a scorer's page."""
    return reverse("scorer", args=[scorer.pk])


@require_POST
def scorer_duplicate(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Creates a copy that belongs to the user, and opens it for editing."""
    scorer = get_scorer(request, scorer_id)
    try:
        copy = scorers.clone(scorer=scorer, by=request.user)
    except ValidationError as error:
        return conflict(request, scorer_url(scorer), error)
    return redirect_with_message(
        request,
        reverse("scorer_edit", args=[copy.pk]),
        f"Scorer duplicated as “{copy.name}”. Only you can see and edit it.",
    )


@require_http_methods(["GET", "POST"])
def scorer_share(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """The teams a scorer is shared with and can be shared with."""
    scorer = get_scorer(request, scorer_id, Role.OWNER)
    form = ShareForm(scorer, request.user, request.POST or None)
    if form.is_valid():
        with errors_to(form):
            share, unshare = (partial(do, scorer=scorer) for do in (scorers.share, scorers.unshare))
            kept = "Cases that use it keep it."
            return form.save(request, request.path, share=share, unshare=unshare, kept=kept)
    context = {
        "menu": menu(request, scorer),
        "scorer": scorer,
        "form": form,
        "url": request.path,
        "not_shared": f"Not shared. Only {scorer.owner} can use it." if scorer.owner else "Available to all users.",
    }
    return render(request, "scorers/share.html", context, status=422 if form.errors else 200)


@require_POST
def scorer_retire(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    scorer = get_scorer(request, scorer_id, Role.OWNER)
    undo = reverse("scorer_restore", args=[scorer.pk])
    text = f"{scorer.name} retired. It can no longer be added to cases; cases that use it keep it until you replace it."
    return _perform(request, scorer, lambda: scorers.retire(scorer=scorer), text, undo=undo)


@require_POST
def scorer_restore(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    scorer = get_scorer(request, scorer_id, Role.OWNER)
    return _perform(request, scorer, lambda: scorers.restore(scorer=scorer), f"{scorer.name} restored.")


@require_POST
def scorer_default(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    require_admin(request.user)
    scorer = get_scorer(request, scorer_id)
    text = f"{scorer.name} is now the default scorer of new cases. Existing cases keep their scorers."
    return _perform(request, scorer, lambda: scorers.set_default(scorer=scorer, by=request.user), text)


@require_POST
def scorer_make_global(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    require_admin(request.user)
    scorer = get_scorer(request, scorer_id)
    text = f"{scorer.name} is now available to all users. Only admins can edit it."
    return _perform(request, scorer, lambda: scorers.make_global(scorer=scorer, by=request.user), text)


def _perform(
    request: HtmxRequest, scorer: Scorer, action: Callable[[], None], text: str, undo: str = ""
) -> HttpResponse:
    try:
        action()
    except ValidationError as error:
        return conflict(request, scorer_url(scorer), error)
    return redirect_with_message(request, scorer_url(scorer), text, undo=undo)


@require_http_methods(["GET", "POST"])
def scorer_delete(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Deletes a scorer after a confirmation, because deletion cannot be undone."""
    scorer = get_scorer(request, scorer_id, Role.OWNER)
    if request.method == "GET":
        case_count = scorer.case_scorers.count()
        return render(
            request, "scorers/delete.html", {"menu": menu(request, scorer), "scorer": scorer, "case_count": case_count}
        )
    try:
        scorers.delete(scorer=scorer)
    except ValidationError as error:
        return conflict(request, scorer_url(scorer), error)
    return redirect_with_message(request, reverse("scorers"), f"{scorer.name} deleted.")


@require_http_methods(["GET", "POST"])
def scorer_policy(request: HtmxRequest) -> HttpResponse:
    """The site settings: whether users can write scripts, and the scorer that new cases start with."""
    require_admin(request.user)
    initial = {"default": scorers.default_scorer().pk}
    form = PolicyForm(request.POST or None, instance=Policy.objects.current(), initial=initial)
    if form.is_valid():
        with errors_to(form):
            scorers.set_default(scorer=form.cleaned_data["default"], by=request.user)
            scorers.set_user_scripts_allowed(allowed=form.cleaned_data["allow_user_scripts"], by=request.user)
            return redirect_with_message(
                request, reverse("scorer_policy"), "Site settings saved.", level=messages.SUCCESS
            )
    context = {"menu": menu(request), "form": form}
    return render(request, "scorers/policy.html", context, status=422 if form.errors else 200)
