"""Every fenced block of the guides is executed, or named here with the reason why it is not and with what is checked instead.

A new block needs no entry if it runs as it is: commands of Relevancy, `curl`, Python, JSON, TOML, JavaScript and templates do, in the
order of the guide, in an empty folder. What a guide takes for granted, such as a case, its entry in `PREPARE` makes.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.test import Client
from granian.cli import cli as granian
from pydantic import BaseModel

from relevancy import engines, sandbox
from relevancy.accounts import api_tokens
from relevancy.formats.evaluation import evaluation_json
from relevancy.formats.queries import query_list_csv
from relevancy.formats.relevancy import scorer_file
from relevancy.formats.reports import comparison_json
from relevancy.management.commands import demo, try_scorer
from relevancy.models import ApiToken, Case
from relevancy.statistics import Verdict
from tests.commands.test_compare import RunGain
from tests.factories import SCRIPT, Scripted, make_attempt, make_case, make_user, run_now
from tests.optional import contributed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "relevancy").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

# Blocks whose commands cannot be executed here. Of commands of Relevancy in them, the options are checked all the same.
NOT_EXECUTED = {
    ("README.md", "make demo"): "a server that runs until it is stopped, and all tests; the targets exist",
    ("deploying.md", "# in a clone"): "installs packages from the network, and starts the servers",
    ("deploying.md", "mkdir -p var"): "needs Docker; tests/test_compose_files.py generates these secrets",
    ("deploying.md", "docker compose"): "needs Docker",
    ("deploying.md", "2026-"): "lines of the log; tests/test_logs.py checks their form",
    ("operations.md", "relevancy backup"): "relevancy/optional/backups/tests does, with sites of their own",
    ("operations.md", "head -c"): "relevancy/optional/backups/tests/test_archives.py computes the same digest",
    ("operations.md", "relevancy restore"): "relevancy/optional/backups/tests does, with sites of their own",
    ("operations.md", "# before"): "installs another version",
    ("operations.md", "# /etc/"): "files of cron and systemd",
    ("operations.md", "# with Docker"): "needs Docker",
    ("writing-an-app.md", "relevancy/optional/NAME/"): "names of files",
    ("writing-an-app.md", "from relevancy.hooks"): "adds to pages of the whole process; apps are tested with their own",
    ("writing-a-measure.md", ".venv/bin/pip"): "changes this environment; tests/commands/test_own_measure.py installs",
    ("writing-an-engine.md", ".venv/bin/pip"): "changes this environment; tests/commands/test_own_engine.py installs",
}
# Blocks that another module executes, by guide and language.
EXECUTED_IN = {
    ("api.md", "python"): "tests/api/test_documentation.py",
    ("writing-a-measure.md", "toml"): "tests/commands/test_own_measure.py",
    ("writing-a-measure.md", "python"): "tests/commands/test_own_measure.py",
    ("writing-an-engine.md", "toml"): "tests/commands/test_own_engine.py",
    ("writing-an-engine.md", "python"): "tests/commands/test_own_engine.py",
}
for _executed in contributed("EXECUTED_IN"):
    EXECUTED_IN |= _executed
# The JSON of commands: its members are exactly those of a type.
SHAPES: dict[tuple[str, str], Any] = {
    ("commands.md", '{"case", "attempt"'): evaluation_json.Evaluation,
    ("commands.md", '{"scorer"'): comparison_json.ComparisonResult,
    ("commands.md", '{"run"'): RunGain,
    ("commands.md", '{"value"'): try_scorer.Result,
}
# Other text that guides quote.
TEXTS = {"workbench.md": [",".join(query_list_csv.HEADER) + "\n"]}


@dataclass(frozen=True)
class Block:
    """A fenced block, with the number of its first line."""

    guide: str
    language: str
    text: str
    line: int

    def find(self, table: Mapping[tuple[str, str], Any]) -> Any:
        """Returns the entry of a table by guide and beginning of the text."""
        entries = [
            value for (guide, start), value in table.items() if guide == self.guide and self.text.startswith(start)
        ]
        return entries[0] if entries else None


@dataclass
class Sandbox:
    """What the blocks of a guide share: replaced texts, variables of the shell, names of Python."""

    replaced: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)


def list_blocks(path: Path) -> list[Block]:
    """Returns the fenced blocks of a guide; indented ones, in lists, without their indent."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(
            path.name,
            match[2],
            re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE),
            text.count("\n", 0, match.start()) + 1,
        )
        for match in FENCE.finditer(text)
    ]


def find_parser(words: list[str]) -> ArgumentParser:
    """Returns the parser of a command of Relevancy."""
    command = load_command_class(get_commands()[words[0]], words[0])
    return command.create_parser("relevancy", words[0])


def run_command(words: list[str], stdin: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns what a command of Relevancy prints. An exit status other than 0 is an exception."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    call_command(*words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def send_curl(words: list[str]) -> None:
    """Sends a request of `curl` to the application in this process."""
    parser = ArgumentParser("curl")
    parser.add_argument("url")
    parser.add_argument("-i", action="store_true")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="data")
    parser.add_argument("-F", dest="form")
    parser.add_argument("-o", dest="output")
    options = parser.parse_args(words)
    headers = dict(header.split(": ", 1) for header in options.headers)
    content: Any = (options.data or "").encode()
    content_type = headers.pop("Content-Type", "application/octet-stream")
    client = Client(headers=headers)
    if options.form:
        name, path = options.form.split("=@")
        with Path(path).open("rb") as file:
            response = client.post(options.url, {name: file})
    else:
        response = client.generic(options.method or "GET", options.url, content, content_type)
    content = response.getvalue()
    assert response.status_code < 300, content
    if options.output:
        Path(options.output).write_bytes(content)


def list_lines(text: str) -> Iterator[str]:
    """Yields the commands of a block, without comments; a backslash joins lines."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def run_shell(block: Block, sandbox_: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executes commands; of a transcript (`$ command`) what is printed has to be what follows."""
    text = block.text
    for old, new in sandbox_.replaced.items():
        text = text.replace(old, new)
    text = re.sub(r"\$([A-Z]+)", lambda match: sandbox_.variables.get(match[1], match[0]), text)
    if "$ " in text[:2]:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            printed = run_line(line, monkeypatch)
            assert not expected or printed.strip() == expected.strip()
        return
    for line in list_lines(text):
        run_line(line, monkeypatch)


def run_line(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Executes one command, and returns what it prints if it is one of Relevancy."""
    stdin = ""
    if match := re.fullmatch(r'echo "(.*)" \| (.*)', line):
        stdin, line = f"{match[1]}\n", match[2]
    words = shlex.split(line, comments=True)
    if words[0] == "curl":
        send_curl(words[1:])
        return ""
    assert words[0] == "relevancy", f"No rule for {line!r}: add one, or name the block in NOT_EXECUTED with the reason."
    if words[-1] == "&":  # a server that goes on while the guide does
        find_parser(words[1:]).parse_args(words[2:-1])
        return ""
    return run_command(words[1:], stdin, monkeypatch)


def check_unexecuted(block: Block) -> None:
    """Checks what is not executed: options of commands of Relevancy, of Granian and of make, syntax and imports of Python."""
    if block.language == "python":
        compile(block.text, block.guide, "exec")
        exec("\n".join(re.findall(r"^(?:from|import) .*$", block.text, re.MULTILINE)))
    for line in list_lines(block.text) if block.language == "bash" else ():
        for part in line.split("&&"):
            words = shlex.split(part)
            programs = [Path(word).name for word in words]
            if "relevancy" in programs:
                words = words[programs.index("relevancy") + 1 :]
                if (
                    words[0] in get_commands() or (ROOT / "relevancy" / "optional").exists()
                ):  # not in a copy of the core alone
                    find_parser(words).parse_args(words[1:])
            elif words[:1] == ["granian"]:
                granian.make_context("granian", words[1:])
            elif words[:1] == ["make"]:
                assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def list_members(kind: Any) -> set[str]:
    """Returns the names of a `TypedDict` or a schema, with those of the ones in it."""
    names: set[str] = set()
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            names |= {name, *list_members(field.annotation)}
    if is_typeddict(kind):
        for name, hint in get_type_hints(kind).items():
            names |= {name, *list_members(hint)}
    for part in get_args(kind):
        names |= list_members(part)
    return names


def list_printed(data: Any) -> set[str]:
    """Returns the names of members in JSON data; those of `per_query` are texts of queries."""
    if isinstance(data, list):
        return set().union(*map(list_printed, data))
    names: set[str] = set()
    for name, value in data.items() if isinstance(data, dict) else ():
        names |= {name, *(list_printed([*value.values()]) if name == "per_query" else list_printed(value))}
    return names


def check_shape(text: str, kind: Any) -> None:
    assert set(re.findall(r'"(\w+)"', text)) == list_members(kind)


def run_javascript(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scorer scores a ranking, a mapper maps a response with the members that it reads."""
    if "docsMapper" in block.text:
        mapped = sandbox.map_response(block.text, json.dumps({"total": 1, "results": [{"sku": "a", "name": "A"}]}))
        assert (mapped.error, mapped.total, len(mapped.documents or ())) == ("", 1, 1)
        return
    Path("script.js").write_text(block.text, encoding="utf-8")
    printed = run_command(["try_scorer", "--script", "script.js", "--grades", "3 2 - 1"], "", monkeypatch)
    assert "script.js: score " in printed


def run_block(block: Block, sandbox_: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executes or checks a block by its language."""
    if (kind := block.find(SHAPES)) is not None:
        check_shape(block.text, kind)
    elif block.find(NOT_EXECUTED):
        check_unexecuted(block)
    elif block.language == "bash":
        run_shell(block, sandbox_, monkeypatch)
    elif block.language == "python":
        exec(block.text, sandbox_.names)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "js":
        run_javascript(block, monkeypatch)
    elif block.language == "json" and "#$" in block.text:
        engines.parse_template(block.text, "json")
    elif block.language == "json":
        sandbox_.names.setdefault("json", []).append(json.loads(block.text))
    elif block.text.startswith("PUT /"):
        json.loads(block.text.partition("\n")[2])
    elif "#$query##" in block.text:
        engines.parse_template(block.text, "params")
    else:
        assert block.text in TEXTS.get(block.guide, ()), "A block of text that nothing checks: add it to TEXTS."


def prepare_readme(sandbox_: Sandbox) -> None:
    """The files of the guide; a scripted engine returns what they rate."""
    make_user("Admin", superuser=True)
    make_case(0)  # its scorer is nDCG@10
    SCRIPT["shop"] = Scripted(default=("a", "b"))
    Path("template.txt").write_text('{"query": "#$query##"}', encoding="utf-8")
    Path("ratings.csv").write_text("query,docid,rating\nphone,a,3\ncase,a,2\n", encoding="utf-8")
    sandbox_.replaced["solr http://127.0.0.1:8983/solr/products"] = "scripted shop"


def prepare_commands(sandbox_: Sandbox) -> None:
    """The sample, whose figures the guide prints, and a case Shop with a complete run."""
    demo.load_demo()
    case = make_case(10, {f"query {number}": {"a": 3} for number in range(1, 11)})
    Case.objects.filter(pk=case.pk).update(name="Shop")
    run_now(make_attempt(case))
    Path("house.js").write_text("setScore(avgRating100(10));", encoding="utf-8")
    sandbox_.replaced["attempt:12"] = "attempt:1"


def prepare_files(sandbox_: Sandbox) -> None:
    """The guide evaluates the example as it is in the repository."""
    for path in (ROOT / "examples" / "release-gate").iterdir():
        shutil.copy(path, ".")


def prepare_api(sandbox_: Sandbox) -> None:
    owner = make_user("Ann")
    case = make_case(["star wars"], owner=owner)
    text = api_tokens.create(user=owner, name="docs", scope=ApiToken.Scope.WRITE, days=1)[1]
    Path("ratings.csv").write_text("query,docid,rating\nstar wars,a,3\n", encoding="utf-8")
    etag = Client(headers={"Authorization": f"Bearer {text}"}).get(f"/api/v1/cases/{case.pk}").headers["ETag"]
    sandbox_.variables |= {"TOKEN": text, "SITE": "", "ETAG": etag.replace('"', '\\"')}
    sandbox_.replaced["/cases/1"] = f"/cases/{case.pk}"


def prepare_http(sandbox_: Sandbox) -> None:
    """Nothing answers at the addresses, so that the endpoints are created with a warning."""
    make_user("Admin", superuser=True)
    sandbox_.replaced |= {
        "https://qdrant.example.com:6333": "http://127.0.0.1:9",
        "https://shop.example.com": "http://127.0.0.1:9",
        "api-key=…": "api-key=key",
    }


PREPARE: dict[str, Callable[[Sandbox], None]] = {
    "README.md": prepare_readme,
    "commands.md": prepare_commands,
    "files.md": prepare_files,
    "api.md": prepare_api,
    "http-api.md": prepare_http,
}


@pytest.mark.parametrize(
    "path", [path for path in GUIDES if list_blocks(path)], ids=lambda path: str(path.relative_to(ROOT))
)
def test_every_block_of_a_guide_works(path, tmp_path, monkeypatch, settings):
    folder = tmp_path / "guide"
    folder.mkdir()
    monkeypatch.chdir(folder)
    settings.ENDPOINT_PRIVATE_ALLOWED = True
    state = Sandbox()
    with ExitStack() as surroundings:
        for added in contributed("GUIDE_SURROUNDINGS"):
            if path.name in added:
                surroundings.enter_context(added[path.name](state))
        PREPARE.get(path.name, lambda _: None)(state)
        for block in list_blocks(path):
            if (block.guide, block.language) not in EXECUTED_IN:
                try:
                    run_block(block, state, monkeypatch)
                except BaseException as error:
                    error.add_note(f"{path.relative_to(ROOT)}, line {block.line}")
                    raise
    for checks in contributed("GUIDES"):
        if path.name in checks:
            checks[path.name](state.names)
    if path.name == "scorers.md":
        (exported,) = state.names["json"]
        assert exported["format"] == scorer_file.FORMAT


def test_every_block_has_a_language_and_every_entry_a_block():
    blocks = [block for path in GUIDES for block in list_blocks(path)]
    assert {block.language for block in blocks} <= {"bash", "python", "json", "yaml", "toml", "js", "text"}
    for guide, start in NOT_EXECUTED:
        assert any(block.guide == guide and block.text.startswith(start) for block in blocks), (guide, start)
    for (guide, language), module in EXECUTED_IN.items():
        assert any((block.guide, block.language) == (guide, language) for block in blocks), (guide, language)
        assert guide in (ROOT / module).read_text(encoding="utf-8") or guide.removesuffix(".md") in module


def test_the_json_of_commands_in_the_text_has_the_members_that_are_printed():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    (shape,) = [match for match in re.findall(r"`(\{\"[^`]+\})`", text) if match.count('"') > 6]
    check_shape(shape, Block("commands.md", "json", shape, 0).find(SHAPES))


def test_the_table_of_commands_names_every_command_and_only_options_that_exist():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|", text.partition("\n## ")[0], re.MULTILINE)
    own = {name for name, application in get_commands().items() if application == "relevancy"}
    assert own <= {row.split()[0] for row in rows}
    if not (ROOT / "relevancy" / "optional").exists():  # a copy of the core alone
        rows = [row for row in rows if row.split()[0] in own]
    for row in rows:
        parser = find_parser(row.split()[:1])
        known = set(parser._option_string_actions)
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", row)) <= known, row


def test_the_guide_names_every_verdict() -> None:
    guide = " ".join((ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split())
    assert [verdict.value for verdict in Verdict if f"“{verdict.value}”" not in guide] == []
