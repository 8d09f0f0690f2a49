"""What may be done with a whole case: share, rename, archive, restore."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Book, Case, Role, Team

from .answers import said
from .forms import NameForm, ShareForm, refuse
from .teams import MAY

NEEDS = {Role.EDITOR: "Only its editors and its owner may do this.", Role.OWNER: "Only its owner may do this."}


def case_for(request: HttpRequest, case_id: int, role: Role) -> Case:
    """404 for a case that the user does not see, 403 where his role is too low."""
    case: Case = get_object_or_404(Case.objects.visible_to(request.user).select_related("book", "owner"), pk=case_id)
    if case.role < role:  # type: ignore[attr-defined]
        raise PermissionDenied(f"You may look at {case}. {NEEDS[role]}")
    return case


@require_http_methods(["GET", "POST"])
def case_share(request: HttpRequest, case_id: int) -> HttpResponse:
    """Teams the case is shared with and could be; a dialog for htmx, else a page."""
    case = case_for(request, case_id, Role.EDITOR)
    mine = Team.objects.shareable_by(request.user).order_by("name")
    # The book goes with the case, so nobody shares a case on a book that is not his to change.
    may_share_book = Book.objects.editable_by(request.user).filter(pk=case.book_id).exists()
    form = ShareForm(mine, request.POST or None)
    if request.method == "POST" and not may_share_book:
        raise PermissionDenied(f"Sharing {case} would share the book {case.book}, which you may not change.")
    if form.is_valid():
        return _shared(request, case, form.cleaned_data["team"])
    shared = list(case.teams.order_by("name"))
    context = {
        "case": case,
        "shared": [(team, team in mine) for team in shared],
        "others": [team for team in mine if team not in shared],
        "may": [(role.label, words) for role, words in MAY.items()],
        "may_share_book": may_share_book,
        "form": form,
    }
    page = "team/_share.html" if request.htmx and request.method == "GET" else "team/share.html"  # type: ignore[attr-defined]
    return render(request, page, context, status=422 if form.errors else 200)


def _shared(request: HttpRequest, case: Case, team: Team) -> HttpResponse:
    here = reverse("case_share", args=[case.pk])
    if request.POST.get("do") == "unshare":
        cases.unshare(case=case, team=team)
        return said(request, here, f"{team} no longer sees {case}. Ratings its members gave stay.")
    cases.share(case=case, team=team)
    return said(request, here, f"{case} is shared with {team}.")


@require_http_methods(["GET", "POST"])
def case_rename(request: HttpRequest, case_id: int) -> HttpResponse:
    case = case_for(request, case_id, Role.EDITOR)
    form = NameForm(request.POST or None, initial={"name": case.name})
    if form.is_valid():
        try:
            cases.rename(case=case, name=form.cleaned_data["name"])
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            return said(request, reverse("case", args=[case.pk]), f"The case is called {case.name} now.")
    context = {"case": case, "form": form}
    return render(request, "home/rename.html", context, status=422 if form.errors else 200)


def _moved(request: HttpRequest, case_id: int, deed: Callable[..., None], words: str, back: str) -> HttpResponse:
    case = case_for(request, case_id, Role.OWNER)
    deed(case=case)
    return said(request, reverse("home"), f"{case} {words}", undo=reverse(back, args=[case.pk]))


@require_POST
def case_archive(request: HttpRequest, case_id: int) -> HttpResponse:
    return _moved(request, case_id, cases.archive, "is archived; nothing of it is lost.", "case_restore")


@require_POST
def case_restore(request: HttpRequest, case_id: int) -> HttpResponse:
    return _moved(request, case_id, cases.restore, "is back.", "case_archive")
