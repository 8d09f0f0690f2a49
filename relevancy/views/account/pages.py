"""Pages of the signed-in user: the account, and deleting it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from relevancy import accounts
from relevancy.models import Role, User
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest

from .forms import AccountForm, DeleteAccountForm, form_status


@require_http_methods(["GET", "POST"])
def account(request: HtmxRequest) -> HttpResponse:
    """The user's name, default scorer, theme, keyboard setting and teams."""
    form = AccountForm(request.POST or None, instance=get_object_or_404(User, pk=request.user.pk))
    if form.is_valid():
        form.save()
        messages.success(request, "Account saved.")
        response = redirect("account")
        if "theme" in form.changed_data:
            response.delete_cookie("theme")  # what was chosen last counts in this browser too
        return response
    memberships = request.user.memberships.select_related("team").order_by("team__name")
    teams = [(member.team, Role(member.role).label) for member in memberships]
    context = {"form": form, "teams": teams, "has_passwords": settings.PASSWORD_SIGN_IN}
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def account_delete(request: HtmxRequest) -> HttpResponse:
    """Deletes the user's account after a page that says what goes and what stays."""
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, request=request)
    if form.is_valid():
        with errors_to(form):
            accounts.deletion.delete(user=request.user)
            logout(request)
            messages.success(request, "Your account is deleted.")
            return redirect("login")
    context = {
        "form": form,
        "contents": accounts.deletion.contents(request.user),
        "reason": accounts.deletion.why_not(request.user),
    }
    return render(request, "account/delete.html", context, status=form_status(form))
