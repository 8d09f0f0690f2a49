"""What the app adds to the core: its engine, and a way to the page that tries a mapping from the form of an endpoint."""

from __future__ import annotations

from django.urls import reverse

from relevancy import engines
from relevancy.hooks import Panel, Place, add_panel, help_pages
from relevancy.views.endpoints.forms import EndpointForm

from .engine import HttpApiEngine

engines.register(HttpApiEngine)
help_pages |= {
    "endpoints/mapping/": "http-api#trying-a-mapping",
    "endpoints/<int:endpoint_id>/mapping/": "http-api#trying-a-mapping",
}


@add_panel[Place.ENDPOINT_OPTIONS]
def mapping_panel(form: EndpointForm) -> Panel:
    """Returns what expressions are written in, with the button that tries them if the form can be filled in with the result."""
    url = reverse("endpoint_mapping", args=[form.endpoint.pk]) if form.endpoint else reverse("endpoint_new_mapping")
    return Panel("http_api/_endpoint_options.html", {"mapping_url": url if "preset" in form.fields else ""})
