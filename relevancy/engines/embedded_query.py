"""The embedded engine's JSON request: from its keys to a tree of weighted terms, which is a query and can explain itself.

    {"query": "star wars", "fields": {"title": 5, "cast": 2}, "type": "best_fields", "tie": 0.1,
     "minimum_should_match": "2<75%", "phrase": {"title": 3}, "slop": 0, "fuzzy": 1,
     "filter": {"genres": "Comedy", "year": {"gte": 1980}}, "sort": [{"year": "desc"}]}

Each word of the query is looked for in all fields. `best_fields`: the word counts with its best field, plus `tie` times the
others. `most_fields`: its fields are added up. Words, whole-value keyword fields and phrases are added up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tantivy

from .embedded_checks import field_of, number, one_of, refuse
from .embedded_filters import filtered, filters, sort_keys
from .embedded_index import ANALYZER, Description, keyword_text
from .embedded_score import Best, Part, Sum, Weight
from .errors import BadQuery

KEYS = (
    "query", "fields", "type", "tie", "operator", "minimum_should_match", "phrase", "slop", "fuzzy", "filter", "sort",
)  # fmt: skip
_TYPES = ("best_fields", "most_fields")
_FUZZY_WEIGHT = 0.5  # a word that is only similar scores this much; an exact one scores by BM25
_SHORTEST_FUZZY = 4  # of shorter words nearly every one is similar to another

_Q = tantivy.Query
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


@dataclass(frozen=True)
class Plan:
    """What to ask tantivy. `parts`: what scores. `sort`: (field or `_score`, descending) in order of importance."""

    query: tantivy.Query
    parts: Sum | None
    sort: tuple[tuple[str, bool], ...]


def plan(body: Any, index: Description) -> Plan:
    """Read a rendered request. Raises `BadQuery` naming the key, and what is allowed instead."""
    if not isinstance(body, Mapping):
        raise BadQuery("The request must be a JSON object.", todo='For example {"query": "#$query##"}.')
    for key in body:
        one_of(key, KEYS, "there is no key")
    reader = _Reader(body, index)
    limits = filters(body.get("filter"), index)
    sort = sort_keys(body.get("sort", []), index)
    if body.get("query") is None:
        return Plan(filtered(_Q.all_query(), limits), None, sort)
    matching, phrases = reader.matching(), reader.phrases()
    if matching is None:
        return Plan(_Q.empty_query(), None, sort)
    scored = [(_MUST, matching.query()), *((_SHOULD, phrase.query()) for phrase in phrases)]
    query = _Q.boolean_query(scored) if phrases else matching.query()
    return Plan(filtered(query, limits), Sum((matching, *phrases)), sort)


def required(spec: Any, words: int) -> int:
    """How many of `words` words must match, at least one: 2, -1, "75%", "-25%", "2<75%" or "2<-25% 9<-3" (Solr's mm).

    Raises `BadQuery` for anything else.
    """
    text = str(spec).strip()
    if not re.fullmatch(r"(-?\d+%?|(\d+<-?\d+%?)(\s+\d+<-?\d+%?)*)", text):
        refuse("minimum_should_match", spec, 'a number, a percentage such as "75%", or "2<75%"')
    if "<" in text:
        rule = None
        for condition in text.split():
            above, _, then = condition.partition("<")
            if words > int(above):
                rule = then
        if rule is None:
            return max(words, 1)
        text = rule
    amount = int(text.rstrip("%"))
    if text.endswith("%"):
        amount = words * amount // 100 if amount >= 0 else -(words * -amount // 100)
    return min(max(amount if amount > 0 or text[0] != "-" else words + amount, 1), max(words, 1))


class _Reader:
    """The keys of one request, checked as they are read."""

    def __init__(self, body: Mapping[str, Any], index: Description) -> None:
        self.body = body
        self.index = index
        if isinstance(body.get("query"), Mapping | list):
            refuse("query", body["query"], "a text")
        self.text = keyword_text(body.get("query", "")).strip()
        self.words: list[Any] = ANALYZER.analyze(self.text)
        self.fuzzy = self._whole("fuzzy", 0, 2)
        self.slop = self._whole("slop", 0, 100)

    def matching(self) -> Sum | None:
        """What a document must match; None where the query holds no word at all."""
        boosts = self._boosts("fields") or {name: 1.0 for name, kind in self.index.fields.items() if kind == "text"}
        texts = {name: boost for name, boost in boosts.items() if self.index.fields[name] == "text"}
        kind = one_of(self.body.get("type", "best_fields"), _TYPES, "“type” cannot be")
        tie = number("tie", self.body.get("tie", 0), 0, 1)
        minimum = self._minimum(len(self.words))
        parts: list[Part] = [self._whole_value(name, boost) for name, boost in boosts.items() if name not in texts]
        if self.words and texts:
            words = []
            for word in self.words:
                weights = tuple(self._word(name, word, boost) for name, boost in texts.items())
                words.append(Best(weights, tie) if kind == "best_fields" else Sum(weights))
            parts.insert(0, Sum(tuple(words), minimum))
        return Sum(tuple(parts)) if parts and self.text else None

    def phrases(self) -> list[Weight]:
        """Phrase boosts of queries of two words and more."""
        found = []
        for name, boost in self._boosts("phrase").items():
            if self.index.fields[name] != "text":
                raise BadQuery(f"“phrase” needs text fields, but “{name}” is a {self.index.fields[name]} field.")
            if len(self.words) > 1:
                column = self.index.columns[name]
                query = _Q.phrase_query(self.index.schema, column, self.words, self.slop)
                found.append(Weight(f'{name}:"{" ".join(self.words)}"', query, boost))
        return found

    def _word(self, name: str, word: str, boost: float) -> Part:
        schema, column = self.index.schema, self.index.columns[name]
        exact = Weight(f"{name}:{word}", _Q.term_query(schema, column, word), boost)
        if not self.fuzzy or len(word) < _SHORTEST_FUZZY:
            return exact
        similar = _Q.fuzzy_term_query(schema, column, word, self.fuzzy)
        return Best((exact, Weight(f"{name}:{word}~{self.fuzzy}", similar, boost * _FUZZY_WEIGHT)), 0.0)

    def _whole_value(self, name: str, boost: float) -> Weight:
        kind = self.index.fields[name]
        if kind != "keyword":
            raise BadQuery(
                f"“{name}” is a number field and cannot be searched by words.", todo="Use it in “filter” or “sort”."
            )
        return Weight(
            f"{name}:{self.text}", _Q.term_query(self.index.schema, self.index.columns[name], self.text), boost
        )

    def _minimum(self, words: int) -> int:
        operator = one_of(str(self.body.get("operator", "or")).lower(), ("or", "and"), "“operator” cannot be")
        spec = self.body.get("minimum_should_match", "100%" if operator == "and" else 1)
        return required(spec, words)

    def _boosts(self, key: str) -> dict[str, float]:
        """`{"title": 5}`, `["title^5", "cast"]` or `"title^5 cast"` as field → boost."""
        wanted = self.body.get(key) or {}
        if isinstance(wanted, str):
            wanted = wanted.split()
        if isinstance(wanted, list) and all(isinstance(item, str) for item in wanted):
            pairs: Sequence[tuple[str, Any]] = [_split_boost(item) for item in wanted]
        elif isinstance(wanted, Mapping):
            pairs = list(wanted.items())
        else:
            refuse(key, wanted, 'an object such as {"title": 5}, or a list such as ["title^5", "cast"]')
        return {field_of(self.index, name, key): number(f"{key}.{name}", boost, 0, 1e9) for name, boost in pairs}

    def _whole(self, key: str, low: int, high: int) -> int:
        value = number(key, self.body.get(key, 0), low, high)
        if value != int(value):
            refuse(key, value, f"a whole number from {low} to {high}")
        return int(value)


def _split_boost(text: str) -> tuple[str, Any]:
    name, caret, boost = text.rpartition("^")
    return (name, boost) if caret else (text, 1)
