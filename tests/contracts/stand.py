"""What the engine contract is tried on: a few documents, the queries asked of them, and where to ask."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines
from relevancy.engines import AddressRules, Connection, Engine, FieldSpec, Request, Template

LOOPBACK = AddressRules(private_allowed=True)
STRANGE = "Say \"hello\" <script>alert('1')</script> 🙂 + - && || ! ( ) { } [ ] ^ ~ * ? : \\ / ${x} &amp; %41 end"
LONG = "journey " + "x" * 1992
DOCS: tuple[Mapping[str, Any], ...] = (
    {"id": "sw", "title": "Star Wars", "year": 1977, "genres": ["space", "war"]},
    {"id": "st", "title": "Star Trek: The Motion Picture", "year": 1979, "genres": ["space"]},
    {"id": "3", "title": "A Star Is Born within the Night of a Long Journey", "year": 2018, "genres": ["music"]},
    {"id": "x, y/z", "title": "Night Journey", "year": 1990, "genres": ["road"]},
    {"id": "odd", "title": STRANGE, "year": 2001, "genres": ["other"]},
    {"id": "é-7", "title": "Café Größe", "year": 2010, "genres": ["other"]},
    {"id": "pua", "title": "\ue000Falcon\ue001 over \ue001\ue001the Größte Prärie", "year": 1994, "genres": ["other"]},
)
# Query text → ids that match, the best first where only one order is right.
MATCHES: Mapping[str, tuple[str, ...]] = {
    "star": ("sw", "st", "3"),
    "star wars": ("sw", "st", "3"),
    "night journey": ("x, y/z", "3"),
    "größe": ("é-7",),
    "prärie": ("pua",),
    "nothinglikethis": (),
    STRANGE: ("odd",),
    LONG: ("x, y/z", "3"),
}
FIRST = {"star wars": "sw", "night journey": "x, y/z", "größe": "é-7", STRANGE: "odd", LONG: "x, y/z"}


@dataclass(frozen=True)
class Stand:
    """An engine that holds `DOCS`. `template` finds what holds any word of the query in its title.

    `bad`: a template the engine refuses in its own words, of which `bad_words` are some; None where none can be wrong.
    `missing`: a URL (name) where nothing is; `version`: pattern of what `version()` says.
    """

    connection: Connection
    template: Template
    fields: FieldSpec
    missing: str
    version: str
    bad: Template | None = None
    bad_words: str = ""
    escape: bool = False
    scored: bool = True

    def open(self, **changes: Any) -> Engine:
        """An adapter for the stand's connection, changed as asked."""
        return engines.connect(replace(self.connection, **changes))

    def ask(self, query: str, rows: int = 10, **changes: Any) -> Request:
        """A request for a query."""
        return Request(query, self.template, self.fields, rows, escape=self.escape, **changes)


def solr_stand(connection: Connection, missing: str) -> Stand:
    """`DOCS` in a Solr whose field `title` is analysed text."""
    return Stand(
        connection=connection,
        template=engines.parse_template("q=#$query##&defType=edismax&qf=title&q.op=OR", "params"),
        fields=engines.parse_fields("id:id title:title year genres"),
        bad=engines.parse_template("q=#$query##&defType=nosuchparser", "params"),
        bad_words="invalid query parser 'nosuchparser'",
        escape=True,
        missing=missing,
        version=r"Solr \d+\.\d+\.\d+",
    )


def elasticsearch_stand(connection: Connection, missing: str) -> Stand:
    """`DOCS` in an Elasticsearch whose field `title` is analysed text and whose `_id` is the id."""
    return Stand(
        connection=connection,
        template=engines.parse_template('{"query": {"match": {"title": "#$query##"}}}', "json"),
        fields=engines.parse_fields("title:title year genres", "_id"),
        bad=engines.parse_template('{"query": {"nosuchquery": {"title": "#$query##"}}}', "json"),
        bad_words="unknown query [nosuchquery]",
        missing=missing,
        version=r"Elasticsearch \d+\.\d+\.\d+",
    )


def opensearch_stand(connection: Connection, missing: str) -> Stand:
    """As `elasticsearch_stand`, on an OpenSearch."""
    return replace(elasticsearch_stand(connection, missing), version=r"OpenSearch \d+\.\d+\.\d+")


def words(text: str) -> set[str]:
    """The words of a text as the fakes see them."""
    return set(re.findall(r"\w+|[^\w\s]", text.lower()))
