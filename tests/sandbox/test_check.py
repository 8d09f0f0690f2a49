"""Scripts that do not compile are refused with the line and column in the user's text."""

import pytest

from relevancy.sandbox import ScriptError, check, scripts
from relevancy.sandbox.errors import ChildTooSlow

from .script_queries import run_one


@pytest.mark.parametrize(
    ("script", "message", "line", "column"),
    [
        ("let a = 1;\nlet a = 2;", "Identifier 'a' has already been declared", 2, 5),
        ("x = 'é' + ) 3", "Unexpected token ')'", 1, 11),
        ("\n\tvar s = 'abc\n;", "Invalid or unexpected token", 2, 10),
        ("\n if (1) {", "The script ends too early", 2, 10),
        ("setScore(1)); evil(", "Unexpected token ')'", 1, 12),
        ("}); evil(); (function () {", "Unexpected token '}'", 1, 1),
        ("setScore(1);\n}\nfunction more() {", "Unexpected token '}'", 2, 1),
        ("return 1;\n} + function () {", "", None, None),
        ("await 1", "await is only valid", 1, 1),
        ("import x from 'fs'", "Cannot use import statement outside a module", 1, 1),
        ("`${", "The script ends too early", 1, 4),
        ("/* never closed", "Invalid or unexpected token", 1, 1),
        ("with (", "The script ends too early", 1, 7),
        ("super()", "'super' keyword unexpected here", 1, 1),
    ],
)
def test_check_reports_line_and_column(script: str, message: str, line: int | None, column: int | None) -> None:
    for use in (lambda: check(script), lambda: run_one(script)):
        with pytest.raises(ScriptError) as caught:
            use()
        assert str(caught.value).startswith(message) or not message
        assert caught.value.message == str(caught.value)
        if line:
            assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)


@pytest.mark.parametrize(
    "script",
    [
        "for (;;);",
        "throw 1",
        "setScore(1)",
        "return",
        "// '",
        "'</script> \u2028 \ud800'",
        "x = 1 /* a */",
        "yes: for (;;) break yes",
    ],
)
def test_check_does_not_run_the_script(script: str) -> None:
    check(script)


@pytest.mark.parametrize(
    ("script", "message"), [("", "empty"), (" \n\t", "empty"), ("x" * 100_001, "100,001 characters")]
)
def test_check_refuses_empty_and_long_scripts(script: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        check(script)


def test_script_that_cannot_be_compiled_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def time_out(*_: object) -> None:
        raise ChildTooSlow

    monkeypatch.setattr(scripts.Child, "send", time_out)
    with pytest.raises(ScriptError, match="could not be compiled within"):
        run_one("setScore(1)")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ScriptError):
        check("(" * 90_000)
    for nested in ("(" * 45_000 + ")" * 45_000, "a=>" * 30_000 + "1", "`${" * 20_000 + "}`" * 20_000):
        for use in (check, run_one):
            with pytest.raises(ScriptError, match="The script has too many nested brackets"):
                use(nested)
    check("setScore(1)")
