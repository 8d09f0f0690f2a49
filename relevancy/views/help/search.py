"""The search over the sections of the guides and the words of the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from relevancy.glossary import Term, terms

from .guides import Guide, Section, guides_by_name

MAX_TEXT = 191
MAX_HITS = 30
EXCERPT = 240  # characters
TITLE_WEIGHT = 20  # of a word in the title of a section, against one in its text
GUIDE_WEIGHT = 5  # of a word in the title of the guide


@dataclass(frozen=True)
class Hit:
    """A section that contains words of a search. excerpt: in pieces, `(text, whether it is one of the words)`."""

    guide: Guide
    section: Section
    excerpt: Sequence[tuple[str, bool]]


def find_sections(text: str) -> list[Hit]:
    """Returns the sections with the most words of a text, the best one first."""
    patterns = _patterns(text)
    rated = []
    for guide in guides_by_name().values():
        for section in guide.sections:
            fields = ((section.title, TITLE_WEIGHT), (guide.title, GUIDE_WEIGHT), (section.text, 1))
            counts = [sum(weight * len(pattern.findall(field)) for field, weight in fields) for pattern in patterns]
            rated.append((sum(map(bool, counts)), sum(counts), guide, section))
    most = max((words for words, *_ in rated), default=0)
    best = sorted((row for row in rated if most and row[0] == most), key=lambda row: -row[1])
    return [Hit(guide, section, _excerpt(section.text, patterns)) for *_, guide, section in best[:MAX_HITS]]


def find_terms(text: str) -> list[Term]:
    """Returns the words of the glossary that contain all words of a text."""
    patterns = _patterns(text)
    return [term for term in terms.values() if patterns and all(pattern.search(term.word) for pattern in patterns)]


def mark_found(html: SafeString, text: str) -> SafeString:
    """Marks the words of a text in the HTML of a guide."""
    found = re.compile("|".join([r"&#?\w+;", *[pattern.pattern for pattern in _patterns(text)]]), re.IGNORECASE)
    pieces = re.split(r"(<[^>]+>)", html)
    pieces[::2] = [
        found.sub(lambda match: match[0] if match[0].startswith("&") else f"<mark>{match[0]}</mark>", piece)
        for piece in pieces[::2]
    ]
    return mark_safe("".join(pieces))


def _patterns(text: str) -> list[re.Pattern[str]]:
    """Returns what finds each word of a text, in singular and plural, where a word begins."""
    words = dict.fromkeys(re.findall(r"\w+", text.lower()))
    return [re.compile(rf"\b{word[:-1] if len(word) > 3 and word.endswith('s') else word}\w*", re.I) for word in words]


def _excerpt(text: str, patterns: Sequence[re.Pattern[str]]) -> list[tuple[str, bool]]:
    """Returns the part of a text around the first of the words: from the beginning of its sentence if that is near."""
    first = min((match.start() for pattern in patterns if (match := pattern.search(text))), default=0)
    earliest = max(0, first - EXCERPT // 2)
    if sentence := text.rfind(". ", earliest, first) + 1:
        start, before = sentence + 1, ""
    else:
        start, before = (text.find(" ", earliest) + 1, "… ") if earliest else (0, "")
    part = text[start : start + EXCERPT]
    return list(_split(before + (f"{part.rpartition(' ')[0]} …" if start + EXCERPT < len(text) else part), patterns))


def _split(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, bool]]:
    """Yields the pieces of a text, with those that are searched for marked."""
    end = 0
    for match in re.finditer("|".join(pattern.pattern for pattern in patterns) or r"(?!)", text, re.IGNORECASE):
        yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield text[end:], False
