"""Requests to the engine of a run that are sent while a page waits."""

from collections.abc import Iterator
from contextlib import contextmanager

from relevancy import engines
from relevancy.endpoints import connect_for_page
from relevancy.models import Ranking, Run, User

from .access import check_usable
from .chunks import endpoint_changed
from .imported import is_imported
from .requests import RequestBuilder


def engine_of(run: Run) -> type[engines.Engine] | None:
    """Returns the engine of a run; None if the results were imported, or the package of the engine is not installed."""
    return None if is_imported(run) else engines.find(run.config["engine"])


def abilities(run: Run) -> engines.Abilities:
    """Returns what the engine of a run can do: nothing if there is none."""
    engine = engine_of(run)
    return engine.abilities if engine else engines.Abilities()


def missing_engine(run: Run) -> str:
    """Returns the key of the engine that a run was made with if its package is not installed; empty otherwise."""
    key = str(run.config["engine"])
    return "" if engines.find(key) else key


@contextmanager
def query_engine(ranking: Ranking, *, by: User) -> Iterator[tuple[engines.Engine, engines.Request]]:
    """Connects to the engine of a run, as a context manager, with what the run sent for the query of a ranking.

    Raises `RunNotAllowed` if `by` may not use the endpoint, `Busy`, and `EngineError`, also if the endpoint has a different address
    since the run.
    """
    run = ranking.run
    check_usable(case=run.case, endpoint=run.attempt.endpoint, by=by)
    if reason := endpoint_changed(run):
        raise engines.EngineError(reason)
    request = RequestBuilder(run.config, run.rows).request(ranking.text, ranking.options)
    with connect_for_page(run.attempt.endpoint) as engine:
        yield engine, request


def interpret(ranking: Ranking, *, by: User) -> engines.Interpretation:
    """Returns how the engine understands the query of a ranking now. Searches once. Raises what `query_engine` raises."""
    with query_engine(ranking, by=by) as (engine, request):
        return engine.interpret(request)
