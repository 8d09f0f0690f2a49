"""The archive of a backup: a ZIP file whose last member is the manifest, and whose last 64 bytes are the SHA-256 of all before them.

Members are written and read in pieces. The digest at the end is the comment of the ZIP file, so `unzip` reads the archive, and
`head -c -64 FILE | sha256sum` checks it without Relevancy.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import BackupError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
MAX_MANIFEST = 512 * 1024 * 1024  # bytes
PIECE = 1024 * 1024  # bytes that are read at once
SEAL = 64  # bytes: a SHA-256 in hexadecimal


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Member(_Part):
    """Of a member of the archive: its length in bytes, unpacked, and the SHA-256 of its content."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class DatabaseInfo(_Part):
    """How the database was copied. schema_name, server, client: on PostgreSQL; major versions of the server and of `pg_dump`."""

    kind: Literal["sqlite", "postgresql"]
    schema_name: str = ""
    server: int = 0
    client: int = 0

    @property
    def member(self) -> str:
        return f"database.{self.kind}"


class KeyFingerprints(_Part):
    """Fingerprints of RELEVANCY_SECRET_KEY and of the keys of RELEVANCY_CREDENTIALS_KEY, by which a restore sees that they differ."""

    secret: str
    credentials: list[str]


class Header(BaseModel):
    """What every version of the manifest begins with."""

    format: Literal["relevancy-backup"] = "relevancy-backup"
    format_version: int = FORMAT_VERSION


class Manifest(Header, _Part):
    """What an archive contains, and of which site.

    version: of Relevancy. migrations: those that the database had, `(app, name)`. files: the member of each file of the data folder, by
    its path there. members: all but the manifest; a file that changed while the archive was written has two, and counts by the last.
    """

    version: str
    made_at: str
    database: DatabaseInfo
    migrations: list[list[str]]
    keys: KeyFingerprints
    files: dict[str, str]
    members: dict[str, Member]


class _SealedFile:
    """Writes to a file, but for the last 64 bytes, which are replaced by the digest of all before them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest, self._held = file, hashlib.sha256(), b""

    def write(self, content: bytes) -> int:
        pieces = self._held + bytes(content)
        written, self._held = pieces[:-SEAL], pieces[-SEAL:]
        self._digest.update(written)
        self._file.write(written)
        return len(content)

    def flush(self) -> None:
        self._file.flush()

    def seal(self) -> None:
        self._file.write(self._digest.hexdigest().encode())


class ArchiveWriter:
    """Adds members to a new archive."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self._zip = zip_file
        self.members: dict[str, Member] = {}

    @contextmanager
    def open(self, name: str, *, compress: bool = True) -> Iterator[MemberWriter]:
        """Adds a member, whose content the block writes."""
        info = name if compress else zipfile.ZipInfo(name)  # a `ZipInfo` is stored as it is
        with self._zip.open(info, "w", force_zip64=True) as target:
            member = MemberWriter(target)
            yield member
        self.members[name] = Member(size=member.size, sha256=member.digest.hexdigest())

    def write_manifest(self, manifest: Manifest) -> None:
        with self.open(MANIFEST) as target:
            target.write(manifest.model_dump_json(indent=1).encode())


class MemberWriter:
    """Counts and digests what is written to a member."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target, self.digest, self.size = target, hashlib.sha256(), 0

    def write(self, content: bytes) -> None:
        self.digest.update(content)
        self.size += len(content)
        self._target.write(content)

    def copy(self, source: IO[bytes]) -> None:
        """Writes the rest of a file."""
        while content := source.read(PIECE):
            self.write(content)


@contextmanager
def new_archive(path: Path, *, overwrite: bool = False) -> Iterator[ArchiveWriter]:
    """Creates an archive that only its owner can read. It appears under its name when the block has ended and it is on the disk.

    Raises `BackupError` if there is a file of this name, and `OSError`; nothing is left behind then.
    """
    _check_free(path, overwrite=overwrite)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)  # mode 0600
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            sealed = _SealedFile(file)
            with zipfile.ZipFile(sealed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zip_file:  # type: ignore[call-overload]
                zip_file.comment = b" " * SEAL
                yield ArchiveWriter(zip_file)
            sealed.seal()
            file.flush()
            os.fsync(file.fileno())
        _check_free(path, overwrite=overwrite)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _check_free(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise BackupError(f"{path} exists. Choose another name, or add --overwrite to replace it.")


def sync_folder(folder: Path) -> None:
    """Makes new names in a folder permanent."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # file systems that cannot sync folders
            raise
    finally:
        os.close(descriptor)


class ArchiveReader:
    """A verified archive. Of its members, only those that the manifest names are read."""

    def __init__(self, zip_file: zipfile.ZipFile, manifest: Manifest) -> None:
        self._zip, self.manifest = zip_file, manifest

    def extract(self, name: str, target: Path) -> None:
        """Writes a member to a new file. Raises `BackupError` if its content has another digest than the manifest says."""
        expected, digest, size = self.manifest.members[name], hashlib.sha256(), 0
        with _damage_reported(), self._zip.open(name) as source, target.open("xb") as file:
            while size <= expected.size and (content := source.read(PIECE)):
                digest.update(content)
                size += len(content)
                file.write(content)
        if (size, digest.hexdigest()) != (expected.size, expected.sha256):
            raise BackupError(f"The archive is damaged: the content of {name} is not what its manifest says.")


@contextmanager
def open_archive(path: Path) -> Iterator[ArchiveReader]:
    """Opens an archive after checking that every byte is as it was written, and that its manifest fits its members.

    Raises `BackupError` for a damaged or foreign one, and for paths that would leave the data folder.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        if not _is_sealed(file):
            raise BackupError(
                f"{path} is not a whole backup: it was cut short or changed, or is something else. Use another copy of it."
            )
        with _damage_reported():
            zip_file = zipfile.ZipFile(file)
            manifest = _read_manifest(zip_file, path)
        with zip_file:
            yield ArchiveReader(zip_file, manifest)


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, EOFError) as error:
        raise BackupError(f"The archive is not a backup of Relevancy: {error}.") from error


def _is_sealed(file: IO[bytes]) -> bool:
    remaining = file.seek(0, os.SEEK_END) - SEAL
    file.seek(0)
    digest = hashlib.sha256()
    while remaining > 0 and (content := file.read(min(PIECE, remaining))):
        digest.update(content)
        remaining -= len(content)
    return remaining == 0 and file.read() == digest.hexdigest().encode()


def _read_manifest(zip_file: zipfile.ZipFile, path: Path) -> Manifest:
    with zip_file.open(MANIFEST) as source:
        content = source.read(MAX_MANIFEST + 1)
    try:
        if Header.model_validate_json(content).format_version > FORMAT_VERSION:
            raise BackupError(f"{path} was made by a newer version of Relevancy. Restore it with that version.")
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"])) or "form"
        raise BackupError(
            f"{path} is not a backup of Relevancy: its manifest has a wrong {location}: {first['msg']}."
        ) from None
    names = zip_file.namelist()
    if sorted(names) != sorted({*manifest.members, MANIFEST}):
        raise BackupError(f"{path} is not a backup of Relevancy: its members are not those of its manifest.")
    if missing := {manifest.database.member, *manifest.files.values()} - set(manifest.members):
        raise BackupError(f"{path} is not a backup of Relevancy: it has no member {min(missing)}.")
    for name in manifest.files:
        _check_path(name, path)
    for info in zip_file.infolist():
        if stat.S_ISLNK(info.external_attr >> 16):
            raise BackupError(f"{path} is not a backup of Relevancy: {info.filename} is a symbolic link.")
    return manifest


def _check_path(name: str, path: Path) -> None:
    is_plain = name == str(PurePosixPath(name)) and not name.startswith("/")
    if not is_plain or ".." in PurePosixPath(name).parts or name == "." or "\\" in name or "\0" in name:
        raise BackupError(f"{path} is refused: its file {name!r} would not be in the data folder.")
