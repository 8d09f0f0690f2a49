"""The measures that exist: the built-in ones, then those of installed packages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from .definition import Definition
from .errors import MeasureError, UnknownMeasure
from .measures.ap import AP
from .measures.avg_edit import AVG_EDIT
from .measures.bpref import BPREF
from .measures.dcg import CG, DCG
from .measures.err import ERR
from .measures.judged import JUDGED
from .measures.ndcg import NDCG
from .measures.precision import SUCCESS, P, R
from .measures.rbp import RBP
from .measures.rr import RR

BUILT_IN = (AVG_EDIT, NDCG, AP, P, R, RR, ERR, RBP, DCG, CG, SUCCESS, JUDGED, BPREF)
ENTRY_POINT_GROUP = "relevancy.measures"


@cache
def get_definitions() -> Mapping[str, Definition]:
    """Returns {name: definition} of every measure: the built-in ones, then the entry points of the group `relevancy.measures`.

    Raises `MeasureError` if two measures have the same name or an entry point cannot be used.
    """
    return index_by_name((*BUILT_IN, *_load_installed()))


def get_definition(name: str) -> Definition:
    """Returns the definition of this name. Raises `UnknownMeasure`, which lists the measures that exist."""
    definitions = get_definitions()
    if name in definitions:
        return definitions[name]
    lowercase = {measure_name.lower(): measure_name for measure_name in definitions}
    close = difflib.get_close_matches(name.lower(), lowercase, n=1)
    suggestion = f" Did you mean {lowercase[close[0]]}?" if close else ""
    raise UnknownMeasure(
        f"There is no measure {name!r}.{suggestion} Available: {', '.join(definitions)}. "
        "If a package provided it, install that package.",
        name,
    )


def index_by_name(definitions: Iterable[Definition]) -> Mapping[str, Definition]:
    """Returns {name: definition}. Raises `MeasureError` if two have the same name."""
    by_name: dict[str, Definition] = {}
    for definition in definitions:
        if definition.name in by_name:
            raise MeasureError(
                f"Two measures are called {definition.name!r}: one of {by_name[definition.name].compute.__module__}, one of "
                f"{definition.compute.__module__}. Rename one of them, or uninstall the package that provides it."
            )
        by_name[definition.name] = definition
    return MappingProxyType(by_name)


def _load_installed() -> Iterable[Definition]:
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            definition = entry_point.load()
        except Exception as error:
            raise MeasureError(
                f"The measure {entry_point.name!r} ({entry_point.value}) cannot be imported: {error}. Repair or uninstall "
                "the package that provides it."
            ) from error
        if not isinstance(definition, Definition):
            raise MeasureError(
                f"The entry point {entry_point.name!r} of {ENTRY_POINT_GROUP} must refer to a Definition, but "
                f"{entry_point.value} is a {type(definition).__name__}."
            )
        yield definition
