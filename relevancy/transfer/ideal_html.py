"""A run against the best order as one HTML file that is read without a server and without scripts."""

from datetime import datetime

from django.template.loader import render_to_string

from relevancy import scores
from relevancy.comparison import IdealComparison, list_ideal_figures, select_rows
from relevancy.models import ScorerDefinition

from .comparison_html import describe_scale, read_styles


def build_report(found: IdealComparison, *, computed_at: datetime) -> str:
    """Returns the report as an HTML document. It names neither addresses of engines nor people.

    computed_at: the time of the ratings that it was computed with.
    """
    run, book = found.run, found.run.case.book
    return render_to_string(
        "compare/ideal/report.html",
        {
            "styles": read_styles(),
            "title": f"{run.case}: {run} and the best order",
            "run": run,
            "book": book,
            "scale": describe_scale(book),
            "version": found.version,
            "cutoff": scores.considered_depth(ScorerDefinition.of(found.version), int(run.config["depth"])),
            "computed_at": computed_at,
            "ideal": found,
            "figures": list_ideal_figures(found),
            "rows": select_rows(found.rows),
        },
    )
