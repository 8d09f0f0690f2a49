"""Another primary scorer for a run of 5,000 queries: what it costs besides its arithmetic and one bulk write.

    python benchmarks/switching.py [--postgres URL] [--queries N]

A case with a run of ten results to a query and ten ratings to a query, medians of 7, taking turns:

- fresh: a scorer that the case never had becomes the primary one and the run is scored with it, as a worker does it: in
  parts, each in a separate short transaction, with scores checked against the ratings made in the meantime.
- floor: the same rankings and grades read, the same arithmetic, and as many rows in one bulk write; nothing else.
- back: a secondary scorer becomes the primary one, by a click on the page; its scores already exist.

Target: fresh at most three times the floor; back without computing anything.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import fresh_site
from django.db import connection, transaction
from django.test import Client
from invented import query_grades, query_texts
from workbench import write_rankings

from relevancy import cases, endpoints, queries, ratings, runs, scorers, scores, scoring
from relevancy.models import Case, QueryScore, Run, Scorer, ScorerVersion, User, read_doc_ids

ROUNDS = 7
MEASURE = "nDCG@10"
RATIO = 3.0


def make_run(count: int, by: User) -> Run:
    texts = query_texts(count)
    first = Scorer.objects.get(name="P@10")
    case = cases.create(name="switching", owner=by, scorers=[first], scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=texts)
    ids = dict(case.book.queries.values_list("text", "pk"))
    grades = query_grades(texts)
    ratings.rate_book(book=case.book, values={ids[text]: grades[text] for text in texts}, rater=by, by=by)
    folder = fresh_site.DATA / "static"
    folder.mkdir(exist_ok=True)
    write_rankings(folder / "switching.csv", texts, 1)
    endpoint = endpoints.create(name="switching", engine="static", url="switching.csv", by=by)
    fields = "id:id title:title short_description supplier"
    attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", fields=fields, by=by)
    run = runs.finish_here(runs.start(attempt=attempt, by=by))
    assert run.status == Run.Status.COMPLETE, run.reason
    return Run.objects.select_related("case__book").get(pk=run.pk)


def new_version(number: int) -> ScorerVersion:
    """A scorer with which nothing has been scored yet."""
    scorer = Scorer.objects.create(name=f"fresh {number}")
    return ScorerVersion.objects.create(scorer=scorer, number=1, measure=MEASURE, scale=[[0, ""], [3, ""]])


def switch(run: Run, version: ScorerVersion) -> None:
    scorers.make_primary(case=run.case, scorer=version.scorer)
    scores.rescore_run(run)


def floor(run: Run, version: ScorerVersion) -> None:
    """Read, compute, write; no parts, no checks, no locks, no case score."""
    rows = list(run.rankings.filter(error_kind="").for_scoring())
    grades = scores.known_grades(run.case.book, [row.query_id for row in rows])
    scale = scores.scale_of(run.case.book)
    batch = scoring.Batch.build(
        [row.doc_ids for row in read_doc_ids(rows)], [grades[row.query_id] for row in rows], scale
    )
    measure = scoring.parse_measure(MEASURE)
    values = scoring.score(measure, batch, depth=run.config["depth"], ideal=True)
    columns = (
        rows,
        values.value.tolist(),
        values.score.tolist(),
        values.low.tolist(),
        values.high.tolist(),
        values.ideal.tolist(),
        values.unrated.tolist(),
    )
    score_list = [
        QueryScore(
            run=run,
            query_id=row.query_id,
            version=version,
            value=_or_none(value),
            score=_or_none(score),
            low=_or_none(low),
            high=_or_none(high),
            ideal=_or_none(ideal),
            unrated=unrated,
            revision=1,
        )
        for row, value, score, low, high, ideal, unrated in zip(*columns, strict=True)
    ]
    with transaction.atomic():
        QueryScore.objects.bulk_create(score_list)


def _or_none(number: float) -> float | None:
    return None if number != number else number


def seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def back(client: Client, case: Case) -> float:
    """A click that puts the second scorer first."""
    second = ScorerVersion.objects.used_by(case)[1].scorer_id
    start = time.perf_counter()
    response = client.post(f"/cases/{case.pk}/scorer/", {"scorer": second})
    spent = time.perf_counter() - start
    assert response.status_code == 302, response.status_code
    assert ScorerVersion.objects.used_by(case)[0].scorer_id == second
    return spent


def measure_all(count: int) -> bool:
    by = User.objects.create_superuser("owner@example.com")
    run = make_run(count, by)
    client = Client(SERVER_NAME="localhost")
    client.force_login(by)
    times: dict[str, list[float]] = {"fresh": [], "floor": [], "back": []}
    for turn in range(ROUNDS + 1):
        fresh, other = new_version(2 * turn), new_version(2 * turn + 1)
        spent = {
            "fresh": seconds(lambda version=fresh: switch(run, version)),
            "floor": seconds(lambda version=other: floor(run, version)),
            "back": back(client, run.case),
        }
        assert QueryScore.objects.filter(version__in=(fresh, other)).count() == 2 * count
        scorers.drop_scorer(case=run.case, scorer=fresh.scorer)
        if turn:  # the first one warms up
            for name, value in spent.items():
                times[name].append(value)
    medians = {name: median(value) for name, value in times.items()}
    ratio = medians["fresh"] / medians["floor"]
    good = ratio <= RATIO
    print(f"{connection.vendor}: {count:,} queries (medians of {ROUNDS}); invented data")
    print(
        f"  fresh {medians['fresh'] * 1000:8.1f} ms   floor {medians['floor'] * 1000:8.1f} ms   ratio {ratio:.2f}   ",
        end="",
    )
    print("ok" if good else f"MISSED: at most {RATIO}")
    print(f"  back  {medians['back'] * 1000:8.1f} ms")
    return good


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--postgres", metavar="URL", default="")
    arguments.add_argument("--queries", type=int, default=5000)
    chosen = arguments.parse_args()
    good = measure_all(chosen.queries)
    if chosen.postgres:
        # Django takes its database from the environment, once.
        again = [sys.executable, __file__, "--queries", str(chosen.queries)]
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        good &= subprocess.run(again, env=environment, check=False).returncode == 0
    raise SystemExit(not good)
