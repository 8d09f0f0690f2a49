"""Annotations: notes at runs in the history of a case."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import cases
from relevancy.models import Annotation, Case, Role

from .access import Id, Name, find, get_case, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag

router = Router(tags=["Annotations"])


class AnnotationDetails(Schema):
    """A note at a run. run: its number in the case."""

    id: int
    run_id: int
    run: int = Field(validation_alias="run.number")
    text: str = Field(examples=["New synonyms from here on"])
    created_by: Name
    created_at: datetime


class AnnotationText(Input):
    text: str = Field(min_length=1, max_length=500, examples=["New synonyms from here on"])


class NewAnnotation(AnnotationText):
    run_id: int = Field(ge=1, le=2**63 - 1, description="A run of the case.")


@router.get("/cases/{case_id}/annotations", auth=READ, response=Page[AnnotationDetails])
def list_annotations(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The annotations of a case, oldest first."""
    case = get_case(request, case_id)
    present = case.annotations.filter(removed_at=None).select_related("run", "created_by")
    return paginate(present.defer("run__config"), page, "id")


@router.post("/cases/{case_id}/annotations", auth=WRITE, response={201: AnnotationDetails})
def add_annotation(request: ApiRequest, case_id: Id, new: NewAnnotation) -> Status[Annotation]:
    """Annotates a run of the case."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    run = find(case.runs.all(), "run_id", "The case has no run with the id {}.", pk=new.run_id)
    return Status(201, cases.annotations.add(case=case, run=run, text=new.text, by=request.user))


@router.get("/cases/{case_id}/annotations/{annotation_id}", auth=READ, response=AnnotationDetails)
def read_annotation(request: ApiRequest, response: HttpResponse, case_id: Id, annotation_id: Id) -> AnnotationDetails:
    """An annotation. The ETag can be sent as If-Match when you change or remove it."""
    annotation = _find(get_case(request, case_id), annotation_id)
    if annotation.removed_at is not None:
        raise Http404
    return _tagged(response, annotation)


@router.patch("/cases/{case_id}/annotations/{annotation_id}", auth=WRITE, response=AnnotationDetails)
def change_annotation(
    request: ApiRequest,
    response: HttpResponse,
    case_id: Id,
    annotation_id: Id,
    new: AnnotationText,
    if_match: IfMatch,
) -> AnnotationDetails:
    """Changes the text of an annotation."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    with transaction.atomic():
        annotation = _find(case, annotation_id, lock=True)
        if annotation.removed_at is not None:
            raise Http404
        check_if_match(if_match, state=AnnotationDetails.from_orm(annotation))
        if new.text != annotation.text:
            cases.annotations.change(annotation=annotation, text=new.text, by=request.user)
    return _tagged(response, annotation)


@router.delete("/cases/{case_id}/annotations/{annotation_id}", auth=WRITE, response={204: None})
def remove_annotation(request: ApiRequest, case_id: Id, annotation_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes an annotation. Repeating it changes nothing."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    with transaction.atomic():
        annotation = _find(case, annotation_id, lock=True)
        if annotation.removed_at is None:
            check_if_match(if_match, state=AnnotationDetails.from_orm(annotation))
            cases.annotations.remove(annotation=annotation, by=request.user)
    return Status(204, None)


def _find(case: Case, annotation_id: int, *, lock: bool = False) -> Annotation:
    rows = Annotation.objects.select_related("run", "created_by")
    annotation: Annotation = get_object_or_404(lockable(rows, lock=lock), case=case, pk=annotation_id)
    return annotation


def _tagged(response: HttpResponse, annotation: Annotation) -> AnnotationDetails:
    details = AnnotationDetails.from_orm(annotation)
    return set_etag(response, details, state=details)
