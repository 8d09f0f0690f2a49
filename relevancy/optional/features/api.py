"""Features of a case, for scripts."""

from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import tasks as core_tasks
from relevancy.api.access import Id, get_case
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.models import Attempt, Role, Run, ScorerVersion
from relevancy.statistics import SEED

from . import feature_sets, fitting, logs, tasks
from .access import get_feature_set, get_model, newest_log
from .dataset import read_dataset
from .feature_text import Feature, format_features
from .files import FILES
from .model_files import NotWritable, Product, list_products, write_model
from .models import FeatureLog, FeatureModel, FeatureSet

router = Router(tags=["Features"])
MAX_TEXT = 50_000


class FeatureItem(Schema):
    """A feature. kind: query (text is a query in the language of the engine) or number (text is a field of documents)."""

    name: str = Field(examples=["title_score"])
    kind: str = Field(examples=["query"])
    text: str = Field(examples=['{"match": {"title": "#$query##"}}'])


class LogDetails(Schema):
    """How far a version has been logged. run: number of the run whose results were logged as well."""

    status: str = Field(examples=["complete"])
    reason: str
    run: int | None
    queries: int
    done: int
    failed: int
    requests: int
    finished_at: datetime | None

    @staticmethod
    def resolve_run(log: FeatureLog) -> int | None:
        return log.run.number if log.run else None


class FeatureSetSummary(Schema):
    """A version of the features of a case."""

    version: int
    attempt: int = Field(validation_alias="attempt.number")
    text: str = Field(description="As people write it.", examples=['title_score: {"match": {"title": "#$query##"}}'])
    features: list[FeatureItem]
    created_at: datetime

    @staticmethod
    def resolve_text(feature_set: FeatureSet) -> str:
        return format_features(feature_set.items)

    @staticmethod
    def resolve_features(feature_set: FeatureSet) -> list[Feature]:
        return feature_set.items


class FeatureSetDetails(FeatureSetSummary):
    """A version with its newest log; null if nothing has been logged."""

    log: LogDetails | None

    @staticmethod
    def resolve_log(feature_set: FeatureSet) -> FeatureLog | None:
        return newest_log(feature_set)


class NewFeatureSet(Input):
    """Features, and the number of the attempt whose endpoint is asked."""

    attempt: int = Field(ge=1, le=2**31 - 1, examples=[1])
    text: str = Field(min_length=1, max_length=MAX_TEXT, examples=['title_score: {"match": {"title": "#$query##"}}'])


class NewLog(Input):
    """What is logged besides the rated documents: the results of the run with this number."""

    run: int | None = Field(None, ge=1, le=2**31 - 1, examples=[2])


@router.get("/cases/{case_id}/features", auth=READ, response=Page[FeatureSetSummary])
def list_feature_sets(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The versions of the features of a case, oldest first."""
    case = get_case(request, case_id)
    return paginate(FeatureSet.objects.filter(case=case).select_related("attempt"), page, "id")


@router.get("/cases/{case_id}/features/{version}", auth=READ, response=FeatureSetDetails)
def read_feature_set(request: ApiRequest, case_id: Id, version: Id) -> FeatureSet:
    """A version of the features of a case, and how far it has been logged."""
    return get_feature_set(get_case(request, case_id), version)


@router.post("/cases/{case_id}/features", auth=WRITE, response={201: FeatureSetDetails})
def save_feature_set(request: ApiRequest, case_id: Id, new: NewFeatureSet) -> Status[FeatureSet]:
    """Saves the features of a case: as the newest version if nothing has been logged of it, else as a new one."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    attempt = case.attempts.select_related("endpoint").filter(number=new.attempt, archived_at=None).first()
    if attempt is None:
        raise ValidationError({"attempt": f"The case has no attempt {new.attempt} that is not archived."})
    saved = feature_sets.save(case=case, attempt=attempt, text=new.text, by=request.user)
    return Status(201, get_feature_set(case, saved.version))


@router.post("/cases/{case_id}/features/{version}/log", auth=WRITE, response={202: FeatureSetDetails})
def log_features(request: ApiRequest, case_id: Id, version: Id, new: NewLog) -> Status[FeatureSet]:
    """Starts to log a version for the rated documents, and for the results of a run. A worker does it."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    run = None if new.run is None else get_object_or_404(Run, case=case, number=new.run)
    log = logs.start(feature_set=get_feature_set(case, version), run=run, by=request.user)
    tasks.enqueue(log.pk)
    return Status(202, get_feature_set(case, version))


@router.get("/cases/{case_id}/features/{version}/file", auth=READ)
def download_features(
    request: ApiRequest, case_id: Id, version: Id, kind: Literal["ranklib", "csv", "manifest"] = "csv"
) -> HttpResponse | StreamingHttpResponse:
    """A file of the newest log of a version. Needs the role editor: it contains the grades of all raters."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    log = newest_log(get_feature_set(case, version))
    if log is None:
        raise Http404(f"Version {version} has not been logged.")
    file = FILES[kind]
    return StreamingHttpResponse(file.write(log, read_dataset(log)), content_type=f"{file.content_type}; charset=utf-8")


class ProductDetails(Schema):
    """A product that can load the trees of a model. commands: that load the file of the model, which Relevancy does not do itself.

    reason: why the features cannot be written for it; empty if they can.
    """

    product: str = Field(validation_alias="key", examples=["solr"])
    label: str = Field(validation_alias="format.label", examples=["Solr, module ltr"])
    commands: str
    reason: str


class ModelDetails(Schema):
    """A model of a version. gain, low, high: on queries that it was not fitted on; null until it is fitted.

    weights: of a sum. trees: how many it has. attempt, run: numbers of what was made of it.
    """

    id: int
    kind: str = Field(examples=["ascent"])
    scorer: str = Field(validation_alias="version.scorer.name", examples=["nDCG@10"])
    seed: int
    status: str = Field(examples=["complete"])
    reason: str
    sentence: str | None
    gain: float | None
    low: float | None
    high: float | None
    seen: float | None
    cross_fitted: float | None
    weights: dict[str, float] | None
    trees: int | None = Field(examples=[100])
    attempt: int | None
    run: int | None

    @staticmethod
    def resolve_trees(model: FeatureModel) -> int | None:
        return len(model.content["trees"]) if "trees" in model.content else None

    @staticmethod
    def resolve_attempt(model: FeatureModel) -> int | None:
        return model.attempt.number if model.attempt else None

    @staticmethod
    def resolve_run(model: FeatureModel) -> int | None:
        return model.run.number if model.run else None

    @staticmethod
    def resolve_weights(model: FeatureModel) -> dict[str, float] | None:
        return model.content.get("weights")

    @staticmethod
    def resolve_sentence(model: FeatureModel) -> str | None:
        return model.findings.get("sentence")

    @staticmethod
    def resolve_gain(model: FeatureModel) -> float | None:
        return model.findings.get("gain")

    @staticmethod
    def resolve_low(model: FeatureModel) -> float | None:
        return model.findings.get("low")

    @staticmethod
    def resolve_high(model: FeatureModel) -> float | None:
        return model.findings.get("high")

    @staticmethod
    def resolve_seen(model: FeatureModel) -> float | None:
        return model.findings.get("seen")

    @staticmethod
    def resolve_cross_fitted(model: FeatureModel) -> float | None:
        return model.findings.get("cross_fitted")


class NewModel(Input):
    """A kind of model. It is fitted for the primary scorer of the case."""

    kind: str = Field("ascent", max_length=10, examples=["ascent"], description=", ".join(FeatureModel.Kind.values))
    seed: int = Field(SEED, ge=0, le=2**31 - 1)


class RerankedRun(Schema):
    """The imported run whose results a model has ranked again."""

    id: int = Field(examples=[12])
    number: int = Field(examples=[4])


class AdoptedModel(Schema):
    """The attempt that was made of a model."""

    attempt: int = Field(validation_alias="number")


@router.get("/cases/{case_id}/features/{version}/models", auth=READ, response=Page[ModelDetails])
def list_feature_models(request: ApiRequest, case_id: Id, version: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The models of a version, oldest first."""
    feature_set = get_feature_set(get_case(request, case_id), version)
    rows = FeatureModel.objects.filter(log__feature_set=feature_set).select_related("version__scorer", "attempt", "run")
    return paginate(rows, page, "id")


@router.get("/cases/{case_id}/features/{version}/models/{model_id}", auth=READ, response=ModelDetails)
def read_feature_model(request: ApiRequest, case_id: Id, version: Id, model_id: Id) -> FeatureModel:
    """A model, and what it gains on queries that it was not fitted on."""
    return get_model(get_case(request, case_id), version, model_id)


@router.post("/cases/{case_id}/features/{version}/models", auth=WRITE, response={202: ModelDetails})
def fit_feature_model(request: ApiRequest, case_id: Id, version: Id, new: NewModel) -> Status[FeatureModel]:
    """Starts to fit a model to the newest log of a version. A worker does it."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    log = newest_log(get_feature_set(case, version))
    scorer = ScorerVersion.objects.used_by(case).first()
    if log is None or scorer is None:
        raise ValidationError("Log the features first, and add a scorer to the case.")
    model = fitting.create(log=log, kind=new.kind, version=scorer, seed=new.seed, by=request.user)
    tasks.enqueue_model(model.pk)
    return Status(202, get_model(case, version, model.pk))


@router.post("/cases/{case_id}/features/{version}/models/{model_id}/attempt", auth=WRITE, response={201: AdoptedModel})
def adopt_feature_model(request: ApiRequest, case_id: Id, version: Id, model_id: Id) -> Status[Attempt]:
    """Makes an attempt of a model, with the weights as knobs; the present one if there is one."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    return Status(201, fitting.adopt(model=get_model(case, version, model_id), by=request.user))


@router.post("/cases/{case_id}/features/{version}/models/{model_id}/run", auth=WRITE, response={201: RerankedRun})
def rerank_feature_model(request: ApiRequest, case_id: Id, version: Id, model_id: Id) -> Status[Run]:
    """Ranks the results of the run of the log again by a model, here, and stores that as an imported run; the present one if there is
    one. Each query is ranked by the model that was fitted without its fold."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    run = fitting.rerank_here(model=get_model(case, version, model_id), by=request.user)
    core_tasks.enqueue_run_rescore(run)
    return Status(201, run)


@router.get("/cases/{case_id}/features/{version}/models/{model_id}/products", auth=READ, response=list[ProductDetails])
def list_model_products(request: ApiRequest, case_id: Id, version: Id, model_id: Id) -> list[Product]:
    """The products that can load the trees of a model: those whose language its features are in."""
    return list_products(get_model(get_case(request, case_id), version, model_id))


@router.get("/cases/{case_id}/features/{version}/models/{model_id}/file", auth=READ)
def download_feature_model(
    request: ApiRequest,
    case_id: Id,
    version: Id,
    model_id: Id,
    product: Literal["solr", "opensearch", "elasticsearch"] = "solr",
) -> HttpResponse:
    """The trees of a model as a product loads them, the `model.json` of its commands."""
    model = get_model(get_case(request, case_id), version, model_id)
    try:
        text = write_model(model, product)
    except NotWritable as error:
        raise ValidationError({"product": str(error)}) from None
    return HttpResponse(text, content_type="application/json; charset=utf-8")
