"""A run against an engine that sends far more than it was asked for: what is stored, shown and exported stays small."""

import json

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from relevancy.models import Ranking
from tests.contracts.local_server import json_reply, serving
from tests.factories import make_attempt, make_case, make_endpoint, make_user, run_now

pytestmark = pytest.mark.django_db


def test_large_responses_are_stored_shown_and_exported_cut(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    hits = [{"id": f"doc{number}", "title": "Star", "text": "long " * 20_000} for number in range(150)]
    hits[0] |= {f"field{number}": "x" * 500 for number in range(2000)}
    owner = make_user(superuser=True)
    case = make_case(3, owner=owner)
    reply = json_reply({"lucene": {"solr-spec-version": "9"}, "response": {"numFound": 150, "docs": hits}})
    with serving(lambda received: reply) as server:
        endpoint = make_endpoint(owner, engine="solr", url=f"{server.url}/solr/films")
        run = run_now(make_attempt(case, endpoint, template="q=#$query##", fields="id:id title:title text *"))
    assert (run.status, run.failed) == ("complete", 0)
    rankings = list(Ranking.objects.filter(run=run))
    assert [len(ranking.hits) for ranking in rankings] == [10, 10, 10]
    for ranking in rankings:
        assert len(json.dumps(ranking.hits)) < 400_000
        assert ranking.hits[1][2]["text"].endswith("… [cut: 100,000 characters]")
    client.force_login(owner)
    case_query = case.case_queries.order_by("position").first()
    page = client.get(f"{reverse('case', args=[case.pk])}?open={case_query.pk}", follow=True)
    assert page.status_code == 200
    assert "[cut: 100,000 characters]" in page.text
    assert len(page.content) < 1_000_000
    call_command("export_run", str(run.pk), "--format", "csv")
    exported = capsys.readouterr().out
    assert exported.count("[cut: 100,000 characters]") >= 27
    assert len(exported) < 1_500_000
