"""Pages of the signed-in user: sign-in and account."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from relevancy import accounts
from relevancy.formats.documents.sample import PASSWORD, PEOPLE
from relevancy.models import Role, User
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest

from .forms import AccountForm, DeleteAccountForm, SignInForm, form_status
from .second_factor import ask_for_code, finish_sign_in


class SignIn(LoginView):
    """The sign-in page; in a demo it also lists the sample accounts and their password. Without passwords, the provider alone."""

    authentication_form = SignInForm

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        emails = [email for email, *_ in PEOPLE] if settings.DEMO and settings.PASSWORD_SIGN_IN else []
        context["has_passwords"] = settings.PASSWORD_SIGN_IN
        context["demo_people"] = list(User.objects.filter(email__in=emails, is_active=True)) if emails else []
        context["demo_password"] = PASSWORD
        context["can_sign_up"] = settings.OPEN_SIGN_UP and settings.PASSWORD_SIGN_IN
        context["provider"] = settings.OIDC_NAME if accounts.openid_connect.is_configured() else ""
        return super().get_context_data(**context)

    def post(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.PASSWORD_SIGN_IN:
            raise PermissionDenied(f"Passwords are switched off on this site. Sign in with {settings.OIDC_NAME}.")
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        if accounts.second_factor.is_on(user):
            return ask_for_code(self.request, user, self.get_success_url())
        return finish_sign_in(self.request, user, self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if form_status(form) == 429:
            response.status_code = 429
        return response


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
    has_provider = accounts.openid_connect.is_configured()
    context = {
        "form": form,
        "teams": teams,
        "has_provider": has_provider,
        "has_passwords": settings.PASSWORD_SIGN_IN,
    }
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def account_delete(request: HtmxRequest) -> HttpResponse:
    """Deletes the user's account after a page that says what goes and what stays."""
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, request=request)
    if form.is_valid():
        try:
            accounts.deletion.delete(user=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            logout(request)
            messages.success(request, "Your account is deleted.")
            return redirect("login")
    context = {
        "form": form,
        "contents": accounts.deletion.contents(request.user),
        "reason": accounts.deletion.why_not(request.user),
    }
    return render(request, "account/delete.html", context, status=form_status(form))
