"""Rules that set tags, for scripts."""

from datetime import datetime
from typing import Any, Literal

from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy.api.access import Id, check_book_editable, get_case
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.models import Case, Role

from . import rules
from .conditions import describe
from .forms import read_rule
from .models import TagRule
from .tasks import enqueue

router = Router(tags=["Query classes"])
_HINT = "Tags belong to the book."

KindName = Literal["words", "word_count", "length", "digit", "script", "pattern", "results", "option", "list"]


class NewRule(Input):
    """A rule that sets a tag on the queries of a case that match."""

    tag: str = Field(min_length=1, max_length=50, examples=["long"])
    kind: KindName = Field(examples=["word_count"])
    settings: dict[str, Any] = Field(
        default_factory=dict,
        examples=[{"minimum": 5}],
        description="Of the condition: `words`; `minimum` and `maximum` of word_count, length and results; `script`; `pattern` and "
        "`ignores_case`; `key` and `value` of an option; `texts` of a list; nothing of digit.",
    )


class RuleDetails(Schema):
    """A rule. matches: queries of the case, when it was last applied; null before. error: why it could not be applied.

    full: matching queries that have as many tags as a query can have.
    """

    id: int = Field(examples=[3])
    tag: str = Field(examples=["long"])
    kind: str = Field(examples=["word_count"])
    settings: dict[str, Any] = Field(examples=[{"minimum": 5, "maximum": None}])
    condition: str = Field(examples=["has 5 words or more"])
    matches: int | None = Field(examples=[120])
    full: int = Field(examples=[0])
    error: str = Field(examples=[""])
    created_at: datetime

    @staticmethod
    def resolve_condition(rule: TagRule) -> str:
        return describe(rule.kind, rule.settings)


class RuleList(Schema):
    """The rules of a case. is_pending: whether a worker has yet to apply them to the queries as they are."""

    is_pending: bool = Field(examples=[False])
    applied_at: datetime | None
    rules: list[RuleDetails]


class PreviewedQuery(Schema):
    """A query that matches."""

    text: str = Field(examples=["cheap running shoes for women"])
    has_tag: bool = Field(examples=[False])


class PreviewDetails(Schema):
    """queries: how many were looked at, at most the first 50,000. tagged: matches that have the tag. listed: the first 50 matches."""

    queries: int = Field(examples=[1000])
    matches: int = Field(examples=[120])
    tagged: int = Field(examples=[0])
    is_partial: bool = Field(examples=[False])
    listed: list[PreviewedQuery]


class DeleteParameters(Input):
    """tags: whether the tags that the rule has set are kept or removed."""

    tags: Literal["keep", "remove"] = Field("keep", examples=["keep"])


@router.get("/cases/{case_id}/tag-rules", auth=READ, response=RuleList)
def list_tag_rules(request: ApiRequest, case_id: Id) -> dict[str, Any]:
    """The rules of a case, with how many queries match."""
    case = get_case(request, case_id)
    state = rules.read_state(case)
    return {
        "is_pending": state is not None and state.is_outdated,
        "applied_at": state.applied_at if state else None,
        "rules": rules.list_rules(case),
    }


@router.post("/cases/{case_id}/tag-rules", auth=WRITE, response={201: RuleDetails})
def create_tag_rule(request: ApiRequest, case_id: Id, new: NewRule) -> Status[TagRule]:
    """Creates a rule, which a worker applies to all queries, and later to new and changed ones."""
    case = _get_editable(request, case_id)
    form = read_rule(new.kind, new.tag, new.settings)
    rule = rules.create(case=case, tag=form.cleaned_data["tag"], kind=new.kind, settings=form.settings, by=request.user)
    enqueue(case.pk)
    return Status(201, rule)


@router.post("/cases/{case_id}/tag-rules/preview", auth=WRITE, response=PreviewDetails)
def preview_tag_rule(request: ApiRequest, case_id: Id, new: NewRule) -> dict[str, Any]:
    """The queries that a rule would match. Changes nothing."""
    case = _get_editable(request, case_id)
    form = read_rule(new.kind, new.tag, new.settings)
    preview = rules.preview(case=case, tag=form.cleaned_data["tag"], kind=new.kind, settings=form.settings)
    return {
        "queries": preview.queries,
        "matches": preview.matches,
        "tagged": preview.tagged,
        "is_partial": preview.is_partial,
        "listed": [{"text": text, "has_tag": has_tag} for text, has_tag in preview.listed],
    }


@router.post("/cases/{case_id}/tag-rules/apply", auth=WRITE, response={202: None})
def apply_tag_rules(request: ApiRequest, case_id: Id) -> Status[None]:
    """Lets a worker apply all rules of a case. It does so by itself when rules, queries or results change."""
    case = _get_editable(request, case_id)
    rules.mark_outdated([case.pk])
    enqueue(case.pk)
    return Status(202, None)


@router.delete("/cases/{case_id}/tag-rules/{rule_id}", auth=WRITE, response={204: None})
def delete_tag_rule(request: ApiRequest, case_id: Id, rule_id: Id, parameters: Query[DeleteParameters]) -> Status[None]:
    """Deletes a rule. With `tags=remove`, a worker removes the tags that the rule has set; those set by hand stay."""
    case = _get_editable(request, case_id)
    rule = get_object_or_404(TagRule.objects.select_related("case"), case=case, pk=rule_id, is_deleted=False)
    rules.delete(rule=rule, with_tags=parameters.tags == "remove", by=request.user)
    enqueue(case.pk)
    return Status(204, None)


def _get_editable(request: ApiRequest, case_id: int) -> Case:
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint=_HINT)
    return case
