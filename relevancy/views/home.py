"""The first page: every case with its score, and what happened lately."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import cases
from relevancy.cases.reading import CaseRow

LOWEST = float("-inf")


def _number(value: float | None) -> float:
    return LOWEST if value is None else value


SORTS: dict[str, Callable[[CaseRow], Any]] = {
    "name": lambda row: row.case.name.casefold(),
    "score": lambda row: _number(row.score.score if row.score else None),
    "change": lambda row: _number(row.change),
    "scored": lambda row: row.score.scored if row.score else -1,
    "unrated": lambda row: row.score.unrated if row.score else -1,
    "run": lambda row: row.at,
}
COLUMNS = (
    ("name", "Case", ""),
    ("score", "Score", ""),
    ("change", "Change", "num"),
    ("", "Last 12 runs", ""),
    ("scored", "Scored", "num"),
    ("unrated", "Unrated", "num"),
    ("", "Scorer", ""),
    ("run", "Last run", ""),
)


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The list, filtered and sorted; for htmx only the table, which polls while a run is under way."""
    archived = request.GET.get("archived") == "1"
    everything = cases.cases_for(request.user, archived=archived)
    words = request.GET.get("f", "").strip()
    sort = request.GET.get("sort", "")
    rows = [row for row in everything if _matches(row, words.casefold())]
    if sort.removeprefix("-") in SORTS:
        rows.sort(key=SORTS[sort.removeprefix("-")], reverse=sort.startswith("-"))
    context = {
        "rows": rows,
        "total": len(everything),
        "f": words,
        "sort": sort,
        "archived": archived,
        "columns": [_column(sort, *column) for column in COLUMNS],
        "busy": any(row.run.under_way for row in everything if row.run),
    }
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "home/home.html#cases", context)
    return render(request, "home/home.html", {**context, "lately": cases.lately(everything)})


def _matches(row: CaseRow, words: str) -> bool:
    endpoint = row.run.attempt.endpoint.name if row.run else ""
    text = f"{row.case.name} {endpoint} {row.version.scorer.name if row.version else ''}".casefold()
    return all(word in text for word in words.split())


def _column(sort: str, key: str, label: str, kind: str) -> dict[str, str]:
    """A head of the table: pressed again, it sorts the other way; numbers begin with the highest."""
    first = key if key == "name" else f"-{key}"
    other = key if first.startswith("-") else f"-{key}"
    direction = {f"-{key}": "descending", key: "ascending"}.get(sort, "") if key else ""
    return {
        "label": label,
        "kind": kind,
        "direction": direction,
        "next": (other if sort == first else first) if key else "",
    }
