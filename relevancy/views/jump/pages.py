"""The box “Jump to…” of the top bar: cases, books, queries and scorers whose name contains a text."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import models
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy.models import Book, Case, CaseQuery, Scorer, User
from relevancy.views.requests import HtmxRequest

MAX_TEXT = 191
MAX_LISTED = 6  # of each kind


@dataclass(frozen=True)
class Target:
    """A page to go to. details: what distinguishes it from others of the same name."""

    text: str
    url: str
    details: str = ""


@dataclass(frozen=True)
class TargetGroup:
    """Targets of one kind, the best matches first. has_more: whether there are more than are listed."""

    label: str
    targets: list[Target]
    has_more: bool


@require_GET
def jump(request: HtmxRequest) -> HttpResponse:
    """Lists what contains the text `q`, for htmx as the menu under the box. A single match of the page is opened at once."""
    text = " ".join(request.GET.get("q", "").split())[:MAX_TEXT]
    groups = list(find_targets(request.user, text)) if text else []
    if request.htmx:
        return render(request, "jump/_results.html", {"text": text, "groups": groups})
    if len(groups) == 1 and len(groups[0].targets) == 1:
        return redirect(groups[0].targets[0].url)
    return render(request, "jump/jump.html", {"text": text, "groups": groups})


def find_targets(user: User, text: str) -> Iterator[TargetGroup]:
    """Yields the groups that are not empty, of what the user may view; archived cases and retired scorers are left out."""
    visible = Case.objects.visible_to(user).live()
    case_queries = CaseQuery.objects.present().filter(case__in=visible.values("pk")).select_related("query", "case")
    groups = {
        "Cases": [
            Target(case.name, reverse("case", args=[case.pk]), f"book {case.book.name}")
            for case in _best_matches(visible.select_related("book"), "name", text)
        ],
        "Books": [
            Target(book.name, reverse("book", args=[book.pk]))
            for book in _best_matches(Book.objects.visible_to(user), "name", text)
        ],
        "Queries": [
            Target(row.query.text, reverse("query", args=[row.case_id, row.pk]), row.case.name)
            for row in _best_matches(case_queries, "query__text", text)
        ],
        "Scorers": [
            Target(scorer.name, reverse("scorer", args=[scorer.pk]))
            for scorer in _best_matches(Scorer.objects.visible_to(user).live(), "name", text)
        ],
    }
    for label, targets in groups.items():
        if targets:
            yield TargetGroup(label, targets[:MAX_LISTED], has_more=len(targets) > MAX_LISTED)


def _best_matches[Rows: models.QuerySet[models.Model]](rows: Rows, field: str, text: str) -> Rows:
    """Returns the rows whose field contains the text: equal ones first, then those that begin with it. One more than is listed."""
    quality = models.Case(
        models.When(**{f"{field}__iexact": text}, then=0),
        models.When(**{f"{field}__istartswith": text}, then=1),
        default=2,
        output_field=models.IntegerField(),
    )
    matching = rows.filter(**{f"{field}__icontains": text}).annotate(match_quality=quality)
    return matching.order_by("match_quality", field, "pk")[: MAX_LISTED + 1]
