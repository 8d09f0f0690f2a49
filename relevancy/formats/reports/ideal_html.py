"""A run against the best order as one HTML file that is read without a server and without scripts."""

from datetime import datetime

from django.template.loader import render_to_string

from relevancy import scores
from relevancy.comparison import IdealComparison, list_ideal_figures, select_rows
from relevancy.models import ScorerDefinition

from .comparison_html import describe_scale, read_styles


def build_report(result: IdealComparison, *, computed_at: datetime) -> str:
    """Returns the report as an HTML document. It names neither addresses of engines nor people.

    computed_at: the time of the ratings that it was computed with.
    """
    run, book = result.run, result.run.case.book
    return render_to_string(
        "compare/ideal/report.html",
        {
            "styles": read_styles(),
            "title": f"{run.case}: {run} and the best order",
            "run": run,
            "book": book,
            "scale": describe_scale(book),
            "version": result.version,
            "cutoff": scores.considered_depth(ScorerDefinition.of(result.version), int(run.config["depth"])),
            "computed_at": computed_at,
            "ideal": result,
            "figures": list_ideal_figures(result),
            "rows": select_rows(result.rows),
        },
    )
