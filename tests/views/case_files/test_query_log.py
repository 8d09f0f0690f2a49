"""The page that draws queries from a search log."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy.models import CaseQuery
from tests.views.factories import make_case

LOG = "query,count\nalien,60\nstar wars,30\njaws,5\nheat,5\n"


@pytest.fixture
def case(people, team):
    return make_case(people["admin"], team=team)


def send(client, case, do="preview", content=LOG, htmx=False, **data):
    data = {"do": do, "method": "frequency", "size": "2", "seed": "7", **data}
    if content is not None:
        data["file"] = SimpleUploadedFile("log.csv", content.encode())
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post(f"/cases/{case.pk}/files/query-log/", data, headers=headers)


def test_page_offers_a_seed_and_is_linked(sign_in, case):
    client = sign_in("editor")
    page = client.get(f"/cases/{case.pk}/files/query-log/")
    assert 0 <= page.context["form"]["seed"].value() < 2**31
    assert f'href="/cases/{case.pk}/files/query-log/"' in client.get(f"/cases/{case.pk}/files/").content.decode()


def test_preview_names_the_queries_and_writes_nothing(sign_in, case):
    before = list(CaseQuery.objects.values_list("query__text", "weight"))
    page = send(sign_in("editor"), case, htmx=True)
    html = page.content.decode()
    assert page.status_code == 200
    assert "<html" not in html
    sample = page.context["sample"]
    assert (sample.total_queries, sample.total_searches, len(sample.drawn)) == (4, 100, 2)
    assert sample.drawn[0].text == "alien"
    assert 'data-count="others"' in html
    assert "with the seed 7" in " ".join(html.split())
    assert 'form="query-log-form"' in html
    assert list(CaseQuery.objects.values_list("query__text", "weight")) == before


def test_adding_does_what_the_preview_says(sign_in, case):
    client = sign_in("editor")
    sample = send(client, case).context["sample"]
    answer = send(client, case, do="import", only_these="on")
    assert answer.status_code == 302
    weights = dict(case.case_queries.present().values_list("query__text", "weight"))
    assert {text: weight for text, weight in weights.items() if weight} == sample.weights
    assert len(weights) == 2 + sample.change.added
    again = send(client, case).context["sample"].change
    assert (again.added, again.reweighted, again.unchanged, again.others) == (0, 0, 2, 0)


def test_strata_are_listed(sign_in, case):
    html = send(sign_in("editor"), case, method="strata", size="3").content.decode()
    assert 'id="log-strata"' in html
    assert "torso" in html


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"content": "query,count\nalien,x\n"}, "Line 2: column count"),
        ({"content": "query,count\nalien,0\n"}, "no query that was searched"),
        ({"content": None}, "Choose a search log."),
        ({"size": "0"}, "greater than or equal to 1"),
        ({"seed": ""}, "This field is required"),
    ],
)
@pytest.mark.parametrize("do", ["preview", "import"])
def test_bad_input_is_refused_whole(sign_in, case, changes, words, do):
    before = CaseQuery.objects.count()
    client = sign_in("editor")
    for htmx in (True, False):
        answer = send(client, case, do=do, htmx=htmx, **changes)
        assert answer.status_code == 422
        assert words in answer.content.decode()
    assert CaseQuery.objects.count() == before


def test_lines_left_out_are_listed(sign_in, case):
    html = send(sign_in("editor"), case, content=LOG + ",12\n").content.decode()
    assert 'data-line="6"' in html
    assert "12 searches left out" in " ".join(html.split())
