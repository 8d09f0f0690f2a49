"""Addresses of links and forms, each written once: htmx and a browser without JavaScript use the same one."""

from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from .case_links import case_url


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
