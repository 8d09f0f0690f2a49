"""What the app adds to the core: a page of the settings of a case, and links on the page of API tokens."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import Link, Panel, Place, add_links, add_panel, help_pages
from relevancy.models import Case, User

MAX_CASES = 10  # on the page of API tokens
help_pages["cases/<int:case_id>/notebook/"] = "notebooks"


@add_links[Place.CASE_SETTINGS]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the notebook of a case."""
    yield Link("Notebook", reverse("case_notebook", args=[case.pk]), "notebook-link")


@add_panel[Place.API_TOKENS]
def newest_cases(user: User) -> Panel | None:
    """Returns links to the notebooks of the user's newest cases."""
    cases = Case.objects.visible_to(user).live().order_by("-pk")[:MAX_CASES]
    return Panel("notebooks/_cases.html", {"cases": cases}) if cases else None
