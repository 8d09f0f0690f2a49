"""Which installed package a run needs."""

from relevancy import engines
from relevancy.models import Run


def missing_engine(run: Run) -> str:
    """Returns the key of the engine that a run was made with if its package is not installed; empty otherwise."""
    key = str(run.config["engine"])
    return "" if engines.find(key) else key
