"""Why a document has its score, asked live from the embedded engine."""

from pathlib import Path

import pytest

from relevancy import endpoints, engines, runs
from relevancy.models import Case, Endpoint, Ranking, Run
from relevancy.runs import explanations
from tests.factories import make_attempt, make_case, make_user, run_now

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
    assert runs.abilities(ranking.run).explain
    for doc_id, score, *_ in ranking.hits:
        result = runs.explain(ranking, doc_id, by=case.owner)
        assert result.score == pytest.approx(score, rel=1e-4)
        assert sum(part.value for part in result.parts) == pytest.approx(result.score)
        assert sum(part.share for part in result.parts) == pytest.approx(1)
        assert sum(one.share for one in result.slices) == pytest.approx(1)
        assert result.tree is not None
        assert result.tree.children


def test_explain_a_field_has_one_colour_for_all_documents(case: Case) -> None:
    ranking = ranking_of(case)
    both = {one.field: one.colour for one in runs.explain(ranking, "1", by=case.owner).slices}
    assert sorted(both.values()) == [1, 2]
    second = runs.explain(ranking, "2", by=case.owner).slices
    assert [(one.field, one.colour) for one in second] == [("overview", both["overview"])]


def test_explain_a_field_keeps_its_colour_in_the_next_attempt(case: Case) -> None:
    first = case.attempts.get()
    before = runs.explain_results(ranking_of(case), depth=10, by=case.owner)["1"]
    other = '{"query": "#$query##", "fields": {"title": 9, "overview": 1}, "tie": 1}'
    attempt = runs.attempts.save(
        case=case, endpoint=first.endpoint, template=other, fields=first.fields, by=case.owner, parent=first
    )
    run_now(attempt)
    result = runs.explain(ranking_of(case), "1", by=case.owner)
    assert {one.field: one.colour for one in result.slices} == {one.field: one.colour for one in before.slices}
    assert result.slices[0].field == "title"


def test_explain_a_document_that_does_not_match(case: Case) -> None:
    result = runs.explain(ranking_of(case), "3", by=case.owner)
    assert (result.score, list(result.parts), list(result.slices)) == (0, [], [])


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
    assert not runs.abilities(ranking_of(case).run).explain
    with pytest.raises(engines.EngineError, match="Scripted does not support explaining"):
        runs.explain(ranking_of(case), "a", by=case.owner)


def test_explain_results_in_one_request_and_stores_them(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = ranking_of(case)
    assert runs.abilities(ranking.run).explain_many
    assert runs.stored_explanations(ranking) == {}
    result = runs.explain_results(ranking, depth=10, by=case.owner)
    assert list(result) == [hit[0] for hit in ranking.hits]
    for doc_id, score, *_ in ranking.hits:
        single = runs.explain(ranking, doc_id, by=case.owner)
        assert result[doc_id].score == pytest.approx(score, rel=1e-4)
        assert result[doc_id].slices == single.slices
        assert not result[doc_id].differs_from(score)
    monkeypatch.setattr("relevancy.runs.explanations.query_engine", None)
    assert runs.stored_explanations(ranking_of(case)) == result


def test_explain_results_of_the_documents_shown(case: Case) -> None:
    ranking = ranking_of(case)
    assert len(runs.explain_results(ranking, depth=1, by=case.owner)) == 1


def test_explain_results_where_the_index_has_changed(case: Case) -> None:
    """A document that does not match any more has no explanation; another score is recognised."""
    ranking = ranking_of(case)
    films = [{**FILMS[0], "overview": "A star among stars, a star of its own"}, {**FILMS[1], "overview": "An ocean."}]
    with endpoints.connect(Endpoint.objects.get()) as engine:
        engine.load_documents(films)
    result = runs.explain_results(ranking, depth=10, by=case.owner)
    assert list(result) == ["1"]
    assert result["1"].differs_from(next(hit[1] for hit in ranking.hits if hit[0] == "1"))


def test_explain_results_keeps_the_sum_of_many_parts(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "MAX_PARTS", 1)
    ranking = ranking_of(case)
    for explanation in runs.explain_results(ranking, depth=10, by=case.owner).values():
        assert len(explanation.parts) == 1
        assert explanation.parts[0].value == pytest.approx(explanation.score)
        assert sum(item.share for item in explanation.slices) == pytest.approx(1)


def test_explain_results_is_refused_as_a_single_explanation(case: Case, script: object) -> None:
    stranger = make_user("stranger")
    with pytest.raises(runs.RunNotAllowed, match="is not an editor"):
        runs.explain_results(ranking_of(case), depth=10, by=stranger)
    Endpoint.objects.update(url="elsewhere")
    with pytest.raises(engines.EngineError, match="is now elsewhere"):
        runs.explain_results(ranking_of(case), depth=10, by=case.owner)
    other = make_case(["q"])
    run_now(make_attempt(other))
    assert not runs.abilities(ranking_of(other).run).explain_many
    with pytest.raises(engines.EngineError, match="several documents"):
        runs.explain_results(ranking_of(other), depth=10, by=other.owner)


def test_search_again_forgets_the_explanations(case: Case) -> None:
    ranking = ranking_of(case)
    runs.explain_results(ranking, depth=10, by=case.owner)
    runs.search_again(run=ranking.run, case_query=case.case_queries.get(), by=case.owner)
    assert runs.stored_explanations(ranking_of(case)) == {}


@pytest.mark.parametrize(
    ("known", "fields", "template", "coloured"),
    [
        ([], ["b", "a"], "", ["b", "a"]),
        (["a"], ["b", "a"], "", ["a", "b"]),
        (["a", "b"], [], "", ["a", "b"]),
        ([], list("fedcba"), "", list("fedc")),
        # All colours are taken: a field that is neither in the template nor in the explanation makes room.
        (list("abcd"), ["e"], "a c d", ["a", "e", "c", "d"]),
        (list("abcd"), ["e"], "a b c d", list("abcd")),
        (list("abcd"), ["b", "e", "f"], "a c", ["a", "b", "c", "e"]),
    ],
)
def test_coloured_fields(known: list[str], fields: list[str], template: str, coloured: list[str]) -> None:
    assert explanations.coloured_fields(known, fields, set(template.split())) == coloured
