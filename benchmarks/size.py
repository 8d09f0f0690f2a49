"""How much there is to read: tokens of the core and of the optional apps, and what makes a reader jump.

    python benchmarks/size.py [--packages] [--list]

Tokens are names, numbers, strings and operators (`tokenize`) of the Python of `relevancy/` without migrations and tests: formatting,
comments and blank lines do not change them. Short private functions: module-level, named `_…`, at most three lines after the
docstring, used once. Places of a field: lines of code that name `max_drop`, a field of a schedule, in the app of schedules.
`--packages` lists the tokens of each package, `--list` the short private functions.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "relevancy"
COUNTED = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)
MAX_CORE, MAX_ALL = 420_000, 510_000
MAX_SHORT_FUNCTIONS, MAX_PLACES, MAX_DECISIONS = 40, 5, 32


def modules() -> list[Path]:
    """Returns the Python files of the package without migrations and the tests of optional apps."""
    paths = (
        path for path in PACKAGE.rglob("*.py") if not {"migrations", "tests"} & set(path.relative_to(PACKAGE).parts)
    )
    return sorted(paths)


def package_of(path: Path) -> str:
    """Returns the package a file belongs to; that of an optional app with its name."""
    parts = path.relative_to(PACKAGE).parts
    return "/".join(parts[:2]) if parts[0] == "optional" else parts[0]


def count_tokens(text: str) -> int:
    return sum(token.type in COUNTED for token in tokenize.generate_tokens(io.StringIO(text).readline))


def short_functions(text: str) -> Iterator[str]:
    """Yields the private functions of a module that are used once and have at most three lines."""
    tree = ast.parse(text)
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("_") or uses[node.name] != 1:
            continue
        has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
        first = node.body[1 if has_docstring else 0]
        if (node.end_lineno or 0) - first.lineno + 1 <= 3:
            yield node.name


def count_places(text: str, field: str) -> int:
    """Returns how many lines of code name a field, as a name or as a string of its own."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.string in (field, f'"{field}"')})


def show(label: str, figure: int, limit: int | None = None) -> None:
    target = "" if limit is None else f"   target at most {limit:,}: {'ok' if figure <= limit else 'MISSED'}"
    print(f"{label:<40} {figure:9,}{target}")


def main() -> None:
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("--packages", action="store_true")
    line.add_argument("--list", action="store_true")
    chosen = line.parse_args()
    texts = {path: path.read_text(encoding="utf-8") for path in modules()}
    tokens: Counter[str] = Counter()
    for path, text in texts.items():
        tokens[package_of(path)] += count_tokens(text)
    short = {path: list(short_functions(text)) for path, text in texts.items()}
    optional = sum(count for package, count in tokens.items() if package.startswith("optional/"))
    if chosen.packages:
        for package, count in tokens.most_common():
            print(f"  {count:8,} {package}")
    if chosen.list:
        for path, names in short.items():
            for name in names:
                print(f"  {path.relative_to(ROOT)} {name}")
    schedules = PACKAGE / "optional" / "schedules"
    places = sum(count_places(text, "max_drop") for path, text in texts.items() if path.is_relative_to(schedules))
    migrations = list(PACKAGE.rglob("migrations/[0-9]*.py"))
    decisions = list((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    show("tokens of the core", tokens.total() - optional, MAX_CORE)
    show("tokens of core and optional apps", tokens.total(), MAX_ALL)
    show("short private functions, used once", sum(map(len, short.values())), MAX_SHORT_FUNCTIONS)
    show("places that name max_drop of a schedule", places, MAX_PLACES)
    show("dataclasses", sum(text.count("\n@dataclass") for text in texts.values()))
    show("migrations", len(migrations))
    show("decision records", len(decisions), MAX_DECISIONS)


if __name__ == "__main__":
    main()
