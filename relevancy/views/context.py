"""What every page gets: the places of the site, the theme, and whether single letters are keys."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

# (label, name of its address, what the addresses below it begin with)
PLACES = (
    ("Home", "home", "/cases/"),
    ("Endpoints", "endpoints", "/endpoints/"),
    ("Scorers", "scorers", "/scorers/"),
    ("Teams", "teams", "/teams/"),
)


def page(request: HttpRequest) -> dict[str, Any]:
    """`nav`, `theme`, `single_keys` and `keys_off` for base.html. No SQL beyond the user of the request."""
    user = getattr(request, "user", None)
    signed_in = user is not None and user.is_authenticated
    theme = request.COOKIES.get("theme", "")
    single_keys = user.single_keys if user is not None and user.is_authenticated else True
    return {
        "nav": [_place(request.path, *place) for place in PLACES] if signed_in else [],
        "theme": theme if theme in {"light", "dark"} else "",
        "single_keys": single_keys,
        "keys_off": not single_keys,
    }


def _place(path: str, label: str, name: str, below: str) -> dict[str, Any]:
    url = reverse(name)
    return {"label": label, "url": url, "current": path == url or path.startswith(below)}
