"""Who may send requests to the endpoint of a case; see `Endpoint.objects.usable_in`."""

from django.core.exceptions import ValidationError

from relevancy.engines.errors import EngineError
from relevancy.models import Case, Endpoint, Run, User
from relevancy.slow_requests import Busy


class RunNotAllowed(ValidationError):
    """A run that cannot be started or changed, or an endpoint that cannot be searched. The message is written for users."""

    def __str__(self) -> str:
        return " ".join(self.messages)


def lock_for_run(case: Case) -> int:
    """Locks a case that gets a run, and returns the number of its queries. Raises `RunNotAllowed` while another run is active, and
    for a case without queries."""
    Case.objects.select_for_update(no_key=True).get(pk=case.pk)
    if active := case.runs.active().first():
        raise RunNotAllowed(f"Run {active.number} is still {active.status}. Wait until it is finished, or stop it.")
    queries: int = case.case_queries.present().count()
    if not queries:
        raise RunNotAllowed("The case has no queries. Add some first.")
    return queries


SEARCH_ERRORS = (RunNotAllowed, EngineError, Busy)  # why an engine was not searched, written for users


def why_not_usable(*, case: Case, endpoint: Endpoint, by: User) -> str:
    """Returns why a user may not search an endpoint in a case, and whom to ask; an empty string if the user may.

    One SQL statement if the user may.
    """
    if Endpoint.objects.usable_in(case, by).filter(pk=endpoint.pk).exists():
        return ""
    if not by.is_active:
        return f"The account of {by} is deactivated."
    if not Case.objects.editable_by(by).filter(pk=case.pk).exists():
        return f"{by} is not an editor of “{case}”. Its owner, {case.owner}, or an owner of a team it is shared with can change that."
    return (
        f"{by} may not use the endpoint {endpoint.name}. Its owner, {endpoint.owner}, can share it with a team in which "
        f"{by} is an editor."
    )


def check_usable(*, case: Case, endpoint: Endpoint, by: User) -> None:
    """Raises `RunNotAllowed` unless the user may search the endpoint in the case."""
    if reason := why_not_usable(case=case, endpoint=endpoint, by=by):
        raise RunNotAllowed(reason)


def why_not_continued(run: Run) -> str:
    """Returns why a run may not be searched any further: who started it may no longer use its endpoint; else an empty string."""
    if run.requested_by is None:
        return ""
    reason = why_not_usable(case=run.case, endpoint=run.attempt.endpoint, by=run.requested_by)
    return f"{reason} So the run of {run.requested_by} was not continued." if reason else ""
