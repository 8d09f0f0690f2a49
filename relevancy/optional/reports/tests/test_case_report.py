"""The report of a run: coverage, failures, search times, what to rate next, planning."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from relevancy import queries, scores, scoring
from relevancy.engines import EngineError
from relevancy.models import CaseScore, Ranking, Run, ScorerVersion
from relevancy.optional.reports.case_report import build_report
from relevancy.optional.reports.planning import DEFAULT_DIFFERENCES
from relevancy.optional.reports.rating_candidates import OpenQuery, find_candidates
from relevancy.optional.reports.search_times import summarize_times
from tests.factories import make_attempt, make_case, query_of, rate_all, run_now, script_of

RATINGS = {"query 1": {"a": 3, "b": 1}, "query 2": {"a": 2}, "query 3": {"z": 3}}
REFUSAL = EngineError("The engine says no.")
LISTS = {"query 1": "abc", "query 2": "xya", "query 3": "", "query 4": "abc"}


@pytest.fixture
def case(script):
    return make_case(4, RATINGS, measures=("nDCG@3",))


def run_with(case, lists, **fields):
    attempt = make_attempt(case, **fields)
    script_of(attempt).answers = {
        text: list(doc_ids) if isinstance(doc_ids, str) else doc_ids for text, doc_ids in lists.items()
    }
    return run_now(attempt)


def report_of(run, **options):
    run = Run.objects.select_related("case__book").get(pk=run.pk)
    return build_report(run, ScorerVersion.objects.used_by(run.case)[0], **options)


# --- what the run returned ---


@pytest.mark.django_db
def test_coverage_of_queries_and_tags(case):
    queries.tags.set_tags(query=query_of(case, "query 1"), tags="short, film")
    queries.tags.set_tags(query=query_of(case, "query 2"), tags="film")
    report = report_of(run_with(case, LISTS))
    assert [(query.documents, query.rated) for query in report.queries] == [(3, 2), (3, 1), (0, 0), (3, 0)]
    assert (report.documents, report.rated, report.coverage) == (9, 3, pytest.approx(1 / 3))
    assert [(tag.tag, tag.queries, tag.documents, tag.rated) for tag in report.tags] == [
        ("film", 2, 6, 3),
        ("short", 1, 3, 2),
    ]
    assert [query.text for query in report.least_covered(2)] == ["query 4", "query 2"]
    assert report.tags[1].score == report.queries[0].score


@pytest.mark.django_db
def test_repeats_count_once(case):
    report = report_of(run_with(case, {**LISTS, "query 1": "aacb"}))
    assert (report.queries[0].documents, report.queries[0].rated) == (2, 1)


@pytest.mark.django_db
def test_empty_failed_and_missing_queries(case):
    run = run_with(case, {**LISTS, "query 2": REFUSAL})
    queries.add(case=case, texts=["query 5"])
    report = report_of(run)
    assert [query.text for query in report.empty] == ["query 3"]
    assert [(query.text, query.error) for query in report.failed] == [("query 2", str(REFUSAL))]
    assert report.not_searched == 1
    assert not report.is_being_rescored


@pytest.mark.django_db
def test_the_score_is_that_of_the_case(case):
    run = run_with(case, LISTS)
    stored = CaseScore.objects.get(run=run)
    report = report_of(run)
    assert (report.score, report.low, report.high) == (stored.score, stored.low, stored.high)
    assert report.scored == stored.scored
    assert sum(step.queries for step in report.distribution) == stored.scored
    assert report.distribution[-1].high == 100


@pytest.mark.django_db
def test_nothing_is_said_about_scores_of_older_ratings(case):
    run_with(case, LISTS)
    run = run_with(case, {**LISTS, "query 1": "cba"})
    rate_all(case, {"query 1": {"c": 2}}, case.owner)
    report = report_of(run)
    assert report.is_being_rescored
    assert not report.awaited
    assert (report.score, report.plan, list(report.candidates), list(report.distribution)) == (None, None, [], [])
    assert report.queries[0].score is None
    assert report.queries[0].rated == 3  # the ratings themselves are known
    scores.rescore_history(case, seconds=60)
    assert report_of(run).score is not None


# --- search times ---


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_against_numpy(seed):
    times = np.random.default_rng(seed).integers(1, 60, size=37 + seed)
    counts = {int(value): int(count) for value, count in zip(*np.unique(times, return_counts=True), strict=True)}
    result = summarize_times(Run(), counts)
    expected = [sorted(times)[math.ceil(share * len(times) / 100) - 1] for share in (50, 90, 95, 99)]
    assert [result.p50, result.p90, result.p95, result.p99] == expected
    assert (result.searches, result.slowest) == (len(times), times.max())


@pytest.mark.django_db
def test_search_times_of_the_last_runs_and_of_this_one(case):
    first = run_with(case, LISTS)
    for _ in range(10):
        last = run_with(case, LISTS)
    Ranking.objects.filter(run=first).update(took_ms=40)
    Ranking.objects.filter(run=last).exclude(query__text="query 1").update(took_ms=None)
    times = report_of(first).times
    assert [item.run.number for item in times] == [*range(11, 1, -1), 1]
    assert (times[0].searches, times[-1].p50, times[-1].slowest) == (1, 40, 40)


# --- what to rate next ---


def narrowing(run, version, query, doc_id, share):
    """By scoring every ranking again, one grade after the other, without the code of the report."""
    measure = scoring.parse_measure(version.measure)
    scale = scores.scale_of(run.case.book)
    doc_ids = [hit[0] for hit in run.rankings.get(query=query).hits]
    known = scores.known_grades(run.case.book, [query.pk])[query.pk]

    def width(grades):
        result = scoring.score(measure, scoring.Batch.build([doc_ids], [grades], scale), int(run.config["depth"]))
        return result.high[0] - result.low[0]

    after = [width({**known, doc_id: float(grade)}) for grade, _ in run.case.book.scale]
    return share * (width(known) - sum(after) / len(after))


@pytest.mark.django_db
def test_candidates_against_scoring_again(case):
    case.case_queries.filter(query__text="query 2").update(weight=3)
    run = run_with(case, {**LISTS, "query 2": "xyaw", "query 1": "cadb"})
    scores.rescore_run(run)
    report = report_of(run)
    expected = {}
    weights = sum(query.weight for query in report.queries if query.score is not None)
    for case_query in report.queries:
        query = query_of(case, case_query.text)
        ranking = run.rankings.get(query=query)
        known = scores.known_grades(case.book, [query.pk])[query.pk]
        for hit in ranking.hits[:3]:
            if hit[0] not in known and case_query.score is not None:
                expected[query.pk, hit[0]] = narrowing(run, report.version, query, hit[0], case_query.weight / weights)
    result = {(candidate.query_id, candidate.doc_id): candidate.narrowing for candidate in report.candidates}
    assert result == pytest.approx({key: value for key, value in expected.items() if value > 1e-9})
    assert list(result.values()) == sorted(result.values(), reverse=True)


@pytest.mark.django_db
def test_candidates_stop_when_no_other_query_can_change_the_list(script, monkeypatch):
    ratings = {f"query {number}": {"a": 3} for number in range(1, 61)}
    case = make_case(60, ratings, measures=("P@3",))
    run = run_with(case, {text: "abc" if number < 5 else "ab" for number, text in enumerate(ratings)})
    report = report_of(run)
    open_queries = [
        OpenQuery(query.query_id, 1 / 60, query.high - query.low) for query in report.queries if query.high > query.low
    ]
    result = find_candidates(report.run, report.version, open_queries, limit=8)
    # Each unrated document leaves a third of a query open, wherever it is.
    assert [candidate.narrowing for candidate in result] == pytest.approx([100 / 3 / 60] * 8)
    everything = find_candidates(report.run, report.version, open_queries, limit=1000)
    assert len(everything) == 65
    assert result == everything[:8]


@pytest.mark.django_db
def test_a_script_has_no_candidates(case):
    version = ScorerVersion.objects.used_by(case)[0]
    script = ScorerVersion(scorer=version.scorer, number=2, script="setScore(1)", scale=version.scale)
    assert find_candidates(run_with(case, LISTS), script, [OpenQuery(1, 1.0, 50.0)]) == []


# --- planning ---


def smallest_number(deviation, difference):
    """The smallest n with n ≥ ((t.975 + t.8) · sd / δ)², by scipy's distribution instead of its special functions."""

    def lacking(n):
        quantiles = stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)
        return (quantiles * deviation / difference) ** 2 - n

    if lacking(2) <= 0:
        return 2
    root = optimize.brentq(lacking, 2, 1e7)
    return math.ceil(root - 1e-9)


TEXTS = [f"query {number}" for number in range(1, 8)]


@pytest.fixture
def planned_case(script):
    """Each query has one relevant document `a`, so that its score says where `a` is."""
    return make_case(7, {text: {"a": 3} for text in TEXTS}, measures=("RR@3",))


def ranks(*positions):
    """The lists of seven queries with `a` at these positions; 0 is nowhere."""
    return {
        text: "".join("a" if rank == at else "xyz"[rank - 1] for rank in (1, 2, 3))
        for text, at in zip(TEXTS, positions, strict=True)
    }


def deviation_of(run, baseline):
    after, before = ({query.query_id: query.score for query in report_of(item).queries} for item in (run, baseline))
    return np.std([after[pk] - before[pk] for pk in before], ddof=1)


@pytest.mark.django_db
def test_plan_of_two_runs(planned_case):
    first = run_with(planned_case, ranks(1, 2, 3, 1, 2, 3, 1))
    second = run_with(planned_case, ranks(2, 1, 1, 2, 1, 3, 1))
    report = report_of(second, differences=(2.0, 5.0, 2.0, 0.0000001))
    plan = report.plan
    deviation = deviation_of(second, first)
    assert (plan.chosen.run, plan.chosen.baseline, plan.chosen.changed) == (second, first, 5)
    assert plan.queries == 7
    assert plan.deviation == pytest.approx(deviation)
    tiny, two, five = plan.rows
    assert tiny.queries is None
    assert tiny.ratings is None
    assert (two.difference, two.queries) == (2.0, smallest_number(deviation, 2))
    assert five.queries == smallest_number(deviation, 5)
    quantiles = stats.t.ppf(0.975, 6) + stats.t.ppf(0.8, 6)
    assert plan.detectable == pytest.approx(quantiles * deviation / 7**0.5)
    # By query: axy, axyz twice, axy, axyz, xya, a and xyz.
    total = 4 + 4 + 4 + 4 + 4 + 3 + 3
    assert (plan.documents, plan.unrated, plan.sampled) == (pytest.approx(total / 7), total - 7, 7)
    assert five.ratings == plan.unrated + round((five.queries - 7) * plan.documents)


@pytest.mark.django_db
def test_plan_never_takes_a_pair_that_differs_in_fewer_than_five_queries(planned_case):
    """One query that gains 67 points would say that every change spreads so widely."""
    first = run_with(planned_case, ranks(1, 1, 1, 1, 1, 1, 1))
    second = run_with(planned_case, ranks(2, 2, 2, 1, 2, 2, 1))
    run_with(planned_case, ranks(2, 2, 2, 3, 2, 2, 1))
    last = run_with(planned_case, ranks(1, 1, 1, 1, 2, 2, 1))  # four of seven
    plan = report_of(last).plan
    assert [(pair.run, pair.baseline, pair.changed) for pair in plan.comparisons] == [(second, first, 5)]
    assert plan.deviation == pytest.approx(deviation_of(second, first))


@pytest.mark.django_db
def test_plan_takes_the_largest_deviation_of_the_last_five_comparisons_or_the_one_chosen(planned_case):
    lists = [
        ranks(0, 0, 0, 0, 0, 0, 0),
        ranks(1, 1, 1, 1, 1, 0, 0),  # the largest of all, and too old
        ranks(2, 2, 2, 2, 2, 0, 0),
        ranks(1, 2, 1, 2, 1, 1, 1),
        ranks(0, 0, 0, 0, 0, 1, 1),
        ranks(2, 3, 2, 3, 2, 1, 1),
        ranks(3, 2, 3, 2, 3, 1, 1),
    ]
    runs = [run_with(planned_case, answers) for answers in lists]
    plan = report_of(runs[-1]).plan
    deviations = {after.number: deviation_of(after, before) for before, after in itertools.pairwise(runs)}
    assert max(deviations, key=deviations.get) == 2
    assert {pair.run.number: pair.deviation for pair in plan.comparisons} == pytest.approx(
        {number: deviations[number] for number in (7, 6, 5, 4, 3)}
    )
    largest = max(plan.comparisons, key=lambda pair: pair.deviation)
    assert (plan.chosen, plan.deviation) == (largest, largest.deviation)
    chosen = report_of(runs[-1], compared=7).plan
    assert chosen.chosen.run == runs[-1]
    assert chosen.deviation == pytest.approx(deviations[7])
    assert report_of(runs[-1], compared=2).plan.chosen == largest


@pytest.mark.django_db
def test_plan_waits_for_the_scores_of_all_its_runs(planned_case):
    runs = [run_with(planned_case, ranks(1, 2, 3, 1, 2, 3, at)) for at in (1, 2, 3)]
    rate_all(planned_case, {"query 1": {"x": 1}}, planned_case.owner)
    for run in runs[1:]:
        scores.rescore_run(run)
    report = report_of(runs[-1])
    assert (report.awaited, report.plan) == ([runs[0]], None)
    scores.rescore_run(runs[0])
    assert report_of(runs[-1]).plan is not None


@pytest.mark.django_db
def test_plan_without_a_comparison_uses_the_scores(case):
    report = report_of(run_with(case, LISTS))
    plan = report.plan
    known = [query.score for query in report.queries if query.score is not None]
    assert (plan.chosen, list(plan.comparisons)) == (None, [])
    assert plan.deviation == pytest.approx(np.std(known, ddof=1))
    assert {row.ratings for row in plan.rows} == {None}
    same = report_of(run_with(case, LISTS))  # nothing has changed
    assert same.plan.chosen is None
    assert same.plan.deviation == plan.deviation


@pytest.mark.django_db
def test_no_plan_where_scores_do_not_vary(script):
    case = make_case(3, {f"query {number}": {"a": 3} for number in (1, 2, 3)}, measures=("P@1",))
    assert report_of(run_with(case, dict.fromkeys(("query 1", "query 2", "query 3"), "a"))).plan is None


@pytest.mark.django_db
def test_linked_queries_count_once_in_the_plan(case):
    run = run_with(case, {**LISTS, "query 3": "za"})
    assert report_of(run).plan.queries == 3
    queries.links.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    assert report_of(run).plan.queries == 2


@pytest.mark.django_db
def test_linked_queries_are_one_that_differs(planned_case):
    run_with(planned_case, ranks(1, 2, 3, 1, 2, 3, 1))
    run = run_with(planned_case, ranks(2, 1, 1, 2, 1, 3, 1))
    queries.links.link(queries=[query_of(planned_case, "query 1"), query_of(planned_case, "query 2")])
    assert report_of(run).plan.chosen is None


def test_default_differences_ascend():
    assert all(first < second for first, second in itertools.pairwise(DEFAULT_DIFFERENCES))
