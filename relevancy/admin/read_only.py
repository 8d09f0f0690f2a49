"""Models that only the application writes, by the columns of their lists."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import CharField, Field, ForeignKey, Model, TextField

from relevancy import models
from relevancy.admin_site import Section

from .base import ReadOnlyAdmin

COLUMNS: Mapping[type[Model], str] = {
    models.Activity: "at by verb subject case team",
    models.Annotation: "text case run created_by created_at removed_at",
    models.Attempt: "case number name endpoint depth created_by created_at",
    models.CaseQuery: "query case position weight removed_at",
    models.CaseRevision: "case revision",
    models.CaseScore: "run version day score low high scored queries",
    models.CaseScorer: "case scorer position",
    models.ComparedRun: "comparison position run p",
    models.Document: "doc_id endpoint",
    models.Invitation: "team email role created_by created_at uses max_uses declined_at withdrawn_at",
    models.JudgingPair: "doc_id query rank level claimed_by claimed_until",
    models.JudgingQueue: "book depth ratings_per_pair order pair_count built_at",
    models.Query: "text book revision created_at retired_at",
    models.QueryLink: "pk book created_at",
    models.Ranking: "query run returned total took_ms error_kind",
    models.Rating: "doc_id query rater verdict value is_adjudication updated_at",
    models.RatingChange: "at by rater query doc_id old_value new_value source",
    models.RatingImport: "book by source status done total started_at progressed_at error",
    models.RepeatedPair: "doc_id query rater wait first_value verdict value at",
    models.RequiredProof: "user app since",
    models.Run: "case number status done failed queries version created_by created_at pinned_at",
    models.RunComparison: "run baseline version run_score baseline_score compared revision",
    models.RunPart: "run first last claimed_by slots heartbeat_at worker_restarts",
    models.ScorerVersion: "scorer number measure created_by created_at",
    models.StoredComparison: "key case version revision computed_at error",
    models.StoredExport: "key by status done total worker_restarts started_at progressed_at error",
}
SECTIONS = {
    models.Invitation: Section.USERS,
    models.RequiredProof: Section.USERS,
    models.ScorerVersion: Section.SCORERS,
    models.Run: Section.WORK,
    models.RunPart: Section.WORK,
    models.RatingImport: Section.WORK,
    models.JudgingQueue: Section.WORK,
    models.StoredComparison: Section.WORK,
    models.StoredExport: Section.WORK,
    models.Activity: Section.WORK,
}
SEARCHED = (
    "name",
    "text",
    "email",
    "doc_id",
)  # what rows are found by, in their own fields and those of what they refer to
HIDDEN = {"digest", "figures"}  # secrets, and JSON that is too large to be read


def register_read_only(
    model: type[Model], columns: str, *, related: Sequence[str] = (), section: Section = Section.DATA
) -> None:
    """Registers a model. columns: names of fields, separated by spaces. related: paths of what the columns show besides. section: of
    the list of models.

    Rows are searched by the texts and people in the list, and filtered by fields with choices. Secrets and large JSON are left out.
    """
    names = columns.split()
    fields = {field.name: field for field in model._meta.get_fields() if isinstance(field, Field)}
    shown = [fields[name] for name in names if name in fields]
    options: dict[str, Any] = {
        "section": section,
        "list_display": names,
        "list_select_related": [
            *(path for field in shown if isinstance(field, ForeignKey) for path in _related(field)),
            *related,
        ],
        "list_filter": [field.name for field in shown if field.choices],
        "search_fields": [path for field in shown for path in _search_paths(field)],
        "exclude": [
            field.name
            for field in fields.values()
            if field.name in HIDDEN or isinstance(field, models.secret.EncryptedJSONField)
        ],
    }
    admin.site.register(model, ReadOnlyAdmin, **options)


def _related(field: ForeignKey[Any, Any]) -> list[str]:
    """Returns what the list shows of a foreign key: the object, and what the object is named after."""
    assert isinstance(field.related_model, type)
    names = {related.name for related in field.related_model._meta.get_fields()}
    return [
        field.name,
        *(f"{field.name}__{name}" for name in ("scorer", "case", "book", "query") if name in names),
    ]


def _search_paths(field: Field[Any, Any]) -> list[str]:
    if isinstance(field, ForeignKey) and isinstance(field.related_model, type):
        names = {related.name for related in field.related_model._meta.get_fields()}
        return [f"{field.name}__{name}" for name in SEARCHED if name in names]
    return [field.name] if isinstance(field, CharField | TextField) and not field.choices else []


for _model, _columns in COLUMNS.items():
    register_read_only(_model, _columns, section=SECTIONS.get(_model, Section.DATA))
