"""Actions on a whole case: share, rename, duplicate, archive, restore, delete."""

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Book, Case, Role
from relevancy.views.forms import errors_to
from relevancy.views.new_case.forms import NameForm
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.views.teams.pages import DESCRIBED_ROLES
from relevancy.views.teams.sharing import ShareForm

from .forms import DeleteForm, DuplicateForm


def _get_case(request: HtmxRequest, case_id: int, needs: Role) -> Case:
    case: Case = get_or_403(Case.objects.select_related("book", "owner"), request.user, case_id, needs=needs)
    return case


@require_http_methods(["GET", "POST"])
def case_share(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The teams a case is shared with and can be shared with; a dialog for htmx, otherwise a page."""
    case = _get_case(request, case_id, Role.OWNER)
    if request.method == "POST":
        # The book is shared with the case, so sharing needs the right to share both.
        hint = "It is shared with the case."
        get_or_403(Book.objects, request.user, case.book_id, needs=Role.OWNER, hint=hint)
    can_share_book = Book.objects.owned_by(request.user).filter(pk=case.book_id).exists()
    data = request.POST if request.method == "POST" else None
    form = ShareForm(case, request.user, data, can_share=can_share_book)
    if form.is_valid():
        share, unshare = (partial(do, case=case) for do in (cases.share, cases.unshare))
        kept = "The ratings of its members are kept."
        return form.save(request, request.path, share=share, unshare=unshare, kept=kept)
    template = "teams/_share.html" if request.htmx and request.method == "GET" else "teams/share.html"
    context = {
        "case": case,
        "form": form,
        "url": request.path,
        "not_shared": f"Only {case.owner} can see this case.",
        "described_roles": DESCRIBED_ROLES,
        "can_share_book": can_share_book,
    }
    return render(request, template, context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def case_rename(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Changes the name of a case; its book keeps its own name."""
    case = _get_case(request, case_id, Role.EDITOR)
    form = NameForm(request.POST or None, initial={"name": case.name})
    if form.is_valid():
        with errors_to(form):
            cases.rename(case=case, name=form.cleaned_data["name"], by=request.user)
            return redirect_with_message(request, reverse("case", args=[case.pk]), f"Case renamed to {case.name}.")
    return render(request, "home/rename.html", {"case": case, "form": form}, status=422 if form.errors else 200)


@require_POST
def case_archive(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Hides a case from the home page, with Undo."""
    case = _get_case(request, case_id, Role.OWNER)
    cases.archive(case=case, by=request.user)
    undo = reverse("case_restore", args=[case.pk])
    return redirect_with_message(request, reverse("home"), f"{case} archived. All its data is kept.", undo=undo)


@require_POST
def case_restore(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows an archived case on the home page again, with Undo."""
    case = _get_case(request, case_id, Role.OWNER)
    cases.restore(case=case, by=request.user)
    undo = reverse("case_archive", args=[case.pk])
    return redirect_with_message(request, reverse("home"), f"{case} restored.", undo=undo)


@require_http_methods(["GET", "POST"])
def case_duplicate(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Copies a case; the form says what is copied and what is not."""
    case = _get_case(request, case_id, Role.EDITOR)
    form = DuplicateForm(request.POST or None, case=case, user=request.user)
    if form.is_valid():
        with errors_to(form):
            copy = cases.duplicate(case=case, by=request.user, **form.cleaned_data)
            text = f"“{copy.case}” created as a copy of “{case}”."
            if copy.left_out:
                text += f" Left out, because you may not use them in another case: {', '.join(copy.left_out)}."
            return redirect_with_message(request, reverse("case", args=[copy.case.pk]), text)
    context = {"case": case, "form": form}
    return render(request, "home/duplicate.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def case_delete(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Says what is lost with a case, and deletes it."""
    case = _get_case(request, case_id, Role.OWNER)
    losses = cases.losses(case=case, by=request.user)
    form = DeleteForm(request.POST if request.method == "POST" else None, losses=losses)
    if form.is_valid():
        with errors_to(form):
            cases.delete(case=case, by=request.user, with_book=form.cleaned_data["with_book"])
            return redirect_with_message(request, reverse("home"), f"“{case}” deleted.")
    context = {"case": case, "form": form, "losses": losses}
    return render(request, "home/delete.html", context, status=422 if form.errors else 200)
