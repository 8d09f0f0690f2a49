"""The pages on how far raters agree have the figures of the service."""

import pytest
from django.urls import reverse

from relevancy import judging
from relevancy.models import RepeatedPair, User
from relevancy.optional.agreement import agreement, rater_pages
from relevancy.optional.agreement.rater_scores import measure_rater_scores
from relevancy.templatetags.numbers import coefficient, difference, effect
from tests.factories import make_attempt, make_user, rate_all, run_now
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Three raters; the third one agrees with nobody."""
    case = make_workbench_case(people, team, 12, {}, run=False)
    for number, name in enumerate(("One", "Two", "Three")):
        grades = [{"a": 3, "b": 2, "c": 0}, {"a": 3, "b": 1, "c": 0}, {"a": 0, "b": 3, "c": 2}][number]
        texts = range(1, 13) if number < 2 else range(1, 5)
        rate_all(case, {f"query {text}": grades for text in texts}, make_user(name))
    return case


def at(case):
    return reverse("book_agreement", args=[case.book_id])


def test_page_has_the_figures_of_the_service(sign_in, case):
    response = sign_in("viewer").get(at(case))
    result = agreement.measure_agreement(book=case.book)
    page = response.content.decode()
    expected = result.agreement.alpha["ordinal"]
    assert expected.value is not None
    for value in (expected.value, expected.low, expected.high, result.agreement.fleiss_kappa.value):
        assert coefficient(value) in page
    pairs = [(str(row.a), str(row.b), row.figures.items) for row, *_ in response.context["pairs"]]
    assert pairs == [("One", "Two", 36), ("One", "Three", 12), ("Two", "Three", 12)]
    assert next(quadratic for *_, quadratic in response.context["pairs"]) > 0.8


def test_overview_of_the_book_says_it_in_a_word(sign_in, people, team, case, monkeypatch):
    judging.adjudicate(query=case.book.queries.first(), doc_id="a", value=2, by=case.owner)
    alpha = agreement.measure_agreement(book=case.book).agreement.alpha["ordinal"]
    assert agreement.measure_alpha(case.book) == alpha
    client, overview = sign_in("viewer"), reverse("book", args=[case.book_id])

    def figures(address=overview):
        context = client.get(address).context
        shown = {figure.id: figure for figure in context["figures"]}
        return shown.get("agreement-figure"), [step.label for step in context["steps"]]

    figure, steps = figures()
    assert (figure.value, figure.url) == ("uncertain", at(case))
    assert steps == [f"alpha {coefficient(alpha.value)}: uncertain"]
    monkeypatch.setattr(agreement, "MAX_SHARED", 10)
    assert figures()[0].value == "many ratings"
    lonely = make_workbench_case(people, team, 2, {"query 1": {"a": 3}}, run=False)
    assert figures(reverse("book", args=[lonely.book_id])) == (None, [])


def test_page_without_shared_documents_says_what_to_set(sign_in, people, team, script):
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3}}, run=False)
    page = sign_in("viewer").get(at(case)).content.decode()
    assert reverse("book", args=[case.book_id]) in page
    assert 'id="figures"' not in page


def test_more_ratings_than_the_page_measures_are_not_measured(sign_in, case, monkeypatch):
    monkeypatch.setattr(agreement, "MAX_RATINGS", 10)
    response = sign_in("viewer").get(at(case))
    assert "result" not in response.context
    assert "agreement" in response.content.decode()


def test_number_of_statements_is_constant(sign_in, case, django_assert_max_num_queries):
    client = sign_in("viewer")
    with django_assert_max_num_queries(10):
        client.get(at(case))


def two(case):
    """The users One and Three."""
    return User.objects.get(name="One"), User.objects.get(name="Three")


def pair_at(case, a, b, **cell):
    query = "&".join(f"{name}={value}" for name, value in {"first": a.pk, "second": b.pk, **cell}.items())
    return f"{reverse('book_agreement_pair', args=[case.book_id])}?{query}"


def test_each_rater_has_bias_and_grades(sign_in, case):
    response = sign_in("viewer").get(at(case))
    page = response.content.decode()
    for row in agreement.measure_agreement(book=case.book).by_rater:
        assert f'data-rater="{row.rater.pk}"' in page
        assert reverse("book_agreement_rater", args=[case.book_id, row.rater.pk]) in page
        assert effect(row.figures.bias.value) in page
    assert 'data-agreeing="2-2"' in page
    assert reverse("book_agreement_queries", args=[case.book_id]) in page


def test_queries_page_has_every_query_with_its_grades(sign_in, case):
    client = sign_in("viewer")
    response = client.get(reverse("book_agreement_queries", args=[case.book_id]))
    rows = response.context["rows"]
    assert (len(rows), rows[0][0].figures.agreement) == (12, rows[0][0].figures.agreement)
    assert rows[0][0].query.text == "query 1"  # rated by Three
    assert [count for _, count in rows[0][1]] == rows[0][0].figures.grades.tolist()


def test_a_cell_opens_the_documents_that_it_counts(sign_in, case):
    one, three = two(case)
    client = sign_in("editor")
    page = client.get(pair_at(case, one, three))
    counts = {(cell.a, cell.b): cell.documents for _, cells, _ in page.context["matrix"] for cell in cells}
    assert {cell: count for cell, count in counts.items() if count} == {(3, 0): 4, (2, 3): 4, (0, 2): 4}
    assert page.context["rows"] == []
    opened = client.get(pair_at(case, one, three, grade_a=3, grade_b=0))
    assert [(row["conflict"].query.text, row["conflict"].doc_id) for row in opened.context["rows"]] == [
        (f"query {number}", "a") for number in range(1, 5)
    ]
    assert 'id="documents"' in opened.content.decode()
    assert opened.context["can_decide"]
    empty = client.get(pair_at(case, one, three, grade_a=1, grade_b=1))
    assert 'id="documents"' in empty.content.decode()


def test_a_pair_without_a_common_document_says_so(sign_in, case):
    stranger = make_user("Stranger")
    rate_all(case, {"query 9": {"z": 1}}, stranger)
    page = sign_in("viewer").get(pair_at(case, two(case)[0], stranger))
    assert page.status_code == 200
    assert 'id="confusion"' not in page.content.decode()


@pytest.mark.parametrize("query", ["?first=1", "?first=x&second=y", "?first=999999&second=999998"])
def test_unknown_raters_are_not_found(sign_in, case, query):
    client = sign_in("viewer")
    assert client.get(reverse("book_agreement_pair", args=[case.book_id]) + query).status_code == 404
    one, _ = two(case)
    assert client.get(pair_at(case, one, one)).status_code == 404
    assert client.get(reverse("book_agreement_rater", args=[case.book_id, make_user().pk])).status_code == 404


def test_scores_by_one_rater(sign_in, case):
    run_now(make_attempt(case))
    one, _ = two(case)
    expected, *_ = measure_rater_scores([case], case.book, one)
    page = sign_in("viewer").get(reverse("book_agreement_rater", args=[case.book_id, one.pk]))
    assert expected.difference
    assert f'data-difference="{difference(expected.difference)}"' in page.content.decode()
    texts = [text for text, _ in page.context["rows"][0]["queries"]]
    assert texts == [f"query {number}" for number in range(1, 5)]  # the only ones that Three has rated, last


def test_cases_with_many_queries_are_not_scored_on_the_page(sign_in, case, monkeypatch):
    monkeypatch.setattr(rater_pages, "MAX_QUERIES", 5)
    page = sign_in("viewer").get(reverse("book_agreement_rater", args=[case.book_id, two(case)[1].pk]))
    assert "agreement --scores" in page.content.decode()
    assert "rows" not in page.context


def test_the_page_says_who_is_a_machine(sign_in, case):
    User.objects.filter(name="Three").update(kind=User.Kind.MACHINE)
    assert "Machine" in sign_in("viewer").get(at(case)).content.decode()


def test_pages_of_the_book_and_of_a_rater_lead_here(sign_in, case):
    client = sign_in("editor")
    assert at(case) in client.get(reverse("book_conflicts", args=[case.book_id])).content.decode()
    rater, _ = two(case)
    own = reverse("book_rater", args=[case.book_id, rater.pk])
    alone = reverse("book_agreement_rater", args=[case.book_id, rater.pk])
    assert alone in client.get(own).content.decode()
    assert own in client.get(alone).content.decode()
    assert own not in sign_in("rater").get(alone).content.decode()


def test_raters_who_judged_documents_twice_are_compared_with_themselves(sign_in, people, case):
    query = case.book.queries.first()
    RepeatedPair.objects.create(
        query=query, doc_id="a", rater=people["rater"], wait=0, verdict="rated", first_value=2, value=0
    )
    assert 'data-repeats="1"' in sign_in("viewer").get(at(case)).content.decode()
