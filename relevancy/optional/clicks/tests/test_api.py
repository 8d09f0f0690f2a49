"""Search logs in the REST API."""

import pytest

from tests.api.test_files import refused
from tests.factories import make_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(["star wars"], {"star wars": {"1": 3}})


def test_queries_are_drawn_from_a_log_and_clicks_are_estimated(api, case):
    client = api(case.owner)
    log = "query,count\nalien,60\njaws,40\n"
    address = f"/cases/{case.pk}/import/query-log?size=1&seed=7"
    preview = client.upload(f"{address}&dry_run=true", log).json()
    before = case.case_queries.count()
    answer = client.upload(address, log).json()
    assert answer == preview
    assert (answer["searches"], answer["queries"], len(answer["drawn"]), answer["added"]) == (100, 2, 1, 1)
    assert case.case_queries.count() == before + 1
    assert refused(client.upload(address, "query,count\nalien,?\n"))["detail"].startswith("Line 2: column count")
    text = case.book.queries.first().text
    clicked = f"query,count,docid,position,clicks\n{text},1000,a,1,400\n{text},1000,b,2,50\n"
    clicks = f"/books/{case.book_id}/import/clicks"
    assert client.upload(f"{clicks}?model=coec", clicked).json()["estimates"] == 2
    assert case.book.click_logs.get().name
    assert "single search" in refused(client.upload(f"{clicks}?model=cascade", clicked))["detail"]
