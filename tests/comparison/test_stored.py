import itertools
import random

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import comparison, hooks, queries, ratings, runs, scores, scoring
from relevancy.comparison import stored
from relevancy.comparison.attempts_tried import count_attempts_tried
from relevancy.comparison.bounds import score_ranges
from relevancy.comparison.run_scorer import RunScorer
from relevancy.formats.reports import comparison_json
from relevancy.models import Book, CaseQuery, ComparedRun, Run, ScorerDefinition, ScorerVersion, StoredComparison
from tests.factories import make_case, make_user, query_of, run_now

from .conftest import figures_of, run_with

pytestmark = pytest.mark.django_db
LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "xya", "query 4": "ab"}


def primary(case):
    return ScorerVersion.objects.used_by(case)[0]


@pytest.fixture
def pair(case):
    return [run_with(case, LISTS), run_with(case, dict.fromkeys(LISTS, "ab"))]


def find(case, compared, version=None):
    return stored.find_or_create(runs=compared, version=version or primary(case))


def computed(case, compared, version=None):
    result = find(case, compared, version)
    stored.compute(result.pk)
    return find(case, compared, version)


@pytest.mark.parametrize("count", [2, 3])
def test_load_returns_what_compare_returns(case, pair, count):
    compared = [*pair, run_with(case, {"query 1": "ba", "query 2": "xb", "query 3": "ab"})][:count]
    result = computed(case, compared)
    assert result.is_current
    figures = stored.load(result, compared)
    loaded, fresh = figures.comparison, comparison.compare(runs=compared, version=primary(case))
    assert comparison_json.build_comparison(figures) == comparison_json.build_comparison(
        comparison.compute_figures(fresh)
    )
    assert figures.plans == comparison.compute_figures(fresh).plans
    assert [comparison.describe_verdict(item) for item in loaded.pairs] == [
        comparison.describe_verdict(item) for item in fresh.pairs
    ]
    assert loaded.table.present.texts == [f"query {number}" for number in range(1, 5)]
    baseline_p = [item.paired.p for item in fresh.pairs[: count - 1]]
    assert list(ComparedRun.objects.values_list("p", flat=True).order_by("position")) == [None, *baseline_p]


@pytest.mark.parametrize("remaining", [1, 0])
def test_load_without_a_scored_query_and_without_queries(script, remaining):
    case = make_case(1, measures=("P@1",))
    compared = [run_with(case, {}), run_with(case, {})]
    if not remaining:
        case.case_queries.update(removed_at=timezone.now())
    figures = stored.load(computed(case, compared), compared)
    assert figures.comparison.pairs[0].difference is None
    (item,) = figures.comparison.pairs
    assert (item.bounds, item.lists.queries) == (None, remaining)


def test_a_rating_makes_the_figures_stale_and_computing_follows_it(case, pair):
    result = computed(case, pair)
    before = stored.load(result, pair).comparison.pairs[0].difference
    ratings.rate(query=query_of(case, "query 1"), doc_id="x", value=3, by=make_user())
    result = find(case, pair)
    assert not result.is_current
    assert stored.needs_computing(result)
    stored.compute(result.pk)
    result = find(case, pair)
    assert result.is_current
    assert stored.load(result, pair).comparison.pairs[0].difference < before


def test_a_changed_weight_or_removed_query_makes_the_figures_stale(case, pair):
    assert computed(case, pair).is_current
    scores.case_changed(case.pk)
    assert not find(case, pair).is_current


def test_a_rating_while_computing_leaves_figures_that_are_not_current(case, pair, monkeypatch):
    original = stored.compare

    def compare_and_rate(**arguments):
        result = original(**arguments)
        ratings.rate(query=query_of(case, "query 1"), doc_id="x", value=3, by=make_user())
        return result

    monkeypatch.setattr(stored, "compare", compare_and_rate)
    assert not computed(case, pair).is_current
    monkeypatch.setattr(stored, "compare", original)
    assert computed(case, pair).is_current


def test_results_that_change_while_computing_are_compared_again(case, pair, monkeypatch):
    original, calls = stored.compare, []

    def compare_and_forget(**arguments):
        result = original(**arguments)
        calls.append(result)
        if len(calls) == 1:
            scores.results_changed(pair[1], [])
        return result

    monkeypatch.setattr(stored, "compare", compare_and_forget)
    assert computed(case, pair).is_current
    assert len(calls) == 2


def test_searching_a_query_again_makes_the_figures_stale(case, pair):
    computed(case, pair)
    runs.search_again(run=pair[1], case_query=case.case_queries.first(), by=case.owner)
    result = find(case, pair)
    assert not result.is_current
    assert stored.needs_computing(result)


def test_a_failure_is_stored_in_a_sentence_and_tried_again_on_request(case, pair, monkeypatch, caplog):
    monkeypatch.setattr(stored, "compare", lambda **arguments: 1 / 0)
    result = computed(case, pair)
    assert "unexpected error" in result.error
    assert "ZeroDivisionError" in caplog.text
    assert not stored.needs_computing(result)
    assert stored.needs_computing(result, again=True)
    monkeypatch.undo()
    result = computed(case, pair)
    assert (result.is_current, result.error) == (True, "")


def test_find_or_create_refuses_runs_that_cannot_be_compared(case, pair):
    Run.objects.filter(pk=pair[1].pk).update(status=Run.Status.RUNNING)
    pair[1].refresh_from_db()
    with pytest.raises(ValidationError, match="not finished"):
        find(case, pair)
    assert not StoredComparison.objects.exists()


def test_queue_once(case, pair):
    result = find(case, pair)
    assert [stored.queue(result), stored.queue(result)] == [True, False]
    stored.compute(result.pk)
    assert stored.queue(result)


def test_figures_of_old_comparisons_are_removed(case, pair, monkeypatch):
    monkeypatch.setattr(stored, "KEPT_FIGURES", 2)
    third = run_now(pair[0].attempt)
    combinations = list(itertools.combinations([*pair, third], 2))
    for compared in combinations:
        computed(case, list(compared))
    current = [find(case, list(compared)).is_current for compared in combinations]
    assert current == [False, True, True]


def test_a_deleted_comparison_is_not_computed(db):
    stored.compute(12345)


# --- one definition of a difference ---


def test_difference_is_that_of_compare_runs(script):
    """The comparison, the head of the workbench and the list have one difference, and the same counts."""
    generator = random.Random(5)
    texts = [f"query {number}" for number in range(25)]
    ratings = {text: {doc: generator.randint(0, 3) for doc in "abcdef"} for text in texts[:22]}
    case = make_case(texts, ratings, measures=("nDCG@10",))
    for case_query in case.case_queries.all():
        CaseQuery.objects.filter(pk=case_query.pk).update(weight=generator.choice([0.5, 1, 3]))
    lists = [{text: generator.sample("abcdefgh", 5) for text in texts} for _ in range(2)]
    first, second = (run_with(case, item) for item in lists)
    version = primary(case)
    result = stored.load(computed(case, [first, second]), [first, second]).comparison.pairs[0]
    summary = scores.compare_runs(second, first, version)
    assert result.difference == pytest.approx(summary.difference, abs=1e-9)
    differences = result.paired.differences
    assert (len(differences), differences.wins, differences.losses, differences.ties) == (
        summary.compared,
        summary.better,
        summary.worse,
        summary.same,
    )


# --- coverage, result lists, bounds ---


def test_columns_count_ratings_and_changes(case, pair):
    figures = stored.load(computed(case, pair, primary(make_case(1, measures=("P@2",)))), pair)
    first, second = figures.columns.coverage
    assert (first.k, first.rated, first.documents) == (2, 3, 8)  # xa ab xy ab; a and b are rated in three queries
    assert (second.rated, second.documents) == (6, 8)
    assert figures.columns.changes[:, 0].tolist() == [2, 0, 2, 0]
    assert figures.columns.unrated.tolist() == [[1, 0], [0, 0], [2, 0], [2, 2]]
    overlap = figures.comparison.pairs[0].lists
    assert (overlap.k, overlap.queries, overlap.changed, overlap.changed_set) == (10, 4, 0.5, 0.5)


def test_bounds_contain_the_difference_of_every_completion(script):
    """Whatever grades the unrated documents get, also those that only the other run returned."""
    case = make_case(2, {"query 1": {"a": 3}, "query 2": {"b": 2}}, measures=("nDCG@3",))
    compared = [run_with(case, {"query 1": "xa", "query 2": "bx"}), run_with(case, {"query 1": "ay", "query 2": "bx"})]
    low, high = stored.load(computed(case, compared), compared).comparison.pairs[0].bounds
    rater, reached = make_user(), []
    for grades in itertools.product([0, 3], repeat=3):
        for (text, doc_id), value in zip([("query 1", "x"), ("query 1", "y"), ("query 2", "x")], grades, strict=True):
            ratings.rate(query=query_of(case, text), doc_id=doc_id, value=value, by=rater)
        reached.append(comparison.compare(runs=compared, version=primary(case)).pairs[0].difference)
    assert low <= min(reached) + 1e-9
    assert high >= max(reached) - 1e-9
    assert -50 < low < high < 50  # query 2 cannot differ: both runs returned the same


def random_lists(generator):
    """Two result lists, and the grades of some of their documents."""
    known = {doc_id: float(generator.randint(0, 3)) for doc_id in "abcde" if generator.random() < 0.5}
    return [generator.sample("abcde", generator.randint(1, 5)) for _ in range(2)], known


@pytest.mark.parametrize(
    "measure", ["nDCG@3", "nDCG(ideal='local')@3", "AP@3", "RR@2", "ERR@3", "Bpref", "R@2", "RBP@3"]
)
def test_ranges_contain_every_completion(measure):
    """Each run's range holds for all grades of the documents that are unrated in any run."""
    generator, parsed, scale = random.Random(measure), scoring.parse_measure(measure), scoring.Scale.parse("0:3")
    book = Book(scale=[[grade, ""] for grade in range(4)], relevant_from=scale.relevant_from)
    k = parsed.cutoff or 5
    scorer = RunScorer(ScorerDefinition(measure=measure), book, [5, 5], [k, k])
    for _ in range(25):
        lists, known = random_lists(generator)
        low, high = score_ranges(scorer, [[ranking] for ranking in lists], [known])
        unrated = sorted({doc_id for ranking in lists for doc_id in ranking[:k]} - known.keys())
        completions = [
            {**known, **dict(zip(unrated, grades, strict=True))}
            for grades in itertools.product([0.0, 1.0, 3.0], repeat=len(unrated))
        ]
        for run, ranking in enumerate(lists):
            if np.isfinite(low[0, run]):
                batch = scoring.Batch.build([ranking] * len(completions), completions, scale)
                reached = scoring.score(parsed, batch, 5).score
                assert low[0, run] - 1e-7 <= reached.min() <= reached.max() <= high[0, run] + 1e-7, (lists, known)


def test_no_bounds_for_scripts_and_estimates(db):
    book = Book(scale=[[0, ""], [1, ""]], relevant_from=1)
    for definition in (
        ScorerDefinition(script="1"),
        ScorerDefinition(measure="AvgEdit"),
        ScorerDefinition(measure="X@"),
    ):
        low, high = score_ranges(RunScorer(definition, book, [2], [2]), [[["a"]]], [{"a": 1.0}])
        assert np.isnan(low).all() and np.isnan(high).all()


def test_pin_keeps_results_and_fields(case, pair):
    newest = pair[1]
    runs.pin(run=newest)
    pinned_at = newest.pinned_at
    runs.pin(run=newest)
    assert Run.objects.get(pk=newest.pk).pinned_at == pinned_at
    with pytest.raises(runs.RunNotAllowed, match="pinned"):
        runs.search_again(run=newest, case_query=case.case_queries.first(), by=case.owner)
    runs.unpin(run=newest)
    assert Run.objects.get(pk=newest.pk).pinned_at is None


def test_pin_refuses_an_active_run(case, pair):
    Run.objects.filter(pk=pair[1].pk).update(status=Run.Status.RUNNING)
    with pytest.raises(runs.RunNotAllowed, match="still running"):
        runs.pin(run=pair[1])


def test_describe_a_run(case, pair):
    runs.describe(run=pair[0], name=" Before  synonyms ", note="of May")
    run = Run.objects.get(pk=pair[0].pk)
    assert (run.name, run.note, run.label) == ("Before synonyms", "of May", "Run 1, Before synonyms")
    with pytest.raises(ValidationError) as refused:
        runs.describe(run=pair[0], name="x" * 121, note="")
    assert "name" in refused.value.message_dict


def test_a_run_of_another_case_makes_the_figures_depend_on_both_cases(case, pair):
    other = make_case(["query 1", "query 2"], book_of=case, owner=case.owner, measures=("P@1",))
    compared = [pair[0], run_with(other, {"query 1": "ab", "query 2": "ab"})]
    for baseline_first in (compared, compared[::-1]):
        result = computed(case, baseline_first)
        assert (result.is_current, result.case_id) == (True, baseline_first[0].case_id)
        fresh = comparison.compare(runs=baseline_first, version=primary(case))
        loaded = stored.load(result, baseline_first)
        assert comparison_json.build_comparison(loaded) == comparison_json.build_comparison(
            comparison.compute_figures(fresh)
        )
        assert loaded.comparison.table.texts == ["query 1", "query 2"]
    scores.case_changed(other.pk)
    assert not find(case, compared).is_current
    assert computed(case, compared).is_current
    scores.case_changed(case.pk)
    assert not find(case, compared).is_current
    assert "Run 1 of " in comparison.describe_verdict(fresh.pairs[0])


def test_attempts_tried_count_what_is_out_of_date_in_another_case_as_nothing_shown(case, pair):
    other = make_case(list(LISTS), book_of=case, owner=case.owner, measures=("P@1",))
    foreign = run_with(other, dict.fromkeys(LISTS, "ab"))
    computed(case, [pair[0], foreign])
    tried = count_attempts_tried(pair[0], pair[1], primary(case), 0.01)
    assert (tried.count, tried.p) == (2, 0.02)
    ComparedRun.objects.filter(run=foreign).update(p=0.001)
    assert count_attempts_tried(pair[0], pair[1], primary(case), 0.01).p == 0.01
    scores.case_changed(other.pk)
    assert count_attempts_tried(pair[0], pair[1], primary(case), 0.01).p == 0.02


def test_settings_that_apps_tried_count_as_nothing_shown(case, pair, monkeypatch):
    asked = []
    monkeypatch.setattr(hooks, "settings_tried", hooks.Hook())
    hooks.settings_tried.add(lambda attempt_ids: asked.append(attempt_ids) or 98)
    hooks.settings_tried.add(lambda attempt_ids: 1)
    tried = count_attempts_tried(pair[0], pair[1], primary(case), 0.0001)
    assert (tried.count, tried.settings, tried.p) == (1, 99, pytest.approx(0.01))
    assert asked == [{pair[1].attempt_id}]


def test_links_make_the_figures_out_of_date_and_are_stored_with_them(case, pair):
    assert computed(case, pair).is_current
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 3")])
    assert not find(case, pair).is_current
    loaded = stored.load(computed(case, pair), pair)
    fresh = figures_of(pair, primary(case))
    assert comparison_json.build_comparison(loaded) == comparison_json.build_comparison(fresh)
    assert loaded.comparison.table.independent == 2
    queries.unlink(query=query_of(case, "query 1"))
    assert not find(case, pair).is_current
