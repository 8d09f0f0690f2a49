"""A case as CSV with the columns of Quepid's exports “General” and “Detailed”: its newest finished run under its primary scorer.

Both have LF line ends, protected formulas, and in each row as many cells as the header has.
"""

from collections.abc import Iterator, Sequence
from itertools import batched
from typing import Any

from django.db.models import QuerySet

from relevancy import runs, scores
from relevancy.formats.cells import Cell, rounded, write_rows
from relevancy.formats.progress import count_rows
from relevancy.formats.queries.queries_csv import BY_NAME
from relevancy.formats.queries.query_list_csv import count_hits
from relevancy.formats.rankings.run_csv import CHUNK, field_names, format_value
from relevancy.models import Case, Run, ScorerVersion, read_hits

OF_CASE = ("Team Name", "Case Name", "Case ID", "Query Text")
GENERAL = (*OF_CASE, "Score", "Date Last Scored", "Count", "Information Need", "Notes", "Options")
DETAILED = (*OF_CASE, "Doc ID", "Doc Position", "Title", "Rating")


def export_general(*, case: Case) -> Iterator[str]:
    """Yields a row for each query, in their order.

    Score: 0–100; empty if there is none, or while it is computed from newer ratings. Date Last Scored: when the run ended.
    Count: the number of hits. Times are in ISO 8601.
    """
    run, version = _newest_run(case), ScorerVersion.objects.used_by(case).first()
    write_options = BY_NAME["options"].write
    case_cells = _of_case(case)
    finished_at = run.finished_at.isoformat(timespec="seconds") if run and run.finished_at else ""
    case_queries: QuerySet[Any] = case.case_queries.present().with_scores(run, version).order_by("position", "id")
    rows = (
        (
            *case_cells,
            row.query.text,
            None if row.is_stale else rounded(row.score),
            finished_at if row.ranking_id else "",
            count_hits(row),
            row.query.information_need,
            row.query.notes,
            write_options(row.options),
        )
        for row in count_rows(case_queries.iterator(chunk_size=CHUNK))
    )
    return write_rows(GENERAL, rows)


def export_detailed(*, case: Case) -> Iterator[str]:
    """Yields a row for each ranked document, with its grade and displayed fields. A query without documents has a row of its own."""
    run = _newest_run(case)
    title, fields = "", []
    if run:  # what is displayed with a result: the title, and the others without the id
        spec = runs.field_spec(run.config)
        title = spec.title
        names = field_names([run]) if spec.all_fields else [*(spec.names or ()), *spec.functions]
        fields = [name for name in dict.fromkeys(names) if name not in (spec.id, title)]
    return write_rows((*DETAILED, *fields), _document_rows(case, run, title, fields))


def _document_rows(case: Case, run: Run | None, title: str, fields: Sequence[str]) -> Iterator[Sequence[Cell]]:
    case_cells, width = _of_case(case), len(DETAILED) + len(fields)
    rows = case.case_queries.texts().items()
    for batch in batched(count_rows(rows), CHUNK):
        query_ids = [query_id for query_id, _ in batch]
        grades = scores.known_grades(case.book, query_ids)
        rankings = run.rankings.filter(query_id__in=query_ids).defer("explanations") if run else []
        hits_by_query = {ranking.query_id: ranking.hits for ranking in read_hits(rankings)}
        for query_id, text in batch:
            for rank, (doc_id, _, values, *_) in enumerate(hits_by_query.get(query_id, ()), 1):
                grade = grades[query_id].get(doc_id)
                rating = "" if grade is None else f"{grade:.12g}"
                cells = (format_value(values.get(name)) for name in fields)
                yield (*case_cells, text, doc_id, rank, format_value(values.get(title)), rating, *cells)
            if not hits_by_query.get(query_id):
                yield (*case_cells, text, *[""] * (width - len(OF_CASE)))


def _newest_run(case: Case) -> Run | None:
    return Run.objects.finished().newest_for(case).first()


def _of_case(case: Case) -> tuple[str, str, int]:
    teams = ",".join(case.teams.order_by("name").values_list("name", flat=True))
    return teams, case.name, case.pk
