"""Which measures exist: an explicit tuple, then installed packages that offer more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from .definition import Definition
from .errors import MeasureError
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
GROUP = "relevancy.measures"


@cache
def definitions() -> Mapping[str, Definition]:
    """Every measure by its name: those of the house, then entry points of the group `relevancy.measures`, each of
    which names a `Definition`."""
    return registered((*BUILT_IN, *_installed()))


def registered(found: Iterable[Definition]) -> Mapping[str, Definition]:
    """By name; two of one name are an error."""
    by_name: dict[str, Definition] = {}
    for definition in found:
        if definition.name in by_name:
            raise MeasureError(
                f"Two measures are called {definition.name!r}: "
                f"{by_name[definition.name].compute.__module__} and {definition.compute.__module__}. "
                "Rename one, or remove the package that brings it."
            )
        by_name[definition.name] = definition
    return MappingProxyType(by_name)


def _installed() -> Iterable[Definition]:
    for entry in entry_points(group=GROUP):
        definition = entry.load()
        if not isinstance(definition, Definition):
            raise MeasureError(
                f"The entry point {entry.name!r} of {GROUP} must name a Definition, but {entry.value} is "
                f"a {type(definition).__name__}."
            )
        yield definition
