"""The request as views receive it, and how they read numbers from it."""

from urllib.parse import urlsplit

from django.http import HttpRequest, QueryDict
from django_htmx.middleware import HtmxDetails

from relevancy.models import User


class HtmxRequest(HttpRequest):
    """A request of a signed-in user, after the middleware of django-htmx.

    The type of every view that requires a login; never instantiated, it only declares what the middleware adds.
    """

    htmx: HtmxDetails
    user: User


def page_parameters(request: HtmxRequest) -> QueryDict:
    """Returns the parameters of the page that an htmx request was sent from; those of the request itself without htmx."""
    if not request.htmx:
        return request.GET
    return QueryDict(urlsplit(request.htmx.current_url or "").query)


def parse_number(text: str) -> int:
    """Returns a whole number from a URL or form; 0 for anything else and for numbers no column can hold."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0
