"""Passwords: changed, asked for by e-mail, chosen with a link."""

from typing import Any

from django.conf import settings
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from relevancy import accounts, logs, tasks
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest

from .forms import LinkPasswordForm, PasswordForm, PasswordRequestForm, form_status


class PasswordsRequired:
    """Makes a page a 404 where users sign in with the provider only."""

    def setup(self, request: Any, *args: Any, **kwargs: Any) -> None:  # `dispatch` says whether a page is for everyone
        check_passwords()
        super().setup(request, *args, **kwargs)  # type: ignore[misc]


def check_passwords() -> None:
    """Raises `Http404` where users sign in with the provider only."""
    if not settings.PASSWORD_SIGN_IN:
        raise Http404(f"Passwords are switched off on this site. Sign in with {settings.OIDC_NAME}.")


class PasswordChange(PasswordsRequired, auth.PasswordChangeView):
    """The user's own password, also the page of the administration site. Ends all other sessions."""

    form_class = PasswordForm
    request: HtmxRequest

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = form_status(form)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            accounts.passwords.password_was_set(
                user=self.request.user, revoke=form.cleaned_data["revoke"], keep=self.request.session.session_key
            )
        return response


class PasswordChoice(PasswordsRequired, auth.PasswordResetConfirmView):
    """The page that a link for a new password leads to. Ends all sessions, and does not sign the user in.

    by_message: the link was sent to the user's address, which it confirms.
    """

    form_class = LinkPasswordForm
    by_message = False

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        if form.user is not None and not form.user.has_confirmed_email:  # None: the link is not valid
            if self.by_message:
                del form.fields["revoke"]  # it is done anyway
            else:
                form.fields["revoke"].initial = True
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            accounts.passwords.password_was_set(
                user=form.user, by_message=self.by_message, revoke=form.cleaned_data.get("revoke", False)
            )
        return response


@login_not_required
@require_http_methods(["GET", "POST"])
def password_reset(request: HtmxRequest) -> HttpResponse:
    """Sends a link by e-mail. The response does not say whether the address has an account, nor does its time: a worker sends."""
    check_passwords()
    form = PasswordRequestForm(request.POST or None)
    if form.is_valid() and settings.MAIL_HOST:
        email = form.cleaned_data["email"].lower()
        with errors_to(form):
            accounts.count_request(action="password", address=accounts.client_address(request), account=email)
            site_url = settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")
            tasks.send_password_link.enqueue(email, site_url, reference=logs.request_id())
            return redirect("password_reset_done")
    context = {"form": form, "has_mail": bool(settings.MAIL_HOST)}
    return render(request, "registration/password_reset_form.html", context, status=form_status(form))
