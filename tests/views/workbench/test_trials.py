"""The draft is tried for the opened queries, beside the run shown."""

import pytest

from relevancy import runs
from relevancy.engines import TemplateWarning
from relevancy.models import Attempt, Rating, Run
from tests.factories import script_of

from .example_cases import HTMX, at, attributes, case_query_of, elements, make_workbench_case, tree, words
from .test_runs import pane_of


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def sections(response):
    return [part for part in elements(tree(response), _name="section") if "data-trial" in attributes(part)]


def side(section, name):
    (element,) = elements(section, **{"data-side": name})
    return [words(item) for item in elements(element, _name="li")]


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_try_shows_both_lists(sign_in, case, headers):
    script_of(case.attempts.get()).answers["query 2"] = ("c", "x")
    case_query = case_query_of(case, "query 2")
    sent = pane_of(case, depth="5") | {"try": [case_query.pk]}
    response = sign_in("editor").post(at(case, "attempt_try"), sent, headers=headers)
    (section,) = sections(response)
    assert attributes(section)["data-trial"] == str(case_query.pk)
    assert side(section, "before") == ["1 · a out", "2 · b out", "3 2 c"]
    assert side(section, "after") == ["1 2 c ▲2", "2 · x in"]
    assert len(elements(section, _name="path")) == 2
    assert elements(section, **{"data-doc": "x"})
    assert "1 unrated" in words(section)
    assert (Attempt.objects.count(), Run.objects.count()) == (1, 1)


def test_try_takes_the_opened_queries_or_the_first(sign_in, case):
    client = sign_in("editor")

    def tried(**sent):
        response = client.post(at(case, "attempt_try"), pane_of(case) | sent, headers=HTMX)
        return [words(elements(section, _name="h3")[0]) for section in sections(response)]

    ids = [case_query_of(case, f"query {number}").pk for number in (3, 1)]
    assert tried() == ["query 1"]
    assert tried(**{"try": ids}) == ["query 1", "query 3"]
    assert tried(**{"try": ["x", "99999999999"]}) == ["query 1"]


def test_try_compares_with_the_run_shown(sign_in, case, django_capture_on_commit_callbacks):
    client = sign_in("editor")
    script_of(case.attempts.get()).default = ("x", "y")
    with django_capture_on_commit_callbacks(execute=True):
        client.post(at(case, "run"), pane_of(case))
    page = {**HTMX, "HX-Current-URL": f"http://testserver{at(case, 'case', run=1)}"}
    (older,) = sections(client.post(at(case, "attempt_try"), pane_of(case), headers=page))
    (newest,) = sections(client.post(at(case, "attempt_try"), pane_of(case), headers=HTMX))
    names = [words(elements(part, **{"data-side": "before"})[0]) for part in (older, newest)]
    assert [name[:5] for name in names] == ["Run 1", "Run 2"]
    assert side(newest, "after") == ["1 1 x", "2 · y"]
    assert not elements(newest, cls="trial-documents")


def test_a_document_that_only_the_draft_returned_is_rated_there(sign_in, case):
    script_of(case.attempts.get()).answers["query 2"] = ("c", "x")
    client, case_query = sign_in("editor"), case_query_of(case, "query 2")
    (section,) = sections(client.post(at(case, "attempt_try"), pane_of(case) | {"try": [case_query.pk]}, headers=HTMX))
    (form,) = elements(section, **{"data-rate": "x"})
    response = client.post(attributes(form)["hx-post"], {"doc_id": "x", "value": "3"}, headers=HTMX)
    assert response.status_code == 200
    assert Rating.objects.get(query=case_query.query, doc_id="x").value == 3
    (section,) = sections(client.post(at(case, "attempt_try"), pane_of(case) | {"try": [case_query.pk]}, headers=HTMX))
    assert side(section, "after") == ["1 2 c ▲2", "2 3 x in"]


def test_try_warns_of_probable_mistakes(sign_in, case, monkeypatch):
    warning = TemplateWarning("“qfs” is not a well-known Solr parameter; did you mean “qf”?", line=2, column=1)
    monkeypatch.setattr(runs.attempts, "template_warnings", lambda **_: [warning])
    response = sign_in("editor").post(at(case, "attempt_try"), pane_of(case), headers=HTMX)
    (hint,) = elements(tree(response), data_warning_line="2")
    assert "did you mean “qf”?" in words(hint)
    assert sections(response), "It is searched all the same."


@pytest.mark.parametrize("change", [{"template": "{"}, {"depth": "x"}, {"endpoint": "x"}])
def test_try_refused(sign_in, case, change):
    searches_before = len(script_of(case.attempts.get()).requests)
    for headers in ({}, HTMX):
        response = sign_in("editor").post(at(case, "attempt_try"), pane_of(case, **change), headers=headers)
        assert response.status_code == 422
        assert elements(tree(response), cls="bad")
    assert len(script_of(case.attempts.get()).requests) == searches_before
