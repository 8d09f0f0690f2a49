"""The contract of an engine adapter: what every adapter declares as data, and what it does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from relevancy.engines.fields.specs import FieldSpec

from .errors import EngineError, UnsupportedByEngine
from .limits import limit_methods
from .templates.template import Template, parse_template
from .types import (
    Abilities,
    AddressField,
    Connection,
    Hit,
    Interpretation,
    OptionInfo,
    Page,
    Preset,
    Request,
    Syntax,
    TemplateWarning,
    WeightedClause,
)

Outcome = tuple[int, Page | EngineError]  # index of a request, and what came of it


class Engine(ABC):
    """One adapter, bound to one `Connection`. Thread-safe. Call `close()` at the end, or use it as a context manager.

    Everything in which engines differ for a page, a form or a command is data of the class:

    `key`: name that endpoints store.
    `label`: name for people.
    `syntax`: syntax of its query templates.
    `abilities`: what it can do.
    `address`: how an endpoint says where the engine is.
    `example_template`: a template for an index about which nothing is known.
    `default_id_field`: field that contains a document's id unless the field specification names another one.
    `options`: options of an endpoint that the adapter reads.
    `presets`: values of these options for well-known products.
    `vocabulary`: words that an editor completes in a query template.
    `uses_template`: False if the template does not change what is returned.
    `searches_all_fields`: a template that names no field searches all text fields.
    `example_clause`: a query that `clause_scores` takes, for an index about which nothing is known; empty without the ability.
    `find_help`: what a user may enter to find documents with `find`.
    `recognizes_product`: `version` succeeds only for this product, so that an address can be tried with this adapter.
    """

    do_not_call_in_templates: ClassVar[bool] = True  # Django's templates call what can be called, such as a class

    key: ClassVar[str]
    label: ClassVar[str]
    syntax: ClassVar[Syntax]
    abilities: ClassVar[Abilities]
    address: ClassVar[AddressField]
    example_template: ClassVar[str]
    default_id_field: ClassVar[str] = "id"
    options: ClassVar[tuple[OptionInfo, ...]] = ()
    presets: ClassVar[tuple[Preset, ...]] = ()
    vocabulary: ClassVar[tuple[str, ...]] = ()
    uses_template: ClassVar[bool] = True
    searches_all_fields: ClassVar[bool] = True
    find_help: ClassVar[str] = "Words, which are filled into the query template of the attempt."
    recognizes_product: ClassVar[bool] = False
    example_clause: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Applies the limits on what engines return to the methods of each adapter, those of installed packages included."""
        super().__init_subclass__()
        limit_methods(cls)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @classmethod
    def address_of_page(cls, url: str) -> str:
        """Returns the address that is meant by that of a page which the engine shows in a browser; any other as it is."""
        return url

    @abstractmethod
    def search(self, request: Request) -> Page:
        """Runs one search. Raises only members of the `EngineError` family."""

    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Runs many searches, at most `connection.parallel` at a time. Yields (index, page or error) as results arrive.

        One failed search does not stop the others. `stop` is called between requests; once it returns True, and it does so from
        then on, no further request is sent, and results of requests in progress are still yielded. This method runs one search
        after the other.
        """
        for index, request in enumerate(requests):
            if stop():
                return
            try:
                yield index, self.search(request)
            except EngineError as error:
                yield index, error

    @abstractmethod
    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """Returns documents by id in the given order, without those that do not exist. Their score is None."""

    @abstractmethod
    def fields(self) -> list[str]:
        """Returns the names of the index's fields, sorted."""

    @abstractmethod
    def version(self) -> str:
        """Returns product and version, such as `Solr 9.10.1`. Raises if the endpoint is not what its engine says."""

    @abstractmethod
    def render(self, request: Request) -> Mapping[str, Any]:
        """Returns what `search` would send, as plain JSON without credentials. Sends nothing."""

    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        """Returns why a document has its score: the engine's tree as `{value, description, details}`.

        If the document does not match, the value is 0 and the tree has in addition `match: False`, as have the nodes of which the
        engine says so.
        """
        raise UnsupportedByEngine(f"{self.label} does not explain scores.")

    def explain_many(self, request: Request, doc_ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """Returns the trees of `explain` by document id, in one request. Documents that do not match are left out."""
        raise UnsupportedByEngine(f"{self.label} does not explain several documents at once.")

    @classmethod
    def parse_clause(cls, text: str) -> Template:
        """Returns a query for `clause_scores`, in the engine's own language. Raises `TemplateError`."""
        return parse_template(text, cls.syntax)

    def clause_scores(
        self, clauses: Mapping[str, Request], doc_ids: Sequence[str]
    ) -> Mapping[str, Mapping[str, float]]:
        """Returns the scores that several queries give to the same documents: `{document id: {name: score}}`.

        clauses: by name, letters, digits and underscores; their templates come from `parse_clause`, and their id fields are the same.
        A query that does not match a document has no score there, which is not a score of 0. Documents that the engine does not have
        are left out.
        """
        raise UnsupportedByEngine(
            f"{self.label} does not return the scores of single queries.",
            hint="Use an endpoint of a search engine that does, or only features that are numbers of the documents.",
        )

    @classmethod
    def sum_template(cls, template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
        """Returns a query template that ranks by a weighted sum of queries and numbers; each weight is a knob, not below 0.

        template: what the sum is added to: its first `window` results are ranked again, where the engine can. Raises
        `UnsupportedByEngine`, which says why it cannot be written.
        """
        raise UnsupportedByEngine(f"{cls.label} has no query template for a weighted sum of queries.")

    def find(self, text: str, request: Request) -> Page:
        """Searches for documents with a query of the user's own instead of that of `request`, in the engine's own syntax.

        This method fills the text into the template of `request`, for engines that have no simple syntax.
        """
        return self.search(replace(request, query=text))

    def interpret(self, request: Request) -> Interpretation:
        """Returns how the engine understands a request. Runs the search."""
        raise UnsupportedByEngine(f"{self.label} does not say how it understands a query.")

    def document_url(self, doc_id: str, fields: FieldSpec) -> str:
        """Returns an address without credentials at which a browser sees a document; empty if there is none. Sends nothing."""
        return ""

    def load_documents(self, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
        """Adds documents, replaces those with the same id, and makes them visible. Returns how many were given.

        For samples and trials, not for keeping an index up to date. Raises `EngineError`, or `ValueError` naming the
        document that is invalid.
        """
        raise UnsupportedByEngine(
            f"{self.label} does not load documents.", hint="Choose an engine that does, or load them outside Relevancy."
        )

    def known_queries(self) -> Iterator[str]:
        """Returns an iterator over the only queries that the endpoint has results for: there may be millions."""
        raise UnsupportedByEngine(f"{self.label} does not list queries.")

    def behaviour_records(
        self, kind: Literal["queries", "events"], *, since: datetime | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yields the records of `ubi_queries` or `ubi_events`, no other index, in no order: those parts of them that searches and
        clicks are counted by. since: leaves out earlier ones. See docs/decisions/0147."""
        raise UnsupportedByEngine(f"{self.label} has no records of User Behavior Insights.")

    @classmethod
    def suggest_template(cls, fields: Sequence[str], options: Mapping[str, Any]) -> str:
        """Returns a query template that searches these fields, the first one boosted by the knob `title_boost`.

        `options`: the endpoint's options.
        """
        return cls.example_template

    @classmethod
    def template_warnings(cls, template: Template) -> list[TemplateWarning]:
        """Returns probable mistakes in a valid template."""
        return []

    @classmethod
    def check_upload(cls, path: Path) -> str:
        """Returns the suffix, `csv` or `txt`, for an uploaded file. Raises `UnreadableResponse` naming line, column and value.

        The adapter may make files beside it whose names begin with the name of the file: they are renamed and deleted with it.
        """
        raise UnsupportedByEngine(f"{cls.label} does not read uploaded files.")

    def abort(self) -> None:  # noqa: B027 (the requests of some adapters take no time)
        """Ends the requests in progress: they raise `RequestAborted`. Called in another thread; nothing is sent afterwards."""

    def close(self) -> None:  # noqa: B027 (most adapters hold nothing)
        """Closes connections. May be called more than once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
