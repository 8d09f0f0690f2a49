"""The user's API tokens: listed, created, revoked."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import accounts
from relevancy.models import ApiToken
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from .forms import TokenForm

MAX_LISTED = 200


@never_cache
@require_http_methods(["GET", "POST"])
def tokens(request: HtmxRequest) -> HttpResponse:
    """The user's tokens. The response to creating one shows its text, once: it is not stored."""
    form = TokenForm(request.POST or None)
    created, text = None, ""
    if form.is_valid():
        with errors_to(form):
            created, text = accounts.api_tokens.create(user=request.user, **form.cleaned_data)
    context = {
        "form": TokenForm() if created else form,
        "created": created,
        "text": text,
        "tokens": ApiToken.objects.filter(user=request.user)[:MAX_LISTED],
        "now": timezone.now(),
    }
    return render(request, "account/tokens.html", context, status=422 if form.errors else 200)


@require_POST
def revoke(request: HtmxRequest, token_id: int) -> HttpResponse:
    """Makes a token invalid at once."""
    token = get_object_or_404(ApiToken.objects.revocable_by(request.user), pk=token_id)
    accounts.api_tokens.revoke(token=token)
    return redirect_with_message(request, reverse("account_tokens"), f"Token “{token.name}” revoked.")
