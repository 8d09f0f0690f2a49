"""Attempts: numbered versions of the query template and the settings that a case searches with."""

import re
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from relevancy import activity, endpoints, engines
from relevancy.models import Activity, Attempt, Case, Endpoint, User
from relevancy.models.attempt import MAX_KNOB_TEXT
from relevancy.models.errors import located_error
from relevancy.models.text import validate_line

from .access import why_not_usable
from .requests import RequestBuilder, snapshot_config

MAX_TEMPLATE = 20_000
MAX_FIELDS = 2000
_WITH_COMMAS = re.compile(r"[+-]?\d+(,\d+)+")


class AttemptSettings(TypedDict, total=False):
    """What `save` takes besides an endpoint and a template.

    escape: whether to escape Lucene's special characters; unless given, yes for Solr parameters and no for JSON, which quotes text.
    """

    fields: str
    knobs: Mapping[str, Any]
    depth: int
    escape: bool | None
    name: str


def save(
    *,
    case: Case,
    endpoint: Endpoint,
    template: str,
    by: User,
    parent: Attempt | None = None,
    **settings: Unpack[AttemptSettings],
) -> Attempt:
    """Saves an attempt with a parent: the parent itself if nothing has changed or if it has never been run, else a new attempt.

    `by` must be allowed to use the endpoint in the case. Raises `ValidationError` for the field: endpoint, template
    (with line and column), fields, knobs or depth.
    """
    if reason := why_not_usable(case=case, endpoint=endpoint, by=by):
        raise ValidationError({"endpoint": reason})
    name, escape = settings.pop("name", ""), settings.pop("escape", None)
    fields, depth = settings.get("fields", ""), settings.get("depth", 10)
    attempt = Attempt(
        case=case,
        parent=parent,
        name=name,
        created_by=by,
        endpoint=endpoint,
        template=template.replace("\r\n", "\n"),
        fields=" ".join(fields.split()),
        knobs=check(endpoint=endpoint, template=template, fields=fields, knobs=settings.get("knobs", {}), depth=depth),
        depth=depth,
        escape=engines.get(endpoint.engine).syntax == "params" if escape is None else escape,
    )
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        if parent is not None and parent.content == attempt.content:
            return parent
        if parent is not None and not parent.runs.exists():
            parent.endpoint, parent.name = endpoint, name or parent.name
            for key, value in attempt.content.items():
                setattr(parent, key, value)
            parent.save()
            _record(Activity.Verb.ATTEMPT_CHANGED, parent, by)
            return parent
        return _create(attempt, by)


def duplicate(*, attempt: Attempt, by: User) -> Attempt:
    """Saves a copy of an attempt, which is its parent, to be changed later. Sends nothing.

    `by` must be allowed to use the endpoint in the case. Raises `ValidationError`.
    """
    if reason := why_not_usable(case=attempt.case, endpoint=attempt.endpoint, by=by):
        raise ValidationError(reason)
    name = f"Copy of {attempt.name or attempt}"[: Attempt._meta.get_field("name").max_length]
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=attempt.case_id)
        copy = Attempt(case=attempt.case, parent=attempt, name=name, created_by=by, **attempt.content)
        return _create(copy, by)


def _create(attempt: Attempt, by: User) -> Attempt:
    """Stores a new attempt. Call it while its case is locked."""
    attempt.number = next_number(attempt.case.attempts)
    attempt.save()
    _record(Activity.Verb.ATTEMPT_CREATED, attempt, by)
    return attempt


def next_number(rows: Any) -> int:
    """Returns the number after the last one of the attempts or runs of a case, which is locked."""
    return int(rows.aggregate(last=Max("number"))["last"] or 0) + 1


def _record(verb: Activity.Verb, attempt: Attempt, by: User | None) -> None:
    activity.record(verb, case=attempt.case_id, by=by, subject=f"attempt {attempt.number}", object_id=attempt.pk)


class AttemptTexts(TypedDict, total=False):
    """What `describe` changes; what is left out stays."""

    name: str
    note: str


def describe(*, attempt: Attempt, by: User | None = None, **changes: Unpack[AttemptTexts]) -> None:
    """Changes the name and the note of an attempt. Raises `ValidationError` for the field."""
    former = attempt.name, attempt.note
    attempt.name, attempt.note = changes.get("name", attempt.name).strip(), changes.get("note", attempt.note).strip()
    attempt.clean_fields(exclude={field.name for field in Attempt._meta.fields} - {"name", "note"})
    with transaction.atomic():
        attempt.save(update_fields=["name", "note"])
        if former != (attempt.name, attempt.note):
            _record(Activity.Verb.ATTEMPT_DESCRIBED, attempt, by)


def archive(*, attempt: Attempt, by: User | None = None) -> None:
    """Leaves an attempt out of the tree; its runs and scores stay. `restore` undoes it.

    Raises `ValidationError` if the case has no other attempt that is not archived.
    """
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=attempt.case_id)
        others = Attempt.objects.filter(case=attempt.case_id, archived_at=None).exclude(pk=attempt.pk)
        if not others.exists():
            raise ValidationError(
                f"Attempt {attempt.number} is the only one that is not archived. Restore or create another one first."
            )
        if Attempt.objects.filter(pk=attempt.pk, archived_at=None).update(archived_at=timezone.now()):
            _record(Activity.Verb.ATTEMPT_ARCHIVED, attempt, by)


def restore(*, attempt: Attempt, by: User | None = None) -> None:
    """Undoes `archive`."""
    with transaction.atomic():
        if Attempt.objects.filter(pk=attempt.pk, archived_at__isnull=False).update(archived_at=None):
            _record(Activity.Verb.ATTEMPT_RESTORED, attempt, by)


def check(
    *, endpoint: Endpoint, template: str, fields: str, knobs: Mapping[str, Any], depth: int
) -> dict[str, engines.KnobValue]:
    """Validates the content of an attempt. Returns the knobs that its template uses, as numbers and texts."""
    if endpoint.archived_at:
        raise ValidationError({"endpoint": f"Endpoint {endpoint.name} is archived."})
    if not 1 <= depth <= 1000:
        raise ValidationError({"depth": f"{depth} results cannot be shown: choose 1 to 1,000."})
    if len(template) > MAX_TEMPLATE:
        raise ValidationError(
            {"template": f"The template has {len(template):,} characters; {MAX_TEMPLATE:,} are possible."}
        )
    if len(fields) > MAX_FIELDS:
        raise ValidationError({"fields": f"The fields have {len(fields):,} characters; {MAX_FIELDS:,} are possible."})
    adapter = engines.get(endpoint.engine)
    try:
        parsed = engines.parse_template(template, adapter.syntax)
    except engines.TemplateError as error:
        raise located_error("template", str(error), line=error.line, column=error.column) from None
    try:
        engines.parse_fields(fields, adapter.default_id_field)
    except engines.TemplateError as error:
        raise ValidationError({"fields": str(error)}) from None
    return {name: clean_knob(name, knobs.get(name, 10)) for name in parsed.knobs}


def clean_knob(name: str, value: Any) -> engines.KnobValue:
    """Returns the value of a knob as attempts keep it: a text that reads as a number is one. Raises `ValidationError`."""
    read = engines.read_knob_value(value) if isinstance(value, str) else value
    if isinstance(read, str) and read:
        _check_knob_text(name, read)
        return read
    try:
        number = float(read)
    except (TypeError, ValueError):
        raise ValidationError({"knobs": f"Knob {name} is {value!r}; write a number or a text."}) from None
    if not abs(number) < 1e12:
        raise ValidationError({"knobs": f"Knob {name} is {value}; write a number a query can use."})
    return int(number) if number.is_integer() else number


def _check_knob_text(name: str, text: str) -> None:
    if len(text) > MAX_KNOB_TEXT:
        problem = f"Knob {name} is a text of {len(text):,} characters; {MAX_KNOB_TEXT:,} are possible."
        raise ValidationError({"knobs": problem})
    if _WITH_COMMAS.fullmatch(text):
        raise ValidationError({"knobs": f"Knob {name} is {text!r}; write a number with a point, such as 1.5."})
    try:
        validate_line(text)
    except ValidationError as error:
        raise ValidationError({"knobs": f"Knob {name}: {error.messages[0]}"}) from None


def syntax(endpoint: Endpoint, template: str = "") -> str:
    """Returns the syntax of a template, "params" or "json". If the engine accepts both and the template is empty, that of the
    endpoint's own template. If the engine is not installed, that in which the template is written."""
    adapter = engines.find(endpoint.engine)
    if adapter is None or (template.strip() and adapter.syntax != "json"):
        return engines.syntax_of(template)
    if adapter.syntax == "either":
        return engines.syntax_of(adapter.suggest_template((), endpoint.options))
    return adapter.syntax


def preview(*, attempt: Attempt, text: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what would be sent for a query. Sends nothing. Raises `EngineError`."""
    builder = RequestBuilder(snapshot_config(attempt), attempt.depth)
    with endpoints.connect(attempt.endpoint) as engine:
        return engine.render(builder.request(text, options))


def template_warnings(*, endpoint: Endpoint, template: str) -> list[engines.TemplateWarning]:
    """Returns probable mistakes in a valid template. Raises `TemplateError` for an invalid one."""
    adapter = engines.get(endpoint.engine)
    return adapter.template_warnings(engines.parse_template(template, adapter.syntax))
