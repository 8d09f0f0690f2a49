"""The tag of the sealed queries of a case in files with whole cases, and in copies of the case. Openings stay with their case."""

from typing import Any

from django.core.exceptions import ValidationError

from relevancy import queries
from relevancy.formats.relevancy.schema import Element
from relevancy.hooks import CasePart
from relevancy.models import Case
from relevancy.models.errors import error_text

from . import sealed_queries


class SealedElement(Element):
    """What studies have in a file."""

    sealed_tag: str


def write(case: Case) -> dict[str, str] | None:
    """Returns the tag of the sealed queries."""
    tag = sealed_queries.read_tag(case)
    return {"sealed_tag": tag} if tag else None


def read(value: Any, location: str) -> str:
    """Returns the tag. Raises `BadFile`."""
    element = SealedElement.read(value, location)
    try:
        tags = queries.tags.parse(element.sealed_tag)
    except ValidationError as error:
        raise element.refuse("sealed_tag", error_text(error).removesuffix(".")) from None
    if len(tags) != 1:
        raise element.refuse("sealed_tag", "this must be one tag")
    return tags[0]


CASE_PART = CasePart(write, read, lambda case, tag, by: sealed_queries.seal(case=case, tag=tag, by=by))
