"""The engine contract: one suite for every engine, run against fakes here and against real engines in `tests/live`."""

import pytest

pytest.register_assert_rewrite("tests.contracts.engine_contract", "tests.contracts.http_contract")
