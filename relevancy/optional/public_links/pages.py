"""Public links to a case: created and withdrawn by its owners, and the pages that they lead to.

Those pages are for reading: no account, no form, and nothing is computed or stored for them.
"""

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from relevancy.models import Case, Role
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from . import public_links
from .models import PublicLink
from .public_case import PublicCase

NOT_VALID = "This link is not complete, has expired or was withdrawn. Ask who sent it for a new one."
REMOVED = "This query is no longer part of the case."


class PublicLinkForm(forms.Form):
    """How long a public link is valid."""

    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[("1", "a day"), ("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "a year")],
        coerce=int,
        initial="30",
    )


def sharing_context(case: Case, form: PublicLinkForm) -> dict[str, object]:
    """Returns what `public_links/_sharing.html` shows."""
    links = PublicLink.objects.valid().filter(case=case).select_related("created_by")
    return {"case": case, "public_links": links, "link_form": form}


def _render(request: HtmxRequest, template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    response = render(request, template, context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"  # the address is the key: no other site may learn it
    return response


def _refuse(request: HtmxRequest, text: str) -> HttpResponse:
    return _render(request, "public_links/not_valid.html", {"text": text}, status=404)


@login_not_required
@never_cache
@require_safe
def public_case(request: HtmxRequest, link_token: str) -> HttpResponse:
    """The score of a case, its history and its queries."""
    link = public_links.find(link_token)
    if link is None:
        return _refuse(request, NOT_VALID)
    public = PublicCase(link)
    context = {"public": public, "page": public.page(request.GET.get("page")), "link_token": link_token}
    return _render(request, "public_links/case.html", context)


@login_not_required
@never_cache
@require_safe
def public_query(request: HtmxRequest, link_token: str, case_query_id: int) -> HttpResponse:
    """The results of a query."""
    link = public_links.find(link_token)
    if link is None:
        return _refuse(request, NOT_VALID)
    public = PublicCase(link)
    case_query = public.case_query(case_query_id)
    if case_query is None:
        return _refuse(request, REMOVED)
    context = {
        "public": public,
        "case_query": case_query,
        "results": public.results(case_query),
        "lowest": public.case.book.grades[0],
        "top": public.case.book.grades[-1],
        "link_token": link_token,
    }
    return _render(request, "public_links/query.html", context)


@never_cache
@require_POST
def case_link_new(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Creates a public link. The response shows it, once: it is not stored."""
    case: Case = get_or_403(Case.objects, request.user, case_id, needs=Role.OWNER)
    form, url = PublicLinkForm(request.POST), ""
    if form.is_valid():
        with errors_to(form):
            _, token = public_links.create(case=case, by=request.user, days=form.cleaned_data["days"])
            url = request.build_absolute_uri(reverse("public_case", args=[token]))
    context = {"new_link": url, **sharing_context(case, PublicLinkForm() if url else form)}
    return render(request, "public_links/new.html", context, status=200 if url else 422)


@require_POST
def case_link_withdraw(request: HtmxRequest, case_id: int, public_link_id: int) -> HttpResponse:
    """Makes a public link invalid at once."""
    case: Case = get_or_403(Case.objects, request.user, case_id, needs=Role.OWNER)
    link = get_object_or_404(PublicLink.objects.filter(case=case), pk=public_link_id)
    public_links.withdraw(link=link, by=request.user)
    text = "Public link withdrawn. It shows nothing any more."
    return redirect_with_message(request, reverse("case_share", args=[case.pk]), text)
