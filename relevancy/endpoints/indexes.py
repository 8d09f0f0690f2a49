"""Embedded indexes and uploaded files have owners: an endpoint may only name those that its owner may use."""

from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError

from relevancy import engines
from relevancy.models import Endpoint, StoredIndex, Team, User


def is_stored(engine: str) -> bool:
    """Whether the address of an endpoint with this engine is the name of something in the data directory."""
    adapter = engines.find(engine)
    return adapter is not None and adapter.address.kind in {"folder", "file"}


def data_folder(engine: str) -> Path:
    """Returns the folder below the data directory that belongs to an engine."""
    return Path(settings.DATA_DIR) / engine


def is_present(*, engine: str, name: str) -> bool:
    """Whether an index or file of this name is in the data directory."""
    is_plain = name == Path(name).name and name not in {"", ".", ".."}
    return is_stored(engine) and is_plain and (data_folder(engine) / name).exists()


def why_not_usable(*, engine: str, name: str, by: User) -> str:
    """Returns why a user may not name an index or file as the address of an endpoint; an empty string if the user may.

    Everyone may use a new name. Files in the data directory that have no owner are for admins. One SQL statement.
    """
    if not is_stored(engine) or by.is_superuser:
        return ""
    index = StoredIndex.objects.filter(engine=engine, name=name).first()
    if index is not None:
        return "" if StoredIndex.objects.editable_by(by).filter(pk=index.pk).exists() else _refusal(index)
    if is_present(engine=engine, name=name):
        return (
            f"“{name}” exists on this server, and its owner is not known. "
            "An admin can load its documents again, or create the endpoint."
        )
    return ""


def _refusal(index: StoredIndex) -> str:
    return (
        f"“{index.name}” belongs to someone else. Choose another name, or ask an admin to share it with a team in which you are "
        "an editor."
    )


def check_owner(endpoint: Endpoint) -> None:
    """Raises `EngineError` if an endpoint names an index that its owner may not use, or no longer.

    An endpoint without an owner, which is never stored, is not checked.
    """
    if endpoint.owner_id is None or not is_stored(endpoint.engine):
        return
    index = StoredIndex.objects.filter(engine=endpoint.engine, name=endpoint.url).first()
    if index is None or index.owner_id == endpoint.owner_id:
        return
    if not StoredIndex.objects.editable_by(endpoint.owner).filter(pk=index.pk).exists():
        raise engines.EndpointRefused(
            f"Endpoint {endpoint.name} may not use “{index.name}”, which belongs to someone else.",
            hint=f"An admin can share it with a team in which {endpoint.owner}, the owner of the endpoint, is an editor.",
        )


def claim(*, engine: str, name: str, by: User, team: Team | None = None) -> None:
    """Makes a user the owner of an index or file that has none. Does nothing for engines that are not on this server.

    team: the index is shared with it. Raises `ValidationError` if it belongs to another user.
    """
    if reason := why_not_usable(engine=engine, name=name, by=by):
        raise ValidationError({"url": reason})
    if not is_stored(engine):
        return
    index, _ = StoredIndex.objects.get_or_create(engine=engine, name=name, defaults={"owner": by})
    # Two may have used the same free name at once.
    if not StoredIndex.objects.editable_by(by).filter(pk=index.pk).exists():
        raise ValidationError({"url": _refusal(index)})
    if team is not None:
        index.teams.add(team)


def release(*, engine: str, name: str, by: User) -> None:
    """Takes back `claim` if there is no index of this name, so that others can use the name."""
    if not is_present(engine=engine, name=name) and owns_unused(engine=engine, name=name, by=by):
        StoredIndex.objects.filter(engine=engine, name=name, owner=by).delete()


def owns_unused(*, engine: str, name: str, by: User) -> bool:
    """Returns whether an index or file belongs to the user and no endpoint names it yet."""
    is_own = StoredIndex.objects.filter(engine=engine, name=name, owner=by).exists()
    return is_own and not Endpoint.objects.filter(engine=engine, url=name).exists()


def hand_over(*, endpoint: Endpoint, by: User) -> None:
    """Gives the index that an endpoint names, which `by` owns, to the owner of the endpoint."""
    indexes = StoredIndex.objects.filter(engine=endpoint.engine, name=endpoint.url, owner=by)
    indexes.update(owner=endpoint.owner)
