"""Models in a Solr with its module `ltr`: the commands of the page are executed as they are, and Solr scores as we do."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import urllib3

from relevancy import endpoints, runs
from relevancy.formats.documents.sample import read_films
from relevancy.models import Attempt, Case, Endpoint, ScorerVersion
from relevancy.optional.features import feature_sets, logs, trees
from relevancy.optional.features.dataset import Dataset, read_dataset
from relevancy.optional.features.feature_text import Feature
from relevancy.optional.features.model_files import FORMATS, list_products, write_model
from relevancy.optional.features.models import FeatureLog, FeatureModel
from relevancy.optional.features.tests.test_linear import planted
from relevancy.optional.features.tests.test_trees import vectors_around
from tests.factories import make_attempt, make_case, make_endpoint, make_user, rate_all, run_now
from tests.live.conftest import solr8_server as solr8_server  # a fixture
from tests.live.indexing import make_solr_core
from tests.live.servers import Server

pytestmark = [pytest.mark.live, pytest.mark.django_db]
TEXTS = [
    "star wars",
    'the "dark knight"',
    "spider-man: home/away",
    "love and war",
    "the man who",
    "king of the night",
    "a last day in the city",
    "amélie",
]
FEATURES = """
title: {!edismax qf=title q.op=OR}#$query##
overview: {!edismax qf=overview q.op=OR}#$query##
recent: {!func}sub(year,1950)
year: number year
"""
DEPTH = 50
BASE = "q=#$query##\n&defType=edismax\n&qf=title^3 overview\n&q.op=OR"


def load(commands: str, model: str, core_url: str, folder: Path) -> None:
    """Executes the commands of the page, with the file of the model in the folder."""
    folder.joinpath("model.json").write_text(model)
    solr, _, core = core_url.rpartition("/")
    script = f"set -e\nSOLR={solr}\nCORE={core}\n" + commands.replace("curl ", "curl -sS --fail-with-body ")
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def films_url(solr8_server: Server) -> str:
    films = [*read_films()]
    for film in films[::3]:
        del film["year"]
    return make_solr_core(solr8_server, "ranked_films", films, {"year": "pint"})


@pytest.fixture
def log(films_url: str) -> FeatureLog:
    """The features of all results of a run, which are rated in turns."""
    owner = make_user("Ann")
    case = make_case(TEXTS, owner=owner)
    attempt = make_attempt(case, make_endpoint(owner, engine="solr", url=films_url), template=BASE, depth=DEPTH)
    run = run_now(attempt)
    rankings = {ranking.query.text: ranking.doc_ids for ranking in run.rankings.select_related("query")}
    rate_all(case, {text: {doc: n % 4 for n, doc in enumerate(ids)} for text, ids in rankings.items()}, owner)
    saved = feature_sets.save(case=case, attempt=attempt, text=FEATURES, by=owner)
    found = logs.start(feature_set=saved, run=run, by=owner)
    assert not logs.continue_log(found.pk)
    return FeatureLog.objects.select_related("feature_set__case__book", "feature_set__attempt__endpoint").get(
        pk=found.pk
    )


def reranked(case: Case, endpoint: Endpoint, model: str) -> Attempt:
    rerank = f"&rq={{!ltr model={model} reRankDocs={DEPTH} efi.user_query=$text}}&text=#$query##"
    return make_attempt(case, endpoint, template=f"{BASE}\n{rerank}", depth=DEPTH)


def check_scores(attempt: Attempt, dataset: Dataset, expected: Any) -> None:
    """Compares the scores of the engine with ours, [D], for the documents that were logged."""
    ours = dict(
        zip(
            zip((dataset.texts[query] for query in dataset.queries.tolist()), dataset.doc_ids, strict=True),
            expected.tolist(),
            strict=True,
        )
    )
    builder = runs.RequestBuilder(runs.snapshot_config(attempt), attempt.depth)
    compared, has_other_order = 0, False
    with endpoints.connect(attempt.endpoint) as engine:
        for text in TEXTS:
            hits = engine.search(builder.request(text, {})).hits
            wanted = [ours[text, hit.id] for hit in hits]
            assert [hit.score for hit in hits] == pytest.approx(wanted, rel=1e-5, abs=1e-5), text
            has_other_order |= [hit.id for hit in hits] != [doc_id for known, doc_id in ours if known == text]
            compared += len(hits)
    assert compared > 200
    assert has_other_order


def test_trees_score_results_as_here(log: FeatureLog, tmp_path: Path) -> None:
    dataset, case = read_dataset(log), log.feature_set.case
    ensemble = trees.train(dataset, np.ones(len(TEXTS), np.bool_), seed=1)
    model = FeatureModel.objects.create(
        log=log,
        kind=FeatureModel.Kind.TREES,
        version=ScorerVersion.objects.used_by(case).get(),
        seed=1,
        content={"trees": [trees.to_json(tree) for tree in ensemble]},
        created_by=case.owner,
    )
    (product,) = list_products(model)
    load(product.commands, write_model(model, "solr"), log.feature_set.attempt.endpoint.url, tmp_path)
    attempt = reranked(case, log.feature_set.attempt.endpoint, f"relevancy_{model.pk}")
    check_scores(attempt, dataset, trees.predict(ensemble, dataset.filled))


def test_a_sum_of_the_uploaded_features_scores_results_as_here(log: FeatureLog, tmp_path: Path) -> None:
    """The values of the features in Solr's store are those that were logged without the module."""
    dataset, weights = read_dataset(log), [1.0, 0.25, 0.125, 0.001]
    linear = {
        "store": "sum",
        "name": "sum",
        "class": "org.apache.solr.ltr.model.LinearModel",
        "features": [{"name": name} for name in dataset.names],
        "params": {"weights": dict(zip(dataset.names, weights, strict=True))},
    }
    endpoint = log.feature_set.attempt.endpoint
    load(FORMATS["solr"].commands("sum", log.feature_set.items), json.dumps(linear), endpoint.url, tmp_path)
    assert np.isnan(dataset.values[:, dataset.names.index("title")]).any()
    assert np.isnan(dataset.values[:, dataset.names.index("year")]).any()
    check_scores(reranked(log.feature_set.case, endpoint, "sum"), dataset, dataset.filled @ np.array(weights))


def test_1000_vectors_on_and_beside_thresholds(solr8_server: Server, tmp_path: Path) -> None:
    ensemble = trees.train(planted(40, [1.0, 2.0, 0.5], noise=0.3), np.ones(40, np.bool_), seed=1)
    vectors = vectors_around(ensemble, 1000, seed=1)
    features = [Feature(name, "number", f"{name}_f") for name in "abc"]
    documents = [
        {"id": str(number), **{f"{name}_f": value for name, value in zip("abc", row, strict=True)}}
        for number, row in enumerate(vectors.tolist())
    ]
    url = make_solr_core(solr8_server, "vectors", documents)
    load(
        FORMATS["solr"].commands("vectors", features),
        FORMATS["solr"].write("vectors", features, ensemble),
        url,
        tmp_path,
    )
    parameters = {"q": "*:*", "rq": "{!ltr model=vectors reRankDocs=1000}", "fl": "id,score", "rows": "1000"}
    answer = urllib3.request("GET", f"{url}/select", fields=parameters).json()["response"]["docs"]
    found = {int(document["id"]): document["score"] for document in answer}
    expected = trees.predict(ensemble, vectors)
    assert [found[number] for number in range(1000)] == pytest.approx(expected.tolist(), abs=1e-4)
    assert len(set(np.round(expected, 4).tolist())) > 100
