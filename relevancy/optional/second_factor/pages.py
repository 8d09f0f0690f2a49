"""The second factor: its page in the account, and the page that asks for a code after the password."""

import time
from enum import StrEnum

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from relevancy.models import User
from relevancy.views.account.forms import form_status
from relevancy.views.account.sign_in import finish_sign_in
from relevancy.views.forms import add_errors, errors_to
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import redirect_with_message

from . import second_factor as service
from .forms import CodeForm, SecondFactorForm
from .models import Authenticator

PENDING = "second_factor"  # the key of a session whose password was right
MAX_AGE = 600  # seconds from the password to the code


class SecondFactorAction(StrEnum):
    """What the submit buttons of the page do."""

    BEGIN = "begin"
    CONFIRM = "confirm"
    RENEW = "renew"
    REMOVE = "remove"


def ask_for_code(request: HttpRequest, user: User, next_url: str) -> HttpResponse:
    """Remembers that the password was right, and leads to the page that asks for a code."""
    request.session.cycle_key()
    request.session[PENDING] = {
        "user": user.pk,
        "hash": user.get_session_auth_hash(),
        "at": time.time(),
        "next": next_url,
    }
    return redirect("login_code")


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def login_code(request: HtmxRequest) -> HttpResponse:
    """Asks for a code of the app, or a recovery code, within ten minutes after the password."""
    pending = request.session.get(PENDING, {})
    user = User.objects.filter(pk=pending.get("user"), is_active=True).first()
    is_current = user is not None and constant_time_compare(pending["hash"], user.get_session_auth_hash())
    if user is None or not is_current or time.time() - pending["at"] > MAX_AGE:
        request.session.pop(PENDING, None)
        return redirect("login")
    form = CodeForm(request.POST or None)
    if form.is_valid():
        with errors_to(form):
            service.check(user, form.cleaned_data["code"])
            del request.session[PENDING]
            return finish_sign_in(request, user, pending["next"])
    return render(request, "second_factor/login_code.html", {"form": form}, status=form_status(form))


@never_cache
@require_http_methods(["GET", "POST"])
def second_factor(request: HtmxRequest) -> HttpResponse:
    """Turns the second factor on and off. On needs the password; off, and new recovery codes, need a code."""
    if request.method == "GET":
        return _render(request)
    action = submitted(request, SecondFactorAction)
    data = request.POST if action != SecondFactorAction.BEGIN else None
    form = SecondFactorForm(data, request=request) if action == SecondFactorAction.CONFIRM else CodeForm(data)
    codes: list[str] = []
    try:
        if action == SecondFactorAction.BEGIN:
            service.begin(user=request.user)
        elif not form.is_valid():
            return _render(request, form)
        elif action == SecondFactorAction.CONFIRM:
            codes = service.confirm(user=request.user, code=form.cleaned_data["code"])
        else:
            service.check(request.user, form.cleaned_data["code"])
            if action == SecondFactorAction.REMOVE:
                service.remove(user=request.user)
                return redirect_with_message(request, reverse("account_second_factor"), "Second factor removed.")
            codes = service.renew_codes(user=request.user)
    except ValidationError as error:
        if action == SecondFactorAction.BEGIN:
            return _render(request)
        add_errors(form, error)
        return _render(request, form)
    return _render(request, codes=codes)


def _render(
    request: HtmxRequest, form: CodeForm | SecondFactorForm | None = None, codes: list[str] | None = None
) -> HttpResponse:
    authenticator = Authenticator.objects.filter(user=request.user).select_related("user").first()
    is_on = service.is_on(request.user)
    form = form or (CodeForm() if is_on else SecondFactorForm(request=request))
    context = {
        "authenticator": authenticator,
        "is_on": is_on,
        "picture": service.picture(authenticator) if authenticator and not is_on else "",
        "key": authenticator.secret["key"] if authenticator and not is_on else "",
        "unused": service.unused_codes(request.user) if is_on else 0,
        "codes": codes or [],
        "form": form,
    }
    return render(request, "second_factor/account.html", context, status=form_status(form))
