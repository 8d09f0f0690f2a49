"""What optional apps add to a page; see `relevancy.hooks`."""

from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from relevancy import hooks


def links_at(place: str, shown: object) -> list[hooks.Link]:
    """Returns the links at a place, `hooks.Place`: `{% links_at "case-files" case as links %}`."""
    return list(hooks.links_at(hooks.Place(place), shown))


def query_pages() -> dict[str, str]:
    """Returns the pages of optional apps that add queries: `{% query_pages as pages %}`, labels by URL name."""
    return hooks.query_pages


def panels_at(context: Context, place: str, shown: object) -> SafeString:
    """Renders the parts of the page at a place: `{% panels_at "comparison" page %}`."""
    request = context.get("request")
    panels = hooks.panels_at(hooks.Place(place), shown)
    return mark_safe("".join(render_to_string(panel.template, {**panel.context}, request) for panel in panels))


def tab_panel(context: Context, panel: hooks.Panel) -> SafeString:
    """Renders the panel of a tab, with the context of the page: `{% tab_panel page.tab.panel %}`."""
    page = {str(name): value for name, value in context.flatten().items()}
    return render_to_string(panel.template, {**page, **panel.context}, context.get("request"))
