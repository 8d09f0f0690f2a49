"""Settings that are estimated: the sums, what follows from them, and that no fold sees its own scores."""

import random
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError

from relevancy import engines, scoring
from relevancy.models import Attempt
from relevancy.optional.studies import estimates, findings, studies
from relevancy.optional.studies.choice import FOLDS, UNSEEN, Evidence
from relevancy.optional.studies.estimates import Estimator, Pool, build_pool, find_groups, fit, list_probes, propose
from relevancy.optional.studies.models import Study, StudyPool
from relevancy.optional.studies.pools import read_documents
from relevancy.optional.studies.samplers import Origin, Proposal, plan_trial
from relevancy.optional.studies.space import Space, parse_knob
from relevancy.optional.studies.trial_scores import TrialScorer
from relevancy.scoring.arrays import FloatArray
from tests.factories import ScriptedEngine, rate_all, script_of

from .conftest import QUERIES, finish, make_study

SPACE = Space((parse_knob("boost=0.1:10:log"), parse_knob("tie=0:1")))
PARENT = {"boost": 0.5, "tie": 0.2}
DOCUMENTS = [f"doc-{number}" for number in range(14)]


def parts_of(query: str, doc_id: str) -> tuple[float, float, float]:
    """What the invented engine adds up for a document: a part of its own, and one for each knob. The good one is ahead in both."""
    chance = random.Random(f"{query} {doc_id}")
    ahead = 1.5 if doc_id == "doc-3" else 1.0
    return chance.uniform(0, 4), ahead * chance.uniform(0, 1), ahead * chance.uniform(0, 3)


def sum_of(query: str, doc_id: str, knobs: Mapping[str, float]) -> float:
    base, of_boost, of_tie = parts_of(query, doc_id)
    return base + knobs["boost"] * of_boost + knobs["tie"] * of_tie


def maximum_of(query: str, doc_id: str, knobs: Mapping[str, float]) -> float:
    base, of_boost, of_tie = parts_of(query, doc_id)
    return max(base, knobs["boost"] * of_boost) + knobs["tie"] * of_tie


type Score = Callable[[str, str, Mapping[str, float]], float]


@pytest.fixture
def explained(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> Callable[[Score], list[engines.Request]]:
    """Lets the engine rank by a score, and explain it. Returns the requests that were explained."""
    grades = {f"query {number}": {"doc-3": 3.0} for number in range(1, QUERIES + 1)}

    def install(score: Score) -> list[engines.Request]:
        asked: list[engines.Request] = []

        def search(request: engines.Request) -> list[str]:
            return sorted(DOCUMENTS, key=lambda doc_id: -score(request.query, doc_id, request.knobs))

        def explain(self: ScriptedEngine, request: engines.Request, doc_ids: Sequence[str]) -> Any:
            asked.append(request)
            return {doc_id: node(score(request.query, doc_id, request.knobs), "custom") for doc_id in doc_ids}

        script_of(attempt).default = search
        monkeypatch.setattr(ScriptedEngine, "abilities", engines.Abilities(explain=True, explain_many=True))
        monkeypatch.setattr(ScriptedEngine, "explain_many", explain)
        return asked

    rate_all(attempt.case, grades, attempt.case.owner)
    return install


def test_probes_are_the_parent_each_knob_and_checks() -> None:
    boost = SPACE.knobs[0]
    probes = list_probes(SPACE, {**PARENT, "other": 3.0}, 7)
    assert probes[:3] == [
        {**PARENT, "other": 3.0},
        {"boost": boost.value(0.9), "tie": 0.2, "other": 3.0},
        {"boost": 0.5, "tie": 0.9, "other": 3.0},
    ]
    assert len(probes) == 3 + estimates.CHECKS
    assert all(probe["other"] == 3 for probe in probes)
    at_ends = list_probes(SPACE, {"boost": 10.0, "tie": 1.0}, 7)
    assert at_ends[0] == {"boost": boost.value(0.9), "tie": 0.9}
    assert at_ends[1:3] == [{"boost": boost.value(0.1), "tie": 0.9}, {"boost": boost.value(0.9), "tie": 0.1}]


def test_fit_finds_the_parts_of_sums_and_what_is_no_sum() -> None:
    values = np.array([[probe["boost"], probe["tie"]] for probe in list_probes(SPACE, PARENT, 7)])
    sums = np.float32(1.25 + values @ [0.5, 3.0])
    maximum = np.maximum(2.0, values[:, 0]) + values[:, 1]
    linear, is_linear = fit(values, np.array([sums, maximum, np.zeros(len(values))]))
    assert is_linear.tolist() == [True, False, True]
    assert linear[0] == pytest.approx([1.25, 0.5, 3.0], rel=1e-5)
    assert linear[2].tolist() == [0, 0, 0]


def node(value: float, description: str, *details: Mapping[str, Any]) -> dict[str, Any]:
    return {"value": value, "description": description, "details": list(details)}


def weight(boost: float, field: str, factor: float) -> dict[str, Any]:
    """A term in a field, as Lucene explains it."""
    score = boost * factor
    factors = node(boost, "boost"), node(factor, "idf"), node(1.0, "tf")
    return node(
        score, f"weight({field}:star in 3) [S], result of:", node(score, "score(freq=1.0), boost * …", *factors)
    )


def disjunction(boost: float, tie: float, title: float, overview: float, *, wording: str = "lucene") -> dict[str, Any]:
    parts = [weight(boost, "title", title), weight(1.0, "overview", overview)]
    best, other = sorted(parts, key=lambda part: -part["value"])
    value = best["value"] + tie * other["value"]
    if wording == "embedded":
        other = {**other, "value": tie * other["value"]}
        return node(value, f"max plus {tie:g} times others of:", best, other)
    return node(
        value,
        f"max plus {tie:g} times others of:" if tie else "max of:",
        *(reversed(parts) if wording == "flipped" else parts),
    )


@pytest.mark.parametrize("wording", ["lucene", "flipped", "embedded"])
def test_explanations_are_taken_apart_into_groups(wording: str) -> None:
    probes = list_probes(SPACE, PARENT, 7)
    values = np.array([[probe["boost"], probe["tie"]] for probe in probes])

    def explain(boost: float, tie: float, wording: str = "lucene") -> dict[str, Any]:
        first, second = (disjunction(boost, tie, *factors, wording=wording) for factors in ((3, 1), (0.4, 2)))
        alone, constant = weight(boost, "title", 0.7), node(1.5, "ConstantScore(*:*)")
        parts = [first, second, alone, constant]
        return node(sum(part["value"] for part in parts), "sum of:", *parts)

    trees = [explain(boost, tie, wording if at % 2 else "lucene") for at, (boost, tie) in enumerate(values.tolist())]
    groups = find_groups(trees)
    assert sorted(len(group.items) for group in groups) == [1, 1, 2, 2]
    pool = build_pool(values, {"a": groups, "b": find_groups([node(row[0], "linear") for row in values.tolist()])})
    assert (pool.doc_ids, pool.groups.tolist(), pool.sizes.tolist()) == (["a", "b"], [3, 1], [2, 2, 1, 1])
    chance = np.random.default_rng(2)
    tried = np.column_stack((chance.uniform(0.1, 10, 40), chance.uniform(0, 1, 40)))
    expected = [[explain(*row)["value"], row[0]] for row in tried.tolist()]
    assert pool.scores(tried).transpose() == pytest.approx(np.array(expected))
    again = Pool.from_bytes(pool.doc_ids, pool.to_bytes())
    assert (again.scores(tried) == pool.scores(tried)).all()


def test_documents_whose_explanations_are_not_linear_are_left_out() -> None:
    values = np.array([[probe["boost"], probe["tie"]] for probe in list_probes(SPACE, PARENT, 7)])
    squares = [node(row[0] ** 2, "pow(boost,2)") for row in values.tolist()]
    # Explained as the best of two, without saying so.
    hidden = [node(max(row[0], 2.0), "custom") for row in values.tolist()]
    other_details = [node(2.0, "sum of:", *[node(2.0 / (at + 1), "x")] * (at + 1)) for at in range(len(values))]
    pool = build_pool(
        values,
        {"square": find_groups(squares), "hidden": find_groups(hidden), "constant": find_groups(other_details)},
    )
    assert pool.doc_ids == ["constant"]
    empty = build_pool(values, {})
    assert (empty.doc_ids, len(empty.items)) == ([], 0)


def sums_of(doc_ids: Sequence[str], items: FloatArray) -> Pool:
    """A pool of documents whose scores are plain sums."""
    ones = np.ones(len(items), np.int64)
    return Pool(doc_ids, ones, ones, np.zeros_like(items), items)


def test_rank_is_that_of_the_sums_and_equal_documents_keep_their_order() -> None:
    chance = np.random.default_rng(3)
    pool = sums_of([str(number) for number in range(30)], chance.uniform(size=(30, 3)).round(1))
    values = np.array([[0.0, 0.0], [1.0, 2.0], [0.3, 0.1]])
    for depth in (5, 30, 50):
        ranked = pool.rank(values, depth)
        for row, (boost, tie) in zip(ranked.tolist(), values.tolist(), strict=True):
            scores = pool.items @ [1, boost, tie]
            expected = sorted(range(30), key=lambda at: (-round(scores[at], 9), at))
            assert row == expected[:depth]


def test_scores_are_the_sums_of_the_best_items_of_groups_and_a_part_of_the_others() -> None:
    """Groups and items of any number, with one tie breaker or several, against a plain loop."""
    chance = np.random.default_rng(4)
    for own_ties in (False, True):
        groups = chance.integers(1, 5, 40)
        sizes = chance.integers(1, 4, groups.sum())
        items = chance.uniform(size=(sizes.sum(), 3)) * (chance.uniform(size=(sizes.sum(), 3)) < 0.5)
        ties = chance.uniform(size=(len(sizes), 3)) if own_ties else np.tile([0.0, 0.0, 1.0], (len(sizes), 1))
        pool = Pool([str(number) for number in range(40)], groups, sizes, ties, items)
        values = np.column_stack((chance.uniform(0, 10, 700), chance.uniform(0, 1, 700)))
        expected = np.zeros((700, 40))
        for row, setting in enumerate(np.column_stack((np.ones(700), values))):
            of_items, of_ties = iter((items @ setting).tolist()), iter((ties @ setting).tolist())
            of_sizes = iter(sizes.tolist())
            for document, count in enumerate(groups.tolist()):
                for _ in range(count):
                    own = [next(of_items) for _ in range(next(of_sizes))]
                    expected[row, document] += max(own) + next(of_ties) * (sum(own) - max(own))
        assert pool.scores(values).transpose() == pytest.approx(expected)
        assert pool.rank(values, 10).tolist() == np.argsort(-expected.round(9), axis=1, kind="stable")[:, :10].tolist()


class Invented:
    """Scores of settings that gain nothing truly: each query likes other settings. Takes the place of an `Estimator`."""

    space = SPACE

    def __init__(self, queries: int, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self.pools = [True] * queries
        self.waves, self.phases = chance.normal(0.0, 4.0, (2, queries)), chance.uniform(0, 2 * np.pi, queries)
        self.sign = np.ones(queries)

    def points(self, settings: Sequence[Mapping[str, float]], beat: object = None) -> FloatArray:
        positions = np.array([SPACE.positions(each) for each in settings])
        return np.asarray(50 + 25 * self.sign * np.cos(positions @ self.waves + self.phases))


def evidence_of(points: FloatArray, folds: Sequence[int] = ()) -> Evidence:
    left_out = np.array(folds) if len(folds) else np.full(len(points), UNSEEN)
    ones = np.ones(len(points), np.bool_)
    return Evidence(points, np.ones(points.shape[1]), None, np.zeros(len(points)), left_out, ones, 5)


PROPOSALS = [Proposal(Origin.ESTIMATED, number % FOLDS) for number in range(20)]


def proposed_by(invented: Invented, seed: int) -> list[dict[str, Any]]:
    found, best, count = propose(invented, evidence_of, PARENT, [PARENT], PROPOSALS, seed, lambda: None)  # type: ignore[arg-type]
    gains = [each["gain"] for each in best]
    assert np.diff(gains).max() < 1e-9
    assert len(best) == estimates.LISTED
    assert gains[0] >= max(each["gain"] for each in found if each)  # over all queries, no fold has a better one
    assert count == 1 + 512 + FOLDS * estimates.ROUNDS * (512 // (estimates.ROUNDS * FOLDS))
    assert None not in found
    return found  # type: ignore[return-value]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "SPREAD", 512)


@pytest.mark.usefixtures("few")
def test_a_fold_does_not_see_its_own_scores() -> None:
    first = proposed_by(Invented(40, 1), 5)
    changed = Invented(40, 1)
    folds = evidence_of(changed.points([PARENT])).folds[0]
    changed.sign[folds == 2] = -1
    second = proposed_by(changed, 5)
    for proposal, one, other in zip(PROPOSALS, first, second, strict=True):
        assert (one["settings"] == other["settings"]) == (proposal.fold_left_out == 2)


@pytest.mark.usefixtures("few")
def test_estimates_claim_no_gain_where_there_is_none() -> None:
    claimed, looks = 0, []
    for seed in range(60):
        invented = Invented(40, seed)
        settings = [PARENT, *map(SPACE.settings, np.random.default_rng(seed).uniform(size=(20, 2)).tolist())]
        folds = [UNSEEN] * len(settings)
        for proposal, found in zip(PROPOSALS, proposed_by(invented, seed), strict=True):
            settings.append(found["settings"])
            folds.append(proposal.fold_left_out)
        evidence = evidence_of(invented.points(settings), folds)
        interval = evidence.gain_interval()
        assert interval is not None
        looks.append(float((evidence.scores.mean(axis=1) - evidence.scores[0].mean()).max()))
        claimed += interval.low > 0
    assert np.mean(looks) > 4  # points that the best seems to gain
    assert claimed <= 3


@pytest.mark.usefixtures("few")
def test_settings_that_were_tried_are_not_proposed_again() -> None:
    invented = Invented(40, 1)
    first = [each["settings"] for each in proposed_by(invented, 5)]
    found, best, _ = propose(invented, evidence_of, PARENT, first, PROPOSALS, 5, lambda: None)  # type: ignore[arg-type]
    assert not [each for each in (*found, *best) if each is None or each["settings"] in first]


def test_estimated_points_are_those_of_the_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    pool = sums_of(DOCUMENTS, chance.uniform(size=(14, 3)))
    grades: dict[str, float] = {"doc-3": 3.0, "doc-5": 1.0, "doc-6": 0.0, "elsewhere": 2.0}
    version: Any = SimpleNamespace(count_unscoreable_as_zero=False)
    scale = scoring.Scale((0, 1, 2, 3))
    scorer = TrialScorer(
        scoring.parse_measure("nDCG@5"), version, 10, scale, [grades, grades], np.array([]), np.array([]), {}
    )
    estimator = Estimator(SPACE, scorer, [None, pool], 5)
    settings = [SPACE.settings(point) for point in chance.uniform(size=(50, 2))]
    found = estimator.points(settings)
    assert np.isnan(found[:, 0]).all()
    rankings = [[DOCUMENTS[at] for at in row] for row in pool.rank(estimator.values(settings), 5)]
    batch = scoring.Batch.build(rankings, [grades] * 50, scale)
    assert found[:, 1] == pytest.approx(scoring.score(scorer.measure, batch, 10).score)
    assert len(set(found[:, 1].tolist())) > 3
    monkeypatch.setattr(estimates, "AT_ONCE", 100)  # seven settings
    few = Estimator(SPACE, scorer, [None, pool], 5)
    assert (few.points(settings)[:, 1] == found[:, 1]).all()
    monkeypatch.setattr(TrialScorer, "score_grades", None)  # the points of the same rows of grades are kept
    assert (few.points(settings[::-1])[:, 1] == found[::-1, 1]).all()


def test_the_last_trials_are_estimated() -> None:
    plan = [plan_trial(SPACE, 100, number, estimates=True) for number in range(100)]
    assert [proposal.origin for proposal in plan] == ["parent"] + ["sobol"] * 79 + ["estimated"] * 20
    assert [proposal.fold_left_out for proposal in plan[-6:]] == [4, 0, 1, 2, 3, 4]
    assert plan_trial(SPACE, 10, 9, estimates=True).origin == Origin.SOBOL
    assert [plan_trial(SPACE, 500, number, estimates=True).origin for number in (200, 201, 479, 480)] == [
        "sobol",
        "tpe",
        "tpe",
        "estimated",
    ]


def trials_of(study: Study) -> list[tuple[Any, ...]]:
    return [(row.settings, row.origin, row.fold_left_out, row.columns) for row in study.trials.order_by("number")]


@pytest.mark.django_db
@pytest.mark.usefixtures("script", "few")
class TestStudies:
    def test_the_best_estimated_settings_are_searched(self, attempt: Attempt, explained: Any) -> None:
        asked = explained(sum_of)
        plain = findings.update_findings(finish(make_study(attempt, trials=60)))
        study = finish(make_study(attempt, trials=60, estimates=True))
        found = findings.update_findings(study)
        estimated = study.estimated
        assert (estimated["sums"], estimated["repeated"], estimated["refusal"]) == (1, 1, "")
        assert estimated["settings"] > 600
        assert len(asked) == (3 + estimates.CHECKS) * QUERIES
        confirmed = list(study.trials.filter(origin=Origin.ESTIMATED))
        assert [trial.number for trial in confirmed] == list(range(40, 60))
        for trial, proposal in zip(confirmed, estimated["proposals"], strict=True):
            assert trial.settings == proposal["settings"]
            if not trial.stopped:
                assert proposal["gain"] == pytest.approx(found["gains"][trial.number], abs=1e-6)
        assert not all(trial.stopped for trial in confirmed)
        best, without = (max(gain for gain in each["gains"] if gain is not None) for each in (found, plain))
        assert best >= without
        summary = findings.summarize(study)
        assert not {"proposals", "best"} & summary["estimated"].keys()
        listed = findings.list_estimates(study)
        assert len(listed) == len({str(row["settings"]) for row in listed}) <= estimates.LISTED
        for row in listed:
            assert row["trial"] is None or study.trials.get(number=row["trial"]).settings == row["settings"]
        assert 0 < sum(row["trial"] is not None for row in listed) <= 20

    def test_interruptions_change_nothing(self, attempt: Attempt, explained: Any) -> None:
        asked = explained(sum_of)
        whole = finish(make_study(attempt, trials=30, estimates=True))
        sent = len(asked)
        again = finish(make_study(attempt, trials=30, estimates=True), seconds=0.05)
        assert trials_of(whole) == trials_of(again)
        assert whole.requests == again.requests
        assert len(asked) == 2 * sent
        former = dict(again.pools.values_list("position", "documents"))
        studies.go_on(study=again, by=attempt.case.owner, more_trials=20)
        again = finish(again)
        assert (again.status, again.trials.count()) == (Study.Status.COMPLETE, 50)
        assert again.estimated["first"] == 30
        grown = sum(count > former[at] for at, count in again.pools.values_list("position", "documents"))
        assert grown < QUERIES
        assert len(asked) == 2 * sent + (3 + estimates.CHECKS) * grown  # other pools are kept

    def test_documents_that_later_trials_return_are_explained_before_later_estimates(
        self, attempt: Attempt, explained: Any
    ) -> None:
        asked = explained(sum_of)
        script = script_of(attempt)
        everything = script.default
        script.default = lambda request: everything(request)[:4]
        study = finish(make_study(attempt, trials=30, estimates=True))
        sent, former = len(asked), dict(study.pools.values_list("position", "documents"))
        script.default = everything
        studies.go_on(study=study, by=attempt.case.owner, more_trials=60)
        study = finish(study)
        assert (study.trials.count(), study.estimated["first"]) == (90, 70)
        before = read_documents(study, study.trials.filter(number__lt=70))
        pools = list(study.pools.all())
        assert {pool.position: pool.documents for pool in pools} == {at: len(ids) for at, ids in before.items()}
        assert all(set(pool.doc_ids) == set(before[pool.position]) for pool in pools)
        grown = sum(pool.documents > former[pool.position] for pool in pools)
        assert grown > 0
        assert len(asked) - sent == (3 + estimates.CHECKS) * grown

    def test_scores_that_are_no_sums_are_refused(self, attempt: Attempt, explained: Any) -> None:
        explained(maximum_of)
        study = finish(make_study(attempt, trials=30, estimates=True))
        assert study.status == Study.Status.COMPLETE
        assert study.estimated["sums"] < estimates.MIN_SUMS
        assert study.estimated["refusal"].startswith("Only ")
        assert [row.origin for row in study.trials.order_by("number")][-10:] == [Origin.LOCAL] * 10
        assert "Small steps" in estimates.describe_estimates(study.estimated)

    def test_rankings_that_are_not_those_of_the_scores_are_refused(self, attempt: Attempt, explained: Any) -> None:
        explained(sum_of)
        script_of(attempt).default = list(reversed(DOCUMENTS))
        study = finish(make_study(attempt, trials=30, estimates=True))
        assert study.estimated["sums"] == 1
        assert study.estimated["repeated"] < 0.1
        assert "repeats only 0%" in study.estimated["refusal"]

    def test_an_engine_that_goes_away_while_it_explains(self, attempt: Attempt, explained: Any) -> None:
        asked = explained(sum_of)
        whole = finish(make_study(attempt, trials=30, estimates=True))
        explain = ScriptedEngine.explain_many
        asked.clear()

        def fails(self: ScriptedEngine, request: engines.Request, doc_ids: Sequence[str]) -> Any:
            if len(asked) > 60:
                raise engines.EndpointUnreachable("The engine is down.")
            return explain(self, request, doc_ids)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScriptedEngine, "explain_many", fails)
            study = finish(make_study(attempt, trials=30, estimates=True))
        assert (study.status, study.reason) == (Study.Status.FAILED, "The engine is down.")
        assert 5 < StudyPool.objects.filter(study=study).count() < QUERIES
        studies.go_on(study=study, by=attempt.case.owner)
        assert trials_of(finish(study)) == trials_of(whole)

    def test_engines_that_do_not_explain_are_refused(self, attempt: Attempt) -> None:
        with pytest.raises(ValidationError, match="does not explain scores"):
            make_study(attempt, estimates=True)

    def test_texts_are_refused(self, attempt: Attempt, explained: Any) -> None:
        explained(sum_of)
        attempt.knobs = {**attempt.knobs, "tie": "a"}
        with pytest.raises(ValidationError, match="knob tie chooses between texts"):
            make_study(attempt, estimates=True, knobs=[parse_knob("boost=0.1:10:log"), parse_knob("tie=a,b")])

    def test_plans_count_the_explanations(self, attempt: Attempt, explained: Any) -> None:
        explained(sum_of)

        def requests(**changes: Any) -> int:
            settings = studies.StudySettings(knobs=SPACE.knobs, **changes)
            version = make_study(attempt).version
            return studies.plan_study(case=attempt.case, parent=attempt, version=version, settings=settings).requests

        assert requests(trials=30, estimates=True) == (30 + 5) * QUERIES
        assert requests(trials=5, estimates=True) == 5 * QUERIES  # too few for estimates
