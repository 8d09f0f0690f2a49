"""Whether studies tell gain from luck, and how long they take.

    python benchmarks/tuning.py [--seeds N] [--trials N] [--queries N] [--only simulated|sample|estimates|stub …] [--quick] [--check]

- simulated: studies whose truth is known: settings that differ truly by a point, queries by 20, of which a part is shared by all
  settings; and three knobs with a smooth response. How much better the choice looks and is, what cross-fitting says, how often its
  interval contains the true gain of what was chosen (target: at least 93 %), and how often it claims a gain, or one of a tag,
  where there is none (at most 5 %). 200 seeds unless given.
- sample: 200 trials of the sample on the embedded engine (at most 10 s on two cores).
- estimates: how many settings are estimated in a second, in one thread: of the sample (at least 100,000), whose queries have pools of
  seven documents on average, and of as many queries with pools of 100 documents, each with eight items in two groups.
- stub: `--trials` (500 unless given) of `--queries` (500) on an engine that answers each request 5 ms after it has read it, and an
  endpoint that is sent 4 at a time: n requests take at least n × 5 / 4 ms, which no client can be faster than. Target: at most twice as
  long. The engine is a process of Python on the same machine; a client that only reads and writes sockets needs 1.15 times as long.

Data: invented data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import options
import workers
from invented import query_texts
from large_case import make_case

from relevancy import endpoints, runs, scorers
from relevancy.formats.documents import sample
from relevancy.models import Case, Scorer, ScorerVersion, User
from relevancy.optional.studies import findings, studies
from relevancy.optional.studies.choice import Evidence
from relevancy.optional.studies.estimates import Estimator, Pool
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.space import Settings, parse_knob
from relevancy.optional.studies.tests.simulated import simulate, simulate_smooth, true_gain
from relevancy.scoring.arrays import FloatArray
from relevancy.statistics import ALPHA, compare_cross_fitted

SMOOTH_TRIALS = 200
SMOOTH = [(queries, best) for best in (1.0, 4.0) for queries in (50, 100, 400)]
SIMULATED = [(25, 200, 0.8), (50, 20, 0.8), (50, 200, 0.5), (50, 200, 0.8), (100, 200, 0.8), (400, 200, 0.8)]
COVERED, CLAIMED = 0.93, 0.05
SAMPLE_TRIALS, SAMPLE_SECONDS = 200, 10.0
ESTIMATE_TRIALS, ESTIMATED_A_SECOND, LARGE_POOL = 80, 100_000, 100
SAMPLE_KNOBS = ["title_boost=0.1:20:log", "cast_boost=0.1:20:log", "tie=0:1"]
TAGS = 4  # of a simulated study, of equal sizes
type Simulation = Callable[..., tuple[Evidence, FloatArray]]
STUB_SECONDS, PARALLEL, MOST = 0.005, 4, 2.0


def simulated_cases() -> Iterator[tuple[str, int, Simulation, Simulation]]:
    """What is simulated, in words; its queries; and by seed what is found and the truth, with a gain and without one."""
    for queries, trials, shared in SIMULATED:
        of_case = partial(simulate, queries, trials, shared)
        label = f"{queries} queries, {trials} trials, {shared:.0%} shared"
        yield label, queries, partial(of_case, is_null=False), partial(of_case, is_null=True)
    for queries, best in SMOOTH:
        of_case = partial(simulate_smooth, queries, SMOOTH_TRIALS)
        label = f"{queries} queries, {SMOOTH_TRIALS} trials, a smooth optimum of {best:g} points"
        yield label, queries, partial(of_case, best), partial(of_case, 0.0)


def measure_simulated(seeds: int) -> bool:
    is_good = True
    for label, queries, with_gain, without in simulated_cases():
        rows = []
        for seed in range(seeds):
            (found, truth), (null, _) = with_gain(seed=seed), without(seed=seeds + seed)
            interval, claimed, gain = found.gain_interval(), null.gain_interval(), true_gain(found, truth)
            assert interval is not None
            assert claimed is not None
            gains = compare_cross_fitted([null.draws_of(np.arange(tag, queries, TAGS)) for tag in range(TAGS)])
            is_named = any(of_tag.p_holm is not None and of_tag.p_holm < ALPHA for of_tag in gains)
            choice, best = int(found.seen_choices[-1]), found.best_trial()
            of_choice = found.seen_curve()[-1], truth[choice]
            of_best = found.differences(best).mean, truth[best]
            is_covered, is_claimed = interval.low <= gain <= interval.high, claimed.low > 0
            rows.append((*of_choice, *of_best, found.cross_fitted().mean, is_covered, is_claimed, is_named))
        looks, true, best_looks, best_is, fitted, covered, claimed_share, named = np.mean(rows, axis=0)
        print(
            f"{label}: the choice looks {looks:.2f} and is {true:.2f}; the best looks {best_looks:.2f} and is {best_is:.2f}; "
            f"cross-fitted {fitted:.2f} ± {np.std([row[4] for row in rows]):.1f}; covered {covered:.1%}, claimed without a gain "
            f"{claimed_share:.1%}, of one of {TAGS} tags {named:.1%}",
            flush=True,
        )
        is_good &= options.verdict(covered >= COVERED, f"covered at least {COVERED:.0%}, {covered:.1%}")
        is_good &= options.verdict(claimed_share <= CLAIMED, f"claimed at most {CLAIMED:.0%}, {claimed_share:.1%}")
        is_good &= options.verdict(named <= CLAIMED, f"a tag named at most in {CLAIMED:.0%}, {named:.1%}")
    return is_good


def run_study(case: Case, knobs: list[str], trials: int, *, estimates: bool = False) -> tuple[Study, float]:
    """Runs a study in this process. Returns it, and the seconds that it took."""
    attempt = case.attempts.exclude(knobs={}).order_by("number").last()
    scorer = Scorer.objects.get(name="nDCG@10", owner=None)
    scorers.add_scorer(case=case, scorer=scorer)
    version = ScorerVersion.objects.used_by(case).get(scorer=scorer)
    varied = [parse_knob(text) for text in knobs]
    settings = studies.StudySettings(knobs=varied, trials=trials, estimates=estimates)
    study = studies.create(case=case, parent=attempt, version=version, settings=settings, by=case.owner)
    begun = time.perf_counter()
    while studies.continue_study(study.pk):
        pass
    study.refresh_from_db()
    found = findings.update_findings(study)
    seconds = time.perf_counter() - begun
    assert study.status == Study.Status.COMPLETE, study.reason
    print(f"  {found['sentence']}")
    return study, seconds


def measure_sample(by: User, trials: int) -> bool:
    study, seconds = run_study(sample.load(owner=by), SAMPLE_KNOBS, trials)
    print(f"sample: {trials} trials of {len(study.query_ids)} queries, {study.requests:,} requests: {seconds:.1f} s")
    return options.verdict(seconds <= SAMPLE_SECONDS, f"at most {SAMPLE_SECONDS:g} s, {seconds:.1f} s")


def measure_estimates(by: User, trials: int) -> bool:
    taken: list[tuple[int, float, float]] = []
    kept: list[tuple[Estimator, Sequence[Settings]]] = []
    points = Estimator.points

    def timed(self: Estimator, settings: Sequence[Settings], beat: Callable[[], object]) -> FloatArray:
        begun, cpu_begun = time.perf_counter(), time.thread_time()
        found = points(self, settings, beat)
        taken.append((len(settings), time.perf_counter() - begun, time.thread_time() - cpu_begun))
        kept.append((self, settings))
        return found

    with patch.object(Estimator, "points", timed):
        study, seconds = run_study(sample.load(owner=by), SAMPLE_KNOBS, trials, estimates=True)
    count, spent, cpu = (sum(column) for column in zip(*taken, strict=True))
    queries = len(study.query_ids)
    print(
        f"estimates: {count:,} settings of {queries} queries in {spent:.2f} s of {seconds:.1f} s, {cpu:.2f} s of the processor: "
        f"{count / spent:,.0f} a second, {count * queries / spent:,.0f} with each query"
    )
    estimator, settings = kept[0]
    large = replace(estimator, pools=[large_pool(seed, len(SAMPLE_KNOBS)) for seed in range(queries)])
    cpu_begun = time.thread_time()
    large.points(settings)
    cpu = time.thread_time() - cpu_begun
    print(f"  pools of {LARGE_POOL} documents: {len(settings) / cpu:,.0f} settings a second of the processor")
    return options.verdict(count / spent >= ESTIMATED_A_SECOND, f"at least {ESTIMATED_A_SECOND:,} settings a second")


def large_pool(seed: int, knobs: int) -> Pool:
    """A pool whose documents have the best of seven items, plus a part of the others, and one more item."""
    chance = np.random.default_rng(seed)
    sizes = np.tile([7, 1], LARGE_POOL)
    ties = np.zeros((len(sizes), 1 + knobs))
    ties[::2, -1] = 1.0
    items = chance.exponential(size=(sizes.sum(), 1 + knobs))
    return Pool([f"doc-{number}" for number in range(LARGE_POOL)], np.full(LARGE_POOL, 2), sizes, ties, items)


def measure_stub(by: User, trials: int, queries: int) -> bool:
    workers.SECONDS = STUB_SECONDS
    with workers.stub() as (address, _):
        case = make_case("Stub", query_texts(queries), by)
        endpoint = endpoints.create(name="stub", engine="solr", url=address, by=by, parallel=PARALLEL)
        template = "q=#$query##&qf=title^##boost##"
        runs.attempts.save(case=case, endpoint=endpoint, template=template, knobs={"boost": 2}, by=by)
        cpu_begun = time.process_time()
        study, seconds = run_study(case, ["boost=0.1:10:log"], trials)
    needed, spent = study.requests * STUB_SECONDS / PARALLEL, time.process_time() - cpu_begun
    print(
        f"stub: {trials} trials of {queries} queries, {study.requests:,} requests: {seconds:.1f} s; the engine: {needed:.1f} s; "
        f"{1000 * spent / study.requests:.2f} ms of the processor for a request"
    )
    return options.verdict(seconds <= MOST * needed, f"at most {MOST:g} times as long, {seconds / needed:.2f}")


def main(chosen: argparse.Namespace) -> bool:
    by = User.objects.create_superuser("owner@example.com")
    print("simulated studies, the films of the sample, and invented data", flush=True)
    is_good = True
    if "simulated" in chosen.only:
        is_good &= measure_simulated(10 if chosen.quick else chosen.seeds)
    if "sample" in chosen.only:
        is_good &= measure_sample(by, 20 if chosen.quick else SAMPLE_TRIALS)
    if "estimates" in chosen.only:
        is_good &= measure_estimates(by, 20 if chosen.quick else ESTIMATE_TRIALS)
    if "stub" in chosen.only:
        is_good &= measure_stub(by, 10 if chosen.quick else chosen.trials, chosen.queries)
    return is_good


if __name__ == "__main__":
    line = options.parser(__doc__, 500)
    line.add_argument("--seeds", type=int, default=200, metavar="N")
    line.add_argument("--trials", type=int, default=500, metavar="N")
    parts = ("simulated", "sample", "estimates", "stub")
    line.add_argument("--only", nargs="+", choices=parts, default=parts)
    chosen = options.read(line, quick=50)
    raise SystemExit(options.status(chosen, main(chosen)))
