"""One suite for every engine, run with canned answers here and with real engines in `tests/live`."""

import pytest

pytest.register_assert_rewrite("tests.contracts.engine_contract", "tests.contracts.http_contract")
