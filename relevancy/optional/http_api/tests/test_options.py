"""Options of an `http` endpoint and their expressions."""

from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, OptionError, UnreadableResponse
from relevancy.optional.http_api.engine.expressions import MAX_LENGTH, compile_expression
from relevancy.optional.http_api.engine.options import OPTIONS, example_template, parse_options
from tests.contracts.subject import LOOPBACK


class TestCompileExpression:
    @pytest.mark.parametrize(
        ("text", "column"),
        [
            ("a[", 3),
            ("a..b", 3),
            ("a b", 3),
            ("a#", 2),
            ('a."b', 3),
            ("a[?x==", 7),
            ("a.nosuch(@)", 3),
            ("a | length(@, b)", 5),
        ],
    )
    def test_errors_name_the_column(self, text: str, column: int) -> None:
        with pytest.raises(OptionError) as caught:
            compile_expression("hits", text)
        assert (caught.value.option, caught.value.column) == ("hits", column)
        assert f"The option hits: column {column}: " in str(caught.value)

    def test_unknown_function_lists_the_functions(self) -> None:
        with pytest.raises(OptionError, match=r"tolower\(\) is not a function.*to_number.*to_string"):
            compile_expression("id", "tolower(id)")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "empty"),
            ("a" * (MAX_LENGTH + 1), "301 characters"),
            ("[@,@][]|" * 3 + "[@,@][]", "too complex"),
            ("to_string(@)|" * 6 + "to_string(@)", "too complex"),
            ("[@,@,@,@,@][]|[@,@,@,@,@][]|[@,@,@,@,@][]", "too complex"),
            ("join(',', `" + str([""] * 101).replace("'", '"').replace(" ", "") + "`)", "characters|too complex"),
            ("join(a, b)", "literal string"),
            ("&a", "outside of a function"),
            ("{a: not_null(&b)}", "outside of a function"),
            ("sort_by(a, b)[?c == &d]", "outside of a function"),
        ],
    )
    def test_rejects(self, text: str, message: str) -> None:
        with pytest.raises(OptionError, match=message):
            compile_expression("hits", text)

    def test_deep_expressions_are_safe(self) -> None:
        for text in ("(" * MAX_LENGTH, "!" * (MAX_LENGTH - 1) + "a", "a" + "[0]" * 90, "[" * MAX_LENGTH):
            try:
                compile_expression("hits", text).find({"a": 1})
            except OptionError as error:
                assert "hits" in str(error)

    @pytest.mark.parametrize("text", ["join(', ', a)", "{id: a, title: b, all: [c, d]}", "merge(@, {x: map(&y, z[])})"])
    def test_ordinary_expressions_are_accepted(self, text: str) -> None:
        assert compile_expression("document", text).text == text

    def test_find(self) -> None:
        assert compile_expression("hits", "reverse(sort_by(a, &n))[*].n").find({"a": [{"n": 2}, {"n": 5}]}) == [5, 2]
        assert compile_expression("hits", '"@graph"').find({"@graph": []}) == []

    def test_find_with_arguments_of_the_wrong_type(self) -> None:
        with pytest.raises(UnreadableResponse, match=r"“length\(a\)” \(option total\) cannot be applied.*length\(\)"):
            compile_expression("total", "length(a)").find({"a": 3})


class TestParseOptions:
    def test_defaults(self) -> None:
        parsed = parse_options({"hits": "@"})
        assert (parsed.method, parsed.id, parsed.total, parsed.template, parsed.test_query) == (
            "GET",
            None,
            None,
            None,
            "test",
        )
        assert (parsed.rows_parameter, parsed.start_parameter, parsed.lookup) == ("", "", "")

    def test_options_of_other_engines_are_ignored(self) -> None:
        assert parse_options({"hits": "@", "read_timeout": 5, "query_options": {}}).method == "GET"

    def test_empty_and_null_are_defaults(self) -> None:
        parsed = parse_options({"hits": " a ", "score": "", "total": None, "method": "post"})
        assert (parsed.hits.text, parsed.score, parsed.total, parsed.method) == ("a", None, None, "POST")

    @pytest.mark.parametrize(
        ("options", "option", "message"),
        [
            ({}, "hits", "list of hits is missing"),
            ({"hits": 3}, "hits", "it is 3, not a string"),
            ({"hits": "a", "method": "PUT"}, "method", "Choose GET or POST"),
            ({"hits": "a", "id": "b["}, "id", "column 3"),
            ({"hits": "a", "total": "b["}, "total", "column 3"),
            ({"hits": "a", "score": "b["}, "score", "column 3"),
            ({"hits": "a", "document": "b["}, "document", "column 3"),
            ({"hits": "a", "rows_parameter": "a b"}, "rows_parameter", "“a b” is not the name"),
            ({"hits": "a", "start_parameter": "a..b"}, "start_parameter", "not the name"),
            ({"hits": "a", "template": "q=#$nonsense##"}, "template", "Line 1, column 3"),
            ({"hits": "a", "method": "POST", "template": '{"q": }'}, "template", "Line 1, column 7"),
            ({"hits": "a", "template": '{"q": 1}'}, "template", "cannot be sent with GET"),
            ({"hits": "a", "lookup": "products/{id}"}, "lookup", "Begin with / or ?"),
            ({"hits": "a", "lookup": "//elsewhere.example/{id}"}, "lookup", "Begin with / or ?"),
            ({"hits": "a", "lookup": "http://elsewhere.example/{id}"}, "lookup", "Begin with / or ?"),
            ({"hits": "a", "lookup": "/products"}, "lookup", "once"),
            ({"hits": "a", "lookup": "/a/../{id}"}, "lookup", "not the path"),
        ],
    )
    def test_rejects(self, options: dict[str, Any], option: str, message: str) -> None:
        with pytest.raises(OptionError) as caught:
            parse_options(options)
        assert caught.value.option == option
        assert message in str(caught.value)

    def test_connect_checks_options(self) -> None:
        with pytest.raises(OptionError):
            engines.connect(Connection("http", "http://127.0.0.1:1/x", LOOPBACK, options={"hits": "a["}))

    def test_example_template(self) -> None:
        assert example_template({}) == "q=#$query##"
        assert example_template({"method": "POST"}) == '{"query": "#$query##"}'
        assert example_template({"method": "POST", "template": " q=#$query## "}) == "q=#$query##"

    def test_every_option_has_a_label_and_help(self) -> None:
        assert all(info.label and info.help for info in OPTIONS)
        assert [info.name for info in OPTIONS if info.required] == ["hits"]
