"""How people write feature sets: a feature begins with its name and a colon; lines that are indented belong to it.

title_bm25: {"match": {"title": "#$query##"}}
phrase:
  {"match_phrase": {"title": "#$query##"}}
popularity: number popularity
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from relevancy import engines

MAX_FEATURES = 100
MAX_NAME = 60
_START = re.compile(rf"([A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME - 1}}})\s*:(.*)", re.DOTALL)
_NUMBER = re.compile(r"number\s+([^\s,+]+)")  # commas and plus signs separate displayed fields


@dataclass(frozen=True)
class Feature:
    """A feature of a query and a document.

    kind: `query`: the score of a query in the engine's own language, `text`. `number`: a field of the document, whose name is `text`.
    """

    name: str
    kind: Literal["query", "number"]
    text: str


class FeatureError(ValueError):
    """A text that is not a list of features. line: counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"Line {line}: {message}")
        self.line = line


class UnsupportedFeature(FeatureError):
    """A feature whose values the engine cannot log."""


def parse_features(text: str, engine: type[engines.Engine]) -> list[Feature]:
    """Returns the features of a text. Raises `FeatureError`."""
    features: list[Feature] = []
    lines: list[int] = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not features:
                raise FeatureError("write the name of a feature and a colon first, such as “title_bm25: …”.", number)
            last = features.pop()
            features.append(Feature(last.name, last.kind, f"{last.text}\n{line.strip()}".strip()))
            continue
        match = _START.fullmatch(line)
        if match is None:
            raise FeatureError(
                f"“{line[:40]}” does not begin with a name and a colon. A name has letters, digits and _, at most {MAX_NAME}.",
                number,
            )
        if any(feature.name == match[1] for feature in features):
            raise FeatureError(f"the name {match[1]} is used twice.", number)
        features.append(Feature(match[1], "query", match[2].strip()))
        lines.append(number)
    if not features:
        raise FeatureError("there is no feature yet. Write one on each line, such as “title_bm25: …”.", 1)
    if len(features) > MAX_FEATURES:
        raise FeatureError(f"there are {len(features)} features; {MAX_FEATURES} are possible.", lines[MAX_FEATURES])
    return [_check(feature, line, engine) for feature, line in zip(features, lines, strict=True)]


def format_features(features: Sequence[Feature]) -> str:
    """Returns the text that `parse_features` reads."""
    texts = [f"number {feature.text}" if feature.kind == "number" else feature.text for feature in features]
    return "\n".join(
        f"{feature.name}:" + ("\n  " + text.replace("\n", "\n  ") if "\n" in text else f" {text}")
        for feature, text in zip(features, texts, strict=True)
    )


def _check(feature: Feature, line: int, engine: type[engines.Engine]) -> Feature:
    if number := _NUMBER.fullmatch(feature.text):
        if not engine.abilities.lookup:
            raise UnsupportedFeature(
                f"{engine.label} does not return documents by id, so their fields cannot be logged.", line
            )
        return Feature(feature.name, "number", number[1])
    if not feature.text:
        raise FeatureError(f"{feature.name} has no query.", line)
    if not engine.abilities.clause_scores:
        raise UnsupportedFeature(
            f"{engine.label} does not return the scores of single queries. Use an attempt on a search engine that does"
            + (f", or features such as “{feature.name}: number FIELD”." if engine.abilities.lookup else "."),
            line,
        )
    try:
        template = engine.parse_clause(feature.text)
    except engines.TemplateError as error:
        raise FeatureError(f"{feature.name}: {error}", line) from None
    if template.knobs:
        raise FeatureError(f"{feature.name} has the knob {template.knobs[0]}. Write a number instead.", line)
    return feature
