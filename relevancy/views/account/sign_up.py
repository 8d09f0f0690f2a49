"""Creating an account without an invitation, where the site allows it."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from relevancy import accounts, teams
from relevancy.models import Invitation
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest

from .forms import SignUpForm, form_status

SIGN_IN_AS = "sign-in-as"  # key of the session: the address that the sign-in page fills in


def create_account(request: HtmxRequest, form: SignUpForm, invitation: Invitation | None = None) -> bool:
    """Creates the account that a valid form asks for, and counts the request. Returns False after adding an error to the form.

    The sign-in page then has the address, and says what to do.
    """
    try:
        accounts.count_request(action="sign-up", address=accounts.client_address(request))
        if invitation is not None:
            teams.invitations.count_sign_up(invitation=invitation, email=form.cleaned_data["email"])
        accounts.sign_up(**form.cleaned_data)
    except ValidationError as error:
        add_errors(form, error)
        return False
    request.session[SIGN_IN_AS] = form.cleaned_data["email"]
    return True


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
    if form.is_valid() and create_account(request, form):
        return redirect("login")
    return render(request, "registration/sign_up.html", {"form": form}, status=form_status(form))
