"""Addresses within a case that lead to the run that the page shows."""

from collections.abc import Mapping
from typing import Protocol

from django.template import Context
from django.urls import reverse

from relevancy.models import Case


class SelectedRun(Protocol):
    """The run that a page shows, as the parameters of its address; empty for the one shown by default."""

    @property
    def parameters(self) -> Mapping[str, object]: ...


def case_url(context: Context, name: str, *args: object, **parameters: object) -> str:
    """Returns the URL `name` of the `case` of the context, for the run shown; `args` follow the id of the case."""
    return run_url(context["case"], context.get("selection"), name, *args, **parameters)


def run_url(case: Case, selection: SelectedRun | None, name: str, *args: object, **parameters: object) -> str:
    """Returns the URL `name` of a case.

    Adds the parameters of `selection`, which names the run shown if it is not the default, and `parameters`, of which those
    that are None or empty are left out.
    """
    selected = selection.parameters if selection else {}
    query = {key: value for key, value in {**parameters, **selected}.items() if value not in (None, "")}
    return reverse(name, args=[case.pk, *args], query=query or None)
