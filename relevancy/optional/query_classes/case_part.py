"""The rules of a case in files with whole cases, and in copies of the case.

The tags that they have set belong to the queries. What was tagged by which rule does not travel: the tags count as set by hand.
"""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError

from relevancy.formats.errors import BadFile, quote
from relevancy.formats.relevancy.schema import Element
from relevancy.hooks import CasePart
from relevancy.models import Case, User
from relevancy.models.errors import error_fields, error_text

from . import rules
from .forms import FORMS, RuleForm, read_rule

type ReadRule = tuple[str, RuleForm]
"""The kind of a rule, and its valid form."""


class RuleElement(Element):
    """A rule of a file. settings: as those of a `TagRule`."""

    tag: str
    kind: str
    settings: dict[str, Any] = {}


def write(case: Case) -> list[dict[str, Any]] | None:
    """Returns the rules of a case in their order."""
    listed = [{"tag": rule.tag, "kind": rule.kind, "settings": rule.settings} for rule in rules.list_rules(case)]
    return listed or None


def read(value: Any, location: str) -> list[ReadRule]:
    """Checks rules as the page does. Raises `BadFile`."""
    if not isinstance(value, list):
        raise BadFile(f"{location}: this must be a list of rules, not {quote(value)}.")
    if len(value) > rules.MAX_RULES:
        raise BadFile(f"{location}: there are {len(value):,} rules; a case can have {rules.MAX_RULES}.")
    return [_read_rule(rule, f"{location}[{number}]") for number, rule in enumerate(value, 1)]


def _read_rule(value: Any, location: str) -> ReadRule:
    element = RuleElement.read(value, location)
    if element.kind not in FORMS:
        raise element.refuse("kind", f"{quote(element.kind)} is not one of {', '.join(FORMS)}")
    for name, setting in element.settings.items():
        texts = setting if isinstance(setting, list) else [setting]
        if not all(text is None or isinstance(text, str | int) for text in texts):
            raise element.refuse(f"settings.{name}", f"{quote(setting)} is no setting of a rule")
    try:
        return element.kind, read_rule(element.kind, element.tag, element.settings)
    except ValidationError as error:
        fields = [name for name in error_fields(error) if name != "settings"]
        key = "tag" if fields == ["tag"] else ".".join(["settings", *fields[:1]])
        raise element.refuse(key, error_text(error).removesuffix(".")) from None


def store(case: Case, read_rules: Sequence[ReadRule], by: User) -> None:
    """Creates the rules, which a worker applies."""
    for kind, form in read_rules:
        rules.create(case=case, tag=form.cleaned_data["tag"], kind=kind, settings=form.settings, by=by)


CASE_PART = CasePart(write, read, store)
