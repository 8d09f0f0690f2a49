"""The files of the data folder: what of it is backed up, and how it is replaced."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import connection

from relevancy.formats import stored_exports

from .archives import ArchiveWriter, sync_folder
from .errors import BackupError

PASSES = 5
PAUSE = 0.2  # seconds between two passes
STAGING = ".restore-"  # the beginning of the names of folders in which a restore prepares files
FORMER = "former"  # in such a folder: the files that the site had

type Stamp = tuple[int, int, int]  # inode, bytes, modification time in nanoseconds


class FileCopies:
    """Copies the data folder into an archive while the site works, in passes: each copies what is new or changed since the last one.

    Files are complete before something names them: an index is built in a new folder that its `index.json` then names, and the row
    of an upload belongs to a file that never changes. So one pass is made before the database is copied, which keeps files that are
    deleted meanwhile, and others after it, for files that were added, until nothing has changed.
    """

    def __init__(self, archive: ArchiveWriter) -> None:
        self._archive = archive
        self._stamps: dict[str, Stamp] = {}
        self.members: dict[str, str] = {}

    def copy_changed(self) -> bool:
        """Makes one pass. Returns whether there was anything to copy."""
        has_copied = False
        for path, stamp in list_files().items():
            if self._stamps.get(path) == stamp:
                continue
            # Deleted meanwhile: the next pass finds what has replaced it.
            with suppress(FileNotFoundError), (Path(settings.DATA_DIR) / path).open("rb") as file:
                self._stamps[path] = _stamp(os.fstat(file.fileno()))
                name = f"data/{path}" if path not in self.members else f"changed/{len(self._archive.members)}/{path}"
                with self._archive.open(name) as member:
                    member.copy(file)
                self.members[path] = name
            has_copied = True
        return has_copied

    def settle(self) -> bool:
        """Makes passes until nothing has changed. Returns whether that was reached; an index may be under construction for minutes."""
        for _ in range(PASSES):
            if not self.copy_changed():
                return True
            time.sleep(PAUSE)
        return False


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns


def list_files() -> dict[str, Stamp]:
    """Returns the files below the data folder by their paths there, without the database, collected static files, metrics and files
    that were made to be downloaded."""
    return {path: _stamp(status) for path, status in _walk() if stat.S_ISREG(status.st_mode)}


def list_links() -> list[str]:
    """Returns the symbolic links below the data folder, which are not followed."""
    return sorted(path for path, status in _walk() if stat.S_ISLNK(status.st_mode))


def _walk() -> Iterator[tuple[str, os.stat_result]]:
    """Yields the path and the status of everything but folders."""
    folder = Path(settings.DATA_DIR)
    database = Path(str(connection.settings_dict["NAME"]))
    left_out = {Path(each).resolve() for each in (settings.STATIC_ROOT, settings.METRICS_DIR, stored_exports.folder())}
    for name, folders, files in os.walk(folder):
        inside = Path(name)
        links = [each for each in folders if (inside / each).is_symlink()]
        folders[:] = [
            each
            for each in folders
            if each not in links
            and (inside / each).resolve() not in left_out
            and not (inside == folder and each.startswith(STAGING))
        ]
        for each in [*files, *links]:
            path = inside / each
            # With its write-ahead log and the file with which raters queue.
            if connection.vendor == "sqlite" and path.parent == database.parent and each.startswith(database.name):
                continue
            with suppress(FileNotFoundError):
                yield str(path.relative_to(folder)), path.lstat()


def list_leftovers() -> list[Path]:
    """Returns the folders of restores that were interrupted."""
    return sorted(Path(settings.DATA_DIR).glob(f"{STAGING}*"))


def new_staging() -> Path:
    """Creates a folder in the data folder that only its owner can read, so that files can be moved from it without being copied."""
    Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=STAGING, dir=settings.DATA_DIR))


class Replacement:
    """Puts new files in the place of all files of the data folder. The former ones are kept in the staging folder."""

    def __init__(self, files: Mapping[str, Path], staging: Path) -> None:
        """files: by their paths in the data folder."""
        self._files, self.former = files, staging / FORMER
        self._moves: list[tuple[Path, Path]] = []

    def apply(self) -> None:
        """Moves the files. Raises `OSError`; `undo` moves back what was moved."""
        folder = Path(settings.DATA_DIR)
        for path in list_files():
            self._move(folder / path, self.former / path)
        for path, staged in self._files.items():
            self._move(staged, folder / path)
        for changed in {target.parent for _, target in self._moves}:
            sync_folder(changed)

    def _move(self, source: Path, target: Path) -> None:
        _rename(source, target)
        self._moves.append((source, target))

    def undo(self) -> None:
        """Raises `BackupError` if a file cannot be moved back; the others are kept where they are."""
        while self._moves:
            source, target = self._moves.pop()
            try:
                _rename(target, source)
            except OSError as error:
                raise BackupError(
                    f"{source} cannot be moved back: {error.strerror}. The files that the site had are in {self.former}; move them to "
                    f"{settings.DATA_DIR} before you start it."
                ) from error


def _rename(source: Path, target: Path) -> None:
    """Moves a file, and deletes the folders that are empty then: a folder of an index says that there is one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    with suppress(OSError):  # the first that is not empty
        for folder in source.parents:
            if folder == Path(settings.DATA_DIR):
                break
            folder.rmdir()
