"""The Python examples of docs/api.md are executed one after the other, and its table names every address."""

import re
import urllib.request
from pathlib import Path

import pytest

from relevancy.accounts import api_tokens
from relevancy.api.v1 import api as rest_api
from relevancy.hooks import optional_apps
from relevancy.models import ApiToken, Case, Rating
from tests.api.in_process import ToTheApplication
from tests.factories import make_attempt, make_case, make_user, run_now, script_of

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


@pytest.fixture
def _application(monkeypatch):
    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(ToTheApplication))


@pytest.mark.django_db
@pytest.mark.usefixtures("_application", "script")
def test_examples():
    owner = make_user("ann")
    texts = ["star wars", "star trek"]
    case = make_case(texts, {"star wars": {"star-wars-1977": 2}, "star trek": {"star-trek-1979": 3}}, owner=owner)
    type(case).objects.filter(pk=case.pk).update(name="Movies")
    attempt = make_attempt(case)
    run_now(attempt)
    script_of(attempt).default = ("star-wars-1977", "star-trek-1979")
    text = api_tokens.create(user=owner, name="docs", scope=ApiToken.Scope.WRITE, days=1)[1]
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 9
    for block in blocks:
        exec(block.replace("rlv_…", text), names)
    first = {"query": "star wars", "document": "star-wars-1977", "rater": "ann", "grade": 2}
    assert names["ratings"][0] == first
    assert Rating.objects.get(query__book=case.book_id, query__text="star wars", doc_id="star-wars-1977").value == 3
    assert names["results"][0] == {"query": "star wars", "rank": 1, "document": "star-wars-1977"}
    assert names["comparison"]["pairs"][0]["b"] == names["pushed"]["id"]
    assert names["gate"]["too_few"]  # two queries
    copied = Case.objects.get(pk=names["copy"]["id"])
    assert set(copied.case_queries.values_list("weight", flat=True)) == {2}
    assert copied.archived_at
    exec(blocks[3], names)  # the newest attempt is not the one of the rankings that were stored
    assert names["run"]["id"] != names["pushed"]["id"]


def test_the_table_names_every_address():
    paths = {path.removeprefix("/api/v1/") for path in rest_api.get_openapi_schema()["paths"]}
    named = set(re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE))
    assert paths - named == set()
    if optional_apps():  # without them, the table has their addresses all the same
        assert named - paths == set()
