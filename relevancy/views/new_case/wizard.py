"""The state of a new case between its steps, kept in the session. Only POST requests change it."""

from enum import StrEnum
from typing import TypedDict

from django.core.exceptions import ValidationError

from relevancy import cases
from relevancy.models import UnreadableSecret
from relevancy.views.forms import FormData, InitialValues
from relevancy.views.requests import HtmxRequest

TITLES = {"scale": "Name and scale", "endpoint": "Endpoint", "fields": "Fields", "queries": "Queries"}
STEPS = tuple(TITLES)
NOT_KEPT = {"csrfmiddlewaretoken", "do", "username", "password", "api_key", "bearer", "clear", "switch_to", "format"}
SESSION_KEY = "case_wizard"


class StepAction(StrEnum):
    """What the submit buttons of the steps do."""

    NEXT = "next"
    BACK = "back"
    TRY = "try"
    SKIP = "skip"
    SUGGEST = "suggest"
    CHECK = "check"
    WITHOUT = "without"
    CREATE = "create"
    NO_ENGINE = "no-engine"


class TestedEndpoint(TypedDict, total=False):
    """What the last connection test returned; empty before the first one.

    endpoint: identity of the endpoint, see `WizardState.endpoint_identity`.
    names: names of its fields; filled: of those with a value in the first documents.
    text_names: names of the fields that contained text in the first documents; None without documents.
    text: the query of the test.
    """

    endpoint: list[str]
    names: list[str]
    filled: list[str]
    text_names: list[str] | None
    text: str


class WizardState:
    """What was entered for a case that does not exist yet.

    entered: form values by step, as they were entered, without secrets.
    complete: names of the steps that passed their checks.
    tested: what the last connection test returned.
    sealed: credentials, encrypted.
    file: name of the uploaded file of rankings.
    """

    def __init__(self, request: HtmxRequest) -> None:
        self._session = request.session
        stored = request.session.get(SESSION_KEY, {})
        self._entered: dict[str, InitialValues] = stored.get("entered", {})
        self._complete: list[str] = stored.get("complete", [])
        self.tested: TestedEndpoint = stored.get("tested", {})
        self.sealed: str = stored.get("sealed", "")
        self.file: str = stored.get("file", "")

    def save(self) -> None:
        self._session[SESSION_KEY] = {
            "entered": self._entered,
            "complete": self._complete,
            "tested": self.tested,
            "sealed": self.sealed,
            "file": self.file,
        }

    def clear(self) -> None:
        self._session.pop(SESSION_KEY, None)

    @property
    def is_empty(self) -> bool:
        return not self._entered

    def entered(self, step: str) -> InitialValues:
        """Returns the values entered in a step; empty if it was not submitted yet."""
        return self._entered.get(step, {})

    def enter(self, step: str, values: FormData) -> None:
        """Keeps the values of a step, which is incomplete until `complete` is called."""
        self._entered[step] = {name: values[name] for name in values if name not in NOT_KEPT}
        self._complete = [name for name in self._complete if name != step]
        self.save()

    def forget(self, *steps: str) -> None:
        """Discards the values of steps that depend on a choice that has changed."""
        for step in steps:
            self._entered.pop(step, None)

    def complete(self, step: str) -> None:
        self._complete = [*self._complete, step]
        self.save()

    def first_incomplete(self) -> str:
        """Returns the first incomplete step; the last one if all are complete."""
        return next((step for step in STEPS if step not in self._complete), STEPS[-1])

    def credentials(self) -> dict[str, str]:
        """Returns the credentials that were entered. Raises `ValidationError` if the key that encrypted them is gone."""
        try:
            return cases.unseal(self.sealed)
        except UnreadableSecret:
            message = "The credentials cannot be decrypted any more. Enter them again."
            raise ValidationError({"password": message}) from None

    @property
    def has_engine(self) -> bool:
        """Whether the case is to have an endpoint; otherwise it only holds imported runs."""
        return not self.entered("endpoint").get("no_engine")

    def choose_no_engine(self) -> None:
        """Skips the steps that are about an engine."""
        self.enter("endpoint", {"no_engine": "1"})
        self.forget("fields")
        self.complete("endpoint")
        self.complete("fields")

    def endpoint_identity(self) -> list[str]:
        """Returns what identifies the chosen endpoint: with another one the choice of fields is void."""
        entered = self.entered("endpoint")
        return [*(str(entered.get(name, "")) for name in ("endpoint_id", "engine", "url")), self.file]

    def steps(self, current: str) -> list[dict[str, object]]:
        """Returns all steps for the page of the current one. Steps are links once the ones before them are complete."""
        reached = STEPS.index(self.first_incomplete())
        return [
            {
                "name": name,
                "title": title,
                "is_current": name == current,
                "is_reachable": index <= reached,
                "is_complete": name in self._complete,
            }
            for index, (name, title) in enumerate(TITLES.items())
        ]


def previous_step(step: str) -> str:
    """Returns the step before; the first one for itself."""
    return STEPS[max(0, STEPS.index(step) - 1)]
