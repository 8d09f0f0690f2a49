"""The sample as it is loaded: three runs on the embedded engine, each better than the one before, and a comparison."""

import re
from pathlib import Path

import pytest

from relevancy import comparison, runs, scores
from relevancy.formats import errors
from relevancy.formats.documents import documents_file, sample
from relevancy.models import Attempt, Case, Endpoint, Rating, RatingChange, Run, ScorerVersion, StoredComparison
from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


def test_load_shows_scores_a_history_and_something_to_improve() -> None:
    owner = make_user()
    case = sample.load(owner=owner)
    runs = list(case.runs.order_by("number"))
    assert [run.status for run in runs] == ["complete"] * 3
    assert [run.attempt.number for run in runs] == [1, 2, 3]
    assert runs[0].queries >= 24
    assert not any(run.failed for run in runs)
    version = ScorerVersion.objects.used_by(case)[0]
    assert version.scorer.is_default
    points = scores.recent_case_scores(case, version)
    assert [point.run_id for point in points] == [run.pk for run in runs]
    assert points[0].score + 5 < points[1].score < points[2].score < 95
    assert points[2].scored >= 24
    assert Rating.objects.count() == RatingChange.objects.filter(source="sample").count() > 200


def test_load_shows_the_figures_of_the_readme() -> None:
    case = sample.load(owner=make_user())
    score_list = [point.score for point in scores.recent_case_scores(case, ScorerVersion.objects.used_by(case)[0])]
    assert score_list == sorted(score_list)
    text = (sample.FOLDER / "README.md").read_text(encoding="utf-8")
    assert [f"{score:.1f}" for score in score_list] == re.findall(r"(?<= )\d\d\.\d\b", text)


def test_load_leaves_one_result_in_ten_to_rate() -> None:
    case = sample.load(owner=make_user())
    rated = set(Rating.objects.values_list("query_id", "doc_id"))
    for run in case.runs.exclude(number=3):  # the third one finds misspelt words, and with them what nobody has rated
        shown = [
            (ranking.query_id, doc_id)
            for ranking in run.rankings.select_related("query")
            for doc_id in ranking.doc_ids[:10]
            if ranking.text != "submarine"  # unrated on purpose
        ]
        assert 0.05 < sum(pair not in rated for pair in shown) / len(shown) < 0.12


def test_load_twice_is_once() -> None:
    owner = make_user()
    case = sample.load(owner=owner)
    models = (Case, Attempt, Run, Endpoint, Rating, RatingChange, StoredComparison)
    counts = [model.objects.count() for model in models]
    assert sample.load(owner=owner) == case
    assert [model.objects.count() for model in models] == counts
    assert sample.load(owner=make_user(superuser=True)) != case
    assert Endpoint.objects.count() == 1


def test_load_leaves_a_comparison_that_says_what_fuzzy_search_does() -> None:
    case = sample.load(owner=make_user())
    stored = StoredComparison.objects.with_case_revision().get()
    assert stored.is_current
    compared = list(case.runs.exclude(number=1).order_by("number"))
    figures = comparison.stored.load(stored, compared)
    (pair,) = figures.comparison.pairs
    assert pair.difference > 5
    assert pair.carriers == ["godfahter", "star treck"]  # few queries carry it, and others are worse
    assert pair.paired.differences.losses > pair.paired.differences.wins
    assert "no clear difference" in comparison.describe_verdict(pair)


def test_load_leaves_a_case_alone_to_which_attempts_were_added() -> None:
    owner = make_user()
    case = sample.load(owner=owner)
    StoredComparison.objects.all().delete()
    case.attempts.filter(number=3).update(name="Mine")
    assert sample.load(owner=owner) == case
    assert not StoredComparison.objects.exists()


def test_load_finishes_what_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_user()
    with monkeypatch.context() as patch:
        patch.setattr(runs, "finish_here", lambda run: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sample.load(owner=owner)
    assert Run.objects.get().status == "waiting"
    case = sample.load(owner=owner)
    assert [run.status for run in case.runs.order_by("number")] == ["complete"] * 3
    assert Case.objects.count() == 1


def test_documents_load(data_dir: Path) -> None:
    text = '{"id": "1", "title": "Star Wars"}\n\n{"id": "2", "title": "Alien"}\r\n'
    assert documents_file.import_documents(engine="embedded", url="few", text=text, by=make_user()) == 2
    assert (data_dir / "embedded").is_dir()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "1"}\n{"id": ', "Line 2: column"),
        ('{"id": "1"}\n\n[1]\n', "Line 3: this is not a JSON object: '[1]'"),
        (
            '{"id": "1"}\n{"id": "2", "tags": [[1], {"a": 2}]}\n',
            "Document 2 exceeds the limit: a file can have at most 8 ",
        ),
        ("id,title\n1,a\n2,b\n3,c\n", "Document 3 exceeds the limit"),
        ('{"id": "1"}\n{"id": "%s"}' % ("x" * 50), "Line 2: the document has more than 50 characters."),
    ],
)
def test_documents_load_bad_file(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_file, "MAX_VALUES", 8)
    monkeypatch.setattr(documents_file, "MAX_LINE", 50)
    with pytest.raises(errors.BadFile) as caught:
        documents_file.import_documents(engine="embedded", url="few", text=text, by=make_user())
    assert str(caught.value).startswith(message)
