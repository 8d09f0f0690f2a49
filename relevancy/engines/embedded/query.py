"""The embedded engine's JSON request, and the tree of weighted terms that it becomes.

    {"query": "star wars", "fields": {"title": 5, "cast": 2}, "type": "best_fields", "tie": 0.1,
     "minimum_should_match": "2<75%", "phrase": {"title": 3}, "slop": 0, "fuzzy": 1,
     "filter": {"genres": "Comedy", "year": {"gte": 1980}}, "sort": [{"year": "desc"}]}

Each word of the query is searched in all fields. With `best_fields` it scores in its best field, plus `tie` times the others;
with `most_fields` its fields add up. Words, whole-value keyword fields and phrases add up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tantivy

from relevancy.engines.errors import BadQuery

from .filters import filter_queries, sort_keys, with_filters
from .index import ANALYZER, Description, keyword_text
from .scoring import Part, Weight, best_of, sum_of
from .validation import check_choice, check_field, check_number, reject

KEYS = (
    "query", "fields", "type", "tie", "operator", "minimum_should_match", "phrase", "slop", "fuzzy", "filter", "sort",
)  # fmt: skip
_TYPES = ("best_fields", "most_fields")
_FUZZY_WEIGHT = 0.5  # score of a word that is only similar; an exact one scores by BM25
_MIN_FUZZY_LENGTH = 4  # nearly every shorter word is similar to another one
_MAX_BOOST = 1e9
_MAX_SLOP = 100

_Q = tantivy.Query
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


@dataclass(frozen=True)
class ParsedRequest:
    """What tantivy is to search.

    `scoring`: the part of the query that scores, None if nothing does.
    `required`: the part of it that a document must match, None if there is no query, or no word in it.
    `filters`: (text, query) of each.
    `sort`: (field or `_score`, is descending) in order of priority.
    """

    query: tantivy.Query
    scoring: Part | None
    sort: tuple[tuple[str, bool], ...]
    required: Part | None = None
    filters: tuple[tuple[str, tantivy.Query], ...] = ()


def parse_request(body: Mapping[str, Any], index: Description) -> ParsedRequest:
    """Parses a rendered request. Raises `BadQuery` naming the key and what is allowed instead."""
    for key in body:
        check_choice(key, KEYS, "key")
    reader = _Reader(body, index)
    filters = filter_queries(body.get("filter"), index)
    texts = [
        f"{name}:{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in (body.get("filter") or {}).items()
    ]
    named = tuple(zip(texts, filters, strict=True))
    sort = sort_keys(body.get("sort", []), index)
    if body.get("query") is None:
        return ParsedRequest(with_filters(_Q.all_query(), filters), None, sort, filters=named)
    words, phrases = reader.words_part(), reader.phrases()
    if words is None:
        return ParsedRequest(_Q.empty_query(), None, sort, filters=named)
    clauses = [(_MUST, words.query()), *((_SHOULD, phrase.query()) for phrase in phrases)]
    query = _Q.boolean_query(clauses) if phrases else words.query()
    return ParsedRequest(with_filters(query, filters), sum_of([words, *phrases]), sort, words, named)


def required_words(spec: Any, words: int) -> int:
    """Returns how many of `words` words must match, at least one, by Solr's rules for `mm`.

    `spec`: 2, -1, "75%", "-25%", "2<75%" or "2<-25% 9<-3". Raises `BadQuery` for anything else.
    """
    text = str(spec).strip()
    if not re.fullmatch(r"(-?\d{1,9}%?|(\d{1,9}<-?\d{1,9}%?)(\s+\d{1,9}<-?\d{1,9}%?)*)", text):
        reject("minimum_should_match", spec, 'a number, a percentage such as "75%", or "2<75%"')
    if "<" in text:
        rule = None
        for condition in text.split():
            threshold, _, condition_rule = condition.partition("<")
            if words > int(threshold):
                rule = condition_rule
        if rule is None:
            return max(words, 1)
        text = rule
    amount = int(text.rstrip("%"))
    if text.endswith("%"):
        amount = words * amount // 100 if amount >= 0 else -(words * -amount // 100)
    return min(max(amount if amount > 0 or text[0] != "-" else words + amount, 1), max(words, 1))


class _Reader:
    """Reads and checks the keys of one request."""

    def __init__(self, body: Mapping[str, Any], index: Description) -> None:
        self.body = body
        self.index = index
        if isinstance(body.get("query"), Mapping | list):
            reject("query", body["query"], "a string")
        self.text = keyword_text(body.get("query", "")).strip()
        self.words: list[Any] = ANALYZER.analyze(self.text)
        self.fuzzy = self._integer("fuzzy", 0, 2)
        self.slop = self._integer("slop", 0, _MAX_SLOP)

    def words_part(self) -> Part | None:
        """Returns what a document must match; None if the query contains no word."""
        boosts = self._boosts("fields") or {
            name: 1.0 for name, field_type in self.index.fields.items() if field_type == "text"
        }
        text_boosts = {name: boost for name, boost in boosts.items() if self.index.fields[name] == "text"}
        combination = check_choice(self.body.get("type", "best_fields"), _TYPES, "“type”")
        tie = check_number("tie", self.body.get("tie", 0), 0, 1)
        minimum = self._minimum(len(self.words))
        parts: list[Part] = [
            self._whole_value(name, boost) for name, boost in boosts.items() if name not in text_boosts
        ]
        if self.words and text_boosts:
            fields = [[self._word(name, word, boost) for name, boost in text_boosts.items()] for word in self.words]
            words = [best_of(parts, tie) if combination == "best_fields" else sum_of(parts) for parts in fields]
            parts.insert(0, sum_of(words, minimum))
        return sum_of(parts) if parts and self.text else None

    def phrases(self) -> list[Weight]:
        """Returns the phrase boosts of a query of two words or more."""
        phrases = []
        for name, boost in self._boosts("phrase").items():
            if self.index.fields[name] != "text":
                raise BadQuery(
                    f"“phrase” names “{name}”, which is a {self.index.fields[name]} field.", hint="Use text fields."
                )
            if len(self.words) > 1:
                column = self.index.columns[name]
                query = _Q.phrase_query(self.index.schema, column, self.words, self.slop)
                phrases.append(Weight(f'{name}:"{" ".join(self.words)}"', query, boost))
        return phrases

    def _word(self, name: str, word: str, boost: float) -> Part:
        schema, column = self.index.schema, self.index.columns[name]
        exact = Weight(f"{name}:{word}", _Q.term_query(schema, column, word), boost)
        if not self.fuzzy or len(word) < _MIN_FUZZY_LENGTH:
            return exact
        similar = _Q.fuzzy_term_query(schema, column, word, self.fuzzy)
        return best_of([exact, Weight(f"{name}:{word}~{self.fuzzy}", similar, boost * _FUZZY_WEIGHT)], 0.0)

    def _whole_value(self, name: str, boost: float) -> Weight:
        if self.index.fields[name] != "keyword":
            raise BadQuery(
                f"“{name}” is a number field and cannot be searched for words.", hint="Use it in “filter” or “sort”."
            )
        query = _Q.term_query(self.index.schema, self.index.columns[name], self.text)
        return Weight(f"{name}:{self.text}", query, boost)

    def _minimum(self, words: int) -> int:
        operator = check_choice(str(self.body.get("operator", "or")).lower(), ("or", "and"), "“operator”")
        spec = self.body.get("minimum_should_match", "100%" if operator == "and" else 1)
        return required_words(spec, words)

    def _boosts(self, key: str) -> dict[str, float]:
        """Returns `{"title": 5}`, `["title^5", "cast"]` or `"title^5 cast"` as field → boost."""
        value = self.body.get(key) or {}
        if isinstance(value, str):
            value = value.split()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            parts = [item.rpartition("^") for item in value]
            pairs: Sequence[tuple[str, Any]] = [(name, boost) if caret else (boost, 1) for name, caret, boost in parts]
        elif isinstance(value, Mapping):
            pairs = list(value.items())
        else:
            reject(key, value, 'an object such as {"title": 5}, or a list such as ["title^5", "cast"]')
        return {
            check_field(self.index, name, key): check_number(f"{key}.{name}", boost, 0, _MAX_BOOST)
            for name, boost in pairs
        }

    def _integer(self, key: str, low: int, high: int) -> int:
        value = check_number(key, self.body.get(key, 0), low, high)
        if value != int(value):
            reject(key, value, f"a whole number from {low} to {high}")
        return int(value)
