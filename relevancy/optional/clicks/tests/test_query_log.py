"""The page that draws queries from a search log."""

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy.models import CaseQuery
from relevancy.optional.clicks import log_formats, ubi
from tests.views.factories import make_case, make_endpoint

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
    assert page.context["form"]["method"].value() == "frequency"
    assert "Biased where few queries have most of the searches" in page.content.decode()
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


@pytest.fixture
def ubi_records(monkeypatch):
    """What the server of every OpenSearch endpoint has recorded; and which endpoints were read, with the days."""
    requests = []

    def read(engine, *, since, limit, **options):
        requests.append((engine.key, since, limit))
        return log_formats.read_log(BytesIO(LOG.encode()))

    monkeypatch.setattr(log_formats, "read_ubi_index", read)
    return requests


def test_queries_are_drawn_from_the_server_of_an_endpoint_that_the_user_may_change(
    sign_in, people, case, team, ubi_records
):
    url = "http://127.0.0.1:1/films"
    endpoint = make_endpoint(people["admin"], "recorded", engine="opensearch", url=url)
    client = sign_in("editor")
    assert "endpoint" not in client.get(f"/cases/{case.pk}/files/query-log/").context["form"].fields
    refused = send(client, case, content=None, endpoint=endpoint.pk)
    assert refused.status_code == 422
    assert ubi_records == []
    endpoint.teams.add(team)
    page = send(client, case, content=None, endpoint=endpoint.pk, days="")
    assert page.context["sample"].total_searches == 100
    assert ubi_records == [("opensearch", None, ubi.MAX_RECORDS_ON_PAGE)]
    both = send(client, case, endpoint=endpoint.pk)
    assert both.context["form"].errors["endpoint"] == ["Choose a file or an endpoint, not both."]
    neither = send(client, case, content=None)
    assert neither.context["form"].errors["file"] == ["Choose a search log."]


def test_a_server_that_does_not_answer_is_an_error_of_the_form(sign_in, people, case, team):
    endpoint = make_endpoint(people["admin"], "gone", engine="opensearch", url="http://127.0.0.1:1/films")
    endpoint.teams.add(team)
    page = send(sign_in("editor"), case, content=None, endpoint=endpoint.pk)
    assert page.status_code == 422
    assert "gone could not be read." in page.context["form"].errors["endpoint"][0]
