"""Finding `const k = 10` in a script."""

import pytest

from relevancy.sandbox import check, depth, find_declared_depth


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
    ],
)
def test_find_declared_depth(script: str, expected: int | None) -> None:
    assert find_declared_depth(script) == expected


def test_find_declared_depth_tries_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0

    def count(script: str) -> None:
        nonlocal tried
        tried += 1
        check(script)

    monkeypatch.setattr(depth, "check", count)
    assert find_declared_depth("k = 1;" * 10_000 + "const k = 10;") is None
    assert tried == depth.MAX_TRIED + 1
