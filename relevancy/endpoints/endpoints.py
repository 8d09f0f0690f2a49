"""Endpoints: created, changed and archived."""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import activity, engines, sandbox
from relevancy.models import Activity, Endpoint, Policy, Role, Team, User
from relevancy.models.saving import clean_and_save
from relevancy.wording import unknown_name

from .connections import check_address, timeouts
from .indexes import claim, hand_over, owns_unused, why_not_usable


class Settings(TypedDict, total=False):
    """What `create` and `update` set: the fields of an endpoint that its editors enter."""

    name: str
    engine: str
    url: str
    options: Mapping[str, Any]
    credentials: Mapping[str, str]
    headers: Mapping[str, str]
    parallel: int
    per_minute: int


_COMMON_OPTIONS = ("connect_timeout", "query_options", "read_timeout")  # of every engine
SCRIPTS_DENIED = (
    "The admins of this site have disabled scripts of users. Use expressions, or ask an admin to enter the script."
)
CREATE_DENIED = (
    "You may not create endpoints, because this server sends requests to their addresses. Ask an administrator of this "
    "site to give the right to you, or to a team in which you are an editor."
)
MOVE_DENIED = (
    "You may not change the address, because this server sends requests to it. Ask an administrator of this site to give "
    "the right to create endpoints to you, or to a team in which you are an editor."
)


def may_create(user: User) -> bool:
    """Returns whether the user may enter addresses that this server sends requests to.

    Admins may, users to whom an admin has given the right, and the editors and owners of a team that has it.
    """
    if user.is_superuser or user.can_create_endpoints:
        return True
    return bool(user.memberships.filter(role__gte=Role.EDITOR, team__can_create_endpoints=True).exists())


def create(
    *, by: User, teams: tuple[Team, ...] = (), unrestricted: bool = False, **settings: Unpack[Settings]
) -> Endpoint:
    """Creates an endpoint, as `build_endpoint` describes. Raises `ValidationError` naming the field.

    unrestricted: for commands on the server; `by` does not need the right to create endpoints.
    """
    if not unrestricted and not may_create(by):
        raise ValidationError(CREATE_DENIED)
    endpoint = build_endpoint(by=by, **settings)
    with transaction.atomic():
        save_new(endpoint)
        endpoint.teams.add(*teams)
        activity.record_for_teams(
            Activity.Verb.ENDPOINT_CREATED, teams=teams, by=by, subject=endpoint, object_id=endpoint.pk
        )
    return endpoint


def save_new(endpoint: Endpoint) -> None:
    """Saves an endpoint of `build_endpoint`. Its owner becomes the owner of the index it names, if that has none yet. Raises
    `ValidationError`."""
    clean_and_save(endpoint)
    claim(engine=endpoint.engine, name=endpoint.url, by=endpoint.owner)


def create_archived(*, name: str, engine: str, options: Mapping[str, Any], by: User) -> Endpoint:
    """Creates an endpoint without an address, for attempts that were made elsewhere. It is archived and cannot be searched.

    The engine need not be installed. Raises `ValidationError`.
    """
    endpoint = Endpoint(name=name, engine=engine, options=dict(options), owner=by, archived_at=timezone.now())
    endpoint.full_clean(exclude={"owner", "url"})
    endpoint.save()
    return endpoint


def build_endpoint(*, by: User, **settings: Unpack[Settings]) -> Endpoint:
    """Returns a validated endpoint that is not saved.

    Validates the URL and checks that its host is allowed, which can look up its name: never call this in a transaction.
    Does not contact the engine; see `test_connection`. Raises `ValidationError` naming the field.
    """
    endpoint = Endpoint(owner=by, **settings)
    _validate(endpoint, by, is_new_address=True)
    return endpoint


def _validate(endpoint: Endpoint, by: User, *, is_new_address: bool) -> None:
    """Validates an endpoint that is not saved. by: who has entered what is new. is_new_address: `by` has chosen its address, too."""
    endpoint.full_clean(exclude={"owner"}, validate_unique=False)
    if not isinstance(endpoint.options.get("query_options", {}), dict):
        raise ValidationError({"options": 'The option query_options must be a JSON object, such as {"lang": "en"}.'})
    try:
        timeouts(endpoint.options)
    except engines.EngineError as error:
        raise ValidationError({"options": str(error)}) from None
    if is_new_address and (reason := why_not_usable(engine=endpoint.engine, name=endpoint.url, by=by)):
        raise ValidationError({"url": reason})
    _check_scripts(endpoint, by)
    try:
        check_address(endpoint)
    except engines.UnknownEngine as error:
        raise ValidationError({"engine": str(error)}) from None
    except engines.OptionError as error:
        raise ValidationError({f"option_{error.option}": str(error)}) from None
    except engines.EngineError as error:
        raise ValidationError({"url": str(error)}) from None


def check_credentials(credentials: Mapping[str, str]) -> None:
    """Raises `ValidationError` for a password without a user name, and for more than one way to sign in."""
    if "password" in credentials and "username" not in credentials:
        raise ValidationError({"username": "A password needs a user name."})
    ways = [name for name in ("username", "api_key", "bearer") if name in credentials]
    if len(ways) > 1:
        message = "Enter a user name, or an API key, or a bearer token: one of them."
        raise ValidationError({ways[-1]: message})


def check_option_names(names: Iterable[str], *, engine: str, also: Iterable[str] = ()) -> None:
    """Raises `ValidationError` with the nearest known name for an option that neither the engine reads nor `also` contains.

    For what people write: a file of a case may have options of another version. An engine that is not installed is left to `create`.
    """
    adapter = engines.find(engine)
    if adapter is None:
        return
    known = {*_COMMON_OPTIONS, *(option.name for option in adapter.options), *also}
    unknown = {f"options.{name}": unknown_name(name, known) for name in names if name not in known}
    if unknown:
        raise ValidationError(unknown)


def _check_scripts(endpoint: Endpoint, by: User) -> None:
    """Compiles the scripts among the options of an endpoint that are new. Raises `ValidationError` with the line."""
    adapter = engines.find(endpoint.engine)
    names = [option.name for option in adapter.options if option.kind == "script"] if adapter else []
    scripts = {
        name: script for name in names if isinstance(script := endpoint.options.get(name), str) and script.strip()
    }
    if not scripts:
        return
    # Without an address it comes from a file; under another engine, an option of this name was no script.
    checked = Endpoint.objects.filter(pk=endpoint.pk, engine=endpoint.engine).exclude(url="")
    stored = checked.values_list("options", flat=True).first() or {}
    for name, script in scripts.items():
        if stored.get(name) == script:
            continue
        if not Policy.objects.may_write_scripts(by):
            raise ValidationError({f"option_{name}": SCRIPTS_DENIED})
        try:
            sandbox.check(script)
        except sandbox.SandboxError as error:
            raise ValidationError({f"option_{name}": error.sentence}) from None


def update(
    *,
    endpoint: Endpoint,
    by: User,
    clear: bool = False,
    check: Callable[[], None] | None = None,
    **settings: Unpack[Settings],
) -> None:
    """Changes an endpoint. Raises `ValidationError` naming the field; then nothing is changed.

    check: called in the transaction before anything is written; what it raises is raised.
    Another engine or address needs the right to create endpoints.

    credentials, headers: empty ones keep the stored ones, unless `clear` is set or the address or engine changes: stored
    secrets are never sent to another address.
    """
    kept = {name: {} if clear else getattr(endpoint, name) for name in ("credentials", "headers")}
    changes: dict[str, Any] = {**settings, **{name: settings.get(name) or value for name, value in kept.items()}}
    changed = copy.copy(endpoint)
    for name, value in changes.items():
        setattr(changed, name, value)
    is_moved = (changed.url.strip(), changed.engine) != (endpoint.url, endpoint.engine)
    if is_moved:
        changes["version"] = ""
        _check_move(by, is_secret_kept=any(value and not settings.get(name) for name, value in kept.items()))
    if (changed.engine, _server(changed.url)) != (endpoint.engine, _server(endpoint.url)):
        # An administrator has allowed these at another server.
        changed.allowed_handlers = changed.allowed_indexes = ""
        changes |= {"allowed_handlers": "", "allowed_indexes": ""}
    # Never the values, which can be secret.
    fields = [field for field in Endpoint._meta.fields if field.name in settings or field.name in kept]
    different = [str(f.verbose_name) for f in fields if changes[f.name] != getattr(endpoint, f.name)]
    # A file that an editor has uploaded for this endpoint goes over to its owner.
    hands_over = is_moved and owns_unused(engine=changed.engine, name=changed.url, by=by)
    if hands_over:
        changed.owner = by
    _validate(changed, by, is_new_address=is_moved)
    with transaction.atomic():
        if check is not None:
            check()
        clean_and_save(endpoint, **changes)
        if hands_over:
            hand_over(endpoint=endpoint, by=by)
        elif is_moved:
            claim(engine=endpoint.engine, name=endpoint.url, by=endpoint.owner)
        if different:
            _record(Activity.Verb.ENDPOINT_CHANGED, endpoint, by, changed=", ".join(different))


def _check_move(by: User, *, is_secret_kept: bool) -> None:
    """Raises `ValidationError` if `by` may not choose another address, or a stored secret would be sent to it."""
    if not may_create(by):
        raise ValidationError({"url": MOVE_DENIED})
    if is_secret_kept:
        message = "The address changed. Enter the credentials and headers again, or delete the stored ones."
        raise ValidationError({"url": message})


def _record(
    verb: Activity.Verb, endpoint: Endpoint, by: User | None, teams: Iterable[Team] | None = None, **details: str
) -> None:
    """Adds to the logs of the teams that the endpoint is shared with, or of `teams`."""
    shared = endpoint.teams.all() if teams is None else teams
    activity.record_for_teams(verb, teams=shared, by=by, subject=endpoint, object_id=endpoint.pk, **details)


def share(*, endpoint: Endpoint, team: Team, by: User | None = None) -> None:
    """Shares the endpoint with a team: its editors may change it, and search it with its credentials in all their cases."""
    with transaction.atomic():
        endpoint.teams.add(team)
        _record(Activity.Verb.ENDPOINT_SHARED, endpoint, by, [team])


def unshare(*, endpoint: Endpoint, team: Team, by: User | None = None) -> None:
    """Stops sharing the endpoint with a team. Runs that its members have started end at their next chunk."""
    with transaction.atomic():
        endpoint.teams.remove(team)
        _record(Activity.Verb.ENDPOINT_UNSHARED, endpoint, by, [team])


def _server(url: str) -> str:
    """Returns the part of an address that names the server."""
    scheme, _, rest = url.strip().partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower()


def archive(*, endpoint: Endpoint, by: User | None = None) -> None:
    """Stops offering the endpoint; attempts and runs keep it. `restore` undoes it."""
    endpoint.archived_at = timezone.now()
    with transaction.atomic():
        endpoint.save(update_fields=["archived_at"])
        _record(Activity.Verb.ENDPOINT_ARCHIVED, endpoint, by)


def restore(*, endpoint: Endpoint, by: User | None = None) -> None:
    """Offers an archived endpoint again."""
    endpoint.archived_at = None
    with transaction.atomic():
        endpoint.save(update_fields=["archived_at"])
        _record(Activity.Verb.ENDPOINT_RESTORED, endpoint, by)
