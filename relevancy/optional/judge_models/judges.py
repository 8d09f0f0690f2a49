"""Judge models: created, changed where that changes no answer, and archived."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import endpoints, engines
from relevancy.models import Book, Team, User
from relevancy.models.saving import clean_and_save
from relevancy.models.text import normalize_text

from .models import JudgeModel
from .prompts import DEFAULT, TEMPLATES, Template, check_own_text, with_own_text, write_instructions
from .protocols import PARAMETERS, PROTOCOLS, TOKEN_LIMITS

MARK = "(AI judge)"
DEFAULT_PARAMETERS: Mapping[str, Any] = {"max_tokens": 1000, "temperature": 0}
MAX_TOKENS = 1_000_000


def create(
    *, by: User, key: str = "", teams: Iterable[Team] = (), unrestricted: bool = False, **fields: Any
) -> JudgeModel:
    """Creates a judge model and its rater. Looks up the host name, and contacts nothing. Raises `ValidationError` naming the field.

    teams: whose editors may start jobs, which spend what the key pays for.
    unrestricted: for commands on the server; `by` does not need the right to create endpoints.
    fields: the other ones of the model that its owner chooses; `parameters` and `prompt` have defaults.
    """
    if not unrestricted and not endpoints.may_create(by):
        raise ValidationError(endpoints.CREATE_DENIED)
    judge = JudgeModel(owner=by, **{"prompt": DEFAULT, "parameters": dict(DEFAULT_PARAMETERS)} | fields)
    judge.secrets = {"key": key.strip()} if key.strip() else {}
    judge.full_clean(exclude={"owner", "rater"}, validate_unique=False)
    _check(judge)
    with transaction.atomic():
        judge.rater = User.objects.create_user(
            f"judge-{uuid.uuid4().hex}@judge.invalid",
            name=f"{judge.name} {MARK}",
            kind=User.Kind.MACHINE,
            is_active=False,
        )
        clean_and_save(judge)
        judge.teams.add(*teams)
    return judge


def set_key(*, judge: JudgeModel, key: str) -> None:
    """Replaces the key; an empty one removes it."""
    clean_and_save(judge, secrets={"key": key.strip()} if key.strip() else {})


def template_of(judge: JudgeModel) -> Template:
    """Returns the prompt of a judge model, with its own instructions if it has some."""
    return with_own_text(TEMPLATES[judge.prompt], judge.instructions)


def build_instructions(judge: JudgeModel, book: Book) -> str:
    """Returns the instructions that a job would send now, as they are stored with it."""
    text = write_instructions(
        template_of(judge), scale=book.scale, guidelines=book.guidelines, has_pictures=bool(judge.image_tokens)
    )
    return normalize_text(text)


def set_instructions(*, judge: JudgeModel, text: str) -> None:
    """Replaces the instructions from the next job on; an empty text restores those of the shipped prompt.

    Raises `ValidationError` naming the field.
    """
    text = normalize_text(text)
    try:
        if text:
            check_own_text(text)
    except ValidationError as error:
        raise ValidationError({"instructions": error}) from error
    clean_and_save(judge, instructions=text)


def archive(*, judge: JudgeModel) -> None:
    """Stops offering the judge model. Its answers and ratings stay."""
    judge.archived_at = timezone.now()
    judge.save(update_fields=["archived_at"])


def address_rules() -> engines.AddressRules:
    """Returns the address rules of endpoints, which judge models share."""
    return engines.AddressRules.parse(settings.ENDPOINT_HOSTS, private_allowed=settings.ENDPOINT_PRIVATE_ALLOWED)


def output_limit(judge: JudgeModel) -> int:
    """Returns the most tokens that an answer can have."""
    return max(int(judge.parameters.get(name, 0)) for name in TOKEN_LIMITS)


def _check(judge: JudgeModel) -> None:
    if judge.protocol not in PROTOCOLS:
        raise ValidationError(
            {"protocol": f"There is no protocol {judge.protocol!r}. Choose {' or '.join(PROTOCOLS)}."}
        )
    if judge.prompt not in TEMPLATES:
        raise ValidationError(
            {"prompt": f"There is no prompt {judge.prompt!r}. Choose one of: {', '.join(TEMPLATES)}."}
        )
    unknown = sorted(set(judge.parameters) - PARAMETERS)
    if unknown:
        allowed = ", ".join(sorted(PARAMETERS))
        raise ValidationError({"parameters": f"The parameter {unknown[0]!r} cannot be set. Choose from: {allowed}."})
    limits = [judge.parameters[name] for name in TOKEN_LIMITS if name in judge.parameters]
    if not limits or not all(type(limit) is int and 0 < limit <= MAX_TOKENS for limit in limits):
        message = (
            "Set max_tokens or max_completion_tokens to an integer above 0: budgets need the most an answer can cost."
        )
        raise ValidationError({"parameters": message})
    try:
        address_rules().check(judge.url)
    except engines.EndpointUnreachable as error:
        # A host name that cannot be resolved (yet) passes: it is checked again before every request.
        if not isinstance(error.__cause__, OSError | UnicodeError):
            raise ValidationError({"url": str(error)}) from None
