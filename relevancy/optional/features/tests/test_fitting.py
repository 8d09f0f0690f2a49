"""Models of a case: fitted, made an attempt of, applied here."""

import io
import json
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from relevancy import endpoints, engines, runs
from relevancy.models import Case, ScorerVersion
from relevancy.optional.features import additions, cross_fitting, feature_sets, fitting, linear, logs, tasks, trees
from relevancy.optional.features.dataset import read_dataset
from relevancy.optional.features.models import FeatureLog, FeatureModel
from tests.factories import make_case, make_user, run_now
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

pytestmark = pytest.mark.django_db
WORDS = ["star", "wars", "moon", "river", "train", "garden"]
TEXT = 'title: {"query": "#$query##", "fields": {"title": 1}}\nbody: {"query": "#$query##", "fields": {"body": 1}}\nvotes: number votes'


@pytest.fixture
def case(data_dir: Path) -> Case:
    """Thirty queries, each of which has a good document with its words in the title, and bad ones with them in the body."""
    texts = [f"{first} {second}" for first in WORDS for second in WORDS if first != second]
    documents, grades = [], {}
    for number, text in enumerate(texts):
        documents.append({"id": f"good{number}", "title": text, "body": "nothing here", "votes": number})
        documents.append({"id": f"bad{number}", "title": "something else", "body": f"{text} {text}", "votes": 40})
        grades[text] = {f"good{number}": 3, f"bad{number}": 0}
    case = make_case(texts, grades)
    endpoint = endpoints.create(name="pages", engine="embedded", url="pages", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(documents)
    template = '{"query": "#$query##", "fields": {"body": 5, "title": ##title_boost##}}'
    runs.attempts.save(
        case=case, endpoint=endpoint, template=template, knobs={"title_boost": 1}, fields="id:id", by=case.owner
    )
    return case


def log_of(case: Case, text: str = TEXT, *, with_run: bool = False) -> FeatureLog:
    attempt = case.attempts.order_by("number").first()
    run = run_now(attempt) if with_run else None
    saved = feature_sets.save(case=case, attempt=attempt, text=text, by=case.owner)
    log = logs.start(feature_set=saved, run=run, by=case.owner)
    logs.continue_log(log.pk)
    return FeatureLog.objects.select_related("feature_set__case__book", "feature_set__attempt__endpoint", "run").get(
        pk=log.pk
    )


def fit(log: FeatureLog, kind: str = "ridge") -> FeatureModel:
    case = log.feature_set.case
    version = ScorerVersion.objects.used_by(case).first()
    model = fitting.create(log=log, kind=kind, version=version, by=case.owner)
    tasks.fit_model.func(model.pk)
    model.refresh_from_db()
    return model


@pytest.mark.parametrize("kind", ["ascent", "ridge"])
def test_a_model_becomes_an_attempt_that_ranks_like_it(case: Case, kind: str) -> None:
    model = fit(log_of(case, TEXT.rpartition("\n")[0], with_run=True), kind)
    assert (model.status, model.reason) == ("complete", "")
    assert model.findings["baseline_name"] == "run 1"
    assert model.findings["is_better"]
    assert model.content["weights"]["title"] > model.content["weights"]["body"]
    attempt = fitting.adopt(model=model, by=case.owner)
    assert fitting.adopt(model=model, by=case.owner) == attempt
    assert attempt.knobs["w_title"] == 1
    assert model.findings["sentence"] in attempt.note
    run = run_now(attempt)
    firsts = [ranking.hits[0][0] for ranking in run.rankings.all()]
    assert len(firsts) == 30 and all(first.startswith("good") for first in firsts)


def test_what_the_engine_cannot_rank_by_is_ranked_again_here(case: Case) -> None:
    model = fit(log_of(case, with_run=True))
    if model.content["weights"]["votes"] == 0:
        model.content["weights"]["votes"] = 0.001
        model.save()
    with pytest.raises(engines.EngineError, match="votes is something else"):
        fitting.adopt(model=model, by=case.owner)
    run = fitting.rerank_here(model=model, by=case.owner)
    assert fitting.rerank_here(model=model, by=case.owner) == run
    assert runs.is_imported(run)
    assert "re-ranked here" in run.name
    assert "Results of run 1, ranked again here" in run.note
    # Each query is ranked by the model of its fold: the scores are those of the cross-fitted values.
    dataset = read_dataset(model.log)
    values = fitting.cross_fitted_values(model, dataset)
    by_query: dict[int, dict[str, float]] = {}
    for query, doc_id, value in zip(dataset.queries.tolist(), dataset.doc_ids, values.tolist(), strict=True):
        by_query.setdefault(dataset.query_ids[query], {})[doc_id] = value
    before = {ranking.query_id: ranking.doc_ids for ranking in model.log.run.rankings.all()}
    for ranking in run.rankings.all():
        known = by_query[ranking.query_id]
        assert sorted(ranking.doc_ids) == sorted(before[ranking.query_id])
        assert ranking.doc_ids == sorted(before[ranking.query_id], key=lambda doc_id, known=known: -known[doc_id])


def test_without_a_run_there_is_nothing_to_rank_again(case: Case) -> None:
    with pytest.raises(ValidationError, match="Log the features with a run first"):
        fitting.rerank_here(model=fit(log_of(case)), by=case.owner)


def test_too_few_queries(case: Case) -> None:
    with patch.object(cross_fitting, "MIN_UNITS", 31):
        model = fit(log_of(case))
    assert model.status == "failed"
    assert "30 independent queries" in model.reason
    with pytest.raises(ValidationError, match="30 independent queries"):
        fitting.adopt(model=model, by=case.owner)


def test_a_log_that_is_not_complete_has_no_models(case: Case) -> None:
    saved = feature_sets.save(case=case, attempt=case.attempts.get(), text=TEXT, by=case.owner)
    log = logs.start(feature_set=saved, by=case.owner)
    version = ScorerVersion.objects.used_by(case).first()
    with pytest.raises(ValidationError, match="has not been logged completely"):
        fitting.create(log=log, kind="ridge", version=version, by=case.owner)


def waiting_model(log: FeatureLog) -> FeatureModel:
    version = ScorerVersion.objects.used_by(log.feature_set.case).first()
    return fitting.create(log=log, kind="ridge", version=version, by=log.created_by)


def test_a_model_at_which_three_workers_die_fails(case: Case) -> None:
    model = waiting_model(log_of(case))
    for died in range(1, runs.MAX_WORKER_RESTARTS + 1):
        assert fitting.waiting_models() == [model.pk]
        FeatureModel.objects.update(claimed_by="dead", heartbeat_at=timezone.now())
        fitting.release_dead()
        fitting.fit(model)
        model.refresh_from_db()
        assert (model.status, model.claimed_by, fitting.waiting_models()) == (
            "waiting",
            "dead",
            [],
        )  # it could be alive
        FeatureModel.objects.update(heartbeat_at="2026-01-01T00:00Z")
        with patch.object(tasks, "enqueue_model") as enqueue:
            additions.continue_abandoned()
        assert enqueue.call_count == (died < runs.MAX_WORKER_RESTARTS)
        model.refresh_from_db()
        assert (model.claimed_by, model.worker_restarts) == ("", died)
    assert (model.status, fitting.waiting_models()) == ("failed", [])
    client = Client()
    client.force_login(case.owner)
    page = tree(client.get(reverse("feature_model", args=[case.pk, 1, model.pk])))
    assert words(by_id(page, "model-reason")).startswith("3 workers in a row stopped unexpectedly")


def test_a_fit_fails_at_once_with_an_unexpected_error_and_later_if_the_database_stays_away(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    log = log_of(case)
    with patch.object(fitting, "read_dataset", side_effect=MemoryError):
        model = fit(log)
    assert (model.status, model.claimed_by) == ("failed", "")
    assert "An unexpected error (MemoryError) has ended the fit" in model.reason
    assert f"model {model.pk} ended" in caplog.text
    model = waiting_model(log)
    with patch.object(fitting, "read_dataset", side_effect=OperationalError("database is locked")):
        for _ in range(runs.MAX_WORKER_RESTARTS):
            assert fitting.waiting_models() == [model.pk]
            with pytest.raises(OperationalError):
                tasks.fit_model.func(model.pk)
    fitting.release_dead()
    model.refresh_from_db()
    assert model.status == "failed" and "could not reach the database" in model.reason


@pytest.mark.parametrize("kind", ["ascent", "trees"])
def test_a_fit_sends_heartbeats_and_ends_when_another_worker_has_the_model(case: Case, kind: str) -> None:
    if kind == "trees":
        pytest.importorskip("lightgbm")
    log = log_of(case)
    with patch.object(fitting, "HEARTBEAT_SECONDS", -1):
        model = fit(log, kind)
        assert model.status == "complete"
        assert model.heartbeat_at > model.created_at
        seen = []

        def take_over(dataset: object, *args: object, **kwargs: object) -> object:
            FeatureModel.objects.filter(status="waiting").update(claimed_by="another")
            seen.append(dataset)
            return original(dataset, *args, **kwargs)

        target = (trees, "train") if kind == "trees" else (linear, "fit_ascent")
        original = getattr(*target)
        known = {**fitting._LINEAR, "ascent": take_over}
        with patch.object(trees, "train", take_over), patch.object(fitting, "_LINEAR", known):
            model = fit(log, kind)
    assert len(seen) == 1
    assert (model.status, model.claimed_by) == ("waiting", "another")


def test_pages(case: Case) -> None:
    log_of(case, TEXT.rpartition("\n")[0], with_run=True)
    client = Client()
    client.force_login(case.owner)
    page_url = reverse("feature_set", args=[case.pk, 1])
    assert by_id(tree(client.get(page_url)), "fit-model") is not None
    version = ScorerVersion.objects.used_by(case).first()
    posted = client.post(reverse("feature_model_fit", args=[case.pk, 1]), {"kind": "ridge", "version": str(version.pk)})
    model = FeatureModel.objects.get()
    url = reverse("feature_model", args=[case.pk, 1, model.pk])
    assert posted.headers["Location"] == url
    page = tree(client.get(url))
    assert attributes(by_id(page, "feature-model"))["data-status"] == "complete"
    assert attributes(by_id(page, "model-sentence"))["data-better"] == "True"
    assert '"type": "most_fields"' in words(by_id(page, "model-template"))
    client.post(reverse("feature_model_rerank", args=[case.pk, 1, model.pk]))
    client.post(reverse("feature_model_adopt", args=[case.pk, 1, model.pk]))
    model.refresh_from_db()
    assert model.attempt is not None and model.run is not None
    assert "Better than run 1" in words(tree(client.get(page_url)))


def test_api_and_command(api, case: Case) -> None:  # type: ignore[no-untyped-def]
    log_of(case, TEXT.rpartition("\n")[0])
    make_user("root", superuser=True)
    client = api(case.owner)
    path = f"/cases/{case.pk}/features/1/models"
    assert client.send("POST", path, {"kind": "nonsense"}).status_code == 422
    created = client.send("POST", path, {"kind": "ridge", "seed": 3})
    assert created.status_code == 202
    (listed,) = client.items(path)
    assert listed == client.get(f"{path}/{created.json()['id']}")
    assert (listed["status"], listed["seed"], set(listed["weights"])) == ("complete", 3, {"title", "body"})
    assert client.send("POST", f"{path}/{listed['id']}/attempt", {}).json() == {"attempt": 2}
    out = io.StringIO()
    call_command("features", str(case.pk), "--fit", "ascent", stdout=out)
    assert "the best feature alone, title" in out.getvalue()
    call_command("features", str(case.pk), "--attempt-of", str(FeatureModel.objects.first().pk), stdout=out)
    assert "Attempt 3 created of Model" in out.getvalue()


def test_api_of_trees(api, case: Case) -> None:  # type: ignore[no-untyped-def]
    log = log_of(case, with_run=True)
    client = api(case.owner)
    created = client.send("POST", f"/cases/{case.pk}/features/1/models", {"kind": "trees"})
    path = f"/cases/{case.pk}/features/1/models/{created.json()['id']}"
    model = client.get(path)
    assert (model["status"], model["weights"], model["attempt"], model["run"]) == ("complete", None, None, None)
    assert model["trees"] == len(FeatureModel.objects.get().content["trees"]) > 0
    assert "the engine has to load them" in client.send("POST", f"{path}/attempt", {}).json()["detail"]
    run = client.send("POST", f"{path}/run", {})
    assert run.status_code == 201
    assert client.send("POST", f"{path}/run", {}).json() == run.json()
    assert client.get(path)["run"] == run.json()["number"] == 2
    assert client.get(f"/runs/{run.json()['id']}")["number"] == 2
    assert client.get(f"{path}/products") == []
    refused = client.send("GET", f"{path}/file?product=opensearch")
    assert (refused.status_code, "Possible are: none." in refused.content.decode()) == (422, True)
    FeatureLog.objects.filter(pk=log.pk).update(config={**log.config, "engine": "opensearch"})
    (product,) = client.get(f"{path}/products")
    assert (product["product"], product["reason"]) == ("opensearch", "")
    assert "_ltr/_featureset" in product["commands"]
    file = client.get(f"{path}/file?product=opensearch")
    assert len(json.loads(file["model"]["model"]["definition"])["splits"]) == model["trees"]


def test_trees_are_ranked_again_here_and_written_for_products(case: Case) -> None:
    model = fit(log_of(case, with_run=True), "trees")
    assert (model.status, len(model.by_fold)) == ("complete", 5)
    assert model.findings["sentence"]
    client = Client()
    client.force_login(case.owner)
    url = reverse("feature_model", args=[case.pk, 1, model.pk])
    page = tree(client.get(url))
    assert "the engine has to load them" in words(by_id(page, "no-template"))
    assert not elements(page, **{"data-product": "solr"})  # the features are in the language of the embedded engine
    FeatureLog.objects.update(config={**model.log.config, "engine": "opensearch"})
    page = tree(client.get(url))
    assert elements(page, **{"data-product": "opensearch"})
    file = client.get(reverse("feature_model_file", args=[case.pk, 1, model.pk, "opensearch"])).json()
    assert file["model"]["model"]["type"] == "model/xgboost+json"
    assert client.get(reverse("feature_model_file", args=[case.pk, 1, model.pk, "solr"])).status_code == 302
    run = fitting.rerank_here(model=model, by=case.owner)
    assert runs.is_imported(run)
    assert run.rankings.count() == 30
