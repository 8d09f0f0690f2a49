"""A case whose engine finds the good document of each query the better, the nearer two knobs are to their best values."""

import math
import random
from collections.abc import Mapping
from typing import Any

import pytest

from relevancy import engines
from relevancy.models import Attempt, Case, ScorerVersion
from relevancy.optional.studies import studies
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.space import parse_knob
from tests.factories import ScriptedEngine, make_attempt, make_case, script_of

BEST = {"boost": 4.0, "tie": 0.7}
KNOBS = ["boost=0.1:10:log", "tie=0:1"]
TEXTS = "mm=2<75%,100%,3"
QUERIES = 30
TEMPLATE = '{"query": "#$query##", "boost": ##boost##, "tie": ##tie##}'


def rank_of_good(query: str, knobs: Mapping[str, float]) -> int:
    """From 1 to 9: the distance of the knobs from their best values, and what each query has of its own."""
    chance = random.Random(query)
    far = abs(math.log10(knobs["boost"] / BEST["boost"])) / 2 + abs(knobs["tie"] - BEST["tie"])
    return 1 + min(8, int(8 * far * chance.uniform(0.5, 1.5) + chance.uniform(0, 1)))


def search(request: engines.Request) -> list[str]:
    return _with_good_at(rank_of_good(request.query, {name: float(value) for name, value in request.knobs.items()}))


def search_texts(request: engines.Request) -> list[str]:
    """The good document is far down unless `mm` is “100%”."""
    chance = random.Random(request.query)
    return _with_good_at(chance.randint(1, 3) if request.knobs["mm"] == "100%" else chance.randint(5, 9))


def _with_good_at(rank: int) -> list[str]:
    ids = [f"other-{number}" for number in range(9)]
    return [*ids[: rank - 1], "good", *ids[rank - 1 :]]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevancy.optional.studies.searching.PAUSE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _render_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(self: ScriptedEngine, request: engines.Request) -> Mapping[str, Any]:
        return {"query": request.query, **request.knobs}

    monkeypatch.setattr(ScriptedEngine, "render", render)


@pytest.fixture
def case() -> Case:
    ratings = {f"query {number}": {"good": 3, "other-0": 0} for number in range(1, QUERIES + 1)}
    return make_case(QUERIES + 2, ratings, measures=("RR@10", "nDCG@10"))


@pytest.fixture
def attempt(case: Case) -> Attempt:
    made = make_attempt(case, template=TEMPLATE, knobs={"boost": 0.5, "tie": 0.2})
    script_of(made).default = search
    return made


def make_text_attempt(case: Case) -> Attempt:
    """An attempt with a knob that is a text."""
    template = '{"query": "#$query##", "boost": ##boost##, "minimum_should_match": ##mm##}'
    made = make_attempt(case, template=template, knobs={"boost": 0.5, "mm": "2<75%"})
    script_of(made).default = search_texts
    return made


def settings(**changes: Any) -> studies.StudySettings:
    return studies.StudySettings(**{"knobs": [parse_knob(text) for text in KNOBS], "trials": 30, **changes})


def make_study(attempt: Attempt, **changes: Any) -> Study:
    version = ScorerVersion.objects.used_by(attempt.case)[0]
    return studies.create(
        case=attempt.case, parent=attempt, version=version, settings=settings(**changes), by=attempt.case.owner
    )


def finish(study: Study, seconds: float = 10.0) -> Study:
    """Works on the study until it has ended."""
    while studies.continue_study(study.pk, seconds=seconds):
        pass
    related = ("case__book", "parent__endpoint", "version__scorer", "created_by")
    found: Study = Study.objects.select_related(*related).get(pk=study.pk)
    return found
