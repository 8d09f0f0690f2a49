"""Signing in with the site's OpenID Connect provider, and the provider's accounts that are connected with the user's."""

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy.slow_requests import Busy, slow_request
from relevancy.views.account.sign_in import sign_in
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message

from . import external_accounts as service
from . import openid_connect
from .models import ExternalAccount

PENDING = "openid"  # the key of a session that waits for the provider
log = logging.getLogger("relevancy.accounts")


@login_not_required
@never_cache
@require_GET
def openid_login(request: HtmxRequest) -> HttpResponse:
    """Sends the browser to the provider, to sign in there."""
    next_url = request.GET.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure())
    try:
        address = _begin(request, next=next_url if is_safe else reverse("home"))
    except (openid_connect.ProviderError, Busy) as error:
        return conflict(request, "login", _failure(error))
    return redirect(address)


@login_not_required
@never_cache
@require_GET
def openid_answer(request: HtmxRequest) -> HttpResponse:
    """Where the provider sends the browser back to: signs the user in, or connects the account for which this was asked."""
    _check_configured()
    pending = request.session.pop(PENDING, {})
    user_id = pending.get("user")
    page = "account_external" if user_id and request.user.is_authenticated else "login"
    try:
        with slow_request(settings.SLOW_THREADS):
            identity = openid_connect.finish(pending, request.GET.dict())
        if user_id is None:
            user = service.find_or_create_user(identity)
        elif user_id != request.user.pk:
            raise ValidationError("You were signed out meanwhile. Sign in, and connect the accounts again.")
        else:
            service.connect(user=request.user, identity=identity)
            return redirect_with_message(request, reverse(page), f"{settings.OIDC_NAME}: connected.")
        return sign_in(request, user, pending["next"])
    except ValidationError as error:
        return conflict(request, page, error)
    except (openid_connect.ProviderError, Busy) as error:
        return conflict(request, page, _failure(error))


@never_cache
@require_http_methods(["GET", "POST"])
def external_accounts(request: HtmxRequest) -> HttpResponse:
    """The provider's accounts that sign the user in. POST: prepares the link that connects another one.

    A link, because the content security policy lets no form lead to another site. It is there only after a POST, which other sites
    cannot send: else they could connect their account with the user's.
    """
    _check_configured()
    address = ""
    if request.method == "POST":
        try:
            address = _begin(request, user=request.user.pk)
        except (openid_connect.ProviderError, Busy) as error:
            return conflict(request, "account_external", _failure(error))
    rows = request.user.external_accounts.all()
    context = {"rows": rows, "address": address, "provider": settings.OIDC_NAME}
    return render(request, "single_sign_on/account.html", context)


@require_POST
def external_account_disconnect(request: HtmxRequest, external_id: int) -> HttpResponse:
    """Ends that one of the provider's accounts signs the user in."""
    external = get_object_or_404(ExternalAccount, pk=external_id, user=request.user)
    try:
        service.disconnect(user=request.user, pk=external.pk)
    except ValidationError as error:
        return conflict(request, "account_external", error)
    return redirect_with_message(request, reverse("account_external"), f"{external} no longer signs you in.")


def _begin(request: HtmxRequest, **kept: Any) -> str:
    """Returns the provider's address, and keeps in the session what the answer needs."""
    _check_configured()
    path = reverse("openid_answer")
    redirect_uri = settings.SITE_URL + path if settings.SITE_URL else request.build_absolute_uri(path)
    with slow_request(settings.SLOW_THREADS):
        address, pending = openid_connect.begin(redirect_uri)
    request.session[PENDING] = {**pending, **kept}
    return address


def _check_configured() -> None:
    if not openid_connect.is_configured():
        raise Http404("This site has no provider to sign in with.")


def _failure(error: Exception) -> str:
    """The message about an error of the provider. Its details are for the log: the sign-in page is for everyone."""
    if isinstance(error, Busy):
        return str(error)
    log.warning("Signing in with %s failed: %s", settings.OIDC_ISSUER, error)
    return f"Signing in with {settings.OIDC_NAME} failed. Try again; if it fails again, an admin finds the reason in the log."
