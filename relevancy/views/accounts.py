"""The account of whoever is signed in."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from relevancy.models import Role, User
from relevancy.transfer.sample import PASSWORD, PEOPLE

from .forms import AccountForm


class SignIn(LoginView):
    """Signing in; a demonstration says as whom, since its accounts are known anyway."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        there = User.objects.filter(email__in=[email for email, *_ in PEOPLE], is_active=True) if settings.DEMO else ()
        context["demo_people"], context["demo_password"] = list(there), PASSWORD
        return super().get_context_data(**context)


@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Name and keys; the teams one is in."""
    form = AccountForm(request.POST or None, instance=get_object_or_404(User, pk=request.user.pk))
    if form.is_valid():
        form.save()
        messages.success(request, "Your account is saved.")
        return redirect("account")
    memberships = request.user.memberships.select_related("team").order_by("team__name")  # type: ignore[union-attr]
    teams = [(member.team, Role(member.role).label) for member in memberships]
    return render(request, "account/account.html", {"form": form, "teams": teams}, status=422 if form.errors else 200)
