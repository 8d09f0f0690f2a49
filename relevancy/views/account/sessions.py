"""The user's sessions: listed, and ended one by one or all together."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from relevancy import accounts
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted


@never_cache
@require_GET
def sessions(request: HtmxRequest) -> HttpResponse:
    """Where the user is signed in."""
    rows = [
        (session, session.key == request.session.session_key) for session in accounts.sessions.current(request.user)
    ]
    return render(request, "account/sessions.html", {"rows": rows})


@require_POST
def session_end(request: HtmxRequest, reference: str) -> HttpResponse:
    """Signs the user out of one session."""
    if not accounts.sessions.end(user=request.user, reference=reference):
        raise Http404("This session has already ended.")
    return redirect_with_message(request, reverse("account_sessions"), "Signed out there.")


@require_POST
def sessions_end(request: HtmxRequest) -> HttpResponse:
    """Signs the user out everywhere but here."""
    count = accounts.sessions.end_all(user=request.user, keep=request.session.session_key)
    text = f"Signed out of {counted(count, 'other session')}."
    return redirect_with_message(request, reverse("account_sessions"), text)
