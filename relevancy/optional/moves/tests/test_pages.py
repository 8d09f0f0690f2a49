"""The page that moves ratings to other document ids."""

import pytest
from django.urls import reverse

from relevancy.models import Ranking, Rating, Run
from tests.factories import make_attempt, run_now, set_hits
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, {"query 1": {"a": 3, "b": 1}})


@pytest.mark.parametrize(("role", "is_shown"), [("editor", True), ("viewer", False)])
def test_the_sources_of_a_book_lead_editors_to_it(sign_in, case, role, is_shown):
    page = sign_in(role).get(reverse("book_files", args=[case.book_id])).content.decode()
    assert ('id="move-ratings"' in page) == is_shown


def test_ratings_are_moved_to_the_new_ids(sign_in, people, case):
    run_now(make_attempt(case))
    first, second = Run.objects.filter(case=case).order_by("number")
    for run, doc_id in ((first, "a"), (second, "new a")):
        Run.objects.filter(pk=run.pk).update(config={**run.config, "fields": "id:id title:title"})
        hits = [[doc_id, 1.0, {"id": doc_id, "title": "The same"}]]
        set_hits(Ranking.objects.filter(run=run), hits)
    client, url = sign_in("editor"), reverse("book_moves", args=[case.book_id])
    response = client.get(url)
    assert response.context["chosen"] == {"a": "new a"}
    assert len(response.context["case_scores"]) >= 1
    assert Rating.objects.filter(doc_id="a").exists()
    assert client.post(url, {"id": ["b", "x"]}).url == url
    assert client.post(url, {"id": ["a"]}).url == reverse("book", args=[case.book_id])
    assert set(Rating.objects.values_list("doc_id", flat=True)) == {"new a", "b"}
    assert client.get(url).context["orphans"].moved == []
