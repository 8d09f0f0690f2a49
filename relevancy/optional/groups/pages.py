"""Pages of groups of cases: their mean and its history, and what the newest runs changed."""

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy.hooks import Hook, Link
from relevancy.models import Case, Role
from relevancy.statistics import Verdict
from relevancy.templatetags import numbers
from relevancy.views.forms import errors_to, form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message

from . import groups
from .forms import AddCaseForm, GroupForm, NewGroupForm
from .models import CaseGroup
from .tasks import enqueue_group_figures

links: Hook[[CaseGroup], Iterable[Link]] = Hook()
"""What other apps add beside the mean of a group."""
VERDICTS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.EQUAL: "practically equal",
    Verdict.SAME: "scored the same",
    Verdict.UNRATED: "too little is rated",
    Verdict.UNDECIDED: "not shown",
    Verdict.TOO_FEW: "too few queries",
}


def get_group(request: HtmxRequest, group_id: int, needs: Role = Role.VIEWER) -> CaseGroup:
    """Returns a group on which the user has a role. Raises `Http404`, `PermissionDenied`."""
    return get_or_403(CaseGroup.objects.select_related("owner"), request.user, group_id, needs=needs)


def _group_url(group: CaseGroup) -> str:
    return reverse("group", args=[group.pk])


@require_GET
def group_list(request: HtmxRequest) -> HttpResponse:
    """The groups that the user can see."""
    visible = list(CaseGroup.objects.visible_to(request.user).select_related("owner"))
    means = groups.means_of(visible, request.user)
    return render(request, "groups/list.html", {"groups": [(group, means[group.pk]) for group in visible]})


@require_http_methods(["GET", "POST"])
def group_new(request: HtmxRequest) -> HttpResponse:
    """Creates a group of chosen cases, owned by the user."""
    form = NewGroupForm(request.user, request.POST or None)
    if form.is_valid():
        with errors_to(form):
            created = groups.create(by=request.user, **form.cleaned_data)
            return redirect_with_message(request, _group_url(created), f"Group “{created}” created.")
    return render(request, "groups/form.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def group(request: HtmxRequest, group_id: int) -> HttpResponse:
    """A group; for htmx the comparison of its newest runs, which is polled until a worker has computed all figures."""
    group = get_group(request, group_id)
    view = groups.read_group(group=group, by=request.user)
    compared = groups.compare_group(group=group, view=view)
    enqueue_group_figures(compared)
    context: dict[str, object] = {
        "group": group,
        "view": view,
        "compared": compared,
        "rows": [_compared_row(compared_case) for compared_case in compared.cases],
        "waiting": "…" if compared.is_pending else "–",
        "can_edit": group.is_editable,
        "can_delete": group.is_owned,
        "links": [link for added in links(group) for link in added],
    }
    if request.htmx:
        return render(request, "groups/_comparison.html", context)
    points = groups.history_of(view.rows, group)
    context["points"] = points
    context["chart_points"] = [
        {
            "label": str(point.run),
            "when": point.at,
            "score": point.score,
            "title": f"{point.run}: {numbers.score(point.score)}",
        }
        for point in points
    ]
    scores_by_case = zip(*(point.by_case for point in points), strict=True)
    context["chart_lines"] = list(zip([row.case for row in view.rows], scores_by_case, strict=False))
    if group.is_editable:
        others = Case.objects.visible_to(request.user).live().exclude(groups=group).order_by("name", "pk")
        context["add_form"] = AddCaseForm(others)
        context["has_others"] = others.exists()
    return render(request, "groups/group.html", context)


def _compared_row(compared_case: groups.ComparedCase) -> dict[str, object]:
    """Returns what the table of the comparison says about a case."""
    figures = compared_case.figures or compared_case.pair
    return {
        "compared": compared_case,
        "figures": figures,
        "verdict": VERDICTS[compared_case.figures.verdict] if compared_case.figures else "",
    }


@require_http_methods(["GET", "POST"])
def group_edit(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Changes the name of a group and its mean, and for owners its teams."""
    group = get_group(request, group_id, Role.EDITOR)
    form = GroupForm(request.user, request.POST or None, instance=group)
    if form.is_valid():
        teams = form.cleaned_data.pop("teams", None)
        groups.change(group=group, **form.cleaned_data)
        if teams is not None:
            groups.set_teams(group=group, teams=teams, by=request.user)
        return redirect_with_message(request, _group_url(group), "The group is saved.")
    return render(request, "groups/form.html", {"form": form, "group": group}, status=422 if form.errors else 200)


@require_POST
def group_case_add(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Adds the case in `case`, of the form or, to undo its removal, of the address."""
    group = get_group(request, group_id, Role.EDITOR)
    form = AddCaseForm(
        Case.objects.visible_to(request.user).live(), request.POST if "case" in request.POST else request.GET
    )
    if not form.is_valid():
        return conflict(request, _group_url(group), form_error(form))
    try:
        groups.add_case(group=group, case=form.cleaned_data["case"])
    except ValidationError as error:
        return conflict(request, _group_url(group), error)
    return redirect_with_message(request, _group_url(group), f"“{form.cleaned_data['case']}” added to the group.")


@require_POST
def group_case_remove(request: HtmxRequest, group_id: int, case_id: int) -> HttpResponse:
    """Removes a case from a group; adding it again undoes that."""
    group = get_group(request, group_id, Role.EDITOR)
    case: Case = get_or_403(Case.objects, request.user, case_id, needs=Role.VIEWER)
    groups.remove_case(group=group, case_id=case.pk)
    undo = reverse("group_case_add", args=[group.pk], query={"case": case.pk})
    return redirect_with_message(request, _group_url(group), f"“{case}” removed from the group.", undo=undo)


@require_http_methods(["GET", "POST"])
def group_delete(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Asks, then deletes a group. Its cases stay."""
    group = get_group(request, group_id, Role.OWNER)
    if request.method == "POST":
        groups.delete(group=group, by=request.user)
        return redirect_with_message(request, reverse("groups"), f"Group “{group}” deleted. Its cases are kept.")
    return render(request, "groups/delete.html", {"group": group})
