"""Setting up a whole case: endpoint, case, attempt, queries and the first run, or nothing of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import endpoints, queries, runs, teams
from relevancy.models import Book, Case, EncryptedJSONField, Endpoint, Run, Scorer, Team, User
from relevancy.runs import attempts

from . import cases


@dataclass(frozen=True)
class CaseSetup:
    """Everything a new case consists of.

    endpoint: a saved one, or a new one from `endpoints.build_endpoint`; None for a case that only holds imported runs.
    template, fields: query template and field specification of the first attempt.
    texts: queries; with a book they are added to the book's own. None is needed; there is no first run then.
    changes: details of queries.
    scale: `[[grade, label], …]` of the new book; None takes that of the scorer.
    book: a book whose scale and queries the case takes; None makes a new one.
    team: the team that the case is shared with, in which its owner is an editor; new_team: the name of one to be made for it.
    """

    name: str
    scorer: Scorer
    endpoint: Endpoint | None
    template: str
    fields: str
    texts: Sequence[str]
    changes: queries.DetailChanges = field(default_factory=dict)
    scale: Sequence[Sequence[Any]] | None = None
    book: Book | None = None
    team: Team | None = None
    new_team: str = ""


@dataclass(frozen=True)
class CreatedCase:
    """A new case. run: its first one, which waits for a worker; None without an endpoint or queries."""

    case: Case
    run: Run | None


def create_from_setup(*, setup: CaseSetup, by: User) -> CreatedCase:
    """Creates the case and, if it has an endpoint and queries, its first run, in one transaction.

    A new endpoint needs the right to create one. Raises `ValidationError`, `RunNotAllowed` or `TemplateError`; then nothing is created.
    """
    is_new = setup.endpoint is not None and setup.endpoint.pk is None
    if is_new and not endpoints.may_create(by):
        raise ValidationError(endpoints.CREATE_DENIED)
    texts = [*setup.texts]
    if setup.book is not None:
        texts = [*setup.book.queries.live().values_list("text", flat=True), *texts]
    with transaction.atomic():
        if setup.endpoint is not None and is_new:
            endpoints.save_new(setup.endpoint)
        case = cases.create(name=setup.name, owner=by, scorers=[setup.scorer], scale=setup.scale, book=setup.book)
        if team := _team(setup, by):
            cases.share(case=case, team=team, by=by)
        queries.add(case=case, texts=texts, by=by)
        queries.change_details(case=case, changes=setup.changes, by=by)
        if setup.endpoint is None:
            return CreatedCase(case, None)
        attempt = attempts.save(case=case, endpoint=setup.endpoint, template=setup.template, fields=setup.fields, by=by)
        return CreatedCase(case, runs.start(attempt=attempt, by=by) if texts else None)


def _team(setup: CaseSetup, by: User) -> Team | None:
    if not setup.new_team:
        return setup.team
    try:
        return teams.create(name=setup.new_team, by=by)
    except ValidationError as error:
        raise ValidationError({"new_team": error.messages}) from None


def seal(secrets: Mapping[str, str]) -> str:
    """Returns secrets encrypted, so that they can be kept in a session; "" for none."""
    sealed: str = EncryptedJSONField().get_prep_value(dict(secrets))
    return sealed


def unseal(sealed: str) -> dict[str, str]:
    """Returns the secrets that `seal` encrypted. Raises `UnreadableSecret`."""
    return EncryptedJSONField().from_db_value(sealed)
