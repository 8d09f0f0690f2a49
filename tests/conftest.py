"""Fixtures for tests with a database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relevancy.engines import registry
from tests import factories


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, factories.Scripted]]:
    """The engine `scripted` is there for one test; its scripts by address."""
    built_in = (*registry.BUILT_IN, factories.ScriptedEngine)
    monkeypatch.setattr(registry, "BUILT_IN", built_in)
    registry.available.cache_clear()
    factories.SCRIPT.clear()
    yield factories.SCRIPT
    monkeypatch.undo()
    registry.available.cache_clear()


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """The data directory of one test."""
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def plain_static_files(settings: Any) -> None:
    """Static files by their own names: the hashed ones exist only after collectstatic."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
