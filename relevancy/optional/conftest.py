"""Tests of optional apps use the fixtures of the core's tests."""

from tests.api.conftest import api
from tests.views.conftest import people, sign_in, team

__all__ = ["api", "people", "sign_in", "team"]
