"""Features in the REST API."""

import pytest

from relevancy.models import Case

from .conftest import TEXT

pytestmark = pytest.mark.django_db


def test_features_are_saved_logged_and_downloaded(api, case: Case) -> None:  # type: ignore[no-untyped-def]
    client = api(case.owner)
    path = f"/cases/{case.pk}/features"
    saved = client.send("POST", path, {"attempt": 1, "text": TEXT})
    assert saved.status_code == 201
    assert [feature["name"] for feature in saved.json()["features"]] == ["title_score", "overview_score", "votes"]
    assert saved.json()["log"] is None
    assert client.send("POST", path, {"attempt": 9, "text": TEXT}).status_code == 422
    assert client.send("POST", path, {"attempt": 1, "text": "x"}).status_code == 422
    (listed,) = client.items(path)
    assert listed["version"] == 1
    assert client.send("GET", f"{path}/1/file?kind=csv").status_code == 404
    assert client.send("POST", f"{path}/1/log", {}).status_code == 202
    read = client.get(f"{path}/1")
    assert (read["log"]["status"], read["log"]["done"], read["log"]["run"]) == ("complete", 2, None)
    file = client.send("GET", f"{path}/1/file?kind=csv")
    assert b"".join(file.streaming_content).decode().startswith("query_id,query,fold,doc_id,grade,title_score,")
