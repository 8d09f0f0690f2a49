"""What optional apps add to tests that cover the whole site: the module `tests/contributions.py` of each app."""

from importlib import import_module, util
from typing import Any

from relevancy.hooks import optional_apps


def contributed(name: str) -> list[Any]:
    """Returns what the contributions of each app have under a name, for those that have it."""
    modules = (f"{app.name}.tests.contributions" for app in optional_apps())
    present = [import_module(module) for module in modules if util.find_spec(module)]
    return [getattr(module, name) for module in present if hasattr(module, name)]
