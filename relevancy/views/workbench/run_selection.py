"""Which run of a case a page shows."""

from functools import cached_property

from relevancy.models import Case, Run


class RunSelection:
    """The run that a page shows: the newest one of the case, or an older one that the address names as `run`."""

    def __init__(self, case: Case, number: int = 0) -> None:
        self._case = case
        self._number = number

    @cached_property
    def newest(self) -> Run | None:
        """The case's newest run; None if nothing was run yet."""
        return Run.objects.newest_for(self._case).with_details().first()

    @cached_property
    def run(self) -> Run | None:
        """The run shown; None if nothing was run yet. A number that no run has selects the newest run."""
        run = self._numbered() or self.newest
        if run is not None:
            run.case = self._case
        return run

    def _numbered(self) -> Run | None:
        if not self._number:
            return None
        return Run.objects.with_details().filter(case=self._case, number=self._number).first()

    @property
    def is_older(self) -> bool:
        """Whether the run shown is not the newest: it can be viewed and rated, but not searched."""
        return self.run is not None and self.newest is not None and self.run.pk != self.newest.pk

    @property
    def finished_run(self) -> Run | None:
        """The run shown unless it is still active."""
        return None if self.run is None or self.run.is_active else self.run

    @property
    def rescorable_run(self) -> Run | None:
        """The run shown if it is finished and has rankings that scores can be computed from."""
        return self.finished_run if self.finished_run and self.finished_run.done else None

    @property
    def parameters(self) -> dict[str, int]:
        """What every link of the page adds to its address, so that it leads to the same run."""
        return {"run": self.run.number} if self.run and self.is_older else {}
