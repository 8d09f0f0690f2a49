"""Addresses of links and forms, each written once: htmx and a browser without JavaScript use the same one.

Those within a case lead to the run that the page shows.
"""

from collections.abc import Mapping
from typing import Protocol

from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from relevancy.models import Case


def link_to(url: str, *, htmx: bool = True) -> SafeString:
    """The attributes of a link that htmx loads: `href` and `hx-get`; `href` alone if `htmx` is false."""
    return format_html('href="{0}" hx-get="{0}"' if htmx else 'href="{0}"', url)


def post_to(url: str, *, htmx: bool = True) -> SafeString:
    """The attributes of a form that htmx posts: `method`, `action` and `hx-post`; without `hx-post` if `htmx` is false."""
    return format_html('method="post" action="{0}" hx-post="{0}"' if htmx else 'method="post" action="{0}"', url)


def submit_to(url: str) -> SafeString:
    """The attributes of a button that sends its form to another address than the form itself does."""
    return format_html('formaction="{0}" hx-post="{0}"', url)


def link_to_case(context: Context, name: str, *args: object, htmx: bool = True, **parameters: object) -> SafeString:
    """`link_to` with the address that `case_url` returns."""
    return link_to(case_url(context, name, *args, **parameters), htmx=htmx)


def post_to_case(context: Context, name: str, *args: object, htmx: bool = True, **parameters: object) -> SafeString:
    """`post_to` with the address that `case_url` returns."""
    return post_to(case_url(context, name, *args, **parameters), htmx=htmx)


class SelectedRun(Protocol):
    """The run that a page shows, as the parameters of its address; empty for the one shown by default."""

    @property
    def parameters(self) -> Mapping[str, object]: ...


def case_url(context: Context, name: str, *args: object, **parameters: object) -> str:
    """Returns the URL `name` of the `case` of the context, for the run shown; `args` follow the id of the case."""
    return run_url(context["case"], context.get("selection"), name, *args, **parameters)


def run_url(case: Case, selection: SelectedRun | None, name: str, *args: object, **parameters: object) -> str:
    """Returns the URL `name` of a case.

    Adds the parameters of `selection`, which names the run shown if it is not the default, and `parameters`, of which those
    that are None or empty are left out.
    """
    selected = selection.parameters if selection else {}
    query = {key: value for key, value in {**parameters, **selected}.items() if value not in (None, "")}
    return reverse(name, args=[case.pk, *args], query=query or None)
