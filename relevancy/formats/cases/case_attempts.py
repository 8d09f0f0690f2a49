"""The attempts and pinned runs of a file, and the endpoints that they name."""

from collections.abc import Mapping
from itertools import count, groupby
from operator import itemgetter

from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import endpoints, runs
from relevancy.models import Attempt, Case, Endpoint, Query, User

from .case_content import CaseContent, EndpointContent

MAX_NAME = 120


def store_history(*, case: Case, content: CaseContent, endpoint: Endpoint | None, by: User) -> None:
    """Stores attempts and pinned runs as they were. Raises `ValidationError`.

    endpoint: which the attempts search that name the endpoint of the newest one. Other endpoints are found by engine and name,
    among those that `by` may use; one that is not found is created archived, without an address.
    """
    if endpoint is not None and (reason := runs.why_not_usable(case=case, endpoint=endpoint, by=by)):
        raise ValidationError({"endpoint": reason})
    endpoints_by_name: dict[str, Endpoint] = {}
    if endpoint is not None and content.endpoint is not None:
        endpoints_by_name[content.endpoint.name] = endpoint
    for attempt in content.attempts:
        if attempt.endpoint.name not in endpoints_by_name:
            endpoints_by_name[attempt.endpoint.name] = _ensure_endpoint(case, attempt.endpoint, by)
    attempts = [
        Attempt(
            case=case,
            number=attempt.number,
            endpoint=endpoints_by_name[attempt.endpoint.name],
            template=attempt.template,
            name=attempt.name,
            note=attempt.note,
            knobs=dict(attempt.knobs),
            fields=attempt.fields,
            depth=attempt.depth,
            escape=bool(attempt.escape),
            created_by=by,
            archived_at=timezone.now() if attempt.is_archived else None,
        )
        for attempt in content.attempts
    ]
    parents = [attempt.parent for attempt in content.attempts]
    runs.store_attempts(attempts=zip(attempts, parents, strict=True))
    if content.runs:
        _store_runs(case, content, by)


def _store_runs(case: Case, content: CaseContent, by: User) -> None:
    ids: Mapping[str, int] = dict(Query.objects.filter(book=case.book_id).values_list("text", "pk"))
    details = {run.number: run for run in content.runs}
    for number, rows in groupby(content.rankings(), key=itemgetter(0)):
        rankings = ((ids[text], ranking) for _, text, ranking in rows)
        runs.store_run(case=case, run=details.pop(number), rankings=rankings, by=by)
    for run in details.values():  # without a query of the case
        runs.store_run(case=case, run=run, rankings=(), by=by)


def _ensure_endpoint(case: Case, content: EndpointContent, by: User) -> Endpoint:
    if content.is_imported:
        return runs.ensure_imported_endpoint(case)
    return matching_endpoint(content, by) or endpoints.create_archived(
        name=free_endpoint_name(content.name), engine=content.engine, options=content.options, by=by
    )


def matching_endpoint(content: EndpointContent | None, by: User) -> Endpoint | None:
    """Returns an endpoint that the user may use and that has the same engine and address as that of the file, else None."""
    if content is None:
        return None
    usable = Endpoint.objects.usable_by(by).live().filter(engine=content.engine)
    if content.url:
        endpoints_by_url = {_core_url(endpoint.url): endpoint for endpoint in usable.defer("credentials", "headers")}
        return endpoints_by_url.get(_core_url(content.url))
    return usable.filter(name=content.name).first()


def _core_url(url: str) -> str:
    """Returns an address without the default handler, which Quepid writes and we may leave out."""
    return url.rstrip("/").removesuffix("/select").removesuffix("/_search")


def free_endpoint_name(name: str) -> str:
    """Returns the name, with a number added if another endpoint already has it."""
    stem = " ".join(name.split())[: MAX_NAME - 5] or "endpoint"
    taken = {other.lower() for other in Endpoint.objects.filter(name__istartswith=stem).values_list("name", flat=True)}
    candidates = (stem if number == 1 else f"{stem} {number}" for number in count(1))
    return next(candidate for candidate in candidates if candidate.lower() not in taken)
