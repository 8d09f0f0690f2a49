"""`{% load relevancy %}`: the filters and tags of the pages. The modules next to this one implement them."""

from typing import Any

from django import template
from django.forms import BoundField, CheckboxInput, FileInput, HiddenInput, RadioSelect, Select
from django.utils.safestring import SafeString

from relevancy import logs, wording
from relevancy.models import Case, CaseQuery
from relevancy.runs import Result

from . import addresses, bars, charts, explained, icons, numbers, optional, prose, ratings, tables, tabs, terms, when

register = template.Library()

for _filter in (
    numbers.difference,
    numbers.effect,
    numbers.trend,
    numbers.engine_score,
    numbers.engine_difference,
    numbers.pvalue,
    numbers.coefficient,
    numbers.grade_text,
    prose.markdown,
    prose.highlighted,
    explained.share,
    explained.slices_text,
    explained.tree_text,
    tables.number_rows,
):
    register.filter(_filter.__name__, _filter)
register.filter("score", numbers.score)
register.filter("thousands", numbers.whole)

for _tag in (
    addresses.link_to,
    addresses.post_to,
    addresses.submit_to,
    bars.score_cell,
    bars.big_score,
    bars.difference_cell,
    bars.grade_bar,
    bars.progress,
    charts.sparkline,
    charts.history_chart,
    explained.explain_bar,
    icons.icon,
    numbers.grade_class,
    numbers.span,
    optional.links_at,
    optional.query_pages,
    ratings.grade_pill,
    terms.term,
    when.ago,
):
    register.simple_tag(_tag, name=_tag.__name__)

for _case_tag in (
    addresses.case_url,
    addresses.link_to_case,
    addresses.post_to_case,
    optional.panels_at,
    optional.tab_panel,
    tabs.tabs_of,
):
    register.simple_tag(_case_tag, takes_context=True, name=_case_tag.__name__)

# Controls without an outlined box.
_BARE = (CheckboxInput, RadioSelect, FileInput, HiddenInput)


@register.inclusion_tag("_ui/rate.html", takes_context=True)
def rate(context: template.Context, *arguments: Any, **options: Any) -> dict[str, object]:
    """The rating of one document as a form that also works without JavaScript; see `ratings.rating` for its arguments."""
    return ratings.rating(*arguments, csrf_token=context.get("csrf_token", ""), **options)


@register.inclusion_tag("_ui/rate.html", takes_context=True)
def rate_result(
    context: template.Context, case: Case, case_query: CaseQuery, result: Result, *, can: bool, title: str = ""
) -> dict[str, object]:
    """The rating of a result of the list of results of a query; the answer replaces the cell of the rating in the list.

    title: of the document, outside the list; there, the link to the document names it.
    """
    url = addresses.run_url(case, context.get("selection"), "rate", case_query.pk, rank=result.rank)
    place = f"{case_query.pk}-{result.rank}"
    return rate(
        context,
        case.book.scale,
        result.mine,
        result.grade,
        url,
        result.doc_id,
        title=title,
        label_id="" if title else f"title-{place}",
        can=can,
        target=f"#rating-{place}",
        scale_key=case.book.scale_key,
    )


@register.inclusion_tag("_ui/rate.html", takes_context=True)
def rate_unretrieved(
    context: template.Context,
    case: Case,
    case_query: CaseQuery,
    doc_id: str,
    mine: object,
    grade: object,
    *,
    title: str = "",
    can: bool,
) -> dict[str, object]:
    """The rating of a document that the run did not return; the answer replaces the rating only."""
    url = addresses.run_url(case, context.get("selection"), "rate", case_query.pk, unretrieved=1)
    return rate(context, case.book.scale, mine, grade, url, doc_id, title=title, can=can, scale_key=case.book.scale_key)


@register.simple_tag
def request_id() -> str:
    """The id by which the log finds what happened in this request; empty outside of one."""
    return logs.request_id()


@register.filter
def counted(count: int, nouns: str) -> str:
    """`{{ n|counted:"query,queries" }}` → "1 query", "1,204 queries"; without a comma, the plural ends in "s"."""
    singular, _, plural = nouns.partition(",")
    return wording.counted(count, singular, plural)


@register.filter
def control(field: BoundField) -> SafeString:
    """The control of a form field with the class of our text fields added to those its widget has."""
    widget = field.field.widget
    if isinstance(widget, _BARE) or widget.attrs.get("type") == "range":
        return field.as_widget()
    classes = f"input {widget.attrs.get('class', '')}".strip()
    return field.as_widget(attrs={"class": classes})


@register.filter
def is_optional(field: BoundField) -> bool:
    """Whether a label says “optional”: leaving the field empty is normal, as it is not for a choice, a default or a search."""
    widget = field.field.widget
    is_choice = isinstance(widget, Select) or getattr(widget, "input_type", "") == "search"
    return not (field.field.required or is_choice or field.field.initial)


@register.filter
def initials(name: object) -> str:
    """At most two letters for a person: "Mira Okafor" → "MO", "mira@example.org" → "M"."""
    words = str(name or "").partition("@")[0].replace(".", " ").split()
    letters = [word[0].upper() for word in words if word[0].isalnum()]
    return "".join(letters[:1] + letters[-1:] if len(letters) > 1 else letters) or "?"


@register.filter
def undo_url(extra_tags: object) -> str:
    """The address in a message's extra tags, `messages.success(…, extra_tags="undo:/address")`; empty if none."""
    for tag in str(extra_tags or "").split():
        if tag.startswith("undo:/") and not tag.startswith("undo://"):
            return tag.removeprefix("undo:")
    return ""
