"""The request as views receive it, and how they read numbers and submit buttons from it."""

from enum import StrEnum
from urllib.parse import urlsplit

from django.core.exceptions import BadRequest
from django.http import HttpRequest, QueryDict
from django_htmx.middleware import HtmxDetails

from relevancy.models import User


class HtmxRequest(HttpRequest):
    """A request of a signed-in user, after the middleware of django-htmx.

    The type of every view that requires a login; never instantiated, it only declares what the middleware adds.
    """

    htmx: HtmxDetails
    user: User


class ImportAction(StrEnum):
    """What the submit buttons of an import do."""

    PREVIEW = "preview"
    IMPORT = "import"


def page_parameters(request: HtmxRequest) -> QueryDict:
    """Returns the parameters of the page that an htmx request was sent from; those of the request itself without htmx."""
    if not request.htmx:
        return request.GET
    return QueryDict(urlsplit(request.htmx.current_url or "").query)


def parse_number(text: str) -> int:
    """Returns a whole number from a URL or form; 0 for anything else and for numbers no column can hold."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def submitted[Action: StrEnum](request: HttpRequest, actions: type[Action], default: Action | None = None) -> Action:
    """Returns which submit button of a form was used: the value of `do`, or `default` if the form was sent without a button.

    Raises `BadRequest` for a value that no button has, and for a missing one if there is no default.
    """
    value = request.POST.get("do", default or "")
    try:
        return actions(value)
    except ValueError:
        raise BadRequest(f"The value of `do` is {value[:50]!r}, which no button of this form has.") from None
