"""Why a document has its score, asked live from the embedded engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from relevancy import endpoints, engines, runs
from relevancy.engines.types import Contribution
from relevancy.models import Case, Endpoint, Ranking, Run
from relevancy.runs import explanations
from tests.factories import make_attempt, make_case, run_now

pytestmark = pytest.mark.django_db
FILMS = [
    {"id": "1", "title": "Star Wars", "overview": "A star far away."},
    {"id": "2", "title": "Wars", "overview": "Under a star."},
    {"id": "3", "title": "Solaris", "overview": "An ocean."},
]
TEMPLATE = '{"query": "#$query##", "fields": {"overview": 1, "title": ##title_boost##}, "tie": 1}'


@pytest.fixture
def case(data_dir: Path) -> Case:
    """A case on an embedded index of three films, run once."""
    case = make_case(["star"])
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(FILMS)
    attempt = runs.attempts.save(
        case=case, endpoint=endpoint, template=TEMPLATE, fields="id:id title:title", by=case.owner
    )
    run_now(attempt)
    return case


def ranking_of(case: Case) -> Ranking:
    run: Run = case.runs.select_related("case", "attempt__endpoint").first()
    ranking: Ranking = run.rankings.get()
    ranking.run = run
    return ranking


def test_explain_adds_up_to_the_engines_score(case: Case) -> None:
    ranking = ranking_of(case)
    assert runs.can_explain(ranking)
    for doc_id, score, *_ in ranking.hits:
        found = runs.explain(ranking, doc_id, by=case.owner)
        assert found.score == pytest.approx(score, rel=1e-4)
        assert sum(part.value for part in found.parts) == pytest.approx(found.score)
        assert sum(part.share for part in found.parts) == pytest.approx(1)
        assert sum(one.share for one in found.slices) == pytest.approx(1)
        assert found.tree.children and found.raw["details"]


def test_explain_a_field_has_one_colour_for_all_documents(case: Case) -> None:
    ranking = ranking_of(case)
    both = {one.field: one.colour for one in runs.explain(ranking, "1", by=case.owner).slices}
    assert both == {"overview": 1, "title": 2}
    assert [(one.field, one.colour) for one in runs.explain(ranking, "2", by=case.owner).slices] == [("overview", 1)]


def test_explain_a_field_keeps_its_colour_in_the_next_attempt(case: Case) -> None:
    first = case.attempts.get()
    other = '{"query": "#$query##", "fields": {"title": 9, "overview": 1}, "tie": 1}'
    attempt = runs.attempts.save(
        case=case, endpoint=first.endpoint, template=other, fields=first.fields, by=case.owner, parent=first
    )
    run_now(attempt)
    found = runs.explain(ranking_of(case), "1", by=case.owner)
    assert {one.field: one.colour for one in found.slices} == {"overview": 1, "title": 2}
    assert found.slices[0].field == "title"


def test_explain_a_document_that_does_not_match(case: Case) -> None:
    found = runs.explain(ranking_of(case), "3", by=case.owner)
    assert (found.score, list(found.parts), list(found.slices)) == (0, [], [])


def test_explain_a_document_that_is_missing(case: Case) -> None:
    with pytest.raises(engines.EngineError, match="no document with the id “nothing”"):
        runs.explain(ranking_of(case), "nothing", by=case.owner)


def test_explain_with_a_changed_endpoint(case: Case) -> None:
    Endpoint.objects.update(url="elsewhere")
    with pytest.raises(engines.EngineError, match="is now elsewhere"):
        runs.explain(ranking_of(case), "1", by=case.owner)


def test_explain_with_an_engine_without_explanations(script: object) -> None:
    case = make_case(["q"])
    run_now(make_attempt(case))
    assert not runs.can_explain(ranking_of(case))
    with pytest.raises(engines.EngineError, match="Scripted does not support explaining"):
        runs.explain(ranking_of(case), "a", by=case.owner)


def test_explain_without_the_engines_fields(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any) -> list[str]:
        raise engines.EndpointRefused("no")

    monkeypatch.setattr(engines.get("embedded"), "fields", refuse)
    found = runs.explain(ranking_of(case), "1", by=case.owner)
    assert sorted(one.colour for one in found.slices) == [1, 2]


def part(field: str) -> Contribution:
    return Contribution(field, "x", f"{field}:x", 1.0, 0.1)


@pytest.mark.parametrize(
    ("fields", "named", "colours"),
    [
        (["b", "a"], [], {"b": 1, "a": 2}),
        (["b", "a"], ["a", "b"], {"a": 1, "b": 2}),
        (["z", "a"], ["a", "b"], {"a": 1, "z": 3}),
        (list("abcdefg"), [], {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 5, "g": 5}),
        (["", "a"], [], {"a": 1}),
        ([], ["a"], {}),
    ],
)
def test_colours(fields: list[str], named: list[str], colours: Mapping[str, int]) -> None:
    assert explanations.assign_colours([part(name) for name in fields], named) == colours
