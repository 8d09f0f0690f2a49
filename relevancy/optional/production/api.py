"""An attempt on its way to production, for scripts."""

from typing import Any

from django.conf import settings
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from relevancy import tasks
from relevancy.api.access import Id, get_attempt
from relevancy.api.authentication import READ, ApiRequest
from relevancy.api.inputs import Input
from relevancy.models import ScorerVersion

from .proposal import Proposal

router = Router(tags=["Attempts"])


class InputItem(Schema):
    """What the application sends with each search. default: null if it has to be sent."""

    name: str = Field(examples=["q"])
    text: str = Field(examples=["the text of the query, as it is"])
    default: str | None


class PartItem(Schema):
    """A text to copy, such as a command."""

    key: str = Field(examples=["params"])
    title: str
    text: str


class DeploymentItem(Schema):
    """A deployable text. file: what the API of the engine takes. is_stored: whether the engine stores it."""

    name: str = Field(examples=["movies_3"])
    text: str
    file: str
    is_stored: bool
    parts: list[PartItem]
    inputs: list[InputItem]
    notes: list[str]


class ProposalDetails(Schema):
    """What an attempt becomes in production. against: the number of the attempt that it is compared with.

    deployment: null if the attempt cannot be rendered; `problem` says why. difference: the unified diff from the other attempt; empty
    with the reason in `no_difference`. evidence: Markdown; empty with the reason in `no_evidence`, or while it `is_pending`.
    """

    attempt: int = Field(validation_alias="attempt.number")
    against: int | None
    deployment: DeploymentItem | None
    problem: str
    difference: str
    no_difference: str
    evidence: str
    no_evidence: str
    is_pending: bool

    @staticmethod
    def resolve_against(proposal: Proposal) -> int | None:
        return proposal.against.number if proposal.against else None


class ProposalParameters(Input):
    against: int | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description="The number of the other attempt; unless given, the one before it or its parent.",
    )
    scorer: int | None = Field(
        None, ge=1, le=2**63 - 1, description="The id of a scorer of the case; its primary scorer unless given."
    )


@router.get("/cases/{case_id}/attempts/{number}/production", auth=READ, response=ProposalDetails)
def read_production(request: ApiRequest, case_id: Id, number: Id, parameters: Query[ProposalParameters]) -> Any:
    """What an attempt becomes in production: its text in the form of the engine, the difference to another attempt, and the evidence.

    Nothing is written to an engine. Ask again while `is_pending`: the figures of the comparison are being computed.
    """
    attempt = get_attempt(request, case_id, number)
    other = parameters.against
    versions = ScorerVersion.objects.used_by(attempt.case)
    proposal = Proposal(
        attempt,
        get_attempt(request, case_id, other) if other and other != number else None,
        version=get_object_or_404(versions, scorer=parameters.scorer) if parameters.scorer else None,
        site=settings.SITE_URL or request.build_absolute_uri("/").rstrip("/"),
    )
    if proposal.is_pending and proposal.stored is not None:
        tasks.enqueue_comparison(proposal.stored)
    return proposal
