"""A case exported for Quepid: exactly the members that it stores, and the same case again here."""

import io
import json

import pytest
from django.utils import timezone

from relevancy import engines, queries, ratings, runs
from relevancy.formats import exports, file_formats
from relevancy.formats.cases import case_attempts, case_import
from relevancy.models import Case, Endpoint, Rating, Role, ScorerVersion, Verdict
from relevancy.optional.quepid import case_export
from relevancy.optional.quepid.case import parse_case
from tests.factories import make_attempt, make_case, make_endpoint, make_team, make_user, query_of, run_now

from .quepid_files import CASE, ENDPOINT, QUERY, TRY, as_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def exported(case, by=None):
    """The file as a user of the API gets it, and what it says about what is left out."""
    with exports.files_of(Case)["quepid"].open(case, by or case.owner) as file:
        text = file.read().decode()
    content = json.loads(text)
    sentences = []
    assert "".join(case_export.export_case(case=case, by=by or case.owner, left_out=sentences)) == text
    assert content.pop("left_out") == sentences
    return content, " ".join(sentences)


def imported(content, by, endpoint=None):
    plan = case_import.plan_case(content=parse_case(as_file(content)), by=by)
    return case_import.import_case(plan=plan, by=by, endpoint=endpoint)


@pytest.fixture
def ann():
    return make_user("Ann")


@pytest.fixture
def solr(ann):
    options = {"query_options": {"sort": "score"}}
    url = "http://127.0.0.1:1/solr/shop"
    return make_endpoint(
        ann,
        engine="solr",
        url=url,
        options=options,
        per_minute=30,
        credentials={"username": "reader", "password": "secret"},
    )


def test_what_came_from_quepid_goes_back_as_it_came(ann, solr):
    case = imported(CASE, ann, solr)
    content, left_out = exported(case)
    assert set(content) == set(CASE)
    assert set(content["try"]) == set(TRY)
    assert set(content["try"]["search_endpoint"]) == set(ENDPOINT)
    assert [set(query) for query in content["queries"]] == [set(QUERY)] * 2
    alien, wars = content["queries"]
    assert (alien["query_text"], alien["options"], alien["notes"]) == ("alien", {"lang": "en"}, None)
    assert (wars["information_need"], wars["notes"], wars["options"]) == ("The films", "Both trilogies", {})
    assert wars["ratings"] == [
        {"doc_id": "7", "rating": 1, "user_email": "ben@example.com"},
        {"doc_id": "a", "rating": 3, "user_email": "ann@example.com"},
    ]
    assert alien["arranged_at"] < alien["arranged_next"] == wars["arranged_at"]
    assert content["scorer"]["name"] == "nDCG@10"
    assert {key: content["try"][key] for key in ("escape_query", "field_spec", "name", "number_of_rows")} == {
        key: TRY[key] for key in ("escape_query", "field_spec", "name", "number_of_rows")
    }
    assert content["try"]["query_params"] == TRY["query_params"].replace("\r\n", "\n")
    assert content["try"]["curator_variables"] == TRY["curator_variables"]
    endpoint = content["try"]["search_endpoint"]
    assert (endpoint["endpoint_url"], endpoint["search_engine"]) == ("http://127.0.0.1:1/solr/shop/select", "solr")
    assert (endpoint["requests_per_minute"], endpoint["options"]) == (30, {"sort": "score"})
    assert "secret" not in json.dumps(content) and "reader" not in json.dumps(content)
    assert "ben@example.com" in left_out and "Credentials" in left_out


@pytest.mark.parametrize(
    ("engine", "template", "written"),
    [
        ("solr", "# ##\nq=#$query##&mm=##mm##&ps=##ps##", "# ##\nq=#$query##&mm=2<75%25 9<%223%26&ps=##ps##"),
        ("elasticsearch", '{"a": ##mm##, "b": "x ##mm##", "c": ##ps##}', r'{"a": "2<75% 9<\"3&", "b": "x 2<75% 9<\"3&", "c": ##ps##}'),
    ],
)  # fmt: skip
def test_texts_of_knobs_are_written_into_the_template(ann, engine, template, written):
    case, endpoint = make_case(1, owner=ann), make_endpoint(ann, engine=engine, url="http://127.0.0.1:1/solr/shop")
    knobs = {"mm": '2<75% 9<"3&', "ps": 3}
    attempt = make_attempt(case, endpoint, template=template, knobs=knobs)
    content, left_out = exported(case)
    assert content["try"]["query_params"] == written
    assert content["try"]["curator_variables"] == [{"name": "ps", "value": 3}]
    assert "The knobs mm: their texts are in the query template." in left_out
    syntax = runs.attempts.syntax(endpoint, template)
    rendered = [
        engines.parse_template(text, syntax).render(query="q", options={}, knobs=attempt.knobs)
        for text in (template, written)
    ]
    assert rendered[0] == rendered[1]


def test_a_case_comes_back_equal_where_the_format_holds_it(ann, solr):
    case = imported(CASE, ann, solr)
    content, _ = exported(case)
    again = imported(content, ann, solr)
    assert exported(again)[0] == content
    assert again.book.scale == case.book.scale
    assert list(ScorerVersion.objects.used_by(again)) == list(ScorerVersion.objects.used_by(case))
    values = [
        list(
            Rating.objects.filter(query__book=book)
            .order_by("doc_id")
            .values_list("query__text", "doc_id", "rater", "value")
        )
        for book in (case.book, again.book)
    ]
    assert values[0] == values[1]


def test_the_file_is_recognised_and_its_endpoint_found(ann, solr):
    case = imported(CASE, ann, solr)
    with exports.files_of(Case)["quepid"].open(case, ann) as file:
        assert [
            file_format.name for file_format in file_formats.detect(file_formats.read_head(io.BytesIO(file.read())))
        ] == ["quepid-case"]
    content = parse_case(as_file(exported(case)[0]))
    assert case_attempts.matching_endpoint(content.endpoint, ann) == solr


def test_several_ratings_become_the_grade_without_a_name(ann):
    case = make_case(["a"], {"a": {"1": 3, "2": 1}}, owner=ann)
    ben = make_user("Ben")
    query = query_of(case, "a")
    ratings.rate(query=query, doc_id="1", value=0, by=ben, note="why")
    ratings.rate(query=query, doc_id="3", value=2, by=ben)
    now = timezone.now()
    Rating.objects.create(query=query, doc_id="4", verdict=Verdict.CANNOT, rater=ben, created_at=now, updated_at=now)
    content, left_out = exported(case)
    grades = {row["doc_id"]: (row["rating"], row["user_email"]) for row in content["queries"][0]["ratings"]}
    assert grades == {"1": (0, None), "2": (1, "ann@example.com"), "3": (2, None)}
    for words in (
        "1 document that several people rated",
        "1 rating whose address",
        "1 rating “cannot judge”",
        "notes of 1 rating",
    ):
        assert words in left_out, left_out


def test_what_quepid_cannot_hold_is_said(ann, solr):
    case = make_case(["a", "b"], owner=ann, measures=("nDCG@10", "P@5"))
    query = query_of(case, "a")
    queries.change_details(
        case=case,
        changes={"a": {"tags": ["x"], "weight": 2, "information_need": "need " * 100}, "b": {"options": {"k": 1}}},
    )
    attempt = make_attempt(case, solr, template="q=#$query##", name="n" * 60, fields="id " + "field " * 100)
    runs.pin(run=run_now(make_attempt(case)))
    content, left_out = exported(case)
    assert content["try"]["name"] == "n" * 50
    assert len(content["try"]["field_spec"]) <= 500 and content["try"]["field_spec"].endswith("field")
    assert len(content["queries"][0]["information_need"]) <= 255
    assert content["queries"][1]["options"] == {"k": 1}
    assert content["scorer"]["name"] == "NDCG_CUT@10"
    for words in (
        "Further scorers: P@5",
        "NDCG_CUT@10 counts them as 0",
        f"1 other attempt: the file has attempt {attempt.number}",
        "The end of the name of the attempt",
        "The end of the displayed fields",
        "The tags of 1 query",
        "The weights of 1 query",
        "The end of 1 information need longer than 255",
        "1 pinned run",
    ):
        assert words in left_out, left_out
    assert query.information_need == ""


def test_a_script_and_its_scale_come_back(ann):
    code = "setScore(docRating(0) ? 100 : 0)"
    file = {**CASE, "scorer": {"name": "First", "code": code, "scale": "0,1,2,3"}}
    ann.is_superuser = True
    ann.save()
    content, left_out = exported(imported(file, ann))
    assert content["scorer"] == {
        "name": "First",
        "code": code,
        "scale": [0, 1, 2, 3],
        "scale_with_labels": {"0": "", "1": "", "2": "", "3": ""},
    }
    assert "create a scorer “First” there" in left_out
    assert exported(imported(content, ann))[0] == content


def test_an_engine_that_quepid_does_not_have(ann):
    case = make_case(["a"], owner=ann)
    make_attempt(case)
    content, left_out = exported(case)
    assert content["try"] is None
    assert "no engine “scripted”" in left_out
    assert "no case without a try" in exported(make_case(["a"]))[1]


def test_the_address_is_for_those_who_may_use_it(ann, solr):
    case = imported(CASE, ann, solr)
    team = make_team(Vera=Role.VIEWER)
    case.teams.add(team)
    viewer = team.memberships.get().user
    content, left_out = exported(case, viewer)
    assert content["try"]["search_endpoint"]["endpoint_url"] == ""
    assert "address of the endpoint" in left_out
    assert content["queries"][1]["ratings"][1]["user_email"] is None
    assert Endpoint.objects.count() == 1


@pytest.mark.parametrize(
    ("url", "engine", "expected"),
    [
        ("http://h/solr/shop/", "solr", "http://h/solr/shop/select"),
        ("http://h/solr/shop/query", "solr", "http://h/solr/shop/query"),
        ("http://h/solr/shop/browse", "solr", "http://h/solr/shop/browse"),
        ("http://h/search/solr/select", "solr", "http://h/search/solr/select"),
        ("http://h/shop", "es", "http://h/shop/_search"),
        ("http://h/shop/_search", "os", "http://h/shop/_search"),
        ("http://h/api/find", "searchapi", "http://h/api/find"),
    ],
)
def test_addresses_have_the_handler_that_quepid_needs(url, engine, expected):
    assert case_export._search_url(url, engine) == expected
