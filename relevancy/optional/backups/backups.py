"""A backup of the whole site, and how it is restored."""

from __future__ import annotations

import hashlib
import hmac
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from relevancy.models import User
from relevancy.wording import counted

from . import postgresql, sqlite
from .archives import ArchiveReader, DatabaseInfo, KeyFingerprints, Manifest, new_archive, open_archive
from .data_folder import FORMER, FileCopies, Replacement, list_files, list_leftovers, list_links, new_staging
from .errors import BackupError


@dataclass(frozen=True)
class Summary:
    """Of a backup that was made or restored. warnings: sentences about what is not as it should be."""

    manifest: Manifest
    warnings: Sequence[str]


def create(*, path: Path, overwrite: bool = False) -> Summary:
    """Writes a backup of database and data folder while the site works. The file appears when it is complete.

    The database is as it was at one moment, and every file that it names is there. Raises `BackupError`, `OSError` and
    `sqlite3.Error`; no file is left behind then.
    """
    path = path.absolute()
    if path.resolve().is_relative_to(settings.DATA_DIR):
        raise BackupError(
            f"{path} is in the data folder {settings.DATA_DIR}, with which it would be lost. Choose another folder, on another disk."
        )
    if not path.parent.is_dir():
        raise BackupError(f"The folder {path.parent} does not exist. Create it, or choose another one.")
    database = postgresql.describe() if connection.vendor == "postgresql" else DatabaseInfo(kind="sqlite")
    migrations = _applied_migrations()
    if not migrations:
        raise BackupError("The database has no tables yet, so there is nothing to back up. Run `relevancy migrate`.")
    with new_archive(path, overwrite=overwrite) as archive:
        copies = FileCopies(archive)
        copies.copy_changed()
        if database.kind == "postgresql":
            with archive.open(database.member, compress=False) as member:  # the dump is compressed
                postgresql.dump(member)
        else:
            with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
                copy = Path(folder) / "database"
                sqlite.dump(copy)
                with archive.open(database.member) as member, copy.open("rb") as file:
                    member.copy(file)
        warnings = [
            f"{link} in the data folder is a symbolic link; what it leads to is not in the backup."
            for link in list_links()
        ]
        if not copies.settle():
            warnings.append(
                "Files of the data folder kept changing. An index that was being built meanwhile may have to be built again."
            )
        manifest = Manifest(
            version=_own_version(),
            made_at=timezone.now().isoformat(timespec="seconds"),
            database=database,
            migrations=migrations,
            keys=_fingerprints(),
            files=copies.members,
            members=archive.members,
        )
        archive.write_manifest(manifest)
    return Summary(manifest, warnings)


def restore(*, path: Path, replace: bool = False) -> Summary:
    """Replaces the content of this site by that of a backup, and migrates it to this version.

    The archive is verified first. Raises `BackupError`, `OSError`, `sqlite3.Error` and `DatabaseError`; the site is as it was then.
    """
    with open_archive(path) as archive:
        manifest = archive.manifest
        _check_version(manifest)
        if manifest.database.kind != connection.vendor:
            raise BackupError(
                f"The backup is of a site on {_KINDS[manifest.database.kind]}, and this one uses {_KINDS[connection.vendor]}. "
                "Restore it with a RELEVANCY_DATABASE_URL of the same kind; cases and books move by `export_case` and `export_book`."
            )
        if connection.vendor == "postgresql":
            postgresql.check_archive(manifest.database)
        if not replace and (reason := _why_not_empty()):
            raise BackupError(f"This site is not empty: {reason}. Add --replace to delete all that it has.")
        leftovers = list_leftovers()
        staging = new_staging()
        try:
            _restore(archive, staging)
        except BaseException:
            if not any(path.is_file() for path in (staging / FORMER).rglob("*")):  # else files could not be moved back
                shutil.rmtree(staging)
            raise
        for folder in [*leftovers, staging]:
            shutil.rmtree(folder)
    return Summary(manifest, list(_warn_of_keys(manifest.keys)))


_KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def _restore(archive: ArchiveReader, staging: Path) -> None:
    """Unpacks everything, and puts it into place when the database is complete and migrated."""
    database = staging / "database"
    archive.extract(archive.manifest.database.member, database)
    files = {}
    for path, name in archive.manifest.files.items():
        files[path] = staging / "files" / path
        files[path].parent.mkdir(parents=True, exist_ok=True)
        archive.extract(name, files[path])
    replacement = Replacement(files, staging)
    if connection.vendor == "postgresql":
        with _undone_after_error(replacement), transaction.atomic():
            postgresql.restore(database)
            _migrate(archive.manifest)
            replacement.apply()
        return
    with sqlite.using(database):
        _migrate(archive.manifest)
    with _undone_after_error(replacement):
        replacement.apply()
        connection.close()
        sqlite.replace(database)


@contextmanager
def _undone_after_error(replacement: Replacement) -> Iterator[None]:
    try:
        yield
    except BaseException:
        replacement.undo()
        raise


def _migrate(manifest: Manifest) -> None:
    """Raises `BackupError` if the restored database is not that of the manifest, or cannot be used with this version."""
    applied = _applied_migrations()
    if missing := [name for name in manifest.migrations if name not in applied]:
        raise BackupError(f"The database of the backup is not whole: it lacks the migration {'.'.join(missing[0])}.")
    try:
        call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    except CommandError as error:
        raise BackupError(f"The database of the backup cannot be used with this version. {error}") from error


def _check_version(manifest: Manifest) -> None:
    """Raises `BackupError` if the database has migrations of installed apps that this version does not have."""
    known = MigrationLoader(None).disk_migrations
    installed = {config.label for config in apps.get_app_configs()}
    unknown = sorted(
        (app, name) for app, name in map(tuple, manifest.migrations) if app in installed and (app, name) not in known
    )
    if unknown:
        raise BackupError(
            f"The backup was made by a newer version of Relevancy, {manifest.version}: its database has the migration "
            f"{'.'.join(unknown[0])}, which this version, {_own_version()}, does not have. Install that version first."
        )


def _why_not_empty() -> str:
    """Returns what the site has, as the end of a sentence; an empty string if it is new."""
    if leftovers := list_leftovers():
        return f"{leftovers[0]} is left of a restore that was interrupted; its folder `former` has the files before it"
    if User._meta.db_table in connection.introspection.table_names() and (users := User.objects.count()):
        return f"its database has {counted(users, 'account')}"
    if files := list_files():
        return f"its data folder has {counted(len(files), 'file')}, such as {min(files)}"
    return ""


def _applied_migrations() -> list[list[str]]:
    recorder = MigrationRecorder(connection)
    return sorted([app, name] for app, name in recorder.applied_migrations()) if recorder.has_table() else []


def _own_version() -> str:
    try:
        return version("relevancy")
    except PackageNotFoundError:  # a checkout that is not installed
        return "unknown"


def _fingerprints() -> KeyFingerprints:
    return KeyFingerprints(
        secret=_fingerprint(settings.SECRET_KEY), credentials=[_fingerprint(key) for key in settings.CREDENTIALS_KEYS]
    )


def _fingerprint(key: str) -> str:
    return hmac.digest(key.encode(), b"relevancy backup", hashlib.sha256).hex()[:16]


def _warn_of_keys(keys: KeyFingerprints) -> Iterator[str]:
    own = _fingerprints()
    if set(keys.credentials) - set(own.credentials):
        yield (
            "The backup was made with another RELEVANCY_CREDENTIALS_KEY (or, without one, another RELEVANCY_SECRET_KEY): "
            "stored credentials of endpoints and other secrets cannot be read. Append the former key to "
            "RELEVANCY_CREDENTIALS_KEY, or enter them again."
        )
    if keys.secret != own.secret:
        yield (
            "The backup was made with another RELEVANCY_SECRET_KEY: everyone has to sign in again, and links in messages that were "
            "sent are invalid."
        )
