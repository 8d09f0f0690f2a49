"""A case's queries: added, rejected, edited, removed and restored."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import queries
from relevancy.models import CaseQuery, Query, book
from relevancy.models.errors import error_fields
from relevancy.queries import details, pasting
from tests.factories import make_case, query_of

pytestmark = pytest.mark.django_db


def present(case: object) -> list[str]:
    return [
        str(case_query.query.text)
        for case_query in CaseQuery.objects.filter(case=case).present().select_related("query")
    ]


def test_add_in_order_each_once() -> None:
    case = make_case(["b"])
    added = queries.add(case=case, texts=["a", "", "b", "  a  ", "c\r", "\t"])
    assert [entry.query.text for entry in added.added] == ["a", "c"]
    assert sorted(added.repeated) == ["a", "b"]
    assert added.rejected == []
    assert present(case) == ["b", "a", "c"]


def test_add_reports_invalid_lines_and_adds_the_rest() -> None:
    case = make_case(0)
    added = queries.add(case=case, texts=["good", "x" * 2049, "", "bad\x07bell", "half \ud800", "x" * 2048])
    assert [line for line, _ in added.rejected] == [2, 4, 5]
    assert "2,049 characters" in added.rejected[0][1]
    assert "U+0007" in added.rejected[1][1]
    assert present(case) == ["good", "x" * 2048]


@pytest.mark.parametrize(
    "text", ["🙂 emoji", "\"quotes\" 'single'", "<script>alert(1)</script>", "a\\b", "%s {} ##q##", "ß", "ẞ"]
)
def test_add_takes_any_text(text: str) -> None:
    case = make_case([text])
    assert present(case) == [text]


def test_add_texts_that_differ_only_in_form_are_one() -> None:
    case = make_case(["caf\u00e9"])
    assert queries.add(case=case, texts=["cafe\u0301", "Café"]).repeated == ["café"]
    assert present(case) == ["café", "Café"]


def test_add_ten_thousand() -> None:
    case = make_case(0)
    added = queries.add(case=case, texts=(f"query {number}" for number in range(10_000)))
    assert len(added.added) == case.case_queries.present().count() == 10_000
    assert present(case)[-1] == "query 9999"


def test_add_more_than_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries.pasting, "MAX_QUERIES", 3)
    case = make_case(0)
    with pytest.raises(ValidationError, match="more than 3 queries"):
        queries.add(case=case, texts="abcd")
    assert not Query.objects.exists()


def test_add_restores_removed_and_retired_queries_with_their_data() -> None:
    case = make_case(["a", "b"], {"a": {"1": 3}})
    case_query = case.case_queries.get(query__text="a")
    queries.edit(case_query=case_query, text="a", options='{"lang": "en"}', weight=2)
    queries.remove(case_query=case_query)
    Query.objects.filter(text="a").update(retired_at="2026-01-01T00:00Z")
    assert present(case) == ["b"]
    assert [str(case_query) for case_query in queries.add(case=case, texts=["a"]).added] == ["a"]
    assert present(case) == ["b", "a"]
    case_query.refresh_from_db()
    assert (case_query.options, case_query.weight) == ({"lang": "en"}, 2)
    query = query_of(case, "a")
    assert query.retired_at is None
    assert query.ratings.count() == 1


def test_queries_of_a_book_are_shared() -> None:
    case = make_case(["a"], {"a": {"1": 3}})
    other = make_case(["a", "b"], book_of=case)
    assert Query.objects.count() == 2
    assert query_of(other, "a").ratings.count() == 1
    assert present(case) == ["a"]


def test_remove_and_restore_query() -> None:
    case = make_case(["a", "b", "c"])
    case_query = case.case_queries.get(query__text="b")
    queries.remove(case_query=case_query)
    assert present(case) == ["a", "c"]
    queries.restore(case_query=case_query)
    assert present(case) == ["a", "b", "c"]


def test_queries_are_added_after_those_of_the_case_and_after_the_removed_ones() -> None:
    case = make_case(["a", "b", "c"])
    removed = list(case.case_queries.exclude(query__text="a"))
    for case_query in removed:
        queries.remove(case_query=case_query)
    queries.add(case=case, texts=["d", "e"])
    assert present(case) == ["a", "d", "e"]
    for case_query in removed:
        queries.restore(case_query=case_query)
    assert present(case) == ["a", "b", "c", "d", "e"]


def test_queries_that_are_new_removed_and_present_are_added_in_the_order_of_the_list() -> None:
    case = make_case(["a", "b", "c"])
    queries.remove(case_query=case.case_queries.get(query__text="a"))
    assert [str(row) for row in queries.add(case=case, texts=["d", "b", "a", "e"]).added] == ["d", "a", "e"]
    assert present(case) == ["b", "c", "d", "a", "e"]


def test_query_that_is_renamed_while_details_are_imported_keeps_its_own() -> None:
    case = make_case(["a", "b"])
    renamed = query_of(case, "a")
    find_ids = book.find_ids

    def rename_meanwhile(*arguments: Any) -> Any:
        found = find_ids(*arguments)
        queries.edit(case_query=case.case_queries.get(query=renamed), text="z")
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(book, "find_ids", rename_meanwhile)
        changes = {"a": {"notes": "of a"}, "b": {"notes": "of b"}}
        assert details.change_details(case=case, changes=changes) == 1
    assert set(Query.objects.values_list("text", "notes")) == {("z", ""), ("b", "of b")}


def test_append_of_queries_that_the_case_has_changes_nothing() -> None:
    case = make_case(["a", "b"])
    before = list(case.case_queries.values())
    assert queries.append(case=case, query_ids=[query_of(case, "b").pk, query_of(case, "a").pk]) == []
    assert list(case.case_queries.values()) == before


def test_edit() -> None:
    case = make_case(["a"])
    case_query = case.case_queries.get()
    queries.edit(
        case_query=case_query,
        text=" new\ntext ",
        information_need=" all ",
        notes=" n ",
        tags=["b", " a ", "", "b"],
        options="",
        weight=0.5,
    )
    query = Query.objects.get()
    assert (query.text, query.information_need, query.notes, query.tags) == ("new text", "all", "n", ["a", "b"])
    assert (CaseQuery.objects.get().options, CaseQuery.objects.get().weight) == ({}, 0.5)
    assert queries.add(case=case, texts=["new text"]).repeated == ["new text"]


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"text": "b"}, "text", "already"),
        ({"text": "  "}, "text", "empty"),
        ({"text": "x" * 2049}, "text", "2,048"),
        ({"weight": -1}, "weight", "-1 is not a valid weight"),
        ({"weight": float("nan")}, "weight", "nan"),
        ({"options": '{"a": }'}, "options", "line 1, column 7"),
        ({"options": "[1]"}, "options", "JSON object"),
        ({"options": '{"a": NaN}'}, "options", "NaN"),
        ({"options": '{"a": -Infinity}'}, "options", "-Infinity"),
        ({"options": '{"a": "\\u0000"}'}, "options", "U+0000"),
        ({"options": '{"a": "\\ud800"}'}, "options", "lone surrogate"),
        ({"options": "[" * 200_000}, "options", "nested too deeply"),
    ],
)
def test_edit_refuses_and_changes_nothing(changed: dict[str, object], field: str, message: str) -> None:
    case = make_case(["a", "b"])
    case_query = case.case_queries.get(query__text="a")
    with pytest.raises(ValidationError) as caught:
        queries.edit(case_query=case_query, **{"text": "other", **changed})  # type: ignore[arg-type]
    assert error_fields(caught.value) == [field]
    assert message in str(caught.value)
    assert present(case) == ["a", "b"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a", "b", "", "c"], "more than 2 queries"),
        (["a", "a", "\x07", "a", "", "a", "a"], "more than 5 lines"),
    ],
)
def test_reading_ends_at_the_limit(lines: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasting, "MAX_QUERIES", 2)
    monkeypatch.setattr(pasting, "MAX_LINES", 5)
    rest = iter([*lines, "not read"])
    with pytest.raises(ValidationError, match=message):
        queries.parse_lines(rest)
    assert list(rest) == ["not read"]


def test_pasted_lines_may_end_in_three_ways() -> None:
    pasted = queries.parse_pasted("a\r\nb\rc\n\n\x07\nd")
    assert pasted.texts == ["a", "b", "c", "d"]
    assert [line for line, _ in pasted.rejected] == [5]
