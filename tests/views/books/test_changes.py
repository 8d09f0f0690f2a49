"""The page that changes the scale or the rule of a book, with its preview."""

import pytest
from django.urls import reverse

from relevancy import scores
from relevancy.models import Book, Case, Rating
from tests.factories import stored_case_scores
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db
RATINGS = {"query 1": {"a": 3, "b": 1, "c": 2}, "query 2": {"b": 2, "x": 0}}


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, RATINGS)


def at(case, name="book_change"):
    return reverse(name, args=[case.book_id])


def proposal(case, **changes):
    given = {"rule": "latest", "scale": "0:3", "relevant_from": "1", "ratings": "keep"}
    return {**given, **changes}


def hidden(response):
    return dict(response.context["form"].hidden_values)


def test_page_opens_without_a_preview_and_is_linked_for_editors(sign_in, case):
    response = sign_in("editor").get(at(case))
    assert (response.status_code, response.context["preview"]) == (200, None)
    assert response.context["form"]["scale"].value() == "0:3"
    assert at(case) in sign_in("editor").get(at(case, "book")).content.decode()
    assert at(case) not in sign_in("rater").get(at(case, "book")).content.decode()


def test_preview_shows_scores_and_changes_nothing(sign_in, people, case):
    scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
    now = {name: row[0] for name, row in stored_case_scores(case.runs.get()).items()}
    response = sign_in("editor").get(at(case), proposal(case, scale="0 no, 1 yes", relevant_from="", ratings="map"))
    preview = response.context["preview"]
    assert {row.version.scorer.name: row.before for row in preview.case_scores} == now
    assert [(row.value, row.new_value) for row in response.context["form"].rows] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert "0, 1 all become 0; 2, 3 all become 1" in preview.merged_text
    page = response.content.decode()
    assert 'id="merged"' in page
    assert f'data-changed="{preview.changed}"' in page
    assert preview.changed == 4
    assert Book.objects.get(pk=case.book_id).top == 3


def test_chosen_grades_are_kept_until_the_scale_is_another(sign_in, case):
    chosen = proposal(case, scale="0:4", relevant_from="", ratings="map", to_3="2", to_2="4", to_1="1", to_0="0")
    response = sign_in("editor").get(at(case), {**chosen, "mapped_for": "0:4"})
    assert [row.new_value for row in response.context["form"].rows] == [0, 1, 4, 2]
    response = sign_in("editor").get(at(case), {**chosen, "mapped_for": "0:2"})
    assert [row.new_value for row in response.context["form"].rows] == [0, 1, 3, 4]


def test_what_was_previewed_is_applied_and_rescored(sign_in, case):
    client = sign_in("editor")
    shown = client.get(at(case), proposal(case, scale="0 no, 1 yes", relevant_from="", ratings="map"))
    values = {**hidden(shown), "do": "apply"}
    refused = client.post(at(case), values)
    assert refused.status_code == 422
    assert "can_merge_grades" in refused.context["form"].errors
    assert Book.objects.get(pk=case.book_id).top == 3
    response = client.post(at(case), {**values, "can_merge_grades": "on"})
    assert (response.status_code, response.url) == (302, at(case, "book"))
    book = Book.objects.get(pk=case.book_id)
    assert (book.scale, book.relevant_from) == ([[0, "no"], [1, "yes"]], 1)
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 0, 1, 1, 1]
    then = {row.version.scorer.name: row.after for row in shown.context["preview"].case_scores}
    assert {name: row[0] for name, row in stored_case_scores(case.runs.get()).items()} == then  # by the task


def test_a_preview_of_former_settings_is_refused(sign_in, case):
    client = sign_in("editor")
    values = {**hidden(client.get(at(case), proposal(case, rule="mean"))), "do": "apply"}
    Book.objects.filter(pk=case.book_id).update(rule="median")
    response = client.post(at(case), values)
    assert response.status_code == 422
    assert "meanwhile" in response.content.decode()
    assert Book.objects.get(pk=case.book_id).rule == "median"


def test_a_copy_is_created_beside_the_book(sign_in, people, case):
    client = sign_in("editor")
    values = hidden(client.get(at(case), proposal(case, scale="0:6", relevant_from="", ratings="map")))
    assert client.post(at(case), {**values, "do": "copy"}).status_code == 422
    response = client.post(at(case), {**values, "do": "copy", "name": "Finer"})
    copy = Book.objects.get(name="Finer")
    assert response.url == reverse("book", args=[copy.pk])
    assert (copy.owner, copy.top, Book.objects.get(pk=case.book_id).top) == (people["editor"], 6, 3)
    assert client.get(response.url).status_code == 200


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"scale": "3"}, "scale"),
        ({"scale": "0:1"}, "scale"),
        ({"scale": ""}, "scale"),
        ({"rule": "best"}, "rule"),
        ({"relevant_from": "7"}, "relevant_from"),
        ({"relevant_from": "nan"}, "relevant_from"),
        ({"ratings": ""}, "ratings"),
        ({"scale": "0:2", "relevant_from": "", "ratings": "map", "mapped_for": "0:2", "to_3": "9"}, "scale"),
    ],
)
def test_wrong_settings_have_no_preview(sign_in, case, wrong, field):
    response = sign_in("editor").get(at(case), proposal(case, **wrong))
    assert list(response.context["form"].errors) == [field]
    assert 'id="preview"' not in response.content.decode()
    assert sign_in("editor").post(at(case), {**proposal(case, **wrong), "do": "apply"}).status_code == 422


def test_labels_with_commas_survive_a_change_of_the_rule(sign_in, case):
    scale = [[0, "bad, really"], [1, ""], [2, ""], [3, "good"]]
    Book.objects.filter(pk=case.book_id).update(scale=scale)
    client = sign_in("editor")
    text = client.get(at(case)).context["form"]["scale"].value()
    shown = client.get(at(case), proposal(case, scale=text, rule="mean"))
    client.post(at(case), {**hidden(shown), "do": "apply"})
    book = Book.objects.get(pk=case.book_id)
    assert (book.scale, book.rule) == (scale, "mean")


def test_quepids_rule_warns(sign_in, case):
    page = sign_in("editor").get(at(case), proposal(case, rule="quepid"))
    assert 'id="rule-warning"' in page.content.decode()
    assert 'id="rule-warning"' not in sign_in("editor").get(at(case), proposal(case, rule="mean")).content.decode()
