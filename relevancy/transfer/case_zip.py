"""A whole case as a ZIP file, to keep or to take elsewhere."""

import json
import tempfile
import zipfile
from typing import IO, Any

from django.utils import timezone

from relevancy import scores
from relevancy.models import Case, Run, ScorerVersion

from .cells import format_rows
from .ratings_csv import export_ratings
from .run_csv import export_run

MEMORY = 4 * 1024 * 1024  # bytes of a file that are kept in memory; larger ones are written to disk
QUERY_COLUMNS = ("query", "weight", "options", "tags", "information_need", "notes")
JUDGMENT_COLUMNS = ("query", "docid", "rater", "verdict", "rating", "note", "rated_at", "decides")


def export_case(*, case: Case) -> IO[bytes]:
    """Returns a file, positioned at its start, that deletes itself when it is closed.

    case.json: name, book, scorers and attempts, without addresses and credentials of endpoints. queries.csv: in their order.
    ratings.csv: the grades, as `import_ratings` reads them. judgments.csv: the rating of each rater. run-N.csv: the newest
    finished run. One SQL statement for each query, and a few more.
    """
    file = tempfile.SpooledTemporaryFile(max_size=MEMORY)  # noqa: SIM115 (the response closes it)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("case.json", json.dumps(_describe(case), ensure_ascii=False, indent=2) + "\n")
        archive.writestr("queries.csv", format_rows(QUERY_COLUMNS, _query_rows(case)))
        archive.writestr("ratings.csv", export_ratings(case=case))
        archive.writestr("judgments.csv", format_rows(JUDGMENT_COLUMNS, _judgment_rows(case)))
        run = Run.objects.finished().filter(case=case).order_by("-number").first()
        if run is not None:
            archive.writestr(f"run-{run.number}.csv", export_run(run=run))
    file.seek(0)
    return file


def _describe(case: Case) -> dict[str, Any]:
    return {
        "format": "relevancy-case/1",
        "name": case.name,
        "exported_at": timezone.now().isoformat(timespec="seconds"),
        "book": {"name": case.book.name, "scale": case.book.scale, "rule": case.book.rule},
        "scorers": [
            {
                "name": version.scorer.name,
                "version": version.number,
                "measure": version.measure,
                "script": version.script,
                "scale": version.scale,
                "gives": version.output_range if version.script else "",
            }
            for version in ScorerVersion.objects.used_by(case)
        ],
        "attempts": [
            {
                "number": attempt.number,
                "parent": attempt.parent.number if attempt.parent else None,
                "name": attempt.name,
                "note": attempt.note,
                "endpoint": attempt.endpoint.name,
                "engine": attempt.endpoint.engine,
                "template": attempt.template,
                "knobs": attempt.knobs,
                "fields": attempt.fields,
                "depth": attempt.depth,
                "escape": attempt.escape,
                "is_archived": attempt.archived_at is not None,
            }
            for attempt in case.attempts.select_related("endpoint", "parent").order_by("number")
        ],
    }


def _query_rows(case: Case) -> list[tuple[str | float, ...]]:
    return [
        (
            entry.query.text,
            entry.weight,
            json.dumps(entry.options, ensure_ascii=False) if entry.options else "",
            ", ".join(entry.query.tags),
            entry.query.information_need,
            entry.query.notes,
        )
        for entry in case.case_queries.present().select_related("query")
    ]


def _judgment_rows(case: Case) -> list[tuple[str | float, ...]]:
    return [
        (
            text,
            record.doc_id,
            record.rater_name,
            record.verdict,
            "" if record.value is None else record.value,
            record.note,
            record.updated_at.isoformat(timespec="seconds"),
            "yes" if record.is_adjudication else "",
        )
        for query_id, text in case.case_queries.present().values_list("query_id", "query__text")
        for record in scores.QueryRatings.read(query_id).records
    ]
