"""The list of books, the page of one, and the home page's list of books to judge."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from relevancy import books, cases, judging, ratings
from relevancy.models import Book, JudgingQueue, Rating, ScorerVersion
from tests.factories import make_attempt, make_case, make_user, query_of, rate_all, run_now
from tests.views.workbench.example_cases import SCRIPT, make_workbench_case

pytestmark = pytest.mark.django_db
SETTINGS = {
    "depth": "2",
    "ratings_per_pair": "2",
    "order": "rank",
    "repeat_share": "0",
    "guidelines": "**3** is perfect",
}


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, {"query 1": {"a": 3, "x": 0}})


def at(case, name="book"):
    return reverse(name, args=[case.book_id])


def prepare(case, **settings):
    given = {"depth": 10, "ratings_per_pair": 1, "order": "query", **settings}
    judging.set_judging(book=case.book, **given)
    judging.build_judging_queue(book=case.book)


def test_list_has_the_books_one_can_see_with_what_is_left(sign_in, case):
    prepare(case)
    make_case(1)
    rows = sign_in("rater").get(reverse("books")).context["page"].object_list
    assert [(row.pk, row.query_count, row.case_count, row.left) for row in rows] == [(case.book_id, 2, 1, 5)]
    assert reverse("judge", args=[case.book_id]) in sign_in("rater").get(reverse("books")).content.decode()
    assert reverse("judge", args=[case.book_id]) not in sign_in("viewer").get(reverse("books")).content.decode()


def test_list_without_books_says_where_they_come_from(sign_in):
    page = sign_in("stranger").get(reverse("books")).content.decode()
    assert reverse("new_case") in page


def test_page_does_not_say_no_run_before_the_documents_to_judge_are_chosen(sign_in, people, case):
    assert not JudgingQueue.objects.exists()
    page = sign_in("viewer").get(at(case)).content.decode()
    assert page.count("not chosen yet") == 2 and "no run" not in page
    assert not JudgingQueue.objects.exists()
    queries = sign_in("rater").get(at(case)).context["page"]
    assert [(query.pairs, query.open) for query in queries] == [(3, 2), (3, 3)]


def test_page_counts_ratings_by_rater_grade_and_query(sign_in, people, case):
    prepare(case, ratings_per_pair=2)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=people["rater"])
    judging.judge(query=query_of(case, "query 2"), doc_id="b", by=people["rater"], verdict="cannot", note="No")
    judging.judge(query=query_of(case, "query 2"), doc_id="c", by=people["rater"], verdict="later")
    context = sign_in("viewer").get(at(case)).context
    assert [(str(row["rater"]), row["rated"], row["cannot"]) for row in context["raters"]] == [
        ("Admin", 2, 0),
        ("Rater", 1, 1),
    ]
    assert [(grade.value, grade.count) for grade in context["grades"]] == [(0, 1), (1, 0), (2, 0), (3, 2)]
    assert [round(grade.share) for grade in context["grades"]] == [33, 0, 0, 67]
    assert [(query.rated, query.pairs, query.open, query.judged) for query in context["page"]] == [
        (2, 3, 2, 1),
        (0, 3, 3, 0),
    ]
    assert context["levels"] == [(0, 4), (1, 1), (None, 1)]


def test_a_book_without_a_queue_or_ratings_opens(sign_in, people, team):
    case = make_case(0, owner=people["admin"])
    cases.share(case=case, team=team)
    assert sign_in("viewer").get(at(case)).status_code == 200
    assert not JudgingQueue.objects.exists()


def test_statements_do_not_grow(sign_in, people, team, script):
    def count(client, address):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    client = sign_in("rater")
    small = make_workbench_case(people, team, 2, {"query 1": {"a": 3}})
    prepare(small)
    before = count(client, at(small)), count(client, reverse("books"))
    large = make_workbench_case(people, team, 30, {f"query {n}": {"a": 1} for n in range(1, 31)})
    for _ in range(5):
        rate_all(large, {"query 2": {"b": 2}}, make_user())
    prepare(large)
    assert (count(client, at(large)), count(client, reverse("books"))) == before
    assert before[0] <= 18


def test_settings_are_changed_by_editors_and_choose_the_documents_again(sign_in, case):
    response = sign_in("editor").post(at(case, "book_settings"), SETTINGS)
    assert (response.status_code, response.url) == (302, at(case))
    queue = JudgingQueue.objects.get()
    assert (queue.depth, queue.ratings_per_pair, queue.order, queue.pair_count) == (2, 2, "rank", 4)
    page = sign_in("viewer").get(at(case)).content.decode()
    assert "<strong>3</strong> is perfect" in page
    assert "book_settings" not in page


def test_editors_let_raters_judge_what_changes_a_comparison_most(sign_in, case):
    first = case.runs.get()
    second = run_now(case.attempts.get())
    version = ScorerVersion.objects.used_by(case)[0]
    chosen = {"order": "difference", "run_a": first.pk, "run_b": second.pk, "version": version.pk}
    client = sign_in("editor")
    offered = client.get(at(case), chosen).context["form"]
    assert offered.is_by_difference
    assert [int(field.value()) for field in offered.compared_fields] == [first.pk, second.pk, version.pk]
    refused = client.post(at(case, "book_settings"), {**SETTINGS, **chosen, "run_b": ""})
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["run_a"])
    assert client.post(at(case, "book_settings"), {**SETTINGS, **chosen}).status_code == 302
    queue = JudgingQueue.objects.get()
    assert (queue.run_a, queue.run_b, queue.version, queue.order) == (first, second, version, "difference")
    page = client.get(at(case)).content.decode()
    assert 'id="order-text"' in page
    assert "can change the comparison" in page
    assert 'id="order-text"' not in sign_in("viewer").get(at(case)).content.decode()
    client = sign_in("editor")
    assert client.post(at(case, "book_settings"), SETTINGS).status_code == 302
    assert JudgingQueue.objects.get().order == "rank"


def test_runs_of_cases_that_one_cannot_edit_are_not_offered(sign_in, case):
    other = make_case(1, book_of=case)
    foreign = run_now(make_attempt(other))
    chosen = {
        "order": "difference",
        "run_a": case.runs.get().pk,
        "run_b": foreign.pk,
        "version": "99999999999999999999",
    }
    response = sign_in("editor").post(at(case, "book_settings"), {**SETTINGS, **chosen})
    assert (response.status_code, set(response.context["form"].errors)) == (422, {"run_b", "version"})


@pytest.mark.parametrize(
    "wrong", [{"depth": "0"}, {"ratings_per_pair": "99"}, {"order": "x"}, {"guidelines": "x" * 20_001}]
)
def test_wrong_settings_change_nothing_and_are_kept_in_the_form(sign_in, case, wrong):
    response = sign_in("editor").post(at(case, "book_settings"), {**SETTINGS, **wrong})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == list(wrong)
    assert (Book.objects.get(pk=case.book_id).guidelines, JudgingQueue.objects.count()) == ("", 0)


def test_hostile_guidelines_are_shown_and_not_obeyed(sign_in, case):
    books.change_book(book=case.book, guidelines=f"{SCRIPT}\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:b)")
    page = sign_in("viewer").get(at(case)).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert SCRIPT not in page
    assert 'href="javascript' not in page


def test_home_lists_books_with_documents_to_judge(sign_in, people, case):
    client = sign_in("rater")
    assert client.get(reverse("home")).context["books_to_judge"] == []
    prepare(case)
    books = client.get(reverse("home")).context["books_to_judge"]
    assert [(book.pk, book.left) for book in books] == [(case.book_id, 5)]
    assert reverse("judge", args=[case.book_id]) in client.get(reverse("home")).content.decode()
    assert sign_in("viewer").get(reverse("home")).context["books_to_judge"] == []
    assert Rating.objects.filter(rater=people["rater"]).count() == 0
