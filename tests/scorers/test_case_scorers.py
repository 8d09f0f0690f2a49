"""Two editors who change the scorers of a case at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from relevancy import cases, scorers
from relevancy.models import CaseScorer, Scorer, ScorerDefinition
from relevancy.scorers import case_scorers
from tests.factories import make_case, make_scorer


@pytest.mark.django_db
def test_an_addition_in_between_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    case, first, second = make_case(0), make_scorer("P@1"), make_scorer("P@2")
    newest_version = case_scorers.newest_version

    def add_another_first(scorer: Scorer) -> object:
        monkeypatch.setattr(case_scorers, "newest_version", newest_version)
        scorers.add_scorer(case=case, scorer=second)
        return newest_version(scorer)

    monkeypatch.setattr(case_scorers, "newest_version", add_another_first)
    scorers.add_scorer(case=case, scorer=first)
    assert {first.pk, second.pk} <= set(case.case_scorers.values_list("scorer", flat=True))


@pytest.mark.django_db
def test_scorers_that_stay_keep_their_rows() -> None:
    case = make_case(0)
    kept = case.case_scorers.get()
    other = make_scorer("P@1")
    scorers.add_scorer(case=case, scorer=other)
    scorers.make_primary(case=case, scorer=other)
    scorers.drop_scorer(case=case, scorer=other)
    assert case.case_scorers.get().pk == kept.pk


@pytest.mark.django_db(transaction=True)
def test_additions_at_once_are_all_kept() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite runs one write transaction at a time")
    case = make_case(0)
    added = [make_scorer(f"P@{number}") for number in range(1, 5)]
    barrier = Barrier(len(added))

    def add(scorer: Scorer) -> None:
        try:
            barrier.wait()
            scorers.add_scorer(case=case, scorer=scorer)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(added)) as pool:
        list(pool.map(add, added))
    positions = list(CaseScorer.objects.filter(case=case).values_list("position", flat=True))
    assert sorted(positions) == list(range(5))


@pytest.mark.django_db
def test_scorer_of_another_case_only_is_refused() -> None:
    theirs = make_case(0)
    only = scorers.create_for_case(
        case=theirs, name="Ours", definition=ScorerDefinition(measure="P@3"), by=theirs.owner
    )
    own = make_case(0, owner=theirs.owner)
    for add in (
        lambda: scorers.add_scorer(case=own, scorer=only),
        lambda: scorers.make_primary(case=own, scorer=only),
        lambda: scorers.replace(scorer=own.scorers.get(), replacement=only, cases=[own]),
        lambda: cases.create(name="New", owner=theirs.owner, scorers=[only]),
    ):
        with pytest.raises(ValidationError, match="made for another case only"):
            add()
    assert only not in own.scorers.all()
    scorers.make_primary(case=theirs, scorer=only)
