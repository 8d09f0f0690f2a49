"""The guides as pages: read once from the files that the repository has, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from relevancy.hooks import Audience, optional_apps

# The guides of the core for each audience, the most useful one first. Those of optional apps follow.
CORE_GUIDES = {
    Audience.RATERS: ("judging",),
    Audience.ENGINEERS: ("workbench", "comparing", "statistics", "scorers", "templates", "files", "commands", "api"),
    Audience.ADMINISTRATORS: ("deploying", "operations", "security"),
    Audience.DEVELOPERS: ("architecture", "writing-an-app", "writing-a-measure", "writing-an-engine"),
}
# Decisions are for developers with the repository. Of a reference to one in brackets, nothing is left.
_DECISION = re.compile(r"\s+\(\[[^\]]*\]\([^)]*decisions/[^)]*\)\)")


@dataclass(frozen=True)
class Section:
    """A guide from one heading to the next. text: what stands below its heading, without marks."""

    id: str
    title: str
    level: int
    text: str


@dataclass(frozen=True)
class Guide:
    """A guide. The first section begins with its title."""

    name: str
    title: str
    html: SafeString
    sections: Sequence[Section]

    @property
    def url(self) -> str:
        return reverse("guide", args=[self.name])


@cache
def guides_by_audience() -> dict[Audience, list[Guide]]:
    """Returns all guides of this site, for each audience."""
    folder = settings.BASE_DIR / "docs"
    paths = {audience: [folder / f"{name}.md" for name in names] for audience, names in CORE_GUIDES.items()}
    for app in optional_apps():
        paths[app.guides_for] += sorted(Path(app.path, "docs").glob("*.md"))
    names = {path.stem for listed in paths.values() for path in listed}
    return {audience: [_read_guide(path, names) for path in listed] for audience, listed in paths.items()}


@cache
def guides_by_name() -> dict[str, Guide]:
    """Returns all guides of this site by their names."""
    return {guide.name: guide for guides in guides_by_audience().values() for guide in guides}


def _read_guide(path: Path, names: set[str]) -> Guide:
    """Reads a guide. names: of the guides that it may lead to."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_DECISION.sub("", path.read_text(encoding="utf-8")))
    sections: list[Section] = []
    for title, level, content in _split(tokens):
        taken = [section.id for section in sections]
        slug = slugify_heading(title)
        number = sum(slug == re.sub(r"-\d+$", "", used) for used in taken)
        section = Section(f"{slug}-{number}" if number else slug, title, level, _plain(content[3:]))
        content[0].attrSet("id", section.id)
        if level > 1:
            link = format_html(' <a class="section-link" href="#{}" aria-label="Link to “{}”">#</a>', section.id, title)
            content[1].children = [*(content[1].children or ()), Token("html_inline", "", 0, content=link)]
        sections.append(section)
    for token in tokens:
        token.attrs.pop("style", None)  # of aligned columns, which the content security policy forbids
        if token.children:
            token.children = list(_rewrite_addresses(token.children, names))
    return Guide(path.stem, sections[0].title, mark_safe(reader.renderer.render(tokens, reader.options, {})), sections)


def _split(tokens: Sequence[Token]) -> Iterator[tuple[str, int, Sequence[Token]]]:
    """Yields the title, the level and the tokens of each section."""
    starts = [position for position, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        yield _plain([tokens[start + 1]]), int(tokens[start].tag[1:]), tokens[start:end]


def _plain(tokens: Sequence[Token]) -> str:
    """Returns the text of tokens without marks."""
    parts = []
    for token in tokens:
        if token.type in {"fence", "code_block"}:
            parts.append(token.content)
        for part in token.children or ():
            parts.append(" " if part.type in {"softbreak", "hardbreak"} else part.content)
        parts.append(" ")
    return " ".join("".join(parts).split())


def slugify_heading(title: str) -> str:
    """Returns the id of a heading, by the rule of GitHub and GitLab: links between the files lead to it there as well."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _rewrite_addresses(parts: Sequence[Token], names: set[str]) -> Iterator[Token]:
    """Leads links between files to their pages and pictures to static files. Of links to other files, only the text is left."""
    is_dropped = False
    for part in parts:
        if part.type == "link_open":
            url, is_dropped = _find_page(str(part.attrs["href"]), names)
            part.attrSet("href", url)
        elif part.type == "image":
            part.attrSet("src", static(f"guides/{PurePosixPath(str(part.attrs['src'])).name}"))
        if not (is_dropped and part.type in {"link_open", "link_close"}):
            yield part
        if part.type == "link_close":
            is_dropped = False


def _find_page(address: str, names: set[str]) -> tuple[str, bool]:
    """Returns where a link of a guide leads on this site, and whether there is no such page."""
    if re.match(r"https?:|mailto:|#", address):
        return address, False
    path, _, section = address.partition("#")
    name = PurePosixPath(path).stem
    is_guide = path.endswith(".md") and name in names and "decisions" not in PurePosixPath(path).parts
    return (f"{reverse('guide', args=[name])}{f'#{section}' if section else ''}", False) if is_guide else ("", True)
