"""A comparison as one HTML file that is read without a server and without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from relevancy import scores
from relevancy.comparison import (
    ComparisonFigures,
    QueryRow,
    describe_groups,
    list_figures,
    list_rows,
    name_runs,
    select_rows,
    summarize_pair,
)
from relevancy.models import Book
from relevancy.scoring.rounding import format_coefficient, format_rounded, format_short, format_signed

from .comparison_charts import build_svg_charts

STYLESHEETS = ("css/tokens.css", "css/report.css")
MISSING = "–"


def build_report(figures: ComparisonFigures, *, computed_at: datetime) -> str:
    """Returns the report of a comparison as an HTML document. It names neither addresses of engines nor people.

    computed_at: when the figures were computed, with the ratings of that time.
    """
    result = figures.comparison
    runs, names = result.runs, name_runs(result.runs)
    book, version = runs[0].case.book, result.version
    others = range(1, len(runs))
    rows_by_other = [list_rows(figures, other) for other in others]
    pairs = [_report_pair(figures, other, rows) for other, rows in zip(others, rows_by_other, strict=True)]
    columns, queries = _query_table(rows_by_other, names)
    return render_to_string(
        "compare/report.html",
        {
            "styles": read_styles(),
            "title": f"{runs[0].case}: {' and '.join(names)} compared",
            "case": runs[0].case,
            "book": book,
            "scale": describe_scale(book),
            "version": version,
            "cutoff": scores.considered_depth(version, int(runs[0].config["depth"])),
            "computed_at": computed_at,
            "comparison": result,
            "runs": list(zip(runs, names, result.means, strict=True)),
            "names": names,
            "groups": describe_groups(result) if len(runs) > 2 else [],
            "pairs": pairs,
            "columns": columns,
            "queries": queries,
        },
    )


def _report_pair(figures: ComparisonFigures, other: int, rows: Sequence[QueryRow]) -> dict[str, Any]:
    result = figures.comparison
    pair = result.pairs[other - 1]  # those with the baseline come first
    return {
        "summary": summarize_pair(figures, other),
        "figures": list_figures(figures, other, rows),
        "charts": build_svg_charts(rows, *pair.names),
        "tags": [tag for tag in result.tags if tag.other == other],
    }


def _query_table(
    rows_by_other: Sequence[Sequence[QueryRow]], names: Sequence[str]
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Returns the columns and the rows of all queries, the largest gain of the first other run first. Of two runs, with the overlap of
    their lists."""
    if len(rows_by_other) == 1:
        columns = [*names, "Difference", "Jaccard", "RBO", *(f"Unrated, {name}" for name in names), "Could gain"]
        return columns, [
            (
                row.text,
                [
                    *(_score(row.score_a), _score(row.score_b), _signed(row.difference)),
                    *(MISSING if value is None else format_coefficient(value) for value in (row.jaccard, row.rbo)),
                    *(MISSING if value is None else str(value) for value in (row.unrated_a, row.unrated_b)),
                    _score(row.gain),
                ],
            )
            for row in select_rows([*rows_by_other[0]])
        ]
    columns = [names[0], *(column for name in names[1:] for column in (name, "Difference"))]
    return columns, [
        (
            rows[0].text,
            [
                _score(rows[0].score_a),
                *(cell for row in rows for cell in (_score(row.score_b), _signed(row.difference))),
            ],
        )
        for rows in sorted(
            zip(*rows_by_other, strict=True), key=lambda rows: (rows[0].difference is None, -(rows[0].difference or 0))
        )
    ]


def _score(value: float | None) -> str:
    return MISSING if value is None else format_rounded(value, 1)


def _signed(value: float | None) -> str:
    return MISSING if value is None else format_signed(value, 1)


def describe_scale(book: Book) -> str:
    """Returns the grades of a book with their labels."""
    return ", ".join(f"{format_short(grade)} {label}".strip() for grade, label in book.scale)


def read_styles() -> SafeString:
    """Returns the stylesheets of the report, which are our own files: they contain nothing that users wrote."""
    paths = [finders.find(name) for name in STYLESHEETS]
    return mark_safe("\n".join(Path(str(path)).read_text(encoding="utf-8") for path in paths))
