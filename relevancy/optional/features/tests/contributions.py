"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from types import ModuleType
from typing import Any

import pytest

from relevancy import engines, runs
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.models.ranking import pack_doc_ids
from relevancy.optional.features.models import FeatureLog, FeatureModel, FeatureSet, FeatureValues
from tests.factories import ScriptedEngine

CANARIES = {FeatureLog: ["reason"], FeatureModel: ["reason"]}
# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
features               GET    see     200
features               POST   edit    422
feature_set            GET    see     200
feature_figures        GET    edit    200
feature_log            POST   edit    302
feature_log_stop       POST   edit    302
feature_log_go_on      POST   edit    302
feature_set_delete     GET    edit    200
feature_set_delete     POST   edit    302
feature_file           GET    edit    200
feature_model_fit      POST   edit    302
feature_model          GET    see     200
feature_model_file     GET    see     302
feature_model_adopt    POST   edit    302
feature_model_rerank   POST   edit    302
"""
OPERATIONS = """
operation          role    scope  status
list_feature_sets  see     read   200
read_feature_set   see     read   200
save_feature_set   edit    write  422
log_features       edit    write  202
download_features  edit    read   200
list_feature_models see    read   200
read_feature_model see     read   200
fit_feature_model  edit    write  202
adopt_feature_model edit   write  422
rerank_feature_model edit  write  422
list_model_products see    read   200
download_feature_model see read   422
"""
OPERATION_BODIES = {
    "save_feature_set": {"attempt": 1, "text": "price: number price"},
    "log_features": {},
    "fit_feature_model": {"kind": "ridge"},
}
OPERATION_PARTS = """
operation          name
read_feature_set   version
log_features       version
download_features  version
list_feature_models version
read_feature_model version
read_feature_model model_id
fit_feature_model  version
adopt_feature_model version
adopt_feature_model model_id
rerank_feature_model version
rerank_feature_model model_id
list_model_products version
list_model_products model_id
download_feature_model version
download_feature_model model_id
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, Any]:
    """A feature set of the case, logged; its number by its name in addresses. Each case has another number."""
    feature_set = FeatureSet.objects.create(
        case=case,
        version=case.pk,
        attempt=run.attempt,
        features=[["title_score", "query", '{"query": "#$query##"}']],
        created_by=case.owner,
    )
    log = FeatureLog.objects.create(
        feature_set=feature_set,
        config=runs.snapshot_config(run.attempt),
        status="complete",
        queries=1,
        done=1,
        created_by=case.owner,
    )
    FeatureValues.objects.create(
        log=log, query=case.book.queries.first(), doc_ids=pack_doc_ids(["a"]), packed=b"\0\0\x80?"
    )
    model = FeatureModel.objects.create(
        log=log,
        kind="ridge",
        version=ScorerVersion.objects.used_by(case).first(),
        seed=1,
        status="failed",
        created_by=case.owner,
    )
    return {"version": feature_set.version, "file_kind": "csv", "model_id": model.pk, "product": "solr"}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it; the engine cannot return the scores of queries."""
    return {
        "features": {"attempt": "1", "text": "price: number price"},
        "feature_log": {"run": ""},
        "feature_model_fit": {"kind": "ridge"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    make_objects(case, run, run)


def grow(case: Case) -> None:
    """One more row of every model."""
    run = case.runs.first()
    version = FeatureSet.objects.filter(case=case).count() + 1
    feature_set = FeatureSet.objects.create(
        case=case, version=1000 + version, attempt=run.attempt, features=[], created_by=case.owner
    )
    log = feature_set.logs.create(config={}, created_by=case.owner)
    FeatureValues.objects.create(log=log, query=case.book.queries.first(), doc_ids=pack_doc_ids([]), packed=b"")
    FeatureModel.objects.create(
        log=log, kind="ridge", version=ScorerVersion.objects.used_by(case).first(), seed=1, created_by=case.owner
    )


def add_ways_in(bad_files: ModuleType) -> None:
    """Adds to the tables of tests/test_bad_files.py."""
    features = b'price: number price\ntitle_score: {"query": "#$query##"}\n'

    def save(world: Any, file: bytes) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScriptedEngine, "abilities", engines.Abilities(lookup=True, clause_scores=True))
            return str(world.command(file, "features", "{case}", "--set", bad_files.FILE))

    bad_files.WAYS_IN["features"] = bad_files.WayIn(features, save)
