"""Rules of the project that a machine can check and that no linter knows."""

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.template.loader import get_template

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "relevancy"
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not {"migrations", "tests"} & set(path.parts) and path.name != "conftest.py"
)
DOCUMENTS = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *PACKAGE.glob("optional/*/docs/*.md")]
TEMPLATE_FOLDERS = [ROOT / "templates", *sorted(PACKAGE.glob("optional/*/templates"))]
TEMPLATES = sorted(path for folder in TEMPLATE_FOLDERS for path in folder.rglob("*.html"))
LONGEST_TEMPLATE_LINE = 140
VAGUE_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "core",
    "services",
    "service",
    "lib",
    "misc",
    "things",
    "many",
}
# Templates that Django looks up by name.
USED_BY_DJANGO = {
    "admin/base_site.html",
    "admin/index.html",
    "400.html",
    "403.html",
    "403_csrf.html",
    "404.html",
    "500.html",
    "registration/login.html",
} | {
    f"registration/password_{step}.html"
    for step in ("change_form", "change_done", "reset_done", "reset_confirm", "reset_complete")
}
REGISTRIES = [
    *("pypi.org", "pythonhosted.org", "registry.npmjs.org", "npmjs.com", "registry.yarnpkg.com", "rubygems.org"),
    *("crates.io", "repo.maven.apache.org", "repo1.maven.org", "proxy.golang.org", "anaconda.org"),
]


def tracked() -> list[Path]:
    """Every file that git tracks, and untracked files that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def texts() -> Iterator[tuple[str, str]]:
    """Yields `(name, content)` of every tracked text file."""
    for path in tracked():
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def template_name(path: Path) -> str:
    """The name under which a template is loaded."""
    folder = next(folder for folder in TEMPLATE_FOLDERS if path.is_relative_to(folder))
    return str(path.relative_to(folder))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


# --- settings ---


def test_env_example_lists_exactly_the_settings() -> None:
    read = set()
    for node in ast.walk(ast.parse((PACKAGE / "settings.py").read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            word = node.args[0]
            if node.func.id in {"text", "flag", "integer", "words"} and isinstance(word, ast.Constant):
                read.add(f"RELEVANCY_{word.value}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            read |= set(re.findall(r"^RELEVANCY_[A-Z_]+$", node.value))
    shown = re.findall(r"^#?(RELEVANCY_[A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(shown) == read


def test_only_settings_read_the_environment() -> None:
    allowed = {
        "relevancy/settings.py",
        "relevancy/__main__.py",
        "relevancy/wsgi.py",
        "relevancy/asgi.py",
    }  # these name the settings module
    result = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "putenv"}:
                result.add(name_of(path))
            if isinstance(node, ast.ImportFrom) and node.module == "os":
                assert not {name.name for name in node.names} & {"environ", "getenv", "putenv"}, name_of(path)
    assert result <= allowed


# --- names ---


def test_no_package_or_module_has_a_vague_name() -> None:
    names = {part for path in PACKAGE.rglob("*") for part in (path.stem if path.suffix == ".py" else path.name,)}
    assert names & VAGUE_NAMES == set()


def test_no_import_inside_a_function_dodges_a_cycle() -> None:
    result = [
        f"{name_of(path)}:{inner.lineno}"
        for path in MODULES
        for node in functions(path)
        for inner in ast.walk(node)
        if (isinstance(inner, ast.ImportFrom) and (inner.level or (inner.module or "").startswith("relevancy")))
        or (isinstance(inner, ast.Import) and any(name.name.startswith("relevancy") for name in inner.names))
    ]
    assert result == []


# --- templates ---


@pytest.mark.parametrize("path", TEMPLATES, ids=template_name)
def test_template_obeys_the_content_security_policy(path: Path) -> None:
    text = re.sub(r"\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL)
    assert re.findall(r"<script\b(?![^>]*\bsrc=)[^>]*>", text) == []
    if path.name != "report_page.html":  # a file that is read without a server; its own policy allows styles only
        assert re.findall(r"<style\b", text) == []
    assert re.findall(r"\sstyle\s*=", text) == []
    assert re.findall(r"[\s\"']on[a-z]+\s*=", text) == []
    assert re.findall(r"\shx-on[:-]", text) == []
    assert "javascript:" not in text
    get_template(template_name(path))  # the template compiles


def test_template_lines_are_short() -> None:
    result = [
        f"{name_of(path)}:{number} {len(line)}"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]
    assert result == []


def test_templates_write_each_address_once() -> None:
    """The same address for htmx and for browsers without JavaScript comes from one tag; see templatetags/addresses.py."""
    result = []
    for path in TEMPLATES:
        source = path.read_text()
        for attributes in re.findall(r"<(?:a|form|button)\b((?:[^<>{]|\{%.*?%\}|\{\{.*?\}\})*)>", source, re.DOTALL):
            addresses = re.findall(r'\b(?:href|action|formaction|hx-get|hx-post)="(\{%.+?%\})"', attributes)
            result += [f"{name_of(path)}: {address}" for address in addresses if addresses.count(address) > 1]
    assert result == []


def test_links_leave_it_to_the_server_what_is_saved_as_a_file() -> None:
    """With the attribute, browsers save under the name of the file whatever comes: a refusal, or the page for signing in."""
    assert [name_of(path) for path in TEMPLATES if re.search(r"<a\b[^>]*?\sdownload[\s>=]", path.read_text())] == []


def test_every_template_is_used() -> None:
    names = {template_name(path): path for path in TEMPLATES}
    used = set()
    for source in (*MODULES, *TEMPLATES):
        for word in re.findall(r"[\w/.{}-]+\.html", source.read_text()):
            wanted = re.compile(re.sub(r"\\\{.*?\\\}", "[a-z_]+", re.escape(word)))
            used |= {name for name, path in names.items() if path != source and wanted.fullmatch(name)}
    assert set(names) - used - USED_BY_DJANGO == set()
    assert set(names) >= USED_BY_DJANGO


def test_packages_export_what_others_call() -> None:
    """`engines` and `scoring` export for packages of others as well, `admin` what Django loads."""
    if not (PACKAGE / "optional").exists():
        pytest.skip("apps call some of it")
    callers = {
        path: path.read_text()
        for folder in ("relevancy", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    }
    unused = []
    for package in sorted({path.parent for path in PACKAGE.glob("*/__init__.py")}):
        exported = getattr(importlib.import_module(f"relevancy.{package.name}"), "__all__", [])
        if package.name in {"admin", "engines", "scoring"} or not exported:
            continue
        others = "\n".join(text for path, text in callers.items() if package not in path.parents)
        imports = " ".join(re.findall(rf"from relevancy\.{package.name} import (\([^)]+\)|.+)", others))
        called = set(re.findall(rf"\b{package.name}\.(\w+)", others)) | set(re.findall(r"\w+", imports))
        unused += [f"{package.name}.{name}" for name in exported if name not in called]
    assert unused == []


# --- documentation and words ---

ARCHITECTURE = ROOT / "docs" / "architecture.md"


def test_architecture_lists_every_package() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    listed = set(re.findall(r"^\| `relevancy/(\w+)/` \|", ARCHITECTURE.read_text(), re.MULTILINE))
    assert listed - {"optional"} == packages - {"optional"}  # the gate also tests the core without it


def test_architecture_names_existing_paths() -> None:
    paths = re.findall(r"`((?:relevancy|templates|static|tests|docs|benchmarks)/[\w./-]*)`", ARCHITECTURE.read_text())
    assert len(paths) > 20
    assert [path for path in paths if not path.startswith("relevancy/optional/") and not (ROOT / path).exists()] == []


def test_architecture_names_existing_functions() -> None:
    services = "books|cases|endpoints|judging|queries|ratings|runs|scorers|scores|tasks|teams"
    calls = re.findall(rf"`((?:{services})\.\w+(?:\.\w+)?)`", ARCHITECTURE.read_text())
    assert len(calls) > 8
    for call in calls:
        package, *names = call.split(".")
        named = importlib.import_module(f"relevancy.{package}")
        for name in names:
            named = getattr(named, name)


def test_architecture_names_things_that_exist() -> None:
    """Classes, functions, fields and names of addresses, as words of the source."""
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in MODULES)))
    named = set(re.findall(r"`((?:\w+\.)?\w+)`", ARCHITECTURE.read_text().partition("## How to add")[0]))
    assert len(named) > 30
    assert [name for name in named - {"pyproject.toml"} if not words.issuperset(name.split("."))] == []


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        f"{name_of(path)}: {target}"
        for path in DOCUMENTS
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
        if not (path.parent / target).exists()
        and (
            (PACKAGE / "optional").exists() or "relevancy/optional/" not in target
        )  # the gate also tests the core without it
    ]
    assert broken == []


def test_decisions_are_listed_and_linked_from_what_they_explain() -> None:
    decisions = ROOT / "docs" / "decisions"
    records = {path.name[:4]: path for path in decisions.glob("[0-9]*.md")}
    index = (decisions / "README.md").read_text()
    assert [path.name for path in records.values() if f"({path.name})" not in index] == []
    explained = [*MODULES, *(path for path in DOCUMENTS if path.parent.name != "decisions")]
    linked = {number for path in explained for number in re.findall(r"decisions/(\d{4})", path.read_text())}
    assert linked == set(records) or not (PACKAGE / "optional").exists()  # apps explain some of them
    headings = {name_of(path): re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE) for path in records.values()}
    assert {
        name: sections for name, sections in headings.items() if sections != ["Context", "Decision", "Consequences"]
    } == {}


def test_lines_of_documents_fit_an_editor() -> None:
    """Tables, code and what cannot be broken may be longer."""
    prose = {
        path: re.sub(r"^ *```.*?^ *```|^\|.*?$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        for path in DOCUMENTS
    }
    long = [
        f"{name_of(path)}: {line[:60]}"
        for path, text in prose.items()
        for line in text.splitlines()
        if len(line) > 140 and " " in line.strip().removeprefix("- ")
    ]
    assert long == []


# --- what must not be published ---


def test_no_address_of_a_package_registry() -> None:
    pattern = re.compile(r"https?://[\w.-]*(?:" + "|".join(map(re.escape, REGISTRIES)) + ")")
    assert [(name, result[0]) for name, text in texts() if (result := pattern.findall(text))] == []


def test_no_path_of_one_machine() -> None:
    pattern = re.compile(r"(?<![\w.~-])/(?:work|root)/[\w.]+")
    assert [(name, result[0]) for name, text in texts() if (result := pattern.findall(text))] == []


def test_the_two_rules_above_can_fail() -> None:
    path, host = "/".join(("", "work", "main")), "//".join(("https:", "files.pythonhosted.org/x"))
    assert re.search(r"(?<![\w.~-])/(?:work|root)/[\w.]+", f"see {path}")
    assert re.search("|".join(map(re.escape, REGISTRIES)), host)


def test_csv_is_written_where_formulas_are_guarded() -> None:
    writers = [name_of(path) for path in MODULES if re.search(r"csv\.(?:writer|DictWriter)", path.read_text())]
    assert writers == ["relevancy/formats/cells.py"]


# --- requirements and migrations ---


@pytest.mark.parametrize("name", ["base", "dev"])
def test_requirements_are_pinned_with_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert len(lines) > 10
    for line in lines:
        assert re.match(
            r"[a-z0-9][a-z0-9._-]*(\[[a-z0-9,._-]+\])?==[^\s;]+( ; [^\n]*?)? +--hash=sha256:[0-9a-f]{64}", line
        ), line


@pytest.mark.django_db
def test_migrations_are_up_to_date() -> None:
    out = StringIO()
    call_command("makemigrations", check_changes=True, dry_run=True, stdout=out, verbosity=1)
    assert "No changes detected" in out.getvalue()


@pytest.mark.parametrize("text", ["email__iexact", ".check_password("])
def test_people_are_found_and_passwords_are_checked_in_one_way_only(text: str) -> None:
    """See docs/security.md: databases take letters of look-alike addresses for others, and each wrong password has to be counted."""
    sources = [path for path in (ROOT / "relevancy").rglob("*.py") if "migrations" not in path.parts]
    assert [str(path) for path in sources if text in path.read_text()] == []


def test_sessions_of_users_begin_in_one_place() -> None:
    """See docs/security.md: any other place could forget what an account needs besides the password."""
    sources = [path for path in (ROOT / "relevancy").rglob("*.py") if "tests" not in path.parts]
    begins = re.compile(r"auth import (.*, )?login\b|auth\.login\(")
    assert [path.name for path in sources if begins.search(path.read_text())] == ["sign_in.py"]
