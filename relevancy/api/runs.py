"""Runs: started, followed, cancelled, pinned; their rankings and scores."""

import time
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Max
from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import endpoints, ratings, runs, scores, tasks
from relevancy.models import Case, CaseScore, QueryScore, Ranking, Role, Run, ScorerVersion, hit_sizes, read_hits
from relevancy.slow_requests import slow_request

from .access import Id, Name, Number, get_attempt, get_case, get_run
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate

MAX_RANKINGS = 10_000  # in one request
POLL_SECONDS = 0.5  # between two looks at a run that a request waits for
router = Router(tags=["Runs"])


class RunSummary(Schema):
    """A run. done, failed: how many of its queries were searched, and how many of these searches failed.

    per_second, seconds_left: how many queries an active run searches a second, and how long the rest takes at this rate; null while
    that is not known, and when the run has ended.
    """

    id: int
    case_id: int
    number: int
    name: str
    attempt: int = Field(validation_alias="attempt.number", description="The number of the attempt.")
    status: str = Field(
        examples=["complete"], description="waiting, running, complete, incomplete, cancelled or failed"
    )
    reason: str = Field(description="Why the run failed or is incomplete.")
    queries: int
    done: int
    failed: int
    per_second: float | None = Field(examples=[212.5])
    seconds_left: float | None = Field(examples=[31.2])
    is_pinned: bool
    created_by: Name
    created_at: datetime
    finished_at: datetime | None

    @staticmethod
    def resolve_per_second(run: Run) -> float | None:
        return run.per_second(timezone.now())

    @staticmethod
    def resolve_seconds_left(run: Run) -> float | None:
        rate = run.per_second(timezone.now())
        return max(0, run.queries - run.done) / rate if rate else None

    @staticmethod
    def resolve_is_pinned(run: Run) -> bool:
        return run.pinned_at is not None


class RunScore(Schema):
    """The score of a run under one scorer, from 0 to 100, over `scored` of its queries.

    score, low, high: null if no query can be scored, and while `is_being_rescored`: no outdated number is returned.
    """

    scorer_id: int
    scorer: str = Field(examples=["nDCG@10"])
    version: int
    score: float | None = Field(examples=[61.8])
    low: float | None
    high: float | None
    scored: int
    queries: int
    unrated: int
    is_being_rescored: bool


class RunDetails(RunSummary):
    """A run with its scores, that of the primary scorer first.

    heartbeat_at: when one of its workers last said that it is alive, every 10 s; null if none has begun, and when the run has ended.
    """

    heartbeat_at: datetime | None
    scores: list[RunScore]

    @staticmethod
    def resolve_heartbeat_at(run: Run) -> datetime | None:
        return run.parts.aggregate(latest=Max("heartbeat_at"))["latest"] if run.is_active else None

    @staticmethod
    def resolve_scores(run: Run) -> list[dict[str, Any]]:
        versions = list(ScorerVersion.objects.used_by(run.case_id).defer("script"))
        rows = CaseScore.objects.filter(run=run, version__in=versions).with_case_revision().order_by("day")
        newest = {row.version_id: row for row in rows}
        return [_run_score(run, version, newest.get(version.pk)) for version in versions]

    @property
    def is_rescored(self) -> bool:
        """Whether the scores are being computed again."""
        return any(score.is_being_rescored for score in self.scores)

    @property
    def is_unfinished(self) -> bool:
        """Whether the run is still searched or scored."""
        return self.status in Run.ACTIVE_STATUSES or self.is_rescored


class QueryScoreDetails(Schema):
    """The score of one query. It is null if the query cannot be scored, and while `is_being_rescored`."""

    scorer_id: int
    scorer: str = Field(examples=["nDCG@10"])
    score: float | None = Field(examples=[72.5])
    low: float | None
    high: float | None
    unrated: int | None
    error: str
    is_being_rescored: bool


class HitDetails(Schema):
    """A ranked document. score: of the engine."""

    rank: int
    doc_id: str = Field(examples=["star-wars-1977"])
    score: float | None
    fields: dict[str, Any] | None = Field(description="As displayed; null unless asked for.")


class RankingDetails(Schema):
    """What the engine returned for one query. error: why the search failed; empty if it did not."""

    query_id: int
    text: str = Field(examples=["star wars"])
    total: int | None
    took_ms: int | None
    error: str
    hits: list[HitDetails]
    scores: list[QueryScoreDetails]


class RankingParameters(PageParameters):
    fields: bool = Field(False, description="Whether to return the displayed fields of each document.")


class Waiting(Input):
    wait: int = Field(
        0,
        ge=0,
        le=60,
        description="Seconds to wait for the end of the run and for its scores. 503, and no run, if too many requests wait.",
    )


class StartedRun(Schema):
    """A run and what became of the request."""

    id: int
    number: int
    status: str = Field(examples=["waiting"])


class ImportedHit(Input):
    """A document of a ranking that was made elsewhere."""

    doc_id: str = Field(min_length=1, max_length=500, examples=["star-wars-1977"])
    score: Number | None = Field(None, examples=[12.4])


class ImportedRanking(Input):
    """The documents that another system returned for one query of the case, in rank order."""

    query_id: int = Field(ge=1, le=2**63 - 1)
    hits: list[ImportedHit] = Field(max_length=1_000)


class ImportedRun(Input):
    """Rankings that were made elsewhere. Queries of the case that are missing count as without results."""

    name: str = Field("", max_length=120, examples=["candidate 7"])
    note: str = Field("", max_length=250)
    rankings: list[ImportedRanking] = Field(min_length=1, max_length=MAX_RANKINGS)


@router.post("/cases/{case_id}/runs", auth=WRITE, response={201: StartedRun})
def import_run(request: ApiRequest, case_id: Id, new: ImportedRun) -> Status[Run]:
    """Stores rankings that were made elsewhere as a pinned run, which is scored in the background."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    spec = endpoints.suggestions.suggest_fields(engine="static", names=["id"]).spec
    imported = runs.ImportedRankings(name=new.name, note=new.note, fields=spec, hits=_imported_hits(case, new))
    (run,) = runs.import_rankings(case=case, rankings=[imported], by=request.user)
    tasks.enqueue_run_rescore(run)
    return Status(201, run)


@router.get("/cases/{case_id}/runs", auth=READ, response=Page[RunSummary])
def list_runs(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The runs of a case, newest first."""
    case = get_case(request, case_id)
    return paginate(case.runs.select_related("attempt", "created_by"), page, "-number")


@router.post("/cases/{case_id}/attempts/{number}/runs", auth=WRITE, response={200: RunDetails, 202: RunDetails})
def start_run(
    request: ApiRequest, response: HttpResponse, case_id: Id, number: Id, waiting: Query[Waiting]
) -> Status[RunDetails]:
    """Runs an attempt: searches all queries of the case in the background, and answers 202. Follow it at `runs/{run_id}`.

    With `wait`, 200 as soon as the run has ended and is scored; 202, with the run as it is, if that takes longer.
    """
    with slow_request(settings.SLOW_THREADS) if waiting.wait else nullcontext():
        attempt = get_attempt(request, case_id, number, needs=Role.EDITOR)
        started = runs.start(attempt=attempt, by=request.user)
        tasks.enqueue_run(started)
        deadline = time.monotonic() + waiting.wait
        while (details := read_details(get_run(request, started.pk))).is_unfinished and time.monotonic() < deadline:
            connection.close()  # others need it more
            time.sleep(POLL_SECONDS)
    response["Location"] = f"/api/v1/runs/{started.pk}"
    return Status(202 if details.is_unfinished else 200, details)


@router.get("/runs/{run_id}", auth=READ, response=RunDetails)
def read_run(request: ApiRequest, run_id: Id) -> RunDetails:
    """A run with its progress and its scores. Outdated scores are computed in the background; ask again for them."""
    return read_details(get_run(request, run_id))


@router.delete("/runs/{run_id}", auth=WRITE, response={202: StartedRun})
def cancel_run(request: ApiRequest, run_id: Id) -> Status[Run]:
    """Stops a run; the results it has already are kept. 409 if it has ended."""
    run = get_run(request, run_id, needs=Role.EDITOR)
    if not run.is_active:
        raise runs.RunNotAllowed(f"Run {run.number} has already ended: {run.get_status_display().lower()}.")
    runs.cancel(run=run, by=request.user)
    run.refresh_from_db(fields=["status"])
    return Status(202, run)


@router.get("/runs/{run_id}/rankings", auth=READ, response=Page[RankingDetails])
def list_rankings(request: ApiRequest, run_id: Id, page: Query[RankingParameters]) -> dict[str, Any]:
    """The ranked documents of each query, with its scores. A page ends early rather than be larger than 5 million characters."""
    run = get_run(request, run_id)
    rankings = run.rankings.select_related("query").defer("explanations")
    listed = paginate(rankings, page, "id", sizes=hit_sizes)
    read_hits(listed["items"])
    versions = {version.pk: version for version in ScorerVersion.objects.used_by(run.case_id).defer("script")}
    stored: dict[int, list[QueryScore]] = {}
    listed_ids = [row.query_id for row in listed["items"]]
    for score in QueryScore.objects.filter(run=run, query__in=listed_ids, version__in=versions):
        stored.setdefault(score.query_id, []).append(score)
    items = [_ranking(row, stored.get(row.query_id, []), versions, with_fields=page.fields) for row in listed["items"]]
    return {**listed, "items": items}


@router.put("/runs/{run_id}/pin", auth=WRITE, response={204: None})
def pin_run(request: ApiRequest, run_id: Id) -> Status[None]:
    """Pins a run: its results are not changed any more. Repeating it changes nothing. 409 while the run is active."""
    runs.pin(run=get_run(request, run_id, needs=Role.EDITOR), by=request.user)
    return Status(204, None)


@router.delete("/runs/{run_id}/pin", auth=WRITE, response={204: None})
def unpin_run(request: ApiRequest, run_id: Id) -> Status[None]:
    """Undoes the pin. Repeating it changes nothing."""
    runs.unpin(run=get_run(request, run_id, needs=Role.EDITOR), by=request.user)
    return Status(204, None)


def _imported_hits(case: Case, new: ImportedRun) -> dict[int, list[tuple[str, float | None, dict[str, Any]]]]:
    """Returns the hits by query id. Raises `ValidationError` for a query that the case does not have, or has been sent twice."""
    present = set(case.case_queries.present().values_list("query_id", flat=True))
    hits: dict[int, list[tuple[str, float | None, dict[str, Any]]]] = {}
    for ranking in new.rankings:
        if ranking.query_id not in present:
            raise ValidationError({"query_id": f"The case has no query with the query_id {ranking.query_id}."})
        if ranking.query_id in hits:
            raise ValidationError(
                {"query_id": f"The query_id {ranking.query_id} is there twice. Send one ranking for it."}
            )
        hits[ranking.query_id] = [(ratings.clean_doc_id(hit.doc_id), hit.score, {}) for hit in ranking.hits]
    return hits


def read_details(run: Run) -> RunDetails:
    """Returns a run with its scores under the scorers of its case. Enqueues their computation if some are outdated."""
    details = RunDetails.from_orm(run)
    rescore_outdated(details)
    return details


def rescore_outdated(run: RunDetails) -> None:
    """Enqueues the computation of the scores of a run that has ended, if some are outdated."""
    if run.done and run.status not in Run.ACTIVE_STATUSES and run.is_rescored:
        tasks.enqueue_run_rescore(Run(pk=run.id))


def _run_score(run: Run, version: ScorerVersion, score: CaseScore | None) -> dict[str, Any]:
    is_settled = False
    if score is not None:
        score.run, score.version = run, version
        is_settled = scores.is_settled(score)
    shown = score if score is not None and is_settled else CaseScore()
    return {
        "scorer_id": version.scorer_id,
        "scorer": version.scorer.name,
        "version": version.number,
        "score": shown.score,
        "low": shown.low,
        "high": shown.high,
        "scored": shown.scored,
        "queries": run.queries,
        "unrated": shown.unrated,
        "is_being_rescored": not is_settled and run.done > 0,
    }


def _ranking(
    ranking: Ranking, stored: list[QueryScore], versions: dict[int, ScorerVersion], *, with_fields: bool
) -> dict[str, Any]:
    by_version = {score.version_id: score for score in stored}
    return {
        "query_id": ranking.query_id,
        "text": ranking.text,
        "total": ranking.total,
        "took_ms": ranking.took_ms,
        "error": ranking.error,
        "hits": [
            {"rank": rank, "doc_id": doc_id, "score": score, "fields": fields if with_fields else None}
            for rank, (doc_id, score, fields, *_) in enumerate(ranking.hits, 1)
        ],
        "scores": [_query_score(version, by_version.get(pk), ranking) for pk, version in versions.items()],
    }


def _query_score(version: ScorerVersion, score: QueryScore | None, ranking: Ranking) -> dict[str, Any]:
    is_current = score is not None and score.revision >= ranking.query.revision
    shown = score if score is not None and is_current else QueryScore()
    return {
        "scorer_id": version.scorer_id,
        "scorer": version.scorer.name,
        "score": shown.score,
        "low": shown.low,
        "high": shown.high,
        "unrated": shown.unrated if is_current else None,
        "error": shown.error,
        "is_being_rescored": not is_current and not ranking.error_kind,
    }
