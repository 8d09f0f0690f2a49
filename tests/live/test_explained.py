"""The road from a query to a missing document on real engines: why one moved, what is missing and why, how the engine understood it."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from relevancy import endpoints, engines, runs
from relevancy.models import Case, Ranking, Rating, Run
from tests.factories import make_case, make_user, run_now
from tests.live.indexing import make_elasticsearch_index, make_solr_core
from tests.live.servers import Server

pytestmark = pytest.mark.django_db
FILMS: list[dict[str, Any]] = [
    {"id": "1", "title": "Lord of the Rings", "overview": "A hobbit walks to a mountain", "genre": "fantasy"},
    {"id": "2", "title": "Rings", "overview": "A video of a lord kills in seven days", "genre": "fantasy"},
    {"id": "3", "title": "Lord of War", "overview": "A dealer of arms", "genre": "drama"},
    {"id": "4", "title": "Lord of the Rings, the documentary", "overview": "Behind the scenes", "genre": "drama"},
]


class Road:
    """A case on a real engine with two runs, of which the second one boosts the overview and filters by genre."""

    def __init__(self, engine: str, url: str, fields: str, template: str) -> None:
        self.owner = make_user("Owner", superuser=True)
        self.case: Case = make_case(["lord rings"], {"lord rings": {"1": 3}}, owner=self.owner)
        endpoint = endpoints.create(name=engine, engine=engine, url=url, by=self.owner)
        for boost in (0.1, 50):
            attempt = runs.attempts.save(
                case=self.case,
                endpoint=endpoint,
                template=template,
                fields=fields,
                knobs={"boost": boost},
                by=self.owner,
            )
            run_now(attempt)
        self.client = Client()
        self.client.force_login(self.owner)
        self.entry = self.case.case_queries.get()

    def ranking(self, number: int) -> Ranking:
        run = Run.objects.select_related("case__book", "attempt__endpoint").get(case=self.case, number=number)
        ranking: Ranking = run.rankings.get()
        ranking.run = run
        return ranking

    def page(self, name: str, **query: object) -> str:
        response = self.client.get(reverse(name, args=[self.case.pk, self.entry.pk]), query)
        assert response.status_code == 200
        return response.content.decode()

    def walk(self, *, filter_clause: str) -> None:
        """Explains the document that moved, finds and rates the missing one, and reads how the engine understood the query."""
        assert [hit[0] for ranking in (self.ranking(1), self.ranking(2)) for hit in ranking.hits[:1]] == ["1", "2"]
        for number in (1, 2):
            runs.explain_results(self.ranking(number), depth=10, by=self.owner)
        moved = self.page("query_explain_difference", doc_id="2", other="run:1")
        assert "more in run 2 than in run 1: overview" in moved

        result = runs.find_documents(self.ranking(2), "documentary", by=self.owner)
        assert [(item.doc_id, item.position) for item in result.documents] == [
            ("4", runs.DocumentPosition(matches=False))
        ]
        by_field = runs.find_documents(self.ranking(2), "title:war", by=self.owner)
        assert [item.doc_id for item in by_field.documents] == ["3"]
        assert "does not match" in self.page("query_find", text="documentary")

        explanation = runs.explain(self.ranking(2), "4", by=self.owner)
        assert [failed.clause for failed in explanation.failures] == [filter_clause]
        assert explanation.score_of_matching_parts > 0
        assert {part.field for part in explanation.matching_parts} == {"title"}
        why = self.page("query_explain", doc_id="4")
        assert "Required, and does not match" in why and "add up to" in why

        # A document that is not in the results against one that is: the clauses that match it, and why it does not match.
        against = self.page("query_explain_difference", doc_id="1", other_id="4")
        assert "“4” does not match the query. By the clauses that match, “1” would score" in against
        assert "title " in against and filter_clause in against
        two = self.page("query_explain_difference", doc_id="2", other="doc:1")
        assert "“2” scores" in two and "of which" in two

        rated = self.client.post(
            reverse("rate", args=[self.case.pk, self.entry.pk]),
            {"doc_id": "4", "value": "3"},
            headers={"HX-Request": "true"},
        )
        assert rated.status_code == 200 and Rating.objects.get(doc_id="4").value == 3
        assert [item.doc_id for item in runs.list_unretrieved(self.ranking(2), by=self.owner, depth=10).documents] == [
            "4"
        ]

        understood = runs.interpret(self.ranking(2), by=self.owner)
        assert "title:lord" in dict(understood.parts)["Parsed query"] and understood.timings
        assert "title:lord" in self.page("query_interpretation")
        assert isinstance(engines.get(self.ranking(1).run.config["engine"]).find_help, str)


def test_solr(solr_server: Server) -> None:
    url = make_solr_core(solr_server, "explained", FILMS, {"genre": "string"})
    template = "q=#$query##&defType=edismax&qf=title overview^##boost##&q.op=OR&fq=genre:fantasy"
    Road("solr", url, "id:id title:title overview", template).walk(filter_clause="fq=genre:fantasy")


MATCH = json.dumps(
    {
        "query": {
            "bool": {
                "must": {"multi_match": {"query": "#$query##", "fields": ["title", "overview^##boost##"]}},
                "filter": {"term": {"genre.keyword": "fantasy"}},
            }
        }
    }
)


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_elasticsearch_and_opensearch(request: pytest.FixtureRequest, engine: str) -> None:
    url = make_elasticsearch_index(request.getfixturevalue(f"{engine}_server"), "explained", FILMS)
    Road(engine, url, "title:title overview", MATCH).walk(filter_clause="genre.keyword:fantasy")
