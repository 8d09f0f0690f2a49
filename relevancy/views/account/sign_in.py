"""Signing in: the page for the password, and what comes between the password and the session."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from relevancy import accounts
from relevancy.formats.documents.sample import PASSWORD, PEOPLE
from relevancy.models import User
from relevancy.views.judge.work import start_url

from .forms import SignInForm, form_status
from .sign_up import SIGN_IN_AS

BACKEND = "relevancy.accounts.LimitedBackend"


def sign_in(request: HttpRequest, user: User, next_url: str) -> HttpResponse:
    """Returns the response to a right password, or to that of a provider: a session, or a page that asks for more.

    Raises `ValidationError` if this site cannot ask for what the account needs.
    """
    if proof := accounts.required_proof(user):
        return proof.ask(request, user, next_url)
    return finish_sign_in(request, user, next_url)


def finish_sign_in(request: HttpRequest, user: User, next_url: str) -> HttpResponse:
    """Signs a user in who has shown everything that the account needs."""
    login(request, user, backend=BACKEND)
    accounts.sessions.describe(request)
    response = redirect(start_url(user, next_url))
    accounts.remember_browser(request, response, user.email)
    return response


class SignIn(LoginView):
    """The sign-in page; in a demo it also lists the sample accounts and their password. Without passwords, only what apps add."""

    authentication_form = SignInForm

    def get_initial(self) -> dict[str, Any]:
        return {"username": self.request.session.get(SIGN_IN_AS, "")}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        emails = [email for email, *_ in PEOPLE] if settings.DEMO and settings.PASSWORD_SIGN_IN else []
        context["has_passwords"] = settings.PASSWORD_SIGN_IN
        context["demo_people"] = list(User.objects.filter(email__in=emails, is_active=True)) if emails else []
        context["demo_password"] = PASSWORD
        context["can_sign_up"] = settings.OPEN_SIGN_UP and settings.PASSWORD_SIGN_IN
        context = super().get_context_data(**context)
        context["has_asked_for_account"] = bool(self.request.session.pop(SIGN_IN_AS, ""))  # the form has read it
        return context

    def post(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.PASSWORD_SIGN_IN:
            raise PermissionDenied(f"Passwords are switched off on this site. Sign in with {settings.OIDC_NAME}.")
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        try:
            return sign_in(self.request, form.get_user(), self.get_success_url())
        except ValidationError as error:
            form.add_error(None, error)
            return self.form_invalid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if form_status(form) == 429:
            response.status_code = 429
        return response
