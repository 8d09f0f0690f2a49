"""The scorers of cases: which ones, in which order and in which version."""

from typing import Annotated

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from ninja import Router, Schema
from pydantic import Field, StrictBool

from relevancy import scorers, tasks
from relevancy.models import Case, CaseScorer, Role, Scorer

from .access import Id, ObjectId, get_case
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .preconditions import IfMatch, check_if_match, set_etag

MAX_SENT = 50
router = Router(tags=["Cases"])

ScorerIds = Annotated[list[ObjectId], Field(min_length=1, max_length=MAX_SENT, examples=[[1]])]


class CaseScorerDetails(Schema):
    """A scorer of a case in the version that scores it."""

    id: int = Field(validation_alias="scorer_id")
    name: str = Field(validation_alias="scorer.name", examples=["nDCG@10"])
    version: int = Field(validation_alias="version.number", examples=[1])


class CaseScorers(Input):
    """The scorers of a case, the primary one first."""

    scorer_ids: ScorerIds
    newest: StrictBool = Field(
        False,
        description="Whether scorers that the case has already are used in their newest version; otherwise they keep theirs.",
    )


@router.get("/cases/{case_id}/scorers", auth=READ, response=list[CaseScorerDetails])
def list_case_scorers(request: ApiRequest, response: HttpResponse, case_id: Id) -> list[CaseScorer]:
    """All scorers of a case, the primary one first. The ETag can be sent as If-Match when you replace them."""
    case_scorers = scorers_of(get_case(request, case_id))
    return set_etag(response, case_scorers, state=_state(case_scorers))


@router.put("/cases/{case_id}/scorers", auth=WRITE, response=list[CaseScorerDetails])
def choose_case_scorers(
    request: ApiRequest, response: HttpResponse, case_id: Id, new: CaseScorers, if_match: IfMatch
) -> list[CaseScorer]:
    """Replaces the scorers of a case. The scores of those that it loses are kept. The last runs are scored in the background.

    Repeating it changes nothing.
    """
    with transaction.atomic():
        case = get_case(request, case_id, needs=Role.EDITOR, lock=True)
        former = _state(scorers_of(case))
        check_if_match(if_match, state=former)
        chosen = _find_scorers(request, case, new.scorer_ids)
        scorers.choose_scorers(case=case, scorers=chosen, by=request.user)
        if new.newest:
            for scorer in chosen:
                scorers.adopt(scorer=scorer, cases=[case], by=request.user)
        present = scorers_of(case)
    if _state(present) != former:
        tasks.enqueue_book_rescore(case.book_id)
    return set_etag(response, present, state=_state(present))


def scorers_of(case: Case) -> list[CaseScorer]:
    """Returns the scorers of a case, the primary one first."""
    rows = CaseScorer.objects.filter(case=case).select_related("scorer", "version").defer("version__script")
    return list(rows.order_by("position", "id"))


def _state(case_scorers: list[CaseScorer]) -> object:
    return [CaseScorerDetails.from_orm(row).dict() for row in case_scorers]


def _find_scorers(request: ApiRequest, case: Case, scorer_ids: list[int]) -> list[Scorer]:
    """Returns scorers that the user may choose for a case, or that it has already."""
    offered = Scorer.objects.offered(request.user, case).in_bulk(scorer_ids)
    present = Scorer.objects.filter(case_scorers__case=case).in_bulk(scorer_ids)
    scorers_by_id = {**offered, **present}
    if unknown := [pk for pk in scorer_ids if pk not in scorers_by_id]:
        raise ValidationError({"scorer_ids": f"There is no scorer {unknown[0]} that you may use in this case."})
    return [scorers_by_id[pk] for pk in scorer_ids]
