"""The list of books, the page of one, and the home page's list of books to judge."""

from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from relevancy import books, cases, judging, ratings, tasks
from relevancy.models import Book, JudgingQueue, Rating
from tests.factories import make_case, make_user, query_of, rate_all, run_now, script_of
from tests.views.workbench.example_cases import HTMX, attributes, by_id, make_workbench_case

pytestmark = pytest.mark.django_db


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


def test_the_first_look_chooses_what_is_to_judge_whoever_looks(sign_in, people, case):
    assert not JudgingQueue.objects.exists()
    with patch.object(tasks, "enqueue_judging_queue"):  # the worker is busy
        assert sign_in("viewer").get(at(case)).content.decode().count("being chosen") == 1
        assert sign_in("viewer").get(at(case, "book_queries")).content.decode().count("being chosen") == 2
        assert "being chosen" in sign_in("viewer").get(reverse("books")).content.decode()
    page = sign_in("viewer").get(at(case)).content.decode()
    assert "being chosen" not in page
    assert JudgingQueue.objects.get().pair_count == 6


def test_what_is_to_judge_is_chosen_after_each_run_from_the_first_look_at_it_on(sign_in, people, team, script):
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3}})
    tasks.run_chunk.func(case.runs.get().pk)
    assert not JudgingQueue.objects.exists()
    sign_in("viewer").get(at(case))
    assert JudgingQueue.objects.get(book=case.book_id).pair_count == 6
    attempt = case.attempts.get()
    script_of(attempt).default = ["a", "b", "c", "d"]
    tasks.run_chunk.func(run_now(attempt).pk)
    assert JudgingQueue.objects.get(book=case.book_id).pair_count == 8


def test_page_counts_ratings_by_rater_grade_and_query(sign_in, people, case):
    prepare(case, ratings_per_pair=2)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=people["rater"])
    judging.judge(query=query_of(case, "query 2"), doc_id="b", by=people["rater"], verdict="cannot", note="No")
    judging.judge(query=query_of(case, "query 2"), doc_id="c", by=people["rater"], verdict="later")
    context = sign_in("viewer").get(at(case)).context
    assert [(str(row["rater"]), row["rated"], row["cannot"]) for row in context["judgments"].raters] == [
        ("Admin", 2, 0),
        ("Rater", 1, 1),
    ]
    assert [(grade.value, grade.count) for grade in context["judgments"].grades] == [(0, 1), (1, 0), (2, 0), (3, 2)]
    assert [round(grade.share) for grade in context["judgments"].grades] == [33, 0, 0, 67]
    listed = sign_in("viewer").get(at(case, "book_queries")).context["rows"]
    assert [(query.rated, query.pairs, query.open, query.judged) for query, _ in listed] == [(2, 3, 2, 1), (0, 3, 3, 0)]
    assert [(figure.label, figure.value) for figure in context["figures"][:4]] == [
        ("Documents rated", "2"),
        ("To judge", "5"),
        ("Conflicts", "0"),
        ("Raters", "2"),
    ]
    assert context["levels"] == [(0, 4), (1, 1), (None, 1)]


def test_page_of_a_large_book_asks_for_what_all_ratings_are_read_for(sign_in, people, case, monkeypatch):
    prepare(case)
    rate_all(case, {"query 1": {"a": 0}}, people["rater"])
    client = sign_in("editor")
    whole = client.get(at(case))
    monkeypatch.setattr("relevancy.views.books.pages.LARGE_CASE", 1)
    first = client.get(at(case))
    assert attributes(by_id(first, "content"))["hx-get"] == at(case)
    assert by_id(first, "judgments-coming") is not None
    values = {figure.id: figure.value for figure in first.context["figures"]}
    assert {values[name] for name in ("rated-figure", "raters-figure")} == {"…"}
    assert [step.id for step in first.context["steps"]] == [step.id for step in whole.context["steps"]]
    for then in (client.get(at(case), headers=HTMX), client.get(at(case), {"now": "1"})):
        assert "hx-get" not in attributes(by_id(then, "content"))
        assert then.context["judgments"] == whole.context["judgments"]
        assert then.context["figures"] == whole.context["figures"]


def test_a_book_without_a_queue_or_ratings_opens(sign_in, people, team):
    case = make_case(0, owner=people["admin"])
    cases.share(case=case, team=team)
    for name in ("book", "book_queries", "book_raters", "book_files", "book_conflicts", "book_decided"):
        assert sign_in("viewer").get(at(case, name)).status_code == 200


def test_statements_do_not_grow(sign_in, people, team, script):
    def count(client, address):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    client = sign_in("rater")
    small = make_workbench_case(people, team, 2, {"query 1": {"a": 3}})
    prepare(small)
    addresses = ("book", "book_queries", "book_raters", "book_files")
    before = [count(client, at(small, name)) for name in addresses] + [count(client, reverse("books"))]
    large = make_workbench_case(people, team, 30, {f"query {n}": {"a": 1} for n in range(1, 31)})
    for _ in range(5):
        rate_all(large, {"query 2": {"b": 2}}, make_user())
    prepare(large)
    assert [count(client, at(large, name)) for name in addresses] + [count(client, reverse("books"))] == before
    assert before[0] <= 24


def test_queries_are_filtered_sorted_and_lead_into_their_cases(sign_in, people, team, case):
    prepare(case)
    for text in "abc":
        ratings.rate(query=query_of(case, "query 2"), doc_id=text, value=1, by=people["rater"])
    cases.share(case=make_case(0, owner=people["admin"], book_of=case), team=team)
    client = sign_in("viewer")

    def texts(**wanted):
        return [query.text for query, _ in client.get(at(case, "book_queries"), wanted).context["rows"]]

    assert texts() == ["query 1", "query 2"]
    assert texts(text="y 2") == ["query 2"]
    assert texts(state="to-judge") == ["query 1"]
    assert texts(state="rated") == ["query 2"]
    assert texts(state="no-run") == []
    assert texts(sort="-rated") == ["query 2", "query 1"]
    assert texts(sort="to-judge") == ["query 2", "query 1"]
    assert texts(state="?") == ["query 1", "query 2"]
    assert [query.open for query, _ in client.get(at(case, "book_queries")).context["rows"]] == [
        query.open for query in books.queries_with_coverage(case.book)
    ]
    place = case.case_queries.get(query__text="query 1")
    page = client.get(at(case, "book_queries")).content.decode()
    assert page.count(f'href="/cases/{case.pk}/?open={place.pk}"') == 2  # the query, and the case that has it


def test_overview_says_what_to_do_next(sign_in, people, case):
    rate_all(case, {"query 1": {"a": 0}}, people["rater"])
    prepare(case)
    ids = [step.id for step in sign_in("editor").get(at(case)).context["steps"]]
    assert ids == ["next-conflicts", "next-guidelines", "next-judge"]
    assert [step.id for step in sign_in("rater").get(at(case)).context["steps"]] == ["next-judge"]
    assert sign_in("viewer").get(at(case)).context["steps"] == []


def test_first_steps_of_a_book_are_done_one_after_the_other(sign_in, people, case):
    def done(who="editor"):
        return [tick.is_done for tick in sign_in(who).get(at(case)).context["ticks"]]

    assert done() == [False] * 4
    books.change_book(book=case.book, guidelines="Read")
    judging.set_judging(book=case.book, ratings_per_pair=2)
    assert done() == [True, True, False, False]
    rate_all(case, {"query 1": {"a": 0}}, people["rater"])
    assert done() == []
    assert done("rater") == []


def test_a_book_is_made_without_a_case(sign_in, people):
    client = sign_in("viewer")
    wrong = {"name": "Shop", "scale": "0", "queries": "tv\n"}
    assert list(client.post(reverse("book_new"), wrong).context["form"].errors) == ["scale"]
    long = {"name": "Shop", "scale": "0:3", "queries": "x" * 3_000}
    assert list(client.post(reverse("book_new"), long).context["form"].errors) == ["queries"]
    response = client.post(reverse("book_new"), {**wrong, "scale": "0:1", "queries": "tv\n\ntv\nradio"})
    book = Book.objects.get(name="Shop")
    assert (response.url, book.owner, book.top) == (reverse("book", args=[book.pk]), people["viewer"], 1)
    assert list(book.queries.live().values_list("text", flat=True)) == ["tv", "radio"]
    assert [step.id for step in client.get(response.url).context["steps"]] == ["next-guidelines", "next-case"]
    assert reverse("book_new") in client.get(reverse("books")).content.decode()


def test_books_are_filtered_by_name(sign_in, people, team, case):
    other = make_workbench_case(people, team, 1, {})
    Book.objects.filter(pk=other.book_id).update(name="Zebra")
    page = sign_in("viewer").get(reverse("books"), {"text": "zeb"}).context["page"]
    assert [row.pk for row in page] == [other.book_id]
    assert sign_in("viewer").get(reverse("books"), {"text": "none"}).status_code == 200


def test_files_of_a_book_are_listed_with_where_ratings_are_imported(sign_in, case):
    page = sign_in("editor").get(at(case, "book_files")).content.decode()
    for name in ("book", "ratings"):
        assert f"{at(case, 'book_download')}?for={name}" in page
    assert reverse("case_files", args=[case.pk]) in page
    assert reverse("case_files", args=[case.pk]) not in sign_in("viewer").get(at(case, "book_files")).content.decode()


def test_home_lists_what_a_user_can_judge(sign_in, people, case):
    client = sign_in("rater")
    assert client.get(reverse("home")).context["work"] == []
    prepare(case)
    page = client.get(reverse("home"))
    assert [(line.title, line.text) for line in page.context["work"]] == [(case.book.name, "5 to judge of 6")]
    assert f'href="{reverse("judge", args=[case.book_id])}"' in page.content.decode()
    assert sign_in("viewer").get(reverse("home")).context["work"] == []
    assert Rating.objects.filter(rater=people["rater"]).count() == 0


def test_queries_of_a_large_book_are_not_sorted_by_what_would_be_counted_for_each(sign_in, case, monkeypatch):
    prepare(case)
    monkeypatch.setattr("relevancy.views.books.pages.LARGE_CASE", 1)
    client = sign_in("viewer")
    page = client.get(at(case, "book_queries"), {"sort": "-to-judge"})
    assert [query.text for query, _ in page.context["rows"]] == ["query 1", "query 2"]
    assert [heading.column.key for heading in page.context["headings"]] == ["query", "", "", "", ""]
    sorted_down = client.get(at(case, "book_queries"), {"sort": "-query", "state": "to-judge"})
    assert [query.text for query, _ in sorted_down.context["rows"]] == ["query 2", "query 1"]
