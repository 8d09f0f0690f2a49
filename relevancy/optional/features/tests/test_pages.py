"""The pages of features."""

import pytest
from django.test import Client
from django.urls import reverse

from relevancy.models import Case
from relevancy.optional.features import tasks
from relevancy.optional.features.models import FeatureLog, FeatureSet
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

from .conftest import TEXT

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(case: Case) -> Client:
    client = Client()
    client.force_login(case.owner)
    return client


def test_features_are_written_logged_and_downloaded(client: Client, case: Case) -> None:
    url = reverse("features", args=[case.pk])
    page = tree(client.get(url))
    assert "No features yet" in words(page)
    assert '{"query": "#$query##"' in words(by_id(page, "feature-set-form"))
    bad = client.post(url, {"attempt": "1", "text": "title"})
    assert bad.status_code == 422
    assert "Line 1: “title” does not begin with a name" in words(tree(bad))
    saved = client.post(url, {"attempt": "1", "text": TEXT})
    page_url = reverse("feature_set", args=[case.pk, 1])
    assert saved.headers["Location"] == page_url
    page = tree(client.get(page_url))
    names = [attributes(row)["data-feature"] for row in elements(page, _name="tr") if "data-feature" in attributes(row)]
    assert names == ["title_score", "overview_score", "votes"]
    assert "hx-get" not in attributes(by_id(page, "feature-log"))

    assert client.post(reverse("feature_log", args=[case.pk, 1]), {"run": ""}).status_code == 302
    page = tree(client.get(page_url, headers={"HX-Request": "true"}))
    log = attributes(by_id(page, "feature-log"))
    assert (log["data-status"], log["data-done"]) == ("complete", "2")  # the tests' worker logs at once
    assert "hx-get" not in log
    text = b"".join(client.get(reverse("feature_file", args=[case.pk, 1, "ranklib"])).streaming_content).decode()  # type: ignore[attr-defined]
    assert text.startswith("3 qid:1 1:")
    assert text.endswith("# 2 wars\n")


def test_a_log_that_waits_polls_and_is_stopped(client: Client, case: Case, feature_set: FeatureSet) -> None:
    log = FeatureLog.objects.create(feature_set=feature_set, config={}, created_by=case.owner, queries=2)
    page_url = reverse("feature_set", args=[case.pk, 1])
    assert "hx-get" in attributes(by_id(tree(client.get(page_url)), "feature-log"))
    again = client.post(reverse("feature_log", args=[case.pk, 1]), {"run": ""}, headers={"HX-Request": "true"})
    assert again.status_code == 409
    client.post(reverse("feature_log_stop", args=[case.pk, 1]))
    log.refresh_from_db()
    assert log.status == "stopped"
    tasks.enqueue(log.pk)  # nothing: it has ended
    log.refresh_from_db()
    assert log.status == "stopped"
    assert by_id(tree(client.get(page_url)), "go-on") is not None


def test_nothing_to_download_before_a_log(client: Client, case: Case, feature_set: FeatureSet) -> None:
    response = client.get(reverse("feature_file", args=[case.pk, 1, "csv"]), follow=True)
    assert "Log the features first." in words(tree(response))
