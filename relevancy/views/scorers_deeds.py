"""What may be done with a whole scorer: duplicate, share, retire, restore, delete, make it the default or communal; the policy."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Policy, Scorer, Team

from .answers import refused, said
from .forms import PolicyForm, ShareForm, refuse
from .scorers_access import admin_only, menu, owned, seen


def here(scorer: Scorer) -> str:
    """The address of its page."""
    return reverse("scorer", args=[scorer.pk])


@require_POST
def scorer_duplicate(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """A copy of one's own, to change."""
    scorer = seen(request, scorer_id)
    try:
        copy = cases.scorers.clone(scorer=scorer, by=request.user)
    except cases.Refused as reason:
        return refused(request, here(scorer), reason)
    return said(request, reverse("scorer_edit", args=[copy.pk]), f"{copy.name} is yours: change what you like.")


@require_http_methods(["GET", "POST"])
def scorer_share(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Teams it is shared with and could be."""
    scorer = owned(request, scorer_id)
    mine = Team.objects.shareable_by(request.user).order_by("name")
    form = ShareForm(mine, request.POST or None)
    if form.is_valid():
        try:
            return _shared(request, scorer, form.cleaned_data["team"])
        except cases.Refused as reason:
            refuse(form, reason)
    shared = list(scorer.teams.order_by("name"))
    context = {
        "menu": menu(request, scorer),
        "scorer": scorer,
        "shared": [(team, team in mine) for team in shared],
        "others": [team for team in mine if team not in shared],
        "form": form,
    }
    return render(request, "scorer/share.html", context, status=422 if form.errors else 200)


def _shared(request: HttpRequest, scorer: Scorer, team: Team) -> HttpResponse:
    back = reverse("scorer_share", args=[scorer.pk])
    if request.POST.get("do") == "unshare":
        cases.scorers.unshare(scorer=scorer, team=team)
        return said(request, back, f"{team} is not offered {scorer.name} any more. Cases that use it keep it.")
    cases.scorers.share(scorer=scorer, team=team)
    return said(request, back, f"{scorer.name} is shared with {team}.")


@require_POST
def scorer_retire(request: HttpRequest, scorer_id: int) -> HttpResponse:
    scorer = owned(request, scorer_id)
    undo = reverse("scorer_restore", args=[scorer.pk])
    text = f"{scorer.name} is retired: nobody is offered it. Cases that use it keep it, until you replace it there."
    return _done(request, scorer, lambda: cases.scorers.retire(scorer=scorer), text, undo=undo)


@require_POST
def scorer_restore(request: HttpRequest, scorer_id: int) -> HttpResponse:
    scorer = owned(request, scorer_id)
    return _done(request, scorer, lambda: cases.scorers.restore(scorer=scorer), f"{scorer.name} is on offer again.")


@require_POST
def scorer_default(request: HttpRequest, scorer_id: int) -> HttpResponse:
    admin_only(request)
    scorer = seen(request, scorer_id)
    text = f"New cases start with {scorer.name} now. Those there are keep theirs."
    return _done(request, scorer, lambda: cases.scorers.set_default(scorer=scorer, by=request.user), text)


@require_POST
def scorer_communal(request: HttpRequest, scorer_id: int) -> HttpResponse:
    admin_only(request)
    scorer = seen(request, scorer_id)
    text = f"{scorer.name} is for everybody now, and kept by the admins."
    return _done(request, scorer, lambda: cases.scorers.make_communal(scorer=scorer, by=request.user), text)


def _done(request: HttpRequest, scorer: Scorer, deed: Callable[[], None], text: str, undo: str = "") -> HttpResponse:
    try:
        deed()
    except cases.Refused as reason:
        return refused(request, here(scorer), reason)
    return said(request, here(scorer), text, undo=undo)


@require_http_methods(["GET", "POST"])
def scorer_delete(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Asked before, for there is no way back."""
    scorer = owned(request, scorer_id)
    if request.method == "GET":
        used = scorer.case_scorers.count()
        return render(request, "scorer/delete.html", {"menu": menu(request, scorer), "scorer": scorer, "used": used})
    try:
        cases.scorers.delete(scorer=scorer)
    except cases.Refused as reason:
        return refused(request, here(scorer), reason)
    return said(request, reverse("scorers"), f"{scorer.name} is deleted.")


@require_http_methods(["GET", "POST"])
def scorer_policy(request: HttpRequest) -> HttpResponse:
    """What holds for the whole site: users' own scripts, and what new cases start with."""
    admin_only(request)
    initial = {"own_scripts": Policy.objects.current().own_scripts, "default": cases.default_scorer().pk}
    form = PolicyForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            cases.scorers.set_default(scorer=form.cleaned_data["default"], by=request.user)
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            cases.scorers.allow_own_scripts(allowed=form.cleaned_data["own_scripts"], by=request.user)
            return said(request, reverse("scorer_policy"), "The policy is saved.", level=messages.SUCCESS)
    context = {"menu": menu(request), "form": form}
    return render(request, "scorer/policy.html", context, status=422 if form.errors else 200)
