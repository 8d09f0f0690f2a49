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
    cases = _best_matches(Case.objects.visible_to(user).live(), "name", text).select_related("book")
    yield from _group("Cases", [_case_target(case) for case in cases])
    books = _best_matches(Book.objects.visible_to(user), "name", text)
    yield from _group("Books", [Target(book.name, reverse("book", args=[book.pk])) for book in books])
    visible = Case.objects.visible_to(user).live().values("pk")
    case_queries = CaseQuery.objects.present().filter(case__in=visible).select_related("query", "case")
    matches = _best_matches(case_queries, "query__text", text)
    yield from _group("Queries", [_query_target(case_query) for case_query in matches])
    scorers = _best_matches(Scorer.objects.visible_to(user).live(), "name", text)
    yield from _group("Scorers", [Target(scorer.name, reverse("scorer", args=[scorer.pk])) for scorer in scorers])


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


def _group(label: str, targets: list[Target]) -> Iterator[TargetGroup]:
    if targets:
        yield TargetGroup(label, targets[:MAX_LISTED], has_more=len(targets) > MAX_LISTED)


def _case_target(case: Case) -> Target:
    return Target(case.name, reverse("case", args=[case.pk]), f"book {case.book.name}")


def _query_target(case_query: CaseQuery) -> Target:
    url = reverse("query", args=[case_query.case_id, case_query.pk])
    return Target(case_query.query.text, url, case_query.case.name)
