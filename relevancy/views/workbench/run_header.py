"""The state of the run shown, as the head of the page has it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from relevancy.models import Run
from relevancy.wording import describe_pace

from .access import CaseAccess
from .run_progress import RunProgress
from .run_selection import RunSelection


@dataclass(frozen=True)
class RunHeader:
    """The run shown, its progress, and whether another one can be started.

    progress: what the page knows of an active run.
    has_queries: whether the case has queries that the user may run.
    has_annotations: whether the history has annotations to read.
    is_rescoring: whether scripts are run in the background after a rating; the page polls until they have been.
    """

    access: CaseAccess
    selection: RunSelection
    progress: RunProgress
    has_queries: bool
    has_annotations: bool
    is_rescoring: bool = False

    @property
    def run(self) -> Run | None:
        return self.selection.run

    @property
    def is_active(self) -> bool:
        """Whether the run shown is waiting or running; the page polls while it is."""
        return self.run is not None and self.run.is_active

    @property
    def progress_text(self) -> str:
        """Returns how far an active run has come."""
        if self.run is None:
            return ""
        if self.run.status == Run.Status.WAITING and not self.run.started_at:
            return "Waiting for the worker"
        return f"{self.run.done:,} of {self.run.queries:,}"

    @property
    def rate_text(self) -> str:
        """Returns the speed of an active run and the time left; empty if it is not known yet."""
        rate = self.run.per_second(timezone.now()) if self.run else None
        return describe_pace(rate, max(0, self.run.queries - self.run.done)) if self.run and rate else ""

    @property
    def polls(self) -> bool:
        """Whether the page asks for the state of the run."""
        return self.is_active or self.is_rescoring

    @property
    def poll_url(self) -> str:
        """The address of the state of the run."""
        assert self.run is not None
        url = f"{reverse('run_state', args=[self.run.case_id])}?{self.progress.query_string(self.run)}"
        if self.is_rescoring and not self.is_active:
            url += "&" + urlencode({"rescoring": 1, **self.selection.parameters})
        return url

    @property
    def poll_trigger(self) -> str:
        """When the page asks, as `hx-trigger`."""
        return self.progress.trigger if self.is_active else "every 2s"

    @property
    def rated_trigger(self) -> str:
        """When the page asks for the score of the case after a rating, as `hx-trigger`: at once, or when a worker will have summed the
        scores of a larger run. One rating moves it by less than 0.1 points; whoever rates every few seconds asks once at the end."""
        return f"rated from:body delay:{'10s' if self.selection.is_summed_by_worker else '200ms'}"

    @property
    def rescored_trigger(self) -> str:
        """When the page asks again for scores that are being computed. While many raters rate in a large case, they always are."""
        return f"load delay:{'10s' if self.selection.is_summed_by_worker else '1s'}"

    @property
    def engine_text(self) -> str:
        """Returns the endpoint of the run, with the version of its engine if it is known."""
        if self.run is None:
            return ""
        endpoint = str(self.run.config["endpoint"])
        return f"{endpoint}, {self.run.version}" if self.run.version else endpoint

    @property
    def annotations_label(self) -> str:
        """Returns the text of the link to the annotations; empty if the user has nothing to do there."""
        if self.access.can_edit:
            return "Annotate"
        return "Annotations" if self.has_annotations else ""
