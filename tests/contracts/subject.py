"""The subjects of the engine contract: an engine with a few documents, and what queries find in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines
from relevancy.engines import AddressRules, Connection, Engine, FieldSpec, Request, Template

LOOPBACK = AddressRules(private_allowed=True)
PUNCTUATION = "Say \"hello\" <script>alert('1')</script> 🙂 + - && || ! ( ) { } [ ] ^ ~ * ? : \\ / ${x} &amp; %41 end"
LONG_QUERY = "journey " + "x" * 1992
DOCS: tuple[Mapping[str, Any], ...] = (
    {"id": "sw", "title": "Star Wars", "year": 1977, "genres": ["space", "war"]},
    {"id": "st", "title": "Star Trek: The Motion Picture", "year": 1979, "genres": ["space"]},
    {"id": "3", "title": "A Star Is Born within the Night of a Long Journey", "year": 2018, "genres": ["music"]},
    {"id": "x, y/z", "title": "Night Journey", "year": 1990, "genres": ["road"]},
    {"id": "odd", "title": PUNCTUATION, "year": 2001, "genres": ["other"]},
    {"id": "é-7", "title": "Café Größe", "year": 2010, "genres": ["other"]},
    {"id": "pua", "title": "\ue000Falcon\ue001 over \ue001\ue001the Größte Prärie", "year": 1994, "genres": ["other"]},
)
# Query text → ids of the matching documents.
MATCHES: Mapping[str, tuple[str, ...]] = {
    "star": ("sw", "st", "3"),
    "star wars": ("sw", "st", "3"),
    "night journey": ("x, y/z", "3"),
    "größe": ("é-7",),
    "prärie": ("pua",),
    "nothinglikethis": (),
    PUNCTUATION: ("odd",),
    LONG_QUERY: ("x, y/z", "3"),
}
BEST_MATCH = {"star wars": "sw", "night journey": "x, y/z", "größe": "é-7", PUNCTUATION: "odd", LONG_QUERY: "x, y/z"}


@dataclass(frozen=True)
class EngineUnderTest:
    """An engine that contains `DOCS`.

    `template`: finds the documents with any word of the query in their title.
    `missing_url`: a URL (or name) at which there is no index.
    `version_pattern`: what `version()` returns.
    `rejected_template`: a template that the engine rejects, None if it rejects none.
    `rejection`: a part of the engine's own message for it.
    `has_scores`: its hits have scores.
    `is_fake`: it is one of `fakes`, which do not compute sums.
    `clause_text`: what `template` searches, as a query for `Engine.clause_scores`; empty without the ability.
    """

    connection: Connection
    template: Template
    fields: FieldSpec
    missing_url: str
    version_pattern: str
    rejected_template: Template | None = None
    rejection: str = ""
    escape: bool = False
    has_scores: bool = True
    clause_text: str = ""
    is_fake: bool = False

    def connect(self, **changes: Any) -> Engine:
        """Returns an adapter for the connection with these changes."""
        return engines.connect(replace(self.connection, **changes))

    def request(self, query: str, rows: int = 10, **changes: Any) -> Request:
        """Returns a request for a query."""
        return Request(query, self.template, self.fields, rows, escape=self.escape, **changes)

    def clause(self, query: str) -> Request:
        """Returns a query for `Engine.clause_scores`."""
        return replace(self.request(query), template=engines.get(self.connection.engine).parse_clause(self.clause_text))


def solr_subject(connection: Connection, missing_url: str) -> EngineUnderTest:
    """Returns a Solr with `DOCS`, whose field `title` is analyzed text."""
    return EngineUnderTest(
        connection=connection,
        template=engines.parse_template("q=#$query##&defType=edismax&qf=title&q.op=OR", "params"),
        fields=engines.parse_fields("id:id title:title year genres"),
        rejected_template=engines.parse_template("q=#$query##&defType=nosuchparser", "params"),
        rejection="invalid query parser 'nosuchparser'",
        escape=True,
        clause_text="{!edismax qf=title q.op=OR}#$query##",
        missing_url=missing_url,
        version_pattern=r"Solr \d+\.\d+\.\d+",
    )


def elasticsearch_subject(connection: Connection, missing_url: str) -> EngineUnderTest:
    """Returns an Elasticsearch with `DOCS`, whose field `title` is analyzed text and whose `_id` is the id."""
    return EngineUnderTest(
        connection=connection,
        template=engines.parse_template('{"query": {"match": {"title": "#$query##"}}}', "json"),
        fields=engines.parse_fields("title:title year genres", "_id"),
        rejected_template=engines.parse_template('{"query": {"nosuchquery": {"title": "#$query##"}}}', "json"),
        rejection="unknown query [nosuchquery]",
        clause_text='{"match": {"title": "#$query##"}}',
        missing_url=missing_url,
        version_pattern=r"Elasticsearch \d+\.\d+\.\d+",
    )


def opensearch_subject(connection: Connection, missing_url: str) -> EngineUnderTest:
    """Returns an OpenSearch, otherwise as `elasticsearch_subject`."""
    return replace(elasticsearch_subject(connection, missing_url), version_pattern=r"OpenSearch \d+\.\d+\.\d+")


def words(text: str) -> set[str]:
    """Returns the words and symbols of a text, as the fakes search them."""
    return set(re.findall(r"\w+|[^\w\s]", text.lower()))
