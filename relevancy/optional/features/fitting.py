"""Models of a log: fitted by a worker, proposed as an attempt, and applied here to a run that the engine has returned."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from relevancy import activity, engines, runs
from relevancy.models import Attempt, Ranking, Run, ScorerVersion, User
from relevancy.models.ranking import read_doc_ids
from relevancy.scoring.arrays import BoolArray, FloatArray
from relevancy.statistics import SEED

from . import linear, trees
from .cross_fitting import TooFewQueries, cross_fit, summarize
from .dataset import Dataset, read_dataset
from .logs import HEARTBEAT_SECONDS, LeaseLost
from .models import FeatureLog, FeatureModel
from .orders import OrderScorer

FITTED, ADOPTED, RERANKED = "feature_set.fitted", "feature_set.adopted", "feature_set.reranked"
WINDOW = 100  # results that the engine ranks again
logger = logging.getLogger("relevancy.features")

_LINEAR: dict[str, Callable[[Dataset, OrderScorer, BoolArray], FloatArray]] = {
    FeatureModel.Kind.ASCENT: linear.fit_ascent,
    FeatureModel.Kind.RIDGE: linear.fit_ridge,
}


def create(*, log: FeatureLog, kind: str, version: ScorerVersion, by: User, seed: int = SEED) -> FeatureModel:
    """Stores a model that waits to be fitted. Enqueue `tasks.fit_model` then. Raises `ValidationError`."""
    if log.is_active or not log.done:
        raise ValidationError(f"{log.feature_set} has not been logged completely. Wait until it is, or go on with it.")
    if version.script:
        raise ValidationError(
            {
                "version": f"{version.scorer} is a script. A model needs a measure, which scores thousands of orders within seconds."
            }
        )
    if kind not in FeatureModel.Kind.values:
        raise ValidationError({"kind": f"There is no kind of model “{kind}”: {', '.join(FeatureModel.Kind.values)}."})
    model: FeatureModel = FeatureModel.objects.create(log=log, kind=kind, version=version, seed=seed, created_by=by)
    _record(model, FITTED, by)
    return model


def fit(model: FeatureModel) -> None:
    """Fits a model that waits, and stores what it gains. A few seconds to a minute.

    Does nothing if another worker fits it. An error of the database is raised, and another worker tries again, until
    `runs.MAX_WORKER_RESTARTS` in a row have had one. With any other unexpected error the fit fails at once: it would only happen again.
    """
    lease = uuid.uuid4().hex
    if not _waiting().filter(pk=model.pk).update(claimed_by=lease, heartbeat_at=timezone.now()):
        return
    leased = FeatureModel.objects.filter(pk=model.pk, claimed_by=lease)
    changes: dict[str, Any] = {}
    try:
        changes = _fit(model, _heartbeat(leased))
    except LeaseLost:
        return
    except (TooFewQueries, trees.TreesUnavailable) as error:
        changes = {"status": FeatureModel.Status.FAILED, "reason": str(error)}
    except (OperationalError, InterfaceError):
        changes = {"worker_restarts": F("worker_restarts") + 1}
        raise
    except Exception as error:
        logger.exception("The fit of feature model %s ended with an unexpected error.", model.pk)
        reason = (
            f"An unexpected error ({type(error).__name__}) has ended the fit; the log of the worker has the details."
        )
        changes = {"status": FeatureModel.Status.FAILED, "reason": reason}
    finally:
        leased.update(claimed_by="", **changes)
    model.refresh_from_db()


def _fit(model: FeatureModel, heartbeat: Callable[[], None]) -> dict[str, Any]:
    """Returns the fields of a model that has been fitted."""
    dataset = read_dataset(model.log)
    scorer = OrderScorer.of_version(dataset, model.version, depth=int(model.log.config["depth"]))
    scorer.heartbeat = heartbeat

    def fit_content(train: BoolArray) -> dict[str, Any]:
        if model.kind == FeatureModel.Kind.TREES:
            ensemble = trees.train(dataset, train, seed=model.seed, heartbeat=heartbeat)
            return {"trees": [trees.to_json(tree) for tree in ensemble]}
        weights = _LINEAR[model.kind](dataset, scorer, train)
        return {"weights": dict(zip(dataset.names, map(float, weights), strict=True))}

    fitted = cross_fit(
        dataset,
        scorer,
        fit_content,
        lambda content: predict(content, dataset),
        seed=model.seed,
        run_values=_run_values(dataset, model.log),
        run_name=f"run {model.log.run.number}" if model.log.run else "",
    )
    return {
        "status": FeatureModel.Status.COMPLETE,
        "content": fitted.model,
        "by_fold": list(fitted.by_fold),
        "findings": summarize(dataset, fitted),
    }


def _heartbeat(leased: QuerySet[FeatureModel]) -> Callable[[], None]:
    """Returns what sends a heartbeat when one is due. Raises `LeaseLost` then if another worker has the model, or if it is deleted."""
    sent_at = time.monotonic()

    def send_if_due() -> None:
        nonlocal sent_at
        if time.monotonic() - sent_at > HEARTBEAT_SECONDS:
            sent_at = time.monotonic()
            if not leased.update(heartbeat_at=timezone.now()):
                raise LeaseLost

    return send_if_due


def _waiting() -> QuerySet[FeatureModel]:
    return FeatureModel.objects.filter(runs.is_idle(), status=FeatureModel.Status.WAITING)


def waiting_models() -> list[int]:
    """Returns the ids of the models that a worker should fit."""
    return list(_waiting().order_by("pk").values_list("pk", flat=True))


def release_dead() -> None:
    """Takes models from workers that have sent no heartbeat for too long. One at which too many workers in a row have died, or have
    lost the database, fails."""
    reason = (
        f"{runs.MAX_WORKER_RESTARTS} workers in a row stopped unexpectedly during this fit, or could not reach the database. "
        "Check the log of the worker, and whether it has enough memory; then fit a new model."
    )
    waiting = FeatureModel.objects.filter(status=FeatureModel.Status.WAITING)
    runs.release_dead(waiting).update(status=FeatureModel.Status.FAILED, reason=reason)


def _run_values(dataset: Dataset, log: FeatureLog) -> FloatArray | None:
    """Returns [D] by which the run of a log orders the documents, NaN for those that it has not returned; None without a run."""
    if log.run_id is None:
        return None
    rankings = list(Ranking.objects.filter(run=log.run_id, query__in=dataset.query_ids))
    read_doc_ids(rankings)
    ranks = {
        (ranking.query_id, doc_id): -rank
        for ranking in rankings
        for rank, doc_id in reversed(list(enumerate(ranking.doc_ids)))
    }
    queries = dataset.queries.tolist()
    return np.array(
        [ranks.get((dataset.query_ids[q], doc_id), np.nan) for q, doc_id in zip(queries, dataset.doc_ids, strict=True)],
        np.float64,
    )


def propose(model: FeatureModel) -> tuple[str, dict[str, float]]:
    """Returns a query template of the model, and the values of its knobs, those of the parent's included.

    Weights of 0 are left out. Raises `EngineError` with the reason why the engine cannot rank by the model.
    """
    feature_set = model.log.feature_set
    parent = feature_set.attempt
    adapter = engines.get(parent.endpoint.engine)
    if "weights" not in model.content:
        raise engines.UnsupportedByEngine("Trees are no part of a query: the engine has to load them.")
    weights = {name: weight for name, weight in model.content["weights"].items() if weight > 0}
    names = {name: _knob_name(name, parent) for name in weights}
    clauses = [
        engines.WeightedClause(feature.name, feature.text, feature.kind == "number", names[feature.name])
        for feature in feature_set.items
        if feature.name in weights
    ]
    template = engines.parse_template(parent.template, adapter.syntax)
    text = adapter.sum_template(template, clauses, window=WINDOW)
    largest = max(weights.values())
    # Six significant digits, as people read weights.
    knobs = {names[name]: float(f"{weight / largest:.6g}") for name, weight in weights.items()}
    used = engines.parse_template(text, adapter.syntax).knobs
    return text, {name: value for name, value in {**parent.knobs, **knobs}.items() if name in used}


def _knob_name(name: str, parent: Attempt) -> str:
    knob = f"w_{name}"
    while knob in parent.knobs:
        knob = f"{knob}_"
    return knob


def adopt(*, model: FeatureModel, by: User) -> Attempt:
    """Makes an attempt of a model, a child of the attempt of its features. Returns the present one if there is one.

    Raises `EngineError` and `ValidationError`.
    """
    if model.attempt is not None:
        return model.attempt
    _check_complete(model)
    text, knobs = propose(model)
    parent = model.log.feature_set.attempt
    with transaction.atomic():
        # A copy, because `save` would change a parent that has never been run.
        copy = runs.attempts.duplicate(attempt=parent, by=by)
        attempt = runs.attempts.save(
            case=model.log.feature_set.case,
            endpoint=parent.endpoint,
            template=text,
            by=by,
            parent=copy,
            fields=parent.fields,
            knobs=knobs,
            depth=parent.depth,
            escape=parent.escape,
            name=f"{model}: {model.get_kind_display()}",
        )
        runs.attempts.describe(attempt=attempt, note=_evidence(model), by=by)
        FeatureModel.objects.filter(pk=model.pk).update(attempt=attempt)
        model.attempt = attempt
        _record(model, ADOPTED, by, subject=f"attempt {attempt.number}")
    return attempt


def rerank_here(*, model: FeatureModel, by: User) -> Run:
    """Ranks the logged results of a run again by the model, and stores that as an imported run. Returns the present one.

    Each query is ranked by the model that was fitted without the queries of its fold. Documents without values keep their order behind
    the others. Raises `ValidationError`.
    """
    if model.run is not None:
        return model.run
    _check_complete(model)
    log = model.log
    if log.run is None:
        raise ValidationError(
            "The log has no run whose results could be ranked again. Log the features with a run first."
        )
    dataset = read_dataset(log)
    values = cross_fitted_values(model, dataset)
    by_query: dict[int, dict[str, float]] = {query_id: {} for query_id in dataset.query_ids}
    for query, doc_id, value in zip(dataset.queries.tolist(), dataset.doc_ids, values.tolist(), strict=True):
        by_query[dataset.query_ids[query]][doc_id] = value
    hits = {}
    for ranking in log.run.rankings.all():
        known = by_query.get(ranking.query_id, {})
        head = [hit for hit in ranking.hits if hit[0] in known]
        tail = [(hit[0], None, hit[2]) for hit in ranking.hits if hit[0] not in known]
        head.sort(key=lambda hit, known=known: -known[hit[0]])  # type: ignore[misc]
        hits[ranking.query_id] = [*((hit[0], known[hit[0]], hit[2]) for hit in head), *tail]
    rankings = runs.ImportedRankings(
        name=f"{model}, re-ranked here",
        note=f"Results of run {log.run.number}, ranked again here by {str(model).lower()}, not by the engine; each query by the "
        "model that was fitted without its fold.",
        fields=log.run.config["fields"],
        hits=hits,
    )
    with transaction.atomic():
        (run,) = runs.import_rankings(case=log.feature_set.case, rankings=[rankings], by=by)
        FeatureModel.objects.filter(pk=model.pk).update(run=run)
        model.run = run
        _record(model, RERANKED, by, subject=f"run {log.run.number}")
    return run


def cross_fitted_values(model: FeatureModel, dataset: Dataset) -> FloatArray:
    """Returns [D] the values of documents, each by the model of the fold of its query."""
    folds = dataset.folds(model.seed)[dataset.queries]
    values = np.zeros(len(dataset.doc_ids))
    for fold, content in enumerate(model.by_fold):
        values[folds == fold] = predict(content, dataset)[folds == fold]
    return values


def predict(content: dict[str, Any], dataset: Dataset) -> FloatArray:
    """Returns [D] the values by which a stored model orders documents."""
    if "trees" in content:
        return trees.predict([trees.from_json(tree) for tree in content["trees"]], dataset.filled)
    weights = np.array([content["weights"][name] for name in dataset.names])
    return np.asarray(dataset.filled @ weights)


def _check_complete(model: FeatureModel) -> None:
    if model.status != FeatureModel.Status.COMPLETE:
        raise ValidationError(f"{model} has not been fitted. {model.reason}".strip())


def _evidence(model: FeatureModel) -> str:
    log = model.log
    return (
        f"{model.findings['sentence']} {model}, {log.feature_set}, {model.version.scorer}, "
        f"{model.findings['units']} independent queries, seed {model.seed}."
    )


def _record(model: FeatureModel, verb: str, by: User, *, subject: str = "") -> None:
    feature_set = model.log.feature_set
    activity.record(
        verb,
        case=feature_set.case_id,
        by=by,
        subject=subject or f"feature set {feature_set.version}",
        object_id=model.pk,
        model=str(model).lower(),
    )
