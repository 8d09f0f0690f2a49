"""No request ends in an error of the server. `benchmarks/fuzzing.py` sends many more of them."""

from pathlib import Path

import pytest

from .fuzzing import Fuzzer


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_ends_in_an_error(seed: int, data_dir: Path) -> None:
    fuzzer = Fuzzer(seed)
    fuzzer.requests(400)
    assert fuzzer.failures == []
    assert len(fuzzer.routes) > 60
    assert len(fuzzer.forms) > 30
    assert {200, 302, 403, 404, 422} <= fuzzer.statuses.keys()
