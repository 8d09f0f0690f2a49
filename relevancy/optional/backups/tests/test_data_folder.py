"""Files that change while they are copied, and files that are replaced."""

from pathlib import Path
from typing import Any

import pytest

from relevancy.optional.backups import data_folder
from relevancy.optional.backups.archives import new_archive
from relevancy.optional.backups.data_folder import FORMER, FileCopies, Replacement, list_files, list_links, new_staging
from relevancy.optional.backups.errors import BackupError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with an index."""
    monkeypatch.setattr(data_folder, "PAUSE", 0)
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT, settings.METRICS_DIR = settings.DATA_DIR / "collected", settings.DATA_DIR / "metrics"
    write(settings.DATA_DIR, "embedded/films/index.json", "build a")
    write(settings.DATA_DIR, "embedded/films/a/segment", "a")
    write(settings.DATA_DIR, "collected/site.css", "css")
    write(settings.DATA_DIR, "metrics/counter_1-a.db", "1")
    return settings.DATA_DIR


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {path: (folder / path).read_text() for path in list_files()}


def test_index_that_is_built_anew_meanwhile_is_copied_whole(folder: Path, tmp_path: Path) -> None:
    with new_archive(tmp_path / "archive") as archive:
        copies = FileCopies(archive)
        assert copies.copy_changed()
        write(folder, "embedded/films/b/segment", "b")
        write(folder, "embedded/films/new", "build b")
        (folder / "embedded/films/new").rename(folder / "embedded/films/index.json")
        (folder / "embedded/films/a/segment").unlink()
        assert copies.settle() and not copies.copy_changed()
        archive._zip.comment = b""
    assert set(copies.members) == {"embedded/films/index.json", "embedded/films/a/segment", "embedded/films/b/segment"}
    assert copies.members["embedded/films/index.json"].startswith("changed/")
    assert set(copies.members.values()) < set(archive.members)


def test_folder_that_never_rests_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(_: float) -> None:
        path = folder / "embedded/films/index.json"
        path.write_text(path.read_text() + "x")

    monkeypatch.setattr(data_folder.time, "sleep", change)
    with new_archive(tmp_path / "archive") as archive:
        assert not FileCopies(archive).settle()


def test_links_are_listed_and_not_followed(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/file", "x")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "file")
    assert list_links() == ["file", "linked"]
    assert set(list_files()) == {"embedded/films/index.json", "embedded/films/a/segment"}


def test_replacement_deletes_empty_folders_and_is_undone(folder: Path) -> None:
    before, staging = contents(folder), new_staging()
    write(staging, "files/static/new.csv", "new")
    write(staging, "files/embedded/films", "a file where a folder was")
    files = {path: staging / "files" / path for path in ("static/new.csv", "embedded/films")}
    replacement = Replacement(files, staging)
    replacement.apply()
    assert contents(folder) == {"static/new.csv": "new", "embedded/films": "a file where a folder was"}
    assert (folder / "collected/site.css").exists()
    replacement.undo()
    assert contents(folder) == before
    assert not (folder / "static").exists()


def test_files_that_cannot_be_moved_back_are_kept(folder: Path) -> None:
    staging = new_staging()
    replacement = Replacement({}, staging)
    replacement.apply()
    assert contents(folder) == {}
    (staging / FORMER / "embedded/films/a/segment").unlink()
    with pytest.raises(BackupError, match=FORMER):
        replacement.undo()
    assert (staging / FORMER / "embedded/films/index.json").read_text() == "build a"
