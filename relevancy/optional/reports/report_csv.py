"""The queries of the report of a case as CSV."""

from relevancy.formats.cells import rounded, write_rows

from .case_report import CaseReport

HEADER = ("query", "tags", "weight", "score", "low", "high", "documents", "rated", "coverage", "hits", "ms", "error")


def format_queries(report: CaseReport) -> str:
    """Returns one line for each query, in the order of the case. Scores and coverage have four decimals; missing values are empty.

    documents, rated: distinct ones among the results that the scorer considers. error: of the search, or else of the scorer.
    """
    rows = (
        (
            query.text,
            ", ".join(query.tags),
            query.weight,
            *map(rounded, (query.score, query.low, query.high)),
            query.documents,
            query.rated,
            rounded(query.coverage),
            query.total,
            query.took_ms,
            query.error or query.score_error,
        )
        for query in report.queries
    )
    return "".join(write_rows(HEADER, rows))
