"""Scripts that do not compile are refused with the place in the user's own text."""

import pytest

from relevancy.sandbox import ScriptError, batch, check
from relevancy.sandbox.errors import ChildTooSlow

from .queries import one


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
def test_check_says_where(script: str, message: str, line: int | None, column: int | None) -> None:
    for refused in (lambda: check(script), lambda: one(script)):
        with pytest.raises(ScriptError) as caught:
            refused()
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
def test_check_runs_nothing(script: str) -> None:
    check(script)


@pytest.mark.parametrize(
    ("script", "message"), [("", "empty"), (" \n\t", "empty"), ("x" * 100_001, "100,001 characters")]
)
def test_check_refuses_nothing_and_too_much(script: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        check(script)


def test_a_script_that_cannot_be_compiled_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise ChildTooSlow

    monkeypatch.setattr(batch.Child, "send", never)
    with pytest.raises(ScriptError, match="could not be compiled within"):
        one("setScore(1)")


def test_check_a_huge_nesting_harms_nothing() -> None:
    with pytest.raises(ScriptError):
        check("(" * 90_000)
    for nested in ("(" * 45_000 + ")" * 45_000, "a=>" * 30_000 + "1", "`${" * 20_000 + "}`" * 20_000):
        for refused in (check, one):
            with pytest.raises(ScriptError, match="The script has brackets in brackets"):
                refused(nested)
    check("setScore(1)")
