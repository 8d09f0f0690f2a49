"""The page with snippets for pandas, and its notebook: valid, and executed against the REST API."""

import json
import re
import urllib.request
import warnings
from pathlib import Path

import nbformat
import pytest
from django.test import Client
from django.utils.html import strip_tags

from relevancy import ratings, runs
from relevancy.accounts import api_tokens
from relevancy.models import ApiToken
from relevancy.optional.notebooks.snippets import list_snippets
from tests.api.in_process import ToTheApplication
from tests.factories import make_attempt, make_case, make_user, query_of, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
DOCUMENTATION = (Path(__file__).parents[1] / "docs" / "notebooks.md").read_text()


@pytest.fixture
def ann():
    return make_user("Ann")


@pytest.fixture
def case(ann):
    case = make_case(["star wars", "=alien"], {"star wars": {"a": 3, "x": 1}}, owner=ann, measures=("P@2", "nDCG@10"))
    ratings.rate(query=query_of(case, "star wars"), doc_id="a", value=1, by=make_user("Ben"))
    attempt = make_attempt(case)
    script_of(attempt).answers = {"star wars": ["a", "b"], "=alien": []}
    case.run = run_now(attempt)
    return case


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def downloaded(user, case):
    response = client_of(user).get(f"/cases/{case.pk}/notebook/file/")
    assert response.headers["Content-Disposition"].endswith('.ipynb"')
    assert response.headers["Cache-Control"] == "private, no-store"
    return response.content.decode()


def execute(text, user, monkeypatch):
    """The names after the cells of a notebook were executed one after the other."""
    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(ToTheApplication))
    token = api_tokens.create(user=user, name="notebook", scope=ApiToken.Scope.READ, days=1)[1]
    monkeypatch.setenv("RELEVANCY_TOKEN", token)
    names = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names


def test_the_notebook_is_valid(ann, case):
    text = downloaded(ann, case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbformat.validate(nbformat.reads(text, as_version=4))
    content = json.loads(text)
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert all(not cell.get("outputs") for cell in content["cells"])
    assert "rlv_" not in text


def test_the_name_of_a_case_is_no_html(ann, case):
    case.name = "<img src=x onerror=alert(1)> $\\href{javascript:alert(1)}{x}$"
    case.save()
    title = "".join(json.loads(downloaded(ann, case))["cells"][0]["source"])
    assert title == r"# \<img src=x onerror=alert(1)\> \$\\href\{javascript:alert(1)\}\{x\}\$"


def test_the_snippets_read_the_numbers_of_the_case(ann, case, monkeypatch):
    names = execute(downloaded(ann, case), ann, monkeypatch)
    ratings, grades, results, scores = (names[name] for name in ("ratings", "grades", "results", "scores"))
    rows = sorted(map(tuple, ratings[["query", "document", "rating"]].itertuples(index=False)))
    assert rows == [("star wars", "a", 1), ("star wars", "a", 3), ("star wars", "x", 1)]
    assert ratings["rater"].nunique() == 2 and ratings["at"].notna().all()
    given = {(row.query, row.document): row.grade for row in grades.itertuples()}
    assert given == {("star wars", "a"): 1, ("star wars", "x"): 1}
    assert results["document"].tolist() == ["a", "b"]
    assert results["grade"].fillna(-1).tolist() == [1, -1]
    stored = {(row.query.text, row.version.scorer.name): row.score for row in case.run.query_scores.all()}
    read = {(row.query, row.scorer): row.score for row in scores.itertuples() if row.score == row.score}
    assert read == pytest.approx({key: score for key, score in stored.items() if score is not None})
    assert read[("star wars", "P@2")] == 50
    of_case = {row.version.scorer.name: row.score for row in case.run.case_scores.all()}
    assert names["runs"].set_index("scorer")["score"].to_dict() == pytest.approx(of_case)


def test_a_case_without_a_run_has_the_snippets_that_need_none(ann, monkeypatch):
    case = make_case(["a"], owner=ann)
    names = execute(downloaded(ann, case), ann, monkeypatch)
    assert names["ratings"].empty and names["grades"].empty and "results" not in names
    assert 'id="no-run"' in client_of(ann).get(f"/cases/{case.pk}/notebook/").content.decode()


def test_the_page_shows_every_snippet_with_the_ids_of_the_case(ann, case):
    page = client_of(ann).get(f"/cases/{case.pk}/notebook/").content.decode()
    shown = [strip_tags(code) for code in re.findall(r'<pre class="console"[^>]*>(.*?)</pre>', page, re.DOTALL)]
    assert len(shown) == 6
    assert f"CASE = {case.pk}" in shown[0] and "http://testserver" in shown[0]
    assert f"RUN = {case.run.pk}" in shown[3]
    assert f"/cases/{case.pk}/notebook/file/" in page


def test_the_page_is_reached_from_the_files_and_from_the_tokens(ann, case):
    for address in (f"/cases/{case.pk}/files/", "/account/tokens/"):
        assert f'href="/cases/{case.pk}/notebook/"' in client_of(ann).get(address).content.decode()


def test_the_newest_run_is_named_and_others_see_nothing(ann, case):
    newer = runs.finish_here(runs.start(attempt=case.attempts.first(), by=ann))
    assert f"RUN = {newer.pk}" in downloaded(ann, case)
    assert client_of(make_user()).get(f"/cases/{case.pk}/notebook/file/").status_code == 404


def test_the_documentation_has_the_same_snippets():
    for snippet in list_snippets(site="http://127.0.0.1:8000", case_id=1, run_id=1):
        assert f"```python\n{snippet.code}```\n" in DOCUMENTATION
