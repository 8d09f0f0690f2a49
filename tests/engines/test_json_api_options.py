"""The options of an `http` endpoint: what is refused, and where it says it is wrong."""

from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import Connection, OptionError, UnreadableAnswer
from relevancy.engines.json_api_expressions import LONGEST, compile_expression
from relevancy.engines.json_api_options import OPTIONS, example_template, read_options
from tests.contracts.stand import LOOPBACK


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
    def test_wrong_ones_say_where(self, text: str, column: int) -> None:
        with pytest.raises(OptionError) as caught:
            compile_expression("hits", text)
        assert (caught.value.option, caught.value.column) == ("hits", column)
        assert f"The option hits: column {column}: " in str(caught.value)

    def test_unknown_function_names_those_there_are(self) -> None:
        with pytest.raises(OptionError, match=r"no function tolower\(\).*to_number.*to_string"):
            compile_expression("id", "tolower(id)")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "empty"),
            ("a" * (LONGEST + 1), "301 characters"),
            ("[@,@][]|" * 3 + "[@,@][]", "builds too much"),
            ("to_string(@)|" * 6 + "to_string(@)", "builds too much"),
            ("[@,@,@,@,@][]|[@,@,@,@,@][]|[@,@,@,@,@][]", "builds too much"),
            ("join(',', `" + str([""] * 101).replace("'", '"').replace(" ", "") + "`)", "characters|builds too much"),
            ("join(a, b)", "plain text"),
            ("&a", "outside of its functions"),
            ("{a: not_null(&b)}", "outside of its functions"),
            ("sort_by(a, b)[?c == &d]", "outside of its functions"),
        ],
    )
    def test_refuses(self, text: str, words: str) -> None:
        with pytest.raises(OptionError, match=words):
            compile_expression("hits", text)

    def test_deep_ones_do_not_break_anything(self) -> None:
        for text in ("(" * LONGEST, "!" * (LONGEST - 1) + "a", "a" + "[0]" * 90, "[" * LONGEST):
            try:
                compile_expression("hits", text).find({"a": 1})
            except OptionError as error:
                assert "hits" in str(error)

    @pytest.mark.parametrize("text", ["join(', ', a)", "{id: a, title: b, all: [c, d]}", "merge(@, {x: map(&y, z[])})"])
    def test_ordinary_ones_pass(self, text: str) -> None:
        assert compile_expression("document", text).text == text

    def test_find(self) -> None:
        assert compile_expression("hits", "reverse(sort_by(a, &n))[*].n").find({"a": [{"n": 2}, {"n": 5}]}) == [5, 2]
        assert compile_expression("hits", '"@graph"').find({"@graph": []}) == []

    def test_find_that_cannot_be_applied(self) -> None:
        with pytest.raises(UnreadableAnswer, match=r"“length\(a\)” \(option total\) cannot be applied.*length\(\)"):
            compile_expression("total", "length(a)").find({"a": 3})


class TestReadOptions:
    def test_defaults(self) -> None:
        read = read_options({"hits": "@"})
        assert (read.method, read.id, read.total, read.template, read.test_query) == ("GET", None, None, None, "test")
        assert (read.rows_parameter, read.start_parameter, read.lookup) == ("", "", "")

    def test_passes_over_what_is_not_its_own(self) -> None:
        assert read_options({"hits": "@", "read_timeout": 5, "query_options": {}}).method == "GET"

    def test_empty_and_null_are_not_given(self) -> None:
        read = read_options({"hits": " a ", "score": "", "total": None, "method": "post"})
        assert (read.hits.text, read.score, read.total, read.method) == ("a", None, None, "POST")

    @pytest.mark.parametrize(
        ("options", "option", "words"),
        [
            ({}, "hits", "where the list of hits stands"),
            ({"hits": 3}, "hits", "must be a text, not 3"),
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
            ({"hits": "a", "lookup": "/a/../{id}"}, "lookup", "no path"),
        ],
    )
    def test_refuses(self, options: dict[str, Any], option: str, words: str) -> None:
        with pytest.raises(OptionError) as caught:
            read_options(options)
        assert caught.value.option == option
        assert words in str(caught.value)

    def test_connect_checks_them(self) -> None:
        with pytest.raises(OptionError):
            engines.connect(Connection("http", "http://127.0.0.1:1/x", LOOPBACK, options={"hits": "a["}))

    def test_example_template(self) -> None:
        assert example_template({}) == "q=#$query##"
        assert example_template({"method": "POST"}) == '{"query": "#$query##"}'
        assert example_template({"method": "POST", "template": " q=#$query## "}) == "q=#$query##"

    def test_every_option_is_explained(self) -> None:
        assert all(info.label and info.help for info in OPTIONS)
        assert [info.name for info in OPTIONS if info.needed] == ["hits"]
