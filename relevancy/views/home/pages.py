"""The home page: the cases a user can see, and the recent activity on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet, Window
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy import cases, tasks
from relevancy.models import Case, Invitation, Run, Team
from relevancy.views.judge.work import list_work
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.tables import Column, build_headings

PAGE_SIZE = 25


@dataclass(frozen=True)
class ListChoice:
    """One of the lists of cases that the page offers. key: the value of `show` in the address."""

    key: str
    label: str
    count: int | None
    is_current: bool
    url: str


@dataclass(frozen=True)
class RunPill:
    """How the newest run of a case ended, if that needs attention."""

    text: str
    kind: str
    title: str = ""


COLUMNS = (
    Column("Case", "name", css_class=""),
    Column("Score", "score", css_class="", starts_high=True),
    Column("Change", "change", starts_high=True),
    Column("Last 12 runs", css_class=""),
    Column("Scored", "scored", starts_high=True),
    Column("Unrated", "unrated", starts_high=True),
    Column("Scorer", css_class=""),
    Column("Last run", "run", css_class="", starts_high=True),
)
LISTS = {"": "All", "failed": "Run failed", "unrated": "Unrated", "archived": "Archived"}
MAX_BOOKS_TO_JUDGE = 5
MAX_WAITING_LISTED = 3  # of each kind, beside the list


@require_GET
def home(request: HtmxRequest) -> HttpResponse:
    """The home page; for htmx only the list of cases."""
    show = request.GET.get("show", "")
    show = show if show in LISTS else ""
    text = request.GET.get("f", "").strip()
    sort = request.GET.get("sort", "")
    team = parse_number(request.GET.get("team", "")) or None
    waiting = cases.waiting_for(request.user)
    listed = cases.find_cases(request.user, archived=show == "archived", text=text, sort=sort, team=team)
    if show in {"failed", "unrated"}:
        listed = listed.filter(pk__in=[case.pk for case in getattr(waiting, show)])
    page = _read_page(listed, request.GET.get("page", ""))
    rows = cases.case_rows(page)
    context: dict[str, object] = {
        "page": page,
        "rows": [(row, run_pill(row.run)) for row in rows],
        "active_rows": _unsettled(rows),
        "f": text,
        "sort": sort,
        "show": show,
        "team": team,
        "lists": _lists(show, sort, team, waiting),
        "headings": build_headings(COLUMNS, sort),
    }
    if request.htmx:
        return render(request, "home/_cases.html", context)
    context["waiting"] = waiting
    context["max_waiting"] = MAX_WAITING_LISTED
    context["work"] = list_work(request.user, count=MAX_BOOKS_TO_JUDGE)
    context["teams"] = Team.objects.visible_to(request.user).order_by("name")
    context["invitations"] = Invitation.objects.waiting_for(request.user)
    context["recent_activity"] = cases.recent_activity(request.user)
    return render(request, "home/home.html", context)


def _read_page(listed: QuerySet[Case], number: str) -> Page[Case]:
    """Returns a page of cases. They are counted by the statement that reads them, unless there is no such page."""
    wanted = max(1, parse_number(number))
    counted = listed.annotate(total=Window(Count("pk")))
    read = list(counted[(wanted - 1) * PAGE_SIZE : wanted * PAGE_SIZE])
    paginator = Paginator(listed, PAGE_SIZE)
    if read or wanted == 1:
        paginator.__dict__["count"] = vars(read[0])["total"] if read else 0
    page = paginator.get_page(number)
    if page.number == wanted:
        page.object_list = read
    return page


def _lists(show: str, sort: str, team: int | None, waiting: cases.Waiting) -> list[ListChoice]:
    counts = {"": waiting.case_count, "failed": len(waiting.failed), "unrated": len(waiting.unrated)}
    if team:
        counts = {}  # those of all teams would be wrong
    order = {key: value for key, value in (("sort", sort), ("team", team)) if value}
    return [
        ListChoice(
            key,
            label,
            counts.get(key),
            key == show,
            reverse("home", query=({"show": key} if key else {}) | order),
        )
        for key, label in LISTS.items()
        if key == show or counts.get(key) != 0 or not key
    ]


@require_GET
def active_cases(request: HtmxRequest) -> HttpResponse:
    """The rows of the cases named in the address, for the poll of the home page while they have an active run."""
    case_ids = [parse_number(text) for text in request.GET.getlist("case")[:PAGE_SIZE]]
    listed = cases.find_cases(request.user).filter(pk__in=case_ids)
    rows = cases.case_rows(listed)
    context = {
        "rows": [(row, run_pill(row.run)) for row in rows],
        "active_rows": _unsettled(rows),
    }
    return render(request, "home/_active_cases.html", context)


def _unsettled(rows: Sequence[cases.CaseRow]) -> list[cases.CaseRow]:
    """Returns the rows that the page asks for again: those with an active run, and those that are being rescored, for which it makes
    sure that a worker knows of them."""
    book_ids = [row.case.book_id for row in rows if row.is_being_rescored]
    for book_id in book_ids[:1]:  # the others when the page asks again
        tasks.enqueue_book_rescore(book_id)
    return [row for row in rows if row.is_active or row.is_being_rescored]


def run_pill(run: Run | None) -> RunPill | None:
    """Returns what the list says about a run that is active, failed, incomplete or stopped; None for any other."""
    if run is None:
        return None
    if run.is_active:
        return RunPill(run.get_status_display().lower(), "live")
    if run.status == Run.Status.FAILED:
        return RunPill("failed", "bad", run.reason)
    if run.failed:
        return RunPill(f"{run.failed:,} failed", "bad")
    if run.status == Run.Status.INCOMPLETE:
        return RunPill("incomplete", "warn", run.reason)
    if run.status == Run.Status.CANCELLED:
        return RunPill("stopped", "warn")
    return None
