"""The law of differences: they compare scores made with the same ratings, scorer version and queries, or there is none.

The same attempt run twice with the same results has every difference 0, or being rescored, whatever is rated, imported, taken back
or set in between, and whether or not the worker has followed.
"""

from copy import deepcopy
from typing import Any, ClassVar

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from relevancy import books, cases, queries, ratings, scorers, scores
from relevancy.formats.queries import query_list_csv
from relevancy.models import Book, Case, CaseScore, Run, Scorer, ScorerVersion
from relevancy.scores import comparison, storage
from tests import factories
from tests.factories import (
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    rescore_query,
    run_now,
    script_of,
    set_rule,
    set_scale,
)

DOCUMENTS = ("a", "b", "c", "x")
SUMMED = ("score", "low", "high", "scored", "queries", "unrated", "failed", "revision")
TEXTS = ("query 1", "query 2", "query 3")
RESULTS = {"query 1": ("a", "b"), "query 2": ("b", "c", "a"), "query 3": ()}


class SameResultsTwice(RuleBasedStateMachine):
    """One case whose attempt has been run three times, with the same results; a second case has the same book."""

    given: ClassVar[dict[str, Any]]  # what every example begins with; the database forgets what an example has changed

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        vars(self).update(deepcopy(self.given))

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @classmethod
    def make(cls) -> None:
        owner = make_user()
        measures = ["nDCG@10", "RR@10", "P@5"]
        case = make_case(TEXTS, {"query 1": {"a": 1}}, owner=owner, measures=measures[:1])
        for measure in measures[1:]:
            if not Scorer.objects.filter(name=measure).exists():
                factories.make_scorer(measure, measure)
        attempt = make_attempt(case)
        script_of(attempt).answers |= RESULTS
        runs = [run_now(attempt) for _ in range(3)]
        runs.append(run_now(make_attempt(case, attempt.endpoint, parent=attempt, knobs={}, depth=7)))
        cls.given = {
            "owner": owner,
            "other_rater": make_user(),
            "case": case,
            "scorers": list(Scorer.objects.filter(name__in=measures)),
            "runs": runs,
            "neighbour": make_case(TEXTS[:2], owner=owner, book_of=case),
        }

    # --- what people do ---

    def _shown(self, number: int) -> dict[str, Any]:
        """What the page that shows a run gives to a rating."""
        run = Run.objects.select_related("case__book").get(pk=self.runs[number].pk)
        baseline = scores.baseline_of(run)
        return {"run": run, "baseline": baseline}

    @rule(
        text=st.sampled_from(TEXTS),
        doc_id=st.sampled_from(DOCUMENTS),
        value=st.sampled_from([0, 1, 2, 3]),
        shown=st.integers(0, 3),
        second=st.booleans(),
    )
    def rate(self, text: str, doc_id: str, value: int, shown: int, second: bool) -> None:
        query, page = query_of(self.case, text), self._shown(shown)
        by = self.other_rater if second else self.owner
        ratings.rate(query=query, doc_id=doc_id, value=value, by=by)
        rescore_query(page["run"], query.pk, baseline=page["baseline"])
        difference = page["baseline"] and scores.compare_runs(page["run"], page["baseline"], self.primary)
        self.rated = (page["run"], page["baseline"])
        assert difference is None or difference.difference in {0, None}

    @rule(text=st.sampled_from(TEXTS), value=st.sampled_from([0, 3]))
    def rate_all_shown(self, text: str, value: int) -> None:
        ratings.rate_many(query=query_of(self.case, text), values=dict.fromkeys("abc", value), by=self.owner)

    @rule(text=st.sampled_from(TEXTS), doc_id=st.sampled_from(DOCUMENTS), shown=st.integers(0, 3))
    def take_back(self, text: str, doc_id: str, shown: int) -> None:
        page = self._shown(shown)
        ratings.remove(query=query_of(self.case, text), doc_ids=[doc_id], by=self.owner)
        rescore_query(page["run"], query_of(self.case, text).pk)

    @rule(
        rows=st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(DOCUMENTS)), min_size=1, unique=True),
        value=st.integers(0, 3),
    )
    def import_ratings(self, rows: list[tuple[str, str]], value: int) -> None:
        lines = "".join(f"{text},{doc_id},{value}\n" for text, doc_id in rows)
        case = Case.objects.get(pk=self.case.pk)  # the settings of the book have changed since `self.case` was read
        factories.import_csv(case=case, text=f"query,docid,rating\n{lines}", by=self.owner)

    @rule(value=st.integers(0, 3))
    def rate_in_the_other_case(self, value: int) -> None:
        rate_all(self.neighbour, {"query 1": {"b": value}}, self.owner)

    @rule(name=st.sampled_from(["latest", "mean", "lowest_of_three", "quepid"]))
    def set_rule(self, name: str) -> None:
        set_rule(book=self.case.book, rule=name)

    @rule(top=st.sampled_from([3, 4, 10]), is_reversed=st.booleans())
    def remap_ratings(self, top: int, is_reversed: bool) -> None:
        """Grades stay from 0 to 3, so that the other rules can give them."""
        book = Book.objects.get(pk=self.case.book_id)
        settings = books.book_settings(rule=book.rule, scale=[[grade, ""] for grade in range(top + 1)])
        grades = {grade: 3 - grade if is_reversed else min(grade, 2) for grade in books.rated_values(book)}
        books.change_settings(book=book, settings=settings, new_grades=grades, can_merge_grades=True, by=self.owner)

    @rule(top=st.sampled_from([3, 4, 10]), relevant_from=st.sampled_from([None, 2.0]))
    def set_scale(self, top: int, relevant_from: float | None) -> None:
        scale = [[grade, ""] for grade in range(top + 1)]
        set_scale(book=self.case.book, scale=scale, relevant_from=relevant_from)

    @rule(position=st.integers(0, 2))
    def choose_scorer(self, position: int) -> None:
        scorers.choose_scorers(case=self.case, scorers=[self.scorers[position]])

    @rule(text=st.sampled_from(TEXTS), weight=st.sampled_from([0.0, 0.3, 1.0, 5.0]))
    def weigh(self, text: str, weight: float) -> None:
        case_query = self.case.case_queries.select_related("query__book").get(query__text=text)
        queries.edit(case_query=case_query, text=text, weight=weight)

    @rule(text=st.sampled_from(TEXTS), removed=st.booleans())
    def remove_or_restore(self, text: str, removed: bool) -> None:
        case_query = self.case.case_queries.get(query__text=text)
        (queries.remove if removed else queries.restore)(case_query=case_query)

    # --- what machines do ---

    @rule(shown=st.integers(0, 3))
    def rescore_one_run(self, shown: int) -> None:
        scores.rescore_run(self._shown(shown)["run"])

    @rule()
    def work(self) -> None:
        assert scores.rescore_case(self.case, seconds=60)
        self.check_idle()

    @rule(seconds=st.just(-1.0))
    def work_a_little(self, seconds: float) -> None:
        scores.rescore_case(self.case, seconds=seconds)

    # --- what pages show ---

    @property
    def primary(self) -> ScorerVersion:
        return ScorerVersion.objects.used_by(self.case)[0]

    def differences(self) -> list[scores.RunDifference]:
        """Every difference between two runs: the head's, the home page's, the attempt tree's."""
        pairs = [(run, baseline) for run in self.runs for baseline in self.runs if run.number > baseline.number]
        version = self.primary
        live = [scores.compare_runs(run, baseline, version) for run, baseline in pairs]
        tree = scores.compared_attempts(scores.attempts_with_scores(self.case, version))
        return [*live, *scores.stored_differences([*pairs, *tree], version).values()]

    @invariant()
    def every_difference_is_zero_or_being_rescored(self) -> None:
        for difference in self.differences():
            assert difference.difference in {0, None}
            assert difference.difference is None or not (
                difference.better or difference.worse or difference.newly_scored or difference.no_longer_scored
            )

    @invariant()
    def current_scores_of_the_history_agree(self) -> None:
        points = scores.recent_case_scores(self.case, self.primary)
        current = {(point.score, point.low, point.high, point.scored) for point in points if point.is_current}
        assert len(current) <= 1

    @invariant()
    def rows_and_files_agree(self) -> None:
        listed = (
            self.case.case_queries.present().with_scores(self.runs[2], self.primary, self.runs[1]).order_by("position")
        )
        assert {row.difference for row in listed} <= {0, None}
        lines = query_list_csv.export_lines(enumerate(listed, 1))
        assert all(line.split(",")[5] in {"", "0.0", "change"} for line in lines)

    @invariant()
    def the_home_page_agrees(self) -> None:
        (row,) = cases.case_rows([self.case])
        assert row.change in {0, None}
        assert all(event.change in {0, None} for event in cases.recent_activity(self.owner) if event.kind == "run")

    @invariant()
    def what_ratings_have_changed_is_what_all_scores_sum_up_to(self) -> None:
        for stored in CaseScore.objects.filter(run__in=self.runs).with_case_revision():
            if stored.is_current:
                (summed,) = storage.score_runs([(stored.run, stored.version)])
                assert [getattr(stored, name) for name in SUMMED] == [getattr(summed, name) for name in SUMMED]
        for row in scores.current_comparisons():
            summed = comparison.compare_runs(row.run, row.baseline, row.version)
            assert [getattr(row, name) for name in comparison.COLUMNS] == [
                getattr(summed, name) for name in comparison.COLUMNS
            ]

    def check_idle(self) -> None:
        for difference in self.differences():
            assert not difference.pending
            assert difference.difference == 0 or not difference.compared
        points = scores.recent_case_scores(self.case, self.primary)
        assert len(points) == len(self.runs)
        assert all(point.is_current for point in points)
        (row,) = cases.case_rows([self.case])
        assert not row.is_being_rescored


@pytest.mark.django_db
@pytest.mark.usefixtures("script")
def test_compare_runs_law() -> None:
    SameResultsTwice.make()
    run_state_machine_as_test(
        SameResultsTwice,
        settings=settings(
            max_examples=20,
            stateful_step_count=15,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
