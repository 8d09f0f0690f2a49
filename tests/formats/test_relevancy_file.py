"""Our own files of cases and books: what is exported, imported and refused."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relevancy import books, queries, ratings, runs, scores
from relevancy.formats import BadFile, parse_case, read_book
from relevancy.formats.cases import book_import, case_import
from relevancy.formats.relevancy import writer
from relevancy.models import Book, Case, Endpoint, Rating, RatingChange, Scorer, ScorerVersion, User
from relevancy.queries import QueryDetails
from tests.factories import (
    make_attempt,
    make_case,
    make_endpoint,
    make_user,
    query_of,
    run_now,
    script_of,
    stored_scores,
)

from .relevancy_files import BOOK, CASE, as_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def exported(case: Case, by: User) -> bytes:
    with io.BytesIO("".join(writer.export_case(case=case, by=by)).encode()) as file:
        return file.read()


def imported(content, by: User, endpoint: Endpoint | None = None) -> Case:
    plan = case_import.plan_case(content=parse_case(as_file(content)), by=by)
    return case_import.import_case(plan=plan, by=by, endpoint=endpoint)


@pytest.fixture
def admin():
    return make_user("Root", superuser=True)


TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=12).filter(
    str.strip
)
VERDICTS = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 3.0]), st.sampled_from(["cannot", "later"]))
QUERIES = st.dictionaries(
    TEXT.map(queries.normalize).filter(bool),
    st.tuples(
        TEXT.map(str.strip),
        st.lists(st.sampled_from(["head", "tail", "Ä b"]), unique=True, max_size=2),
        st.dictionaries(st.sampled_from("xy"), st.one_of(st.integers(-5, 5), TEXT), max_size=2),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
        st.dictionaries(st.tuples(st.sampled_from(["a", "=b", "c d"]), st.integers(0, 2)), VERDICTS, max_size=5),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=QUERIES)
def test_an_exported_case_is_imported_as_it_was(admin, contents):
    case = make_case(list(contents), owner=admin, measures=("P@5",))
    ScorerVersion.objects.update(scale=[[0, ""], [1, ""], [2, ""], [3, ""]])
    details = {
        text: QueryDetails(notes=notes, tags=tags, options=options, weight=weight)
        for text, (notes, tags, options, weight, _) in contents.items()
    }
    queries.set_details(case=case, details=details)
    raters = [
        make_user(),
        User.objects.create(email=f"{make_user().pk}@raters.invalid", kind="file", name="Zoë"),
        admin,
    ]
    now = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    rows = [
        ratings.NewRating(
            query_of(case, text).pk,
            doc_id,
            raters[rater].pk,
            "rated" if isinstance(verdict, float) else verdict,
            verdict if isinstance(verdict, float) else None,
            "why" * rater,
            now - timedelta(seconds=rater),
        )
        for text, (*_, verdicts) in contents.items()
        for (doc_id, rater), verdict in verdicts.items()
    ]
    books.store_ratings(ratings=rows, by=admin, source="test")
    template = '{"query": "#$query##", "boost": ##boost##, "mm": "##mm##"}'
    attempt = make_attempt(case, template=template, knobs={"boost": 2, "mm": "2<75%"})
    script_of(attempt).default = ("a", "=b")
    run = run_now(attempt)
    runs.pin(run=run)
    first = exported(case, admin)
    copy = imported(first, admin, attempt.endpoint)
    assert exported(copy, admin) == first
    for line in (line.strip().rstrip(",") for line in first.decode().split("\n") if '"document"' in line):
        assert json.dumps(json.loads(line), ensure_ascii=False) == line  # one form for each rating
    (version,) = ScorerVersion.objects.used_by(copy)
    for scored in (run, copy.runs.get()):
        scores.rescore_run(scored, [version])
    assert stored_scores(run) == stored_scores(copy.runs.get())


def test_an_exported_case_has_a_line_for_each_rating_and_no_address(admin):
    endpoint = make_endpoint(admin, credentials={"password": "hidden-word"}, headers={"X-Key": "hidden-key"})
    case = make_case(["phone"], {"phone": {"a": 1, "b": 2}}, owner=admin)
    run = run_now(make_attempt(case, endpoint))
    runs.pin(run=run)
    text = exported(case, admin).decode()
    lines = [line.strip().rstrip(",") for line in text.splitlines() if '"rating"' in line]
    assert [json.loads(line)["document"] for line in lines] == ["a", "b"]
    assert json.loads(lines[0])["rater"] == admin.email
    assert "hidden" not in text and endpoint.url not in text
    assert list(json.loads(text))[:3] == ["format", "kind", "name"]


def test_a_pinned_run_keeps_the_mapping_it_was_made_with(admin):
    run = {**CASE["runs"][0], "config": {**CASE["runs"][0]["config"], "mapping": {"hits": "items"}}}
    case = imported({**CASE, "runs": [run]}, admin)
    assert case.runs.get().config["mapping"] == {"hits": "items"}
    assert json.loads(exported(case, admin))["runs"][0]["config"]["mapping"] == {"hits": "items"}


def test_a_rater_whom_the_exporter_does_not_know_is_named_without_address(admin):
    owner = make_user("Olga")
    case = make_case(["phone"], {"phone": {"a": 1}}, owner=admin)
    text = exported(case, owner).decode()
    assert '"rater": "Root"' in text and admin.email not in text


def test_raters_of_one_name_stay_different(admin):
    case = make_case(["phone"], owner=admin)
    others = [User.objects.create(email=f"{number}@x.invalid", kind="machine", name="Bot") for number in range(2)]
    for value, rater in enumerate(others, 1):
        Rating.objects.create(
            query=query_of(case, "phone"),
            doc_id="a",
            rater=rater,
            value=value,
            created_at=case.created_at,
            updated_at=case.created_at,
        )
    copy = imported(exported(case, admin), admin)
    rated = Rating.objects.filter(query__book=copy.book).order_by("value").values_list("rater__name", "value")
    assert list(rated) == [("Bot", 1.0), ("Bot (2)", 2.0)]


def test_import_keeps_numbers_settings_runs_and_adjudications(admin):
    ratings = [{**CASE["ratings"][0], "is_adjudication": True}, *CASE["ratings"][1:]]
    case = imported({**CASE, "ratings": ratings}, admin)
    assert (case.name, case.book.name) == ("Shop: phones", "Phones")
    assert (case.book.rule, case.book.guidelines, case.book.raters_are_blind) == ("mean", "Two\nlines", False)
    assert case.options == {"country": "de"}
    assert [row.query.text for row in case.case_queries.present()] == ["phone", "case"]
    assert case.case_queries.first().weight == 2
    attempt = case.attempts.get()
    assert (attempt.number, attempt.template) == (2, '{\n"query": "#$query##"}')
    assert (attempt.endpoint.url, attempt.endpoint.archived_at is None) == ("", False)
    run = case.runs.get()
    assert (run.number, run.status, run.done, run.name) == (4, "complete", 1, "Baseline")
    assert run.pinned_at is not None and run.rankings.get().hits == [["a", 1.5, {"id": "a"}]]
    rated = Rating.objects.filter(query__book=case.book)
    assert rated.get(rater__name="Ann").is_adjudication
    assert rated.get(rater__name="Ann").updated_at == datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert set(RatingChange.objects.values_list("source", flat=True)) == {"import"}
    scores.rescore_run(run, ScorerVersion.objects.used_by(case))
    assert stored_scores(run)


def test_import_uses_the_endpoint_that_was_chosen_and_a_scorer_of_the_same_definition(admin):
    endpoint = make_endpoint(admin)
    first = imported(CASE, admin, endpoint)
    second = imported(CASE, admin, endpoint)
    assert {case.attempts.get().endpoint for case in (first, second)} == {endpoint}
    assert first.scorers.get() == second.scorers.get()
    assert Scorer.objects.filter(name__startswith="nDCG of phones").count() == 1


def test_a_user_imports_no_attempts_on_endpoints_of_others(admin):
    with pytest.raises(ValidationError, match="may not use the endpoint"):
        imported(CASE, make_user("Olga"), make_endpoint(admin))
    assert not Case.objects.exists()


def test_an_exported_book_is_imported_as_it_was(admin):
    content = read_book(as_file(BOOK))
    book = book_import.import_book(content=content, by=admin)
    with io.BytesIO("".join(writer.export_book(book=book, by=admin)).encode()) as file:
        first = file.read()
    copied = as_file(first)
    copy = book_import.import_book(content=read_book(copied), by=admin)
    with io.BytesIO("".join(writer.export_book(book=copy, by=admin)).encode()) as file:
        assert file.read() == first
    assert (copy.rule, copy.relevant_from, copy.guidelines) == ("mean", 1.0, "Two\nlines")
    assert copy.raters_are_blind is False
    phone = copy.queries.get(text="phone")
    assert (phone.information_need, phone.reference_answer) == ("Any phone", "A **phone**.")


def linked_case() -> Case:
    """Five queries, of which two are linked, and two others of which one was removed from the case."""
    case = make_case(5, {"query 3": {"a": 2}, "query 4": {"b": 3}}, measures=("P@5",))
    ScorerVersion.objects.update(scale=[[0, ""], [1, ""], [2, ""], [3, ""]])
    first, second, third, fourth = (query_of(case, f"query {number}") for number in (1, 2, 3, 4))
    queries.link(queries=[first, second])
    queries.link(queries=[third, fourth])
    queries.remove(case_query=case.case_queries.get(query=fourth))
    return case


def links_in(book: Book) -> set[frozenset[str]]:
    return {
        frozenset(link.queries.values_list("text", flat=True)) for link in book.query_links.prefetch_related("queries")
    }


def grades_of(case: Case) -> dict[str, dict[str, float]]:
    texts = {
        case_query.query_id: case_query.query.text for case_query in case.case_queries.present().select_related("query")
    }
    return {texts[pk]: grades for pk, grades in scores.known_grades(case.book, list(texts)).items()}


LINKS = {frozenset({"query 1", "query 2"}), frozenset({"query 3", "query 4"})}


def test_linked_queries_of_a_case_are_imported(admin):
    case = linked_case()
    copy = imported(exported(case, admin), admin)
    assert links_in(copy.book) == {frozenset({"query 1", "query 2"})}
    assert grades_of(copy) == grades_of(case)
    assert json.loads(exported(copy, admin))["links"] == json.loads(exported(case, admin))["links"]
    assert "links" not in json.loads(exported(make_case(2), admin))


def test_a_file_of_an_earlier_version_whose_linked_queries_share_ratings_is_read(admin):
    """The ratings stay where they are, also those of a query that only the book has."""
    ratings = [
        {"query": text, "document": doc_id, "rater": "ann@example.com", "rating": rating, "at": "2026-01-01T00:00:00Z"}
        for text, doc_id, rating in (("phone", "a", 2), ("phones", "b", 1))
    ]
    members = {
        "queries": [{"query": "phone"}, {"query": "phones", "in_case": False}],
        "links": [{"queries": ["phone", "phones"], "shares_ratings": True}],
        "ratings": ratings,
    }
    head = {key: value for key, value in CASE.items() if key not in {*members, "runs", "rankings"}}
    plan = case_import.plan_case(content=parse_case(as_file({**head, **members})), by=admin)
    assert any("Copy ratings" in remark for remark in plan.remarks)
    case = case_import.import_case(plan=plan, by=admin, endpoint=None)
    assert grades_of(case) == {"phone": {"a": 2}}
    assert links_in(case.book) == {frozenset({"phone", "phones"})}
    assert books.copy_to_linked(query=case.book.queries.get(text="phones"), by=admin) == 1
    assert grades_of(case) == {"phone": {"a": 2, "b": 1}}


def test_linked_queries_of_a_book_are_imported_and_copied(admin):
    case = linked_case()
    with io.BytesIO("".join(writer.export_book(book=case.book, by=admin)).encode()) as file:
        copied = as_file(file.read())
    book = book_import.import_book(content=read_book(copied), by=admin)
    assert links_in(book) == LINKS
    settings_of_book = books.BookSettings.of(case.book)
    assert links_in(books.copy_book(book=case.book, name="Copy", settings=settings_of_book, by=admin)) == LINKS


def zipped(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, json.dumps(CASE))
    return packed.getvalue()


def test_a_zip_file_with_a_case_is_read():
    assert parse_case(as_file(zipped("case.json"))).name == "Shop: phones"


def changed(key, number, **members):
    return {**CASE, key: [{**row, **members} if position == number else row for position, row in enumerate(CASE[key])]}


BAD = [
    (json.dumps(CASE).encode()[:-40], "not valid JSON"),
    ({**CASE, "format": "relevancy/2"}, "format: this must be 'relevancy/1', not 'relevancy/2'"),
    ({**CASE, "format": "relevancy-case/1"}, "format: .*export it again"),
    (BOOK, "kind: this file contains a book, not a case"),
    ({**CASE, "extra": 1}, "'extra' is not a member"),
    (changed("ratings", 1, rating=7), r"ratings\[2\].rating: 7 is not on the scale of the book, 0 to 2"),
    (
        changed("ratings", 1, rater="Ann"),
        r"ratings\[2\].document: 'a' is rated for the second time for 'phone' by 'Ann'",
    ),
    (changed("ratings", 1, query="other"), r"ratings\[2\].query: 'other' is not one of the queries"),
    (changed("ratings", 1, ratng=1), r"ratings\[2\]: 'ratng' is not a member"),
    (changed("ratings", 2, rating=1), r"ratings\[3\]: a rating has either"),
    (changed("ratings", 0, at="yesterday"), r"ratings\[1\].at: 'yesterday' is not a time"),
    (changed("ratings", 0, at="2026-01-01T00:00:00"), r"ratings\[1\].at: .*offset"),
    (changed("ratings", 0, rater="ann\0@x"), r"ratings\[1\]: .*U\+0000"),
    (changed("ratings", 0, document=""), r"ratings\[1\].document"),
    (changed("queries", 1, query="phone"), r"queries\[2\].query: the query 'phone' occurs for the second time"),
    (changed("attempts", 0, endpoint="Mine"), r"attempts\[1\].endpoint: 'Mine' is not one"),
    (changed("attempts", 0, parent=1), r"attempts\[1\].parent: there is no attempt 1"),
    (changed("scorers", 0, script=["x"]), r"scorers\[1\]: a scorer must have"),
    (changed("runs", 0, attempt=3), r"runs\[1\].attempt: there is no attempt 3"),
    (changed("runs", 0, status="running"), r"runs\[1\].status: 'running'"),
    (changed("rankings", 0, hits=["a"]), r"rankings\[1\].hits: a hit must be like"),
    (changed("rankings", 0, run=5), r"rankings\[1\].run: there is no run 5"),
    ({**CASE, "rankings": CASE["rankings"] * 2}, r"rankings\[2\].query: run 4 has two rankings"),
    ({**CASE, "book": {**CASE["book"], "rule": "best"}}, "book.rule: 'best' is not a rule"),
    ({**CASE, "book": {**CASE["book"], "scale": "0-3"}}, "book.scale"),
    ({**CASE, "book": {**CASE["book"], "relevant_from": 9}}, "book.relevant_from: 9 is not on the scale"),
    ({key: value for key, value in CASE.items() if key != "book"}, "^book: this is missing"),
    ({**CASE, "links": [{"queries": ["phone"]}]}, r"links\[1\].queries: 1 query cannot be linked"),
    ({**CASE, "links": [{"queries": ["phone", "shoe"]}]}, r"links\[1\].queries: 'shoe' is not one of the queries"),
    ({**CASE, "links": [{"queries": ["phone", "phone"]}]}, r"links\[1\].queries: 'phone' is linked for the second"),
    ({**CASE, "links": [{"queries": ["phone", "case"], "shares": 1}]}, r"links\[1\]: 'shares' is not a member"),
    ({**CASE, "links": [{"queries": ["phone", 7]}]}, r"links\[1\].queries\[2\]: this must be a valid string, not 7"),
    ({**CASE, "ratings": ["a"]}, "ratings: this must be a list of objects"),
    (changed("ratings", 0, rating="x"), r"ratings\[1\].rating: this must be a valid number, not 'x'"),
    (changed("ratings", 0, rating=True), r"ratings\[1\].rating: this must be a valid number, not True"),
    (changed("ratings", 0, rating=10**400), r"ratings\[1\].rating: this must be a .* number, not 1000"),
    (changed("ratings", 0, rater="a\nb"), r"ratings\[1\].rater: 'a\\nb'"),
    (changed("attempts", 0, depth=1.5), r"attempts\[1\].depth: this must be a valid integer, not 1.5"),
    (
        changed("runs", 0, rows=2**70),
        r"runs\[1\].rows: this must be less than or equal to 1000000000, not 1180591620717411303424",
    ),
    (
        changed("runs", 0, config={"depth": 10, "url": "x"}),
        r"runs\[1\].config: 'url' is not a member. .*depth, endpoint",
    ),
    ({**CASE, "book": 3}, "^book: this must be an object, not 3"),
    ({**BOOK, "kind": "case", "book": {**CASE["book"], "scales": []}}, "^book: 'scales' is not a member. .*scale"),
    (zipped("../case.json"), "contains the path '../case.json'"),
    (b'{"format": "relevancy/1", "name": "\xff"}', "not valid UTF-8"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_bad_file_is_refused_with_location_and_value(content, message):
    with pytest.raises(BadFile, match=message) as caught:
        parse_case(as_file(content))
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("key", "members", "message"),
    [
        ("attempts", {"template": ["{"]}, "Attempt 2"),
        ("attempts", {"depth": 5000}, "Attempt 2: 5000 results"),
        ("queries", {"tags": ["x" * 500]}, "phone"),
        ("runs", {"name": "x" * 500}, "Run 4"),
    ],
)
def test_what_cannot_be_stored_changes_nothing(admin, key, members, message):
    with pytest.raises(ValidationError, match=message):
        imported(changed(key, 0, **members), admin)
    assert not Case.objects.exists() and not Book.objects.exists() and not User.objects.filter(kind="file").exists()


def test_null_is_the_same_as_a_missing_member_and_a_number_may_be_an_id():
    ratings = [{**CASE["ratings"][0], "document": 7, "note": None, "at": None}, *CASE["ratings"][1:]]
    runs = [{**CASE["runs"][0], "reason": None, "config": {**CASE["runs"][0]["config"], "mapping": None}}]
    content = parse_case(as_file({**CASE, "ratings": ratings, "runs": runs}))
    _, rating = next(content.book.ratings.read())
    assert (rating.doc_id, rating.note, rating.rated_at) == ("7", "", None)
    assert "mapping" not in content.runs[0].config


def test_a_zip_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("relevancy.formats.relevancy.reader.MAX_BYTES", 1000)
    with pytest.raises(BadFile, match="too large"):
        parse_case(as_file(zipped("case.json")))
