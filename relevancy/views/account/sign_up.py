"""Creating an account without an invitation, where the site allows it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from relevancy import accounts
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest

from .forms import SignUpForm

SIGNED_UP = (
    "Sign in with your e-mail address and password. If the address had an account already, its password is unchanged."
)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def sign_up(request: HtmxRequest) -> HttpResponse:
    """Creates an account that belongs to no team, and leads to the sign-in page.

    The response is the same if the address has an account already: it does not say who has one.
    """
    if not (settings.OPEN_SIGN_UP and settings.PASSWORD_SIGN_IN):
        raise Http404("Accounts are created by an admin of this site, or with the link of an invitation.")
    if request.user.is_authenticated:
        return redirect("home")
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        try:
            accounts.count_request(action="sign-up", address=accounts.client_address(request))
            accounts.sign_up(**form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, SIGNED_UP)
            return redirect("login")
    status = 429 if form.has_error(NON_FIELD_ERRORS, accounts.TOO_MANY) else 422 if form.errors else 200
    return render(request, "registration/sign_up.html", {"form": form}, status=status)
