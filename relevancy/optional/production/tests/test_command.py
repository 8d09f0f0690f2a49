"""`production CASE ATTEMPT`."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from relevancy.optional.production.proposal import Proposal
from relevancy.optional.production.tests.test_evidence import attempts
from relevancy.optional.production.tests.test_evidence import case as case  # a fixture
from tests.factories import make_attempt, make_endpoint, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def command(*words: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("production", *map(str, words), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_formats(case, tmp_path: Path):
    first, second = attempts(case)
    run_now(first)
    run_now(second)
    endpoint = make_endpoint(case.owner, engine="solr", url="http://127.0.0.1:8983/solr/a")
    make_attempt(case, endpoint, template="q=#$query##&qf=a")
    out, err = command(case.name, 3)
    assert out.startswith('{\n  "set": {') and "The application sends q: the text of the query" in err
    out, _ = command(case.name, 3, "--against", 1, "--format", "diff", "--output", tmp_path / "a.diff")
    assert out == "" and (tmp_path / "a.diff").read_text().startswith("--- attempt 1\n+++ attempt 3\n")
    out, err = command(case.pk, 2, "--format", "evidence")
    assert out == Proposal(second, first).evidence
    assert "RELEVANCY_SITE_URL" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([9], "has no attempt 9. Attempts: 1, 2"),
        ([2, "--against", 2], "not compared with itself"),
        ([2, "--format", "evidence"], "have no complete run"),
        ([2, "--format", "diff"], "deployed as the same text"),
    ],
)
def test_mistakes(case, words, message):
    attempts(case)
    with pytest.raises(CommandError, match=message):
        command(case.pk, *words)
