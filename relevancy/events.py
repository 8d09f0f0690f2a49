"""What happens in this process, for those who count or log it. Whatever records an event knows neither.

Events have few names, and their labels few values, because each combination can become a time series: the name of a view, never a
path; the id of an endpoint, never its address. No label contains a query or a secret. The events of the core:

- `request` (view, method, status): the site has answered a request.
- `task` (task, outcome): a background task has ended.
- `engine_request` (endpoint, outcome): a search engine has answered, or has not. `outcome` is "ok" or the `kind` of an `EngineError`.
- `sandbox_stop` (reason): a script was stopped.
"""

import logging
from collections.abc import Callable, Mapping

type Listener = Callable[[str, float, Mapping[str, str]], None]

_listeners: list[Listener] = []
log = logging.getLogger("relevancy.events")


def listen(listener: Listener) -> Listener:
    """Calls a function with the name, the seconds and the labels of every event from now on. Can be used as a decorator.

    It is called in the thread of the event, which waits for it.
    """
    _listeners.append(listener)
    return listener


def record(name: str, seconds: float = 0.0, **labels: str) -> None:
    """Calls the listeners. Their errors are logged and not raised: an event has already happened. seconds: how long it took."""
    for listener in _listeners:
        try:
            listener(name, seconds, labels)
        except Exception:
            log.exception("The event %s could not be recorded.", name)
