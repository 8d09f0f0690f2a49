"""The archive: written whole or not at all, and refused if a byte of it is not as it was written."""

import hashlib
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from relevancy.optional.backups.archives import ArchiveWriter, Manifest, new_archive, open_archive
from relevancy.optional.backups.errors import BackupError

CONTENT = {"database.sqlite": b"database" * 1000, "data/embedded/films/index.json": b"{}"}


def write_manifest(archive: ArchiveWriter, **changes: Any) -> None:
    fields = {
        "version": "0.1.0",
        "made_at": "2026-11-27T23:00:00+00:00",
        "database": {"kind": "sqlite"},
        "migrations": [["relevancy", "0001_initial"]],
        "keys": {"secret": "a", "credentials": ["b"]},
        "files": {"embedded/films/index.json": "data/embedded/films/index.json"},
        "members": {name: member.model_dump() for name, member in archive.members.items()},
    }
    archive.write_manifest(Manifest.model_validate(fields | changes))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make(tmp_path / "site.backup")


def make(path: Path, **changes: Any) -> Path:
    """An archive with a changed manifest."""
    with new_archive(path) as archive:
        for name, content in CONTENT.items():
            with archive.open(name) as member:
                member.write(content)
        write_manifest(archive, **changes)
    return path


def read(path: Path) -> Manifest:
    with open_archive(path) as archive:
        return archive.manifest


def test_archive_returns_what_was_written(path: Path, tmp_path: Path) -> None:
    with open_archive(path) as archive:
        assert archive.manifest.members.keys() == CONTENT.keys()
        for name, content in CONTENT.items():
            archive.extract(name, tmp_path / "out")
            assert (tmp_path / "out").read_bytes() == content
            assert archive.manifest.members[name].sha256 == hashlib.sha256(content).hexdigest()
            (tmp_path / "out").unlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_archive_can_be_checked_and_read_without_relevancy(path: Path) -> None:
    content = path.read_bytes()
    assert hashlib.sha256(content[:-64]).hexdigest().encode() == content[-64:]
    with zipfile.ZipFile(path) as zip_file:
        assert zip_file.testzip() is None
        assert zip_file.namelist() == [*CONTENT, "manifest.json"]


def test_archive_that_was_cut_short_is_refused(path: Path) -> None:
    content = path.read_bytes()
    for length in (0, 1, 3, 63, 64, 65, len(content) // 3, len(content) // 2, len(content) - 64, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(BackupError, match="not a whole backup"):
            read(path)


def test_archive_with_one_changed_byte_is_refused(path: Path) -> None:
    content = path.read_bytes()
    for position in range(len(content)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        with pytest.raises(BackupError, match="not a whole backup"):
            read(path)


def test_archive_with_more_bytes_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(BackupError, match="not a whole backup"):
        read(path)


def test_member_with_another_digest_than_the_manifest_says_is_refused(tmp_path: Path) -> None:
    wrong = {name: {"size": len(content), "sha256": "0" * 64} for name, content in CONTENT.items()}
    short = {name: {"size": 1, "sha256": hashlib.sha256(content).hexdigest()} for name, content in CONTENT.items()}
    for name, members in (("wrong", wrong), ("short", short)):
        damaged = pytest.raises(BackupError, match="damaged: the content of database")
        with open_archive(make(tmp_path / name, members=members)) as archive, damaged:
            archive.extract("database.sqlite", tmp_path / f"{name}.out")


@pytest.mark.parametrize(
    "name",
    ["../outside", "/etc/passwd", "a/../../outside", "..", ".", "a//b", "a/./b", "a\\..\\b", "a/", "", "a\0b"],
)
def test_path_outside_the_data_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="would not be in the data folder"):
        read(make(tmp_path / "archive", files={name: "data/embedded/films/index.json"}))


def test_symbolic_link_is_refused(tmp_path: Path) -> None:
    with new_archive(tmp_path / "archive") as archive:
        for name in CONTENT:
            with archive.open(name) as member:
                member.write(b"/etc/passwd")
        archive._zip.filelist[1].external_attr = (stat.S_IFLNK | 0o777) << 16
        write_manifest(archive)
    with pytest.raises(BackupError, match=r"index\.json is a symbolic link"):
        read(tmp_path / "archive")


def test_foreign_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    with zipfile.ZipFile(path, "w") as zip_file:
        zip_file.writestr("manifest.json", "{}")
    with pytest.raises(BackupError, match="not a whole backup"):
        read(path)
    with new_archive(path, overwrite=True) as archive, archive.open("readme.txt") as member:
        member.write(b"x")
    with pytest.raises(BackupError, match=r"not a backup of Relevancy.*manifest"):
        read(path)
    for content in (b"{}", b"[]", b"no JSON", b'{"format": "another"}'):
        with new_archive(path, overwrite=True) as archive, archive.open("manifest.json") as member:
            member.write(content)
        with pytest.raises(BackupError, match="not a backup of Relevancy"):
            read(path)


@pytest.mark.parametrize(
    "changes", [{"files": {"a": "data/missing"}}, {"members": {}}, {"database": {"kind": "postgresql"}}]
)
def test_manifest_that_does_not_fit_the_members_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="not a backup of Relevancy"):
        read(make(tmp_path / "archive", **changes))


def test_archive_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    with new_archive(path) as archive, archive.open("manifest.json") as member:
        member.write(b'{"format": "relevancy-backup", "format_version": 2, "parts": []}')
    with pytest.raises(BackupError, match="newer version of Relevancy"):
        read(path)


def test_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be read: No such file"):
        read(tmp_path / "nothing")


def test_archive_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    with pytest.raises(BackupError, match="exists"), new_archive(path) as archive:
        write_manifest(archive, members={})
        path.write_bytes(b"other")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("archive", b"other")]
