"""What was typed into the steps of a new case, kept in the session until the last one."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from relevancy import cases
from relevancy.models import UnreadableSecret

STEPS = ("scale", "endpoint", "fields", "queries")
TITLES = {"scale": "Name and scale", "endpoint": "Endpoint", "fields": "Fields", "queries": "Queries"}
SECRET = {"csrfmiddlewaretoken", "do", "username", "password", "api_key", "bearer", "clear"}
KEY = "new_case"


class Draft:
    """A case that is not made yet. `typed` holds what was entered, as it was entered; secrets are sealed apart from it."""

    def __init__(self, request: HttpRequest) -> None:
        self.session = request.session
        self.data: dict[str, Any] = self.session.get(KEY) or {
            "typed": {},
            "done": [],
            "found": {},
            "sealed": "",
            "file": "",
        }

    def save(self) -> None:
        self.session[KEY] = self.data

    def clear(self) -> None:
        self.session.pop(KEY, None)

    def typed(self, step: str) -> dict[str, Any]:
        found: dict[str, Any] = self.data["typed"].get(step, {})
        return found

    def keep(self, step: str, posted: Mapping[str, Any]) -> None:
        """Remember what was typed; the step counts as done only after `finish`."""
        self.data["typed"][step] = {name: posted[name] for name in posted if name not in SECRET}
        self.data["done"] = [name for name in self.data["done"] if name != step]
        self.save()

    def finish(self, step: str) -> None:
        self.data["done"] = [*self.data["done"], step]
        self.save()

    def first_open(self) -> str:
        """The first step that is not done."""
        return next((step for step in STEPS if step not in self.data["done"]), STEPS[-1])

    def credentials(self) -> dict[str, str]:
        """What was entered a step before. Raises `Refused` where the key has changed since."""
        try:
            return cases.making.unseal(self.data["sealed"])
        except UnreadableSecret:
            raise cases.Refused(
                "Enter the credentials again: they cannot be read any more.", field="password"
            ) from None

    def asks_at(self) -> tuple[str, ...]:
        """Which endpoint the fields were chosen for; another one makes the choice void."""
        typed = self.typed("endpoint")
        return (*(str(typed.get(name, "")) for name in ("endpoint_id", "engine", "url")), self.data["file"])

    def way(self, current: str) -> list[dict[str, Any]]:
        """The steps for the page: done ones are links."""
        reached = STEPS.index(self.first_open())
        done = self.data["done"]
        return [
            {
                "name": step,
                "title": TITLES[step],
                "current": step == current,
                "open": place <= reached,
                "done": step in done,
            }
            for place, step in enumerate(STEPS)
        ]


def before(step: str) -> str:
    return STEPS[max(0, STEPS.index(step) - 1)]
