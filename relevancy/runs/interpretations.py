"""How the engine of a run understands a query: the parsed query, and where the time goes."""

from relevancy import engines
from relevancy.endpoints import connect_for_page
from relevancy.models import Ranking, User

from .access import check_usable
from .chunks import endpoint_changed
from .imported import is_imported
from .requests import RequestBuilder


def can_interpret(ranking: Ranking) -> bool:
    """Returns whether the engine of the run says how it understands a query. An imported run has none."""
    engine = None if is_imported(ranking.run) else engines.find(ranking.run.config["engine"])
    return engine is not None and engine.abilities.interpret


def interpret(ranking: Ranking, *, by: User) -> engines.Interpretation:
    """Returns how the engine understands the query of a ranking as it is now. Stores nothing.

    Queries the engine. Raises `RunNotAllowed` if `by` may not use the endpoint, `Busy`, and `EngineError`, also if the
    endpoint has a different address since the run.
    """
    run = ranking.run
    check_usable(case=run.case, endpoint=run.attempt.endpoint, by=by)
    if reason := endpoint_changed(run):
        raise engines.EngineError(reason)
    builder = RequestBuilder(run.config, run.rows)
    with connect_for_page(run.attempt.endpoint) as engine:
        return engine.interpret(builder.request(ranking.text, ranking.options))
