"""The steps of a new case or book that are done one after the other: a list that goes away when all are done, or is hidden."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from relevancy.views.requests import HtmxRequest

HIDDEN = "hidden_ticks"  # in the session: keys of lists
MAX_HIDDEN = 50


@dataclass(frozen=True)
class Tick:
    """A step. url: where it is done."""

    label: str
    url: str
    is_done: bool


def ticks_to_show(request: HtmxRequest, key: str, ticks: Sequence[Tick]) -> Sequence[Tick]:
    """Returns the steps for `_ui/ticks.html`; none if all are done, or if the user has hidden the list with this key."""
    is_hidden = bool(ticks) and key in request.session.get(HIDDEN, ())
    return () if is_hidden or all(tick.is_done for tick in ticks) else ticks


@require_POST
def hide(request: HtmxRequest, key: str) -> HttpResponse:
    """Hides a list for the session of the user, and leads back to the page `next`."""
    hidden = [other for other in request.session.get(HIDDEN, ()) if other != key]
    request.session[HIDDEN] = [*hidden, key][-MAX_HIDDEN:]
    url = request.POST.get("next", "")
    return HttpResponseRedirect(url if url_has_allowed_host_and_scheme(url, None) else reverse("home"))


urlpatterns = [path("ticks/<slug:key>/hide/", hide, name="ticks_hide")]
