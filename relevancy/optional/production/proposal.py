"""Everything that the page, the API and the command show of an attempt, put together for one of them."""

from __future__ import annotations

from functools import cached_property

from django.core.exceptions import ValidationError

from relevancy import comparison, engines
from relevancy.models import Attempt, ScorerVersion, StoredComparison
from relevancy.models.errors import error_text

from .deployment import build_deployment, describe_difference
from .evidence import Pair, build_evidence, comparison_path, find_attempt_in_use, find_pair
from .parts import Deployment

NOTHING_TO_COMPARE = "The case has no other attempt to compare this one with. Choose one when there is."


class Proposal:
    """An attempt against the one in use. Builds each part when it is first needed.

    attempt, against: with case and endpoint. version: of the scorer of the evidence; None for the primary one of the case. site: the
    address of this server without a slash at the end, or empty.
    """

    def __init__(
        self, attempt: Attempt, against: Attempt | None = None, *, version: ScorerVersion | None = None, site: str = ""
    ) -> None:
        self.attempt = attempt
        self.against = against or find_attempt_in_use(attempt)
        self.version: ScorerVersion = version or ScorerVersion.objects.used_by(attempt.case)[0]
        self.site = site

    @cached_property
    def _built(self) -> tuple[Deployment | None, str]:
        return _build(self.attempt)

    @property
    def deployment(self) -> Deployment | None:
        """None if the attempt cannot be rendered."""
        return self._built[0]

    @property
    def problem(self) -> str:
        """Why the attempt cannot be rendered, in a sentence; empty if it can."""
        return self._built[1]

    @cached_property
    def difference(self) -> str:
        """The unified diff from the attempt in use; empty without one, and if the texts are the same."""
        return self._difference[0]

    @property
    def no_difference(self) -> str:
        """Why there is no difference, in a sentence; empty if there is."""
        return self._difference[1]

    @cached_property
    def _difference(self) -> tuple[str, str]:
        if self.against is None:
            return "", NOTHING_TO_COMPARE
        if self.deployment is None:
            return "", self.problem
        other, problem = _build(self.against)
        if other is None:
            return "", f"Attempt {self.against.number}: {problem}"
        labels = (f"attempt {self.against.number}", f"attempt {self.attempt.number}")
        text = describe_difference(self.deployment, other, labels)
        return (
            text,
            "" if text else f"Attempts {self.against.number} and {self.attempt.number} are deployed as the same text.",
        )

    # --- evidence ---

    @cached_property
    def _pair(self) -> tuple[Pair | None, str]:
        return find_pair(self.attempt, self.against) if self.against else (None, NOTHING_TO_COMPARE)

    @property
    def pair(self) -> Pair | None:
        """The runs that are compared."""
        return self._pair[0]

    @cached_property
    def stored(self) -> StoredComparison | None:
        """Their comparison as the comparison page keeps it."""
        if self.pair is None:
            return None
        try:
            return comparison.stored.find_or_create(runs=self.pair.runs, version=self.version)
        except ValidationError as error:
            self._pair = (self.pair, error_text(error))
            return None

    @property
    def is_pending(self) -> bool:
        """Whether the figures are being computed, or have to be."""
        return self.stored is not None and comparison.stored.needs_computing(self.stored)

    @cached_property
    def evidence(self) -> str:
        """The Markdown; empty as long as the figures are being computed, and without a comparison."""
        stored, pair = self.stored, self.pair
        if stored is None or pair is None or not stored.is_current or stored.figures is None:
            return ""
        figures = comparison.stored.find_large(stored) or comparison.stored.load(stored, pair.runs)
        return build_evidence(pair=pair, version=self.version, figures=figures, site=self.site)

    @property
    def comparison_path(self) -> str:
        """The path of the comparison page; empty without a comparison."""
        return comparison_path(self.pair, self.version) if self.pair else ""

    @property
    def no_evidence(self) -> str:
        """What is missing for the evidence, in a sentence; empty if nothing is, and while it is being computed."""
        if self.evidence or self.is_pending:
            return ""
        return (self.stored.error if self.stored else "") or self._pair[1]


def _build(attempt: Attempt) -> tuple[Deployment | None, str]:
    try:
        return build_deployment(attempt), ""
    except engines.EngineError as error:
        return None, error_text(error)
