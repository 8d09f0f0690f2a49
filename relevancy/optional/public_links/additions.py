"""What the app adds to the core: the links where a case is shared, and sentences of the activity log."""

from relevancy.hooks import Panel, Place, activity_sentences, add_panel, help_pages
from relevancy.models import Case

from . import public_links
from .pages import PublicLinkForm, sharing_context

activity_sentences.update(
    {
        public_links.CREATED: "Created a public link to the case, valid for {days} days",
        public_links.WITHDRAWN: "Withdrew a public link to the case",
    }
)
help_pages["cases/<int:case_id>/public-links/"] = "security#who-may-do-what"


@add_panel[Place.CASE_SHARING]
def links_panel(case: Case) -> Panel:
    """Returns the valid links of a case, with the form for another one."""
    return Panel("public_links/_sharing.html", sharing_context(case, PublicLinkForm()))
