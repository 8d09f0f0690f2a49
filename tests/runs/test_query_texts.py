"""Information needs and reference answers of queries as options of templates."""

import pytest

from relevancy.models import Query
from tests.factories import make_attempt, make_case, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def test_a_template_reads_the_texts_of_a_query_that_it_names():
    case = make_case(["a", "b", "c"])
    Query.objects.filter(text="a").update(reference_answer="The first letter.", information_need="A letter")
    Query.objects.filter(text="b").update(reference_answer="The second letter.")
    case.case_queries.filter(query__text="b").update(options={"reference_answer": "its own option", "lang": "en"})
    attempt = make_attempt(case, template='{"q": "#$query##", "answer": "#$qOption.reference_answer|none##"}')
    run = run_now(attempt)
    options_by_query = {request.query: request.options for request in script_of(attempt).requests}
    assert options_by_query == {
        "a": {"reference_answer": "The first letter."},
        "b": {"reference_answer": "its own option", "lang": "en"},
        "c": {},
    }
    Query.objects.update(reference_answer="changed later")
    assert run.rankings.get(query__text="a").options == {"reference_answer": "The first letter."}


def test_texts_that_a_template_does_not_name_are_not_sent():
    case = make_case(["a"])
    Query.objects.update(reference_answer="secret", information_need="secret")
    attempt = make_attempt(case, template='{"q": "#$query##"}')
    run = run_now(attempt)
    assert [request.options for request in script_of(attempt).requests] == [{}]
    assert run.rankings.get().options == {}
