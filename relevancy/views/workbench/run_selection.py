"""Which run of a case a page shows."""

from functools import cached_property

from relevancy.hooks import ShownRun
from relevancy.models import Case, Run


class RunSelection:
    """The run that a page shows: the one that the address names as `run`, or else the newest one of the case that did not fail."""

    def __init__(self, case: Case, number: int = 0) -> None:
        self._case = case
        self._number = number

    @cached_property
    def newest(self) -> Run | None:
        """The case's newest run; None if nothing was run yet."""
        return self._runs[0] if self._runs else None

    @cached_property
    def default(self) -> Run | None:
        """The run shown if the address names none: the newest one, or the last complete one if the newest failed or was stopped
        before its first search."""
        return self.last_complete if self.last_complete and self.has_newest_failed else self.newest

    @cached_property
    def run(self) -> Run | None:
        """The run shown; None if nothing was run yet. A number that no run has selects the default."""
        return next((run for run in self._runs if run.number == self._number), self.default)

    @property
    def has_newest_failed(self) -> bool:
        """Whether the newest run failed, or was stopped before its first search."""
        if self.newest is None:
            return False
        return self.newest.status == Run.Status.FAILED or (
            self.newest.status == Run.Status.CANCELLED and not self.newest.done
        )

    @cached_property
    def last_complete(self) -> Run | None:
        """The newest run of the case that is complete; None if there is none."""
        return next((run for run in self._runs if run.status == Run.Status.COMPLETE), None)

    @cached_property
    def _runs(self) -> list[Run]:
        """The newest run, the one that was named, and the last complete ones before them, newest first. One SQL statement."""
        runs = list(Run.objects.newest_and_named(self._case, self._number).select_related("attempt"))
        for run in runs:
            run.case = self._case
        return runs

    @cached_property
    def baseline(self) -> Run | None:
        """What the run shown is compared with: the last complete run before it, as in `scores.baseline_of`; None if there is none."""
        shown = self.run
        complete = (run for run in self._runs if run.status == Run.Status.COMPLETE)
        return next((run for run in complete if shown and run.number < shown.number), None)

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
    def shown_run(self) -> ShownRun:
        """What links of optional apps lead to."""
        return ShownRun(self._case, self.parameters.get("run"))

    @property
    def parameters(self) -> dict[str, int]:
        """What every link of the page adds to its address, so that it leads to the same run; nothing for the default."""
        return {"run": self.run.number} if self.run and self.default and self.run.pk != self.default.pk else {}
