"""Finding `const k = 10` in a script."""

import pytest

from relevancy.sandbox import depth, find_declared_depth


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("const k = 10;", 10),
        ("let k=5", 5),
        ("var a = 1, k = 20, b;", 20),
        ("// a\n/* b */ var k = 3\nsetScore(k)", 3),
        ("const k = 10 // ten", 10),
        ("const k = 10 /* ten */;", 10),
        ("const\n  k = 10;", 10),
        ("const f = function () { const k = 5; };\nconst k = 7;", 7),
        ("const f = () => { return /[}/]{/.test('}') }; const k = 4;", 4),
        ("const a = `${'}'} { const k = 1; `; let k = 8;", 8),
        ("const a = 6 / 2; const k = 9; const b = 4 / 2;", 9),
        ("const kk = 3; const k = 2;", 2),
        ("", None),
        ("k = 10;", None),
        ("const topK = 10;", None),
        ("const k = Math.min(10, docs.length);", None),
        ("const k = 10 + 1;", None),
        ("const k = 10\n + 1;", None),
        ("const k = 2.5;", None),
        ("const k = 0;", None),
        ("const k = '10';", None),
        ("// const k = 10;", None),
        ("/* const k = 10; */", None),
        ("const text = 'const k = 10;';", None),
        ("`\nconst k = 10;\n`", None),
        ("function f() { var k = 10; }", None),
        ("{ let k = 10; }", None),
        ("for (let k = 10; k; k--) {}", None),
        ("const { k = 10 } = options;", None),
        ("const a = { k: 10 };", None),
        ("'unclosed const k = 10", None),
        ("/* unclosed\nconst k = 10;", None),
        ("let i = 0; i++ / 2; const k = 10;", 10),
        ("i++ / a[0]; const s = `\n`; const r = /\\/[/\\]]/u; const k = 10;", 10),
        ("const a = 1; /[/; const k = 10;\nconst k = 5", None),
        ("const k = 10n;", None),
        ("const k =", None),
        ("const k", None),
        ("const text = 'k = 3;'; k = 4; function f(k = 5, a) { const k2 = 6; } let k = 7;", 7),
        ("const k = Math.max(a.k = 3, 4);", None),
        ("for (var k = 1; k <= 10; k++) {}", None),
        ("for (var i = 0, k = 3; i < k; i++) {}", None),
        ("if (x) { var k = 5; }", None),
    ],
)
def test_find_declared_depth(script: str, expected: int | None) -> None:
    assert find_declared_depth(script) == expected


HOSTILE = {
    "classes that are not closed": "/[",
    "slashes that divide": "a++ / ",
    "regular expressions": "= /a[/]/g;",
    "escapes": "/\\",
    "comments that are not closed": "/*",
    "comments": "/**/",
    "stars": "/*" + "*" * 50,
    "strings": "=''",
    "quotes in strings": "'\\'",
    "template literals": "`\\``",
    "declarations": "let a;",
    "declarations without names": "const ",
    "lines": "\n/",
    "brackets": "([{",
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_find_declared_depth_looks_at_each_character_a_few_times(part: str) -> None:
    script = part * (20_000 // len(part)) + "/["
    scanner = depth.Scanner(script)
    tokens = list(scanner.top_level_tokens())
    assert 0 < scanner.steps <= 3 * len(script)
    assert len(tokens) <= len(script)


def test_find_declared_depth_looks_at_each_token_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    class Counted(list[depth.Token]):
        def __getitem__(self, index: object) -> object:  # type: ignore[override]
            nonlocal looked_at
            looked_at += 1
            return super().__getitem__(index)  # type: ignore[index]

    monkeypatch.setattr(depth, "list", Counted, raising=False)
    assert find_declared_depth("let a, b;" * 1000 + "let " * 1000 + "k = 10") == 10
    assert looked_at < 10_000
