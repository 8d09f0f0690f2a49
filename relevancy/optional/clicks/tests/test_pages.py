"""The page about the clicks of a book."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy import accounts, ratings
from relevancy.models import Rating
from relevancy.optional.clicks.click_logs import RATER
from relevancy.optional.clicks.models import ClickLog
from tests.views.factories import make_case

LOG = (
    "query,count,docid,position,clicks\n"
    "star wars,1000,a,1,400\nstar wars,1000,a,2,200\nstar wars,1000,b,1,200\nstar wars,1000,b,2,100\nstar wars,4,c,1,1\n"
)


@pytest.fixture
def case(people, team):
    return make_case(people["admin"], team=team)


@pytest.fixture
def thresholds(case):
    """One for each grade above the lowest: 0.01, 0.02 …"""
    return " ".join(str(number / 100) for number in range(1, len(case.book.scale)))


def load(client, case, content=LOG, **data):
    file = SimpleUploadedFile("log.csv", content.encode())
    data = {"file": file, "method": "position", "strength": "0", **data}
    return client.post(f"/books/{case.book_id}/clicks/import/", data)


def count(client, case, do, thresholds="", least="100", **headers):
    data = {"do": do, "thresholds": thresholds, "min_evidence": least}
    return client.post(f"/books/{case.book_id}/clicks/count/", data, headers=headers)


def test_page_without_a_log_says_what_to_do(sign_in, case):
    editor = sign_in("editor").get(f"/books/{case.book_id}/clicks/").content.decode()
    assert 'id="clicks-form"' in editor
    viewer = sign_in("viewer").get(f"/books/{case.book_id}/clicks/").content.decode()
    assert 'id="clicks-form"' not in viewer
    assert 'class="empty"' in viewer
    assert 'id="clicks-link"' in viewer


def test_log_is_imported_previewed_counted_and_withdrawn(sign_in, case, thresholds):
    client = sign_in("editor")
    assert load(client, case).status_code == 302
    page = client.get(f"/books/{case.book_id}/clicks/")
    html = page.content.decode()
    assert 'data-counting="0"' in html
    assert page.context["positions"] == [(1, 100), (2, 50)]
    assert {row.doc_id for row in page.context["estimates"]} == {"a", "b", "c"}
    fragment = count(client, case, "preview", thresholds, **{"HX-Request": "true"})
    assert fragment.status_code == 200
    text = fragment.content.decode()
    assert "<html" not in text
    assert 'data-enough="2" data-too-little="1"' in text
    assert not Rating.objects.filter(rater__kind="machine").exists()

    assert count(client, case, "count", thresholds).status_code == 302
    assert Rating.objects.filter(rater__kind="machine").count() == 2
    page = client.get(f"/books/{case.book_id}/clicks/")
    assert 'data-counting="2"' in page.content.decode()
    assert page.context["thresholds_form"]["thresholds"].value() == thresholds
    assert count(client, case, "withdraw").status_code == 302
    assert not Rating.objects.filter(rater__kind="machine").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"content": "query,count,docid,position,clicks\nstar wars,1,a,1,2\n"}, "Line 2: column clicks"),
        ({"content": "query,count\nstar wars,1\n"}, "does not say what was clicked"),
        ({"method": "cascade"}, "each single search"),
        ({"method": "x"}, "Select a valid choice"),
        ({"strength": "-1"}, "greater than or equal to 0"),
    ],
)
def test_bad_logs_are_refused(sign_in, case, changes, words):
    client = sign_in("editor")
    assert load(client, case).status_code == 302
    answer = load(client, case, **changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert ClickLog.objects.get().estimates.count() == 3


@pytest.mark.parametrize("do", ["preview", "count"])
@pytest.mark.parametrize(
    ("thresholds", "words"),
    [("0.1 x", "is not a number"), ("0.1", "the scale of the book needs"), ("", "Enter a threshold")],
)
def test_bad_thresholds_are_refused(sign_in, case, do, thresholds, words):
    client = sign_in("editor")
    load(client, case)
    for headers in ({}, {"HX-Request": "true"}):
        answer = count(client, case, do, thresholds, **headers)
        assert answer.status_code == 422
        assert words in answer.content.decode()
    assert not Rating.objects.filter(rater__kind="machine").exists()


def test_too_few_documents_for_the_grades_are_a_sentence_and_no_error(sign_in, case):
    client = sign_in("editor")
    load(client, case)
    page = client.get(f"/books/{case.book_id}/clicks/")
    grades = len(case.book.scale)
    assert grades > 2
    sentence = (
        f"2 documents have at least 20 examinations. These are too few to propose thresholds for {grades} grades."
    )
    assert sentence in page.content.decode()
    assert page.status_code == 200
    assert 'class="notice bad"' not in page.content.decode()
    assert page.context["thresholds_form"]["thresholds"].value() == ""
    assert count(client, case, "count", " ".join(str(number / 100) for number in range(1, grades))).status_code == 302
    case.book.refresh_from_db()
    case.book.scale = [[number, ""] for number in range(grades + 3)]
    case.book.save()
    page = client.get(f"/books/{case.book_id}/clicks/")
    assert 'class="notice bad"' not in page.content.decode()  # accepted for another scale


def test_nothing_can_be_counted_without_a_log(sign_in, case, thresholds):
    assert count(sign_in("editor"), case, "count", thresholds).status_code == 404


def test_the_page_of_the_rater_leads_to_the_clicks(sign_in, case):
    rater = accounts.ensure_machine(RATER)
    query = case.book.queries.first()
    ratings.rate(query=query, doc_id="a", value=case.book.grades[0], by=rater)
    page = sign_in("editor").get(f"/books/{case.book_id}/raters/{rater.pk}/").content.decode()
    assert f'href="/books/{case.book_id}/clicks/"' in page
