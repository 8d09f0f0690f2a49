"""Imported runs: rankings that were made elsewhere. They are scored and compared like other runs, and never searched.

See docs/decisions/0015.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from django.db import transaction
from django.utils import timezone

from relevancy import activity
from relevancy.models import Activity, Attempt, Case, Endpoint, Ranking, Run, User

from .access import lock_for_run
from .attempts import next_number
from .requests import snapshot_config

ENGINE = "static"
TEMPLATE = "{}"
ENDPOINT_NAME = "Imported runs of case"  # and its id
DEFAULT_DEPTH = 10  # of a case that has no attempt yet
MAX_HITS = 1000  # of a query; further ones are left out
BATCH = 500  # rankings written at a time


@dataclass(frozen=True)
class ImportedRankings:
    """Rankings of one system for queries of a case.

    name, note: of the run. fields: specification of the displayed fields.
    hits: `{query id: [(document id, engine score or None, {field: value}), …]}` in rank order.
    """

    name: str
    note: str
    fields: str
    hits: Mapping[int, Sequence[tuple[str, float | None, Mapping[str, Any]]]]

    @property
    def documents(self) -> int:
        """The number of ranked documents."""
        return sum(map(len, self.hits.values()))


def is_imported(run: Run) -> bool:
    """Returns whether the results of a run were imported, so that there is no engine to ask."""
    return bool(run.config.get("imported"))


def is_for_imported(endpoint: Endpoint) -> bool:
    """Returns whether an endpoint stands for rankings that were made elsewhere; see `ensure_imported_endpoint`."""
    return endpoint.engine == ENGINE and not endpoint.url and endpoint.name.startswith(ENDPOINT_NAME)


def import_rankings(*, case: Case, rankings: Sequence[ImportedRankings], by: User) -> list[Run]:
    """Stores a run for each of the rankings, in one transaction, and returns them without scores; see `scores.rescore_run`.

    Each run gets an attempt of its own, which is archived: it cannot be run again and stays out of the tree. The run is pinned, so
    that its results stay as they are and keep their fields. A query of the case without hits counts as one that returned nothing.

    Raises `ValidationError`, or `RunNotAllowed` while a run of the case is not finished.
    """
    with transaction.atomic():
        lock_for_run(case)
        present = case.case_queries.present().order_by("position", "id")
        queries = list(present.values_list("query_id", "query__text", "options"))
        endpoint = ensure_imported_endpoint(case)
        depth = case.attempts.order_by("-number").values_list("depth", flat=True).first() or DEFAULT_DEPTH
        return [_import(case, imported, queries, endpoint, depth, by) for imported in rankings]


def ensure_imported_endpoint(case: Case) -> Endpoint:
    """Returns the endpoint that the imported runs of a case are listed under: archived, without an address, never searched."""
    endpoint: Endpoint | None = Endpoint.objects.filter(
        engine=ENGINE, url="", archived_at__isnull=False, attempts__case=case
    ).first()
    return endpoint or Endpoint.objects.create(
        name=f"{ENDPOINT_NAME} {case.pk}", engine=ENGINE, url="", owner=case.owner, archived_at=timezone.now()
    )


def _import(
    case: Case,
    imported: ImportedRankings,
    queries: Sequence[tuple[int, str, Any]],
    endpoint: Endpoint,
    depth: int,
    by: User,
) -> Run:
    now = timezone.now()
    attempt = Attempt(
        case=case,
        number=next_number(case.attempts),
        name=imported.name,
        endpoint=endpoint,
        template=TEMPLATE,
        fields=imported.fields,
        depth=depth,
        created_by=by,
        archived_at=now,
    )
    attempt.clean_fields(exclude={"knobs"})
    attempt.save()
    run = Run(
        case=case,
        attempt=attempt,
        number=next_number(case.runs),
        status=Run.Status.COMPLETE,
        config={**snapshot_config(attempt), "options": {}, "imported": True},
        rows=max([depth, *(min(len(hits), MAX_HITS) for hits in imported.hits.values())]),
        queries=len(queries),
        done=len(queries),
        created_by=by,
        requested_by=by,
        started_at=now,
        finished_at=now,
        pinned_at=now,
        name=imported.name,
        note=imported.note,
    )
    run.clean_fields(exclude={field.name for field in Run._meta.fields} - {"name", "note"})
    run.save()
    activity.record(Activity.Verb.RUN_IMPORTED, case=case, by=by, subject=f"run {run.number}", object_id=run.pk)
    for batch in batched(queries, BATCH):
        rankings = [
            Ranking.with_hits(
                [[doc_id, score, dict(fields)] for doc_id, score, fields in imported.hits.get(query_id, ())[:MAX_HITS]],
                run=run,
                query_id=query_id,
                former_text=text,
                options=options,
            )
            for query_id, text, options in batch
        ]
        Ranking.objects.store(rankings, endpoint=endpoint.pk)
    return run
