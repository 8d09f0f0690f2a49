"""The conditions of rules: which queries match."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from relevancy.queries import normalize
from relevancy.wording import counted

from .models import TagRule
from .regular_expressions import find_matching
from .scripts import find_script

NOT_LATIN = "not Latin"  # the script of a rule that any script but Latin matches
_WORD = re.compile(r"\w+")
Kind = TagRule.Kind


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What conditions look at. total: results in the last complete run; None if the query was not searched there, or in vain."""

    text: str
    options: Mapping[str, Any]
    total: int | None = None


type Matcher = Callable[[Sequence[QueryFacts]], list[bool]]


def build_matcher(kind: str, settings: Mapping[str, Any]) -> Matcher:
    """Returns a function that says for each of many queries whether it matches, and raises `ValidationError` for a pattern that is
    invalid or takes too long.

    settings, by kind: `words`, a list of words or phrases; `minimum` and `maximum`, None for no limit, of word_count, length and
    results; `script`; `pattern` and `ignores_case`; `key` and `value` of an option, whose value is empty for any; `texts` of a list.
    """
    if kind == Kind.PATTERN:
        return lambda queries: find_matching(
            settings["pattern"], [query.text for query in queries], ignores_case=settings["ignores_case"]
        )
    matches = _BUILDERS[kind](settings)
    return lambda queries: [matches(query) for query in queries]


def split_words(text: str) -> list[str]:
    """Returns the words of a text without regard to case and punctuation."""
    text = text.casefold()
    if text.isascii():
        return _WORD.findall(text)
    # Vowel signs of Thai, Devanagari and others are marks, which no \w matches.
    return "".join([char if char.isalnum() or category(char)[0] == "M" else " " for char in text]).split()


def _words(settings: Mapping[str, Any]) -> Callable[[QueryFacts], bool]:
    phrases = [split_words(entry) for entry in settings["words"]]
    single = {words[0] for words in phrases if len(words) == 1}
    longer = [f" {' '.join(words)} " for words in phrases if len(words) > 1]

    def matches(query: QueryFacts) -> bool:
        words = split_words(query.text)
        padded = f" {' '.join(words)} "
        return not single.isdisjoint(words) or any(phrase in padded for phrase in longer)

    return matches


def _within(measure: Callable[[QueryFacts], int | None]) -> Callable[[Mapping[str, Any]], Callable[[QueryFacts], bool]]:
    def build(settings: Mapping[str, Any]) -> Callable[[QueryFacts], bool]:
        low, high = settings["minimum"], settings["maximum"]

        def matches(query: QueryFacts) -> bool:
            value = measure(query)
            return value is not None and (low is None or value >= low) and (high is None or value <= high)

        return matches

    return build


def _script(settings: Mapping[str, Any]) -> Callable[[QueryFacts], bool]:
    wanted = settings["script"]
    if wanted == NOT_LATIN:
        return lambda query: find_script(query.text) not in ("", "Latin")
    return lambda query: find_script(query.text) == wanted


def _option(settings: Mapping[str, Any]) -> Callable[[QueryFacts], bool]:
    path, wanted = settings["key"].split("."), settings["value"]

    def matches(query: QueryFacts) -> bool:
        value: Any = query.options
        for name in path:
            if not isinstance(value, Mapping) or name not in value:
                return False
            value = value[name]
        values = [value, *value] if isinstance(value, list) else [value]
        texts = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values)
        return not wanted or wanted in texts

    return matches


def _list(settings: Mapping[str, Any]) -> Callable[[QueryFacts], bool]:
    texts = {normalize(text).casefold() for text in settings["texts"]}
    return lambda query: query.text.casefold() in texts


_BUILDERS: Mapping[str, Callable[[Mapping[str, Any]], Callable[[QueryFacts], bool]]] = {
    Kind.WORDS: _words,
    Kind.WORD_COUNT: _within(lambda query: len(query.text.split())),
    Kind.LENGTH: _within(lambda query: len(query.text)),
    Kind.DIGIT: lambda settings: lambda query: any(character.isdigit() for character in query.text),
    Kind.SCRIPT: _script,
    Kind.RESULTS: _within(lambda query: query.total),
    Kind.OPTION: _option,
    Kind.LIST: _list,
}


def describe(kind: str, settings: Mapping[str, Any]) -> str:
    """Returns the condition in words: "has 5 words or more"."""
    match kind:
        case Kind.WORDS:
            return f"contains {_listed(settings['words'])}"
        case Kind.WORD_COUNT:
            return f"has {_range(settings, 'word')}"
        case Kind.LENGTH:
            return f"has {_range(settings, 'character')}"
        case Kind.DIGIT:
            return "contains a digit"
        case Kind.SCRIPT:
            return f"most letters are {settings['script']}"
        case Kind.PATTERN:
            return f"matches {settings['pattern']}{'' if settings['ignores_case'] else ', in this case'}"
        case Kind.RESULTS:
            return f"had {_range(settings, 'result')} in the last complete run"
        case Kind.OPTION:
            return f"has the option {settings['key']}" + (f" = {settings['value']}" if settings["value"] else "")
        case _:
            return f"is one of {counted(len(settings['texts']), 'text')}"


def _listed(words: Sequence[str], most: int = 8) -> str:
    rest = len(words) - most
    return " or ".join(f"“{word}”" for word in words[:most]) + (f" or {counted(rest, 'more word')}" if rest > 0 else "")


def _range(settings: Mapping[str, Any], noun: str) -> str:
    low, high = settings["minimum"], settings["maximum"]
    if high == 0:
        return counted(0, noun)
    if low is None:
        return f"at most {counted(high, noun)}"
    if high is None:
        return f"{low:,} {noun}s or more"
    return counted(low, noun) if low == high else f"{low:,} to {counted(high, noun)}"
