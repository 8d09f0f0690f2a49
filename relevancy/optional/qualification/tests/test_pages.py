"""The qualification of raters: what editors set, what a new rater sees, and what becomes of the answers."""

import pytest
from django.urls import reverse

from relevancy import judging
from relevancy.models import Rating
from relevancy.optional.qualification import qualification
from relevancy.optional.qualification.models import Qualification, QualificationAnswer
from tests.views.workbench.example_cases import HTMX, make_workbench_case

pytestmark = pytest.mark.django_db
KEY = {"query 1": {"a": 3, "b": 0, "c": 2}, "query 2": {"a": 1, "b": 3, "c": 0}}


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team, 2, KEY)
    case.book.teams.add(team)
    judging.build_judging_queue(book=case.book)
    return case


@pytest.fixture
def qualifying(case):
    qualification.draw_pairs(book=case.book, count=6, seed=7, by=case.owner)
    qualification.set_rule(book=case.book, share=80, distance=0, by=case.owner)
    return case


def url(case, name="book_qualification"):
    return reverse(name, args=[case.book_id])


def answer_all(client, case, wrong=0):
    """Judges the documents that the page shows until there is none; `wrong` of them with another grade."""
    count = 0
    while (page := client.get(url(case, "qualify"))).status_code == 200 and (cards := page.context["cards"]):
        pair = cards[0].document.pair
        key = KEY[cards[0].document.query.text][pair.doc_id]
        data = {
            "query": pair.query_id,
            "doc_id": pair.doc_id,
            "grade": (key + 1) % 4 if count < wrong else key,
            "note": "",
        }
        assert client.post(url(case, "qualify_rate"), data).status_code == 302
        count += 1
    return count


def test_editor_draws_a_set_switches_it_on_and_changes_keys(sign_in, case):
    client = sign_in("editor")
    assert url(case) in client.get(reverse("book_judging", args=[case.book_id])).content.decode()
    assert client.post(url(case), {"do": "settings", "share": "80", "distance": "0"}).status_code == 422
    assert client.post(url(case), {"do": "draw", "count": "6"}).status_code == 302
    assert client.post(url(case), {"do": "settings", "share": "80", "distance": "1"}).status_code == 302
    rule = qualification.find_rule(case.book)
    assert (rule.share, rule.distance) == (80, 1)
    assert client.get(url(case)).content.decode().count("data-pair=") == 6


def test_editor_sees_the_documents_of_the_set_and_saves_all_keys_at_once(sign_in, qualifying):
    client = sign_in("editor")
    page = client.get(url(qualifying)).content.decode()
    assert page.count('<h3 class="title">') == page.count('class="thumb"') == 6
    first, second, third, *others = qualification.active_pairs(qualifying.book)
    keys = {f"key-{pair.pk}": pair.value for pair in others}
    changed = {f"key-{first.pk}": (first.value + 1) % 4, f"key-{second.pk}": (second.value + 1) % 4}
    message = client.post(url(qualifying), {"do": "keys", **keys, **changed, f"remove-{third.pk}": "on"}, follow=True)
    assert "2 keys changed, 1 document removed." in message.content.decode()
    stored = dict(qualification.active_pairs(qualifying.book).values_list("pk", "value"))
    assert (stored[first.pk], stored[second.pk]) == tuple(changed.values())
    assert third.pk not in stored
    assert len(stored) == 5


def test_qualifying_belongs_to_judge_in_the_navigation(sign_in, qualifying):
    nav = sign_in("rater").get(url(qualifying, "qualify")).context["nav"]
    assert [entry["label"] for entry in nav if entry["current"]] == ["Judge"]


def test_keys_are_saved_all_or_none(sign_in, qualifying):
    first, second, *_ = qualification.active_pairs(qualifying.book)
    keys = {f"key-{first.pk}": (first.value + 1) % 4, f"key-{second.pk}": "7"}
    assert sign_in("editor").post(url(qualifying), {"do": "keys", **keys}).status_code == 302
    assert qualification.active_pairs(qualifying.book).get(pk=first.pk).value == first.value


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"do": "settings", "share": "0", "distance": "0"}, 422),
        ({"do": "settings", "share": "80", "distance": "-1"}, 422),
        ({"do": "settings", "share": "80", "distance": "1000001"}, 422),
        ({"do": "draw", "count": "0"}, 422),
        ({"do": "draw", "count": "500"}, 422),
        ({"do": "accept", "rater": "999999"}, 404),
        ({"do": "nothing"}, 400),
    ],
)
def test_bad_input_changes_nothing(sign_in, qualifying, data, status):
    assert sign_in("editor").post(url(qualifying), data).status_code == status
    assert qualification.active_pairs(qualifying.book).count() == 6


def test_new_rater_judges_the_set_first_and_passes(sign_in, people, qualifying):
    client = sign_in("rater")
    for name in ("judge", "judge_list"):
        assert client.get(url(qualifying, name))["Location"] == url(qualifying, "qualify")
    page = client.get(url(qualifying, "qualify")).content.decode()
    assert 'data-notice="qualification"' in page
    assert "judge-list-link" not in page
    assert 'data-left="6"' in page
    assert "Admin" not in page.partition("<main")[2].partition("</main")[0]
    assert answer_all(client, qualifying, wrong=1) == 6
    assert Rating.objects.filter(rater=people["rater"]).count() == 6
    assert client.get(url(qualifying, "qualify"))["Location"] == url(qualifying, "judge")
    assert client.get(url(qualifying, "judge")).status_code == 200


def test_rater_who_does_not_pass_is_told_and_the_editor_decides(client, people, qualifying):
    client.force_login(people["rater"])
    answer_all(client, qualifying, wrong=3)
    page = client.get(url(qualifying, "qualify")).content.decode()
    assert 'data-qualification="failed"' in page
    assert "3 of 6" in page
    case_query = qualifying.case_queries.first()
    data = {"doc_id": "a", "value": "2"}
    refused = client.post(reverse("rate", args=[qualifying.pk, case_query.pk]), data, headers=HTMX)
    assert refused.status_code == 409
    assert "qualification set" in refused.content.decode()
    client.force_login(people["editor"])
    page = client.get(url(qualifying)).content.decode()
    assert 'data-state="failed"' in page
    assert "3 of 6 agree (50 %)" in page
    client.post(url(qualifying), {"do": "again", "rater": people["rater"].pk})
    assert Qualification.objects.get(rater=people["rater"]).round == 2
    client.post(url(qualifying), {"do": "accept", "rater": people["rater"].pk})
    assert Rating.objects.filter(rater=people["rater"]).count() == 6


@pytest.mark.parametrize(("wrong", "state"), [(0, "passed"), (3, "failed")])
def test_the_result_is_shown_with_the_last_document(sign_in, people, qualifying, wrong, state):
    """G23: the script shows it instead of “That was the last document”."""
    client = sign_in("rater")
    for number in range(6):
        document = client.get(url(qualifying, "qualify")).context["cards"][0].document
        key = KEY[document.query.text][document.pair.doc_id]
        grade = (key + 1) % 4 if number < wrong else key
        data = {"query": document.query.pk, "doc_id": document.pair.doc_id, "grade": grade, "note": ""}
        page = client.post(url(qualifying, "qualify_rate"), data, headers=HTMX).content.decode()
        assert ('id="judge-done"' in page) == (number == 5)
    assert f'data-qualification="{state}"' in page
    assert f"{6 - wrong} of 6" in page
    assert (str(qualifying.book.owner) in page) == (state == "failed")


def test_the_page_judge_leads_to_the_set_and_then_to_the_book(sign_in, qualifying):
    client = sign_in("rater")
    page = client.get("/judge/").content.decode()
    assert f'href="{url(qualifying, "qualify")}"' in page
    assert "Qualification: 6 to judge of 6" in page
    assert f'href="{url(qualifying, "judge")}"' not in page
    answer_all(client, qualifying, wrong=3)
    assert "not passed, 3 of 6 agree" in client.get("/judge/").content.decode()


def test_the_script_gets_the_next_documents_of_the_set(sign_in, qualifying):
    client = sign_in("rater")
    cards = client.get(url(qualifying, "qualify")).context["cards"]
    pair = cards[0].document.pair
    have = ",".join(str(card.document.pair.pk) for card in cards[1:])
    data = {"query": pair.query_id, "doc_id": pair.doc_id, "grade": "1", "note": "", "have": have}
    page = client.post(url(qualifying, "qualify_rate"), data, headers=HTMX).content.decode()
    assert 'data-left="5"' in page
    assert page.count("data-card=") == 2
    assert QualificationAnswer.objects.count() == 1
    assert client.get(url(qualifying, "qualify"), {"pair": pair.pk}).context["cards"][0].document.pair.pk == pair.pk


def test_undo_leaves_the_set_alone(sign_in, qualifying):
    client = sign_in("rater")
    pair = client.get(url(qualifying, "qualify")).context["cards"][0].document.pair
    client.post(
        url(qualifying, "qualify_rate"), {"query": pair.query_id, "doc_id": pair.doc_id, "grade": "1", "note": ""}
    )
    assert client.post(url(qualifying, "qualify_undo")).status_code == 302
    assert QualificationAnswer.objects.count() == 1


def test_no_other_way_to_judge_is_open_before(sign_in, people, qualifying):
    client = sign_in("rater")
    query = qualifying.book.queries.first()
    judgment = {"query": query.pk, "doc_id": "a", "grade": "1", "note": ""}
    assert client.post(url(qualifying, "judge_rate"), judgment, headers=HTMX).status_code == 409
    listed = reverse("judge_list_rate", args=[qualifying.book_id, query.pk])
    assert client.post(listed, {"doc_id": "a", "value": "1"}, headers=HTMX).status_code == 409
    assert not Rating.objects.filter(rater=people["rater"]).exists()


def test_an_answer_of_a_rater_who_was_accepted_meanwhile_is_a_rating(sign_in, people, qualifying):
    client = sign_in("rater")
    pair = client.get(url(qualifying, "qualify")).context["cards"][0].document.pair
    qualification.accept_rater(book=qualifying.book, rater=people["rater"], by=qualifying.owner)
    answer = {"query": pair.query_id, "doc_id": pair.doc_id, "grade": "1", "note": "", "card": pair.pk}
    assert client.post(url(qualifying, "qualify_rate"), answer, headers=HTMX).status_code == 200
    assert Rating.objects.get(rater=people["rater"]).doc_id == pair.doc_id


def test_a_pause_says_what_is_left_of_the_set(sign_in, qualifying):
    page = sign_in("rater").post(url(qualifying, "qualify_pause"), follow=True).content.decode()
    assert "Your ratings are saved" in page
    assert 'data-left="6"' in page
