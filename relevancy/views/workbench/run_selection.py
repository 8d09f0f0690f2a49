"""Which run of a case a page shows."""

from django.db.models import QuerySet

from relevancy import scores
from relevancy.hooks import ShownRun
from relevancy.models import Case, Run, compiled


class RunSelection:
    """The run that a page shows: the one that the address names as `run`, or else the newest one of the case that did not fail.

    newest: the case's newest run; None if nothing was run yet.
    has_newest_failed: whether it failed, or was stopped before its first search.
    last_complete: the newest run that is complete; None if there is none.
    default: the run shown if the address names none: the newest one, or the last complete one if the newest failed or was stopped
        before its first search.
    run: the run shown; None if nothing was run yet. A number that no run has selects the default.
    baseline: what the run shown is compared with: the last complete run before it, as in `scores.baseline_of`; None if there is none.
    """

    def __init__(self, case: Case, number: int = 0) -> None:
        """Reads the newest run, the one with the number, and the last complete ones before them. One SQL statement."""
        self._case = case
        runs = _runs(case.pk, number)
        for run in runs:
            run.case = case
        complete = [run for run in runs if run.status == Run.Status.COMPLETE]
        self.newest = runs[0] if runs else None
        self.has_newest_failed = self.newest is not None and (
            self.newest.status == Run.Status.FAILED
            or (self.newest.status == Run.Status.CANCELLED and not self.newest.done)
        )
        self.last_complete = complete[0] if complete else None
        self.default = self.last_complete if self.last_complete and self.has_newest_failed else self.newest
        self.run = {run.number: run for run in runs}.get(number, self.default)
        shown = self.run.number if self.run else 0
        self.baseline = next(iter([run for run in complete if run.number < shown]), None)

    @property
    def is_older(self) -> bool:
        """Whether the run shown is not the newest: it can be viewed and rated, but not searched."""
        return self.run is not None and self.newest is not None and self.run.pk != self.newest.pk

    @property
    def finished_run(self) -> Run | None:
        """The run shown unless it is still active."""
        return None if self.run is None or self.run.is_active else self.run

    @property
    def has_pictures(self) -> bool:
        """Whether the run shown displays a picture of each document."""
        specs = str(self.run.config.get("fields", "")).split() if self.run else []
        return any(spec.startswith(("thumb:", "image:")) for spec in specs)

    @property
    def rescorable_run(self) -> Run | None:
        """The run shown if it is finished and has rankings that scores can be computed from."""
        return self.finished_run if self.finished_run and self.finished_run.done else None

    @property
    def is_summed_by_worker(self) -> bool:
        """Whether the run shown has so many queries that a worker, not the page, sums their scores after a rating."""
        return self.run is not None and self.run.queries > scores.MAX_SUMMED

    @property
    def shown_run(self) -> ShownRun:
        """What links of optional apps lead to."""
        return ShownRun(self._case, self.parameters.get("run"))

    @property
    def parameters(self) -> dict[str, int]:
        """What every link of the page adds to its address, so that it leads to the same run; nothing for the default."""
        return {"run": self.run.number} if self.run and self.default and self.run.pk != self.default.pk else {}


@compiled
def _runs(case_id: int, number: int) -> QuerySet[Run]:
    return Run.objects.newest_and_named(case_id, number).select_related("attempt")
