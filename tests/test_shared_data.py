"""Tests without their data: skipped on the machine of a developer, failed in CI."""

import pytest

from tests.shared_data import shared_data


def test_shared_data_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"no/such/file"):
        shared_data("no", "such", "file")


def test_shared_data_skips_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no/such/file"):
        shared_data("no", "such", "file")
