"""Quepid's case files: what is read of them, and the case that they become."""

import json
import math

import pytest
from django.core.exceptions import ValidationError

from relevancy import endpoints, scores
from relevancy.formats import BadFile
from relevancy.formats.cases import case_attempts, case_import
from relevancy.models import Attempt, Book, Case, Endpoint, Policy, Rating, RatingChange, Scorer, ScorerVersion, User
from relevancy.optional.quepid import case_export
from relevancy.optional.quepid.case import parse_case
from tests.factories import make_endpoint, make_team, make_user, run_now, script_of

from .quepid_files import CASE, ENDPOINT, OLD_TRY, QUERY, SECOND, TRY, as_file

pytestmark = pytest.mark.django_db


def parsed(**changes):
    return parse_case(as_file({**CASE, **changes}))


def planned(by, **changes):
    return case_import.plan_case(content=parsed(**changes), by=by)


def imported(by, endpoint=None, **changes):
    return case_import.import_case(plan=planned(by, **changes), by=by, endpoint=endpoint)


@pytest.fixture
def ann():
    return make_user("Ann")


def test_parse_case_reads_queries_in_the_order_of_quepid():
    content = parsed()
    assert list(content.book.details) == ["alien", "star wars"]
    first, second = content.book.details.values()
    assert dict(first.options) == {"lang": "en"}
    assert (second.information_need, second.notes) == ("The films", "Both trilogies")
    assert [(row.doc_id, row.value, row.rater) for text, row in content.book.ratings.read() if text == "star wars"] == [
        ("a", 3.0, "ann@example.com"),
        ("7", 1.0, "ben@example.com"),
    ]
    assert any("1 document without a rating was left out" in remark for remark in content.book.remarks)


def test_parse_case_reads_integers_of_any_size_where_only_their_order_matters():
    """Quepid's positions use all of 64 bits, and its options are any JSON."""
    last, first = 2**63 - 1, 2**63 - 2  # the same as floats
    options = {"seed": 10**30, "user": 1853562411209818112}
    queries = [
        {**QUERY, "arranged_at": at, "query_text": str(at), "options": options} for at in (last, first, -(10**40))
    ]
    content = parsed(queries=queries, created_by=10**25)
    assert list(content.book.details) == [str(-(10**40)), str(first), str(last)]
    assert dict(content.book.details[str(-(10**40))].options) == options


def test_parse_case_reads_null_wherever_quepid_has_no_value():
    endpoint = {**dict.fromkeys(ENDPOINT), "search_engine": "solr", "endpoint_url": ENDPOINT["endpoint_url"]}
    attempt = {
        **dict.fromkeys(TRY),
        "curator_variables": [],
        "query_params": "q=#$query##",
        "search_endpoint": endpoint,
    }
    rating = {"doc_id": "a", "rating": None, "user_email": None}
    queries = [{**dict.fromkeys(QUERY), "query_text": "alien", "ratings": [rating]}]
    content = parse_case(
        as_file(
            {**dict.fromkeys(CASE), "case_name": "Shop", "queries": queries, "try": attempt, "scorer": {"name": None}}
        )
    )
    assert (list(content.book.details), content.book.ratings.count) == (["alien"], 0)
    assert (content.attempts[0].depth, content.attempts[0].endpoint.per_minute) == (10, 0)


def test_parse_case_reads_the_try_and_its_endpoint():
    attempt = parsed().attempts[0]
    assert (attempt.name, attempt.depth, attempt.escape, attempt.knobs) == ("Try 4", 20, True, {"boost": 2.5})
    endpoint = attempt.endpoint
    assert (endpoint.name, endpoint.engine, endpoint.per_minute) == ("Shop", "solr", 30)
    assert endpoint.url == "http://127.0.0.1:1/solr/shop/select"
    assert endpoint.credentials == {"username": "reader", "password": "secret"}
    assert endpoint.headers == {"X-Team": "search"}
    assert endpoint.options == {"query_options": {"sort": "score"}}
    assert "secret" not in repr(endpoint)


def test_parse_case_reads_a_try_of_an_older_version():
    attempt = parsed(**{"try": OLD_TRY}).attempts[0]
    assert (attempt.endpoint.engine, attempt.endpoint.url) == ("elasticsearch", "http://127.0.0.1:1/shop/_search")
    assert (attempt.knobs, attempt.escape, attempt.endpoint.problem) == ({"boost": 3.0}, None, "")


def test_parse_case_accepts_the_wrapper_of_the_api_and_a_byte_order_mark():
    content = parse_case(as_file(b"\xef\xbb\xbf" + as_file({"case": CASE}).getvalue()))
    assert (content.name, len(content.book.details)) == ("Shop: phones", 2)


def test_parse_case_keeps_the_order_of_the_file_without_positions():
    content = parsed(queries=[{**QUERY, "arranged_at": None}, SECOND])
    assert list(content.book.details) == ["star wars", "alien"]


def test_parse_case_joins_repeated_queries_and_leaves_out_empty_ones():
    again = {**QUERY, "query_text": " star wars ", "ratings": [{"doc_id": "z", "rating": 2, "user_email": None}]}
    content = parsed(queries=[QUERY, again, {"query_text": " "}])
    assert (list(content.book.details), content.book.ratings.count) == (["star wars"], 3)
    assert "1 repeated query was joined" in " ".join(content.book.remarks)
    assert "1 query without text was left out" in " ".join(content.book.remarks)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"queries": [{**QUERY, "ratings": [{"doc_id": "a", "rating": "good"}]}]},
            r"queries\[1\].ratings\[1\].rating: 'good'",
        ),
        ({"queries": [{**QUERY, "ratings": [{"rating": 2}]}]}, r"queries\[1\].ratings\[1\].doc_id: .*empty"),
        ({"queries": [SECOND, {**QUERY, "query_text": "x" * 3000}]}, r"queries\[2\].*3,000 characters"),
        ({"queries": [{**QUERY, "options": "{"}]}, r"queries\[1\].options: .* this is not valid JSON"),
        ({"queries": [{**QUERY, "options": '{"a": NaN}'}]}, r"queries\[1\].options: .*NaN is not a number"),
        ({"queries": [{**QUERY, "options": '{"a": "\\u0000"}'}]}, r"queries\[1\].options: .*U\+0000"),
        (
            {"queries": [{**QUERY, "ratings": [{"doc_id": "a", "rating": -1}]}]},
            r"queries\[1\].ratings\[1\].rating: -1 is below 0",
        ),
        ({"queries": [{**QUERY, "arranged_at": "first"}]}, r"queries\[1\].arranged_at: 'first' is not a number"),
        (
            {"queries": [{**QUERY, "ratings": [{"doc_id": "a", "rating": 10**400}]}]},
            r"queries\[1\].ratings\[1\].rating: the number 10+.* is too large",
        ),
        ({"try": {**TRY, "number_of_rows": 9155553124819079000}}, "try.number_of_rows: the number 9155553124819079000"),
        ({"queries": "star wars"}, "queries: this must be a list"),
        ({"try": "x"}, "try: this must be an object"),
        ({"try": {**TRY, "number_of_rows": "many"}}, "try.number_of_rows: 'many'"),
        ({"try": {**TRY, "search_endpoint": {**ENDPOINT, "custom_headers": "X"}}}, "custom_headers"),
    ],
)
def test_parse_case_refuses_with_location_and_value(changes, message):
    with pytest.raises(BadFile, match=message):
        parsed(**changes)


def test_parse_case_refuses_two_ratings_of_a_document():
    ratings = [{"doc_id": "a", "rating": 1, "user_email": "x"}, {"doc_id": "a ", "rating": 2, "user_email": "x"}]
    with pytest.raises(
        BadFile, match=r"queries\[1\].ratings\[2\]: document 'a' of query 'star wars' is rated 2 by 'x' here and 1"
    ):
        parsed(queries=[{**QUERY, "ratings": ratings}])


def test_parse_case_refuses_other_json():
    with pytest.raises(BadFile, match="case_name is missing"):
        parse_case(as_file({"name": "Book", "query_doc_pairs": []}))


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("nDCG@10", "nDCG(ideal='uncut')@10"),
        ("NDCG_CUT@10", "nDCG@10"),
        ("CG@10", "CG(gain='linear')@10"),
        ("P@10", "P(denominator='returned')@10"),
        ("AP@10", "AP@10"),
    ],
)
def test_shipped_scorers_become_measures_that_count_unscoreable_queries_as_0(ann, name, measure):
    plan = planned(ann, scorer={"name": name}, queries=[])
    assert [(scorer.definition.measure, scorer.definition.count_unscoreable_as_zero) for scorer in plan.scorers] == [
        (measure, True)
    ]
    assert any("counts a query that cannot be scored as 0" in remark for remark in plan.remarks)


UNCUT = """
const add = (sum, grade, i) => sum + (Math.pow(2, grade) - 1) / Math.log2(i + 2);
const found = [];
eachDoc((doc, i) => { found[i] = hasDocRating(i) ? docRating(i) : 0; }, 10);
const ideal = topRatings(bestDocs.length).reduce(add, 0);
setScore(ideal ? found.reduce(add, 0) / ideal : 0);
"""
FOUR = {"scale": [0, 1, 2, 3], "scale_with_labels": {"0": "Bad", "3": "Top"}}


def test_a_script_of_a_shipped_scorer_is_recognised_by_its_scores(ann):
    plan = planned(ann, scorer={"name": "nDCG@10", "code": UNCUT, **FOUR})
    assert plan.scorers[0].definition.measure == "nDCG(ideal='uncut')@10"
    assert plan.scale == [[0, "Bad"], [1, "Fair"], [2, "Good"], [3, "Top"]]


def test_an_edited_script_of_a_shipped_name_stays_a_script(ann):
    plan = planned(ann, scorer={"name": "nDCG@10", "code": UNCUT.replace("10)", "5)"), **FOUR})
    definition = plan.scorers[0].definition
    assert (definition.measure, definition.output_range) == ("", "1")
    assert any("scores from 0 to 1" in remark for remark in plan.remarks)


def test_a_script_needs_the_right_to_write_scripts(ann):
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": False})
    plan = planned(ann, scorer={"name": "Mine", "code": "setScore(1)", **FOUR})
    assert not plan.scorers
    with pytest.raises(ValidationError, match="Choose a scorer"):
        case_import.import_case(plan=plan, by=ann, endpoint=None)
    assert not Case.objects.exists()


def test_a_scorer_that_is_only_named_has_to_exist_or_be_chosen(ann):
    plan = planned(ann, scorer={"name": "House scorer"})
    assert (list(plan.scorers), plan.scale) == ([], None)
    assert any("House scorer" in remark for remark in plan.remarks)
    chosen = case_import.plan_case(content=plan.content, by=ann, scorer=Scorer.objects.get(name="nDCG@10"))
    assert chosen.scale == [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]


def test_ratings_off_the_scale_widen_it(ann):
    ratings = [{"doc_id": "a", "rating": 4.5, "user_email": None}]
    plan = planned(ann, queries=[{**QUERY, "ratings": ratings}])
    assert [grade for grade, _ in plan.scale] == [0, 1, 2, 3, 4, 5]
    assert any("0–5" in remark for remark in plan.remarks)
    with pytest.raises(BadFile, match="The document 'a' of the query 'star wars' is rated 101"):
        planned(ann, queries=[{**QUERY, "ratings": [{"doc_id": "a", "rating": 101, "user_email": None}]}])


def test_import_case_creates_everything(ann, script):
    endpoint = make_endpoint(ann)
    case = imported(ann, endpoint, **{"try": {**TRY, "query_params": '{"query": "#$query##", "b": ##boost##}'}})
    assert (case.name, case.owner, case.options) == ("Shop: phones", ann, {"country": "de"})
    assert [row.query.text for row in case.case_queries.present()] == ["alien", "star wars"]
    assert case.case_queries.get(query__text="alien").options == {"lang": "en"}
    query = case.book.queries.get(text="star wars")
    assert (query.information_need, query.notes) == ("The films", "Both trilogies")
    attempt = case.attempts.get()
    assert (attempt.depth, attempt.knobs, attempt.endpoint, attempt.name) == (20, {"boost": 2.5}, endpoint, "Try 4")
    assert ScorerVersion.objects.used_by(case)[0].measure == "nDCG(ideal='uncut')@10"
    assert case.book.scale == [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]


def test_import_case_keeps_who_rated(ann):
    case = imported(ann)
    ratings = Rating.objects.filter(query__book=case.book).select_related("rater").order_by("doc_id")
    assert [(rating.doc_id, str(rating.rater), rating.rater.kind) for rating in ratings] == [
        ("7", "ben@example.com", "file"),
        ("a", "Ann", "person"),
    ]
    ben = ratings[0].rater
    assert not ben.is_active
    assert not ben.has_usable_password()
    assert not ben.email.endswith("example.com")
    assert set(RatingChange.objects.values_list("by", "source")) == {(ann.pk, "import")}


def test_people_whom_the_importer_does_not_know_are_not_recognised(ann):
    make_user("Ben")
    assert planned(ann).new_raters == ["ben@example.com"]
    make_team(Ann=4, Ben=2)
    assert planned(ann).known_raters == ["ann@example.com", "ben@example.com"]
    admin = make_user("Root", superuser=True)
    assert planned(admin).known_raters == ["ann@example.com", "ben@example.com"]


def test_the_same_rater_of_two_files_is_one(ann):
    imported(ann)
    imported(make_user("Zoe"))
    assert User.objects.filter(kind="file").count() == 2  # Ben, and Ann for Zoe


def test_a_case_scores_as_in_quepid(ann, script):
    """nDCG with the ideal of all ratings, not cut at 10; a query without ratings counts as 0."""
    ratings = [{"doc_id": f"d{number}", "rating": 3, "user_email": None} for number in range(12)]
    case = imported(
        ann,
        make_endpoint(ann),
        queries=[{**QUERY, "ratings": ratings}, SECOND],
        **{"try": {**TRY, "query_params": "{}"}},
    )
    attempt = case.attempts.get()
    script_of(attempt).default = [f"d{number}" for number in range(10)]
    run_now(attempt)
    version = ScorerVersion.objects.used_by(case)[0]
    score = case.runs.get().case_scores.get(version=version)
    gains = [1 / math.log2(rank + 1) for rank in range(1, 13)]
    assert score.score == pytest.approx(100 * sum(gains[:10]) / sum(gains) / 2)
    assert score.scored == 2


def test_import_case_creates_the_endpoint_of_the_file_with_permission(ann):
    content = parsed(**{"try": {**TRY, "search_endpoint": ENDPOINT}})
    plan = case_import.plan_case(content=content, by=ann)
    endpoint = case_import.build_endpoint(content=content.endpoint, by=ann)
    case = case_import.import_case(plan=plan, by=ann, endpoint=endpoint)
    created = Endpoint.objects.get()
    assert (created.name, created.url, created.owner) == ("Shop", "http://127.0.0.1:1/solr/shop/select", ann)
    assert created.credentials == {"username": "reader", "password": "secret"}
    assert case.attempts.get().escape is True
    assert case_import.build_endpoint(content=content.endpoint, by=ann).name == "Shop 2"
    assert case_attempts.matching_endpoint(content.endpoint, ann) == created
    assert case_attempts.matching_endpoint(content.endpoint, make_user()) is None


def test_import_case_refuses_the_endpoint_of_the_file_without_permission():
    rater = make_user("Ray", can_create_endpoints=False)
    content = parsed()
    endpoint = case_import.build_endpoint(content=content.endpoint, by=rater)
    with pytest.raises(ValidationError) as caught:
        case_import.import_case(plan=case_import.plan_case(content=content, by=rater), by=rater, endpoint=endpoint)
    assert caught.value.messages == [endpoints.CREATE_DENIED]
    assert not Case.objects.exists()
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("engine", "message"), [("vectara", "vectara"), ("static", "snapshot"), ("searchapi", "mapper code")]
)
def test_endpoints_that_cannot_be_created_say_why(ann, engine, message):
    content = parsed(**{"try": {**TRY, "search_endpoint": {**ENDPOINT, "search_engine": engine}}})
    assert message in content.endpoint.problem
    with pytest.raises(ValidationError, match=message):
        case_import.build_endpoint(content=content.endpoint, by=ann)


SEARCH_API = {
    **ENDPOINT, "search_engine": "searchapi", "endpoint_url": "http://127.0.0.1:1/api/search", "api_method": "POST",
    "mapper_code": "docsMapper = function (data) { return data.found };", "test_query": "phone", "options": None,
}  # fmt: skip


def test_the_mapper_code_of_a_search_api_comes_along(ann):
    content = parsed(**{"try": {**TRY, "query_params": '{"q": "#$query##"}', "search_endpoint": SEARCH_API}})
    assert any("mapper script" in remark for remark in content.book.remarks)
    endpoint = case_import.build_endpoint(content=content.endpoint, by=ann)
    case = case_import.import_case(plan=case_import.plan_case(content=content, by=ann), by=ann, endpoint=endpoint)
    stored = Endpoint.objects.get()
    assert stored.engine == "http"
    assert stored.options == {"method": "POST", "mapper": SEARCH_API["mapper_code"], "test_query": "phone"}
    assert stored.headers == {"X-Team": "search"}
    assert case.attempts.get().escape is False
    text = "".join(case_export.export_case(case=case, by=ann))
    again = json.loads(text)["try"]["search_endpoint"]
    for name in ("search_engine", "endpoint_url", "api_method", "mapper_code", "test_query"):
        assert again[name] == SEARCH_API[name]
    assert "mapper code" not in " ".join(json.loads(text)["left_out"])


def test_a_search_api_that_cannot_be_created_says_why(ann):
    content = parsed(**{"try": {**TRY, "search_endpoint": {**SEARCH_API, "api_method": "PUT"}}})
    assert "searched by 'PUT'" in content.endpoint.problem
    content = parsed(**{"try": {**TRY, "search_endpoint": {**SEARCH_API, "mapper_code": "docsMapper = ("}}})
    with pytest.raises(ValidationError, match=r"cannot be created\. Line 1"):
        case_import.build_endpoint(content=content.endpoint, by=ann)
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": False})
    content = parsed(**{"try": {**TRY, "search_endpoint": SEARCH_API}})
    with pytest.raises(ValidationError, match="disabled scripts"):
        case_import.build_endpoint(content=content.endpoint, by=make_user("Ida"))


def test_import_case_is_all_or_nothing(ann):
    endpoint = make_endpoint(ann, engine="elasticsearch", url="http://127.0.0.1:1/shop")
    with pytest.raises(ValidationError, match="Attempt 1"):
        imported(ann, endpoint, **{"try": {**OLD_TRY, "query_params": '{"query": '}})
    for model in (Case, Book, Rating, Attempt):
        assert not model.objects.exists()
    assert not User.objects.filter(kind="file").exists()
    assert "Attempt 1" in case_import.check_attempts(parsed(**{"try": {**OLD_TRY, "query_params": '{"query": '}}))
    assert case_import.check_attempts(parsed()) == ""


def test_the_scorer_of_an_earlier_import_is_used_again(ann):
    first, second = imported(ann), imported(ann)
    assert set(ScorerVersion.objects.used_by(first)) == set(ScorerVersion.objects.used_by(second))
    assert scores.known_grades(first.book, [first.book.queries.get(text="star wars").pk])
