"""A case as Quepid exports it: one JSON object with queries, ratings, the newest try, its endpoint and the name of the scorer.

Older exports have the scorer with its script, and the search engine in the try itself. All forms are accepted.
"""

from typing import IO, Any
from urllib.parse import quote as quote_url
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from relevancy import ratings
from relevancy.formats.archives import open_json
from relevancy.formats.cases.case_content import (
    AttemptContent,
    BookContent,
    CaseContent,
    EndpointContent,
    RatingContent,
    RatingStream,
    Scale,
    check_query,
)
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import read_members
from relevancy.models import Verdict
from relevancy.models.errors import error_text
from relevancy.queries import QueryDetails
from relevancy.wording import counted

from .fields import Fields
from .scorers import read_scorer

MAX_BYTES = 50 * 1024 * 1024
ENGINES = {"solr": "solr", "es": "elasticsearch", "os": "opensearch", "static": "static", "searchapi": "http"}
_UNSUPPORTED = (
    "Relevancy has no adapter for {engine}. Create an endpoint of the kind “HTTP API” for it, and choose it here."
)
_STATIC = (
    "Its results are in Quepid, not in this file. Export a snapshot there, upload it as a file of rankings, and choose that "
    "endpoint."
)
_NOT_MAPPED = "The file does not have its mapper code. Create an endpoint of the kind “HTTP API”, and choose it here."
_OTHER_METHOD = "It is searched by {method}; Relevancy sends GET and POST. Choose another endpoint."
_METHODS = {"": "GET", "get": "GET", "jsonp": "GET", "post": "POST"}


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case, also in a ZIP file. Raises `BadFile` with the location, such as `queries[3].ratings[1].rating`, and the value."""
    reader = _CaseReader()
    members: dict[str, Any] = {}
    with open_json(file) as opened:
        for key, value in read_members(opened, limit=MAX_BYTES, lists=("queries",), wrappers=("case",)):
            if key == "queries" and isinstance(value, dict):
                reader.add_query(value)
            else:
                members[key] = value
    case = Fields(members, "")
    if "case_name" not in members:
        raise BadFile("This is not a case exported by Quepid: case_name is missing.")
    if isinstance(members.get("queries"), list | dict | str):
        raise case.error("queries", "this must be a list of objects")
    attempt = reader.read_try(case)
    if attempt is not None and "mapper" in attempt.endpoint.options:
        reader.remarks.append(
            "Responses are read by the mapper script of the file. Try it on the page of the endpoint."
        )
    scorer = read_scorer(case.members.get("scorer"))
    if case.flag("archived"):
        reader.remarks.append("The case is archived in Quepid; here it is not.")
    reader.remarks.append("Snapshots, scores and earlier tries are not part of Quepid's file; they stay there.")
    name = case.text("case_name").strip() or "Case from Quepid"
    scale = [list(step) for step in scorer.definition.scale] if scorer and scorer.definition else None
    return CaseContent(
        name,
        reader.book(name, scale),
        scorers=[scorer] if scorer else [],
        attempts=[attempt] if attempt else [],
        options=case.mapping("options"),
    )


class _CaseReader:
    """Collects the queries and ratings of a file, and what there is to say about them."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self._details: dict[str, QueryDetails] = {}
        self._positions: dict[str, float | None] = {}
        self._ratings: dict[tuple[str, str, str], RatingContent] = {}  # by query, document and rater
        self._without_text = self._repeated = self._unrated = 0
        self._number = 0

    def add_query(self, value: Any) -> None:
        self._number += 1
        query = Fields(value, f"queries[{self._number}]")
        text = query.text("query_text")
        if not text.strip():
            self._without_text += 1
            return
        text = check_query(text, query.location)
        for rating in query.objects("ratings"):
            value_ = rating.number("rating")
            if value_ is None:
                self._unrated += 1
            elif value_ < 0:
                raise rating.error("rating", f"{value_:g} is below 0, where no scale begins")
            else:
                self._add_rating(text, rating, value_)
        self._repeated += text in self._details
        self._positions.setdefault(text, query.position("arranged_at"))
        if text not in self._details:
            self._details[text] = self._read_details(query)

    def _add_rating(self, query: str, fields: Fields, value: float) -> None:
        rater = fields.line("user_email")
        try:
            doc_id = ratings.clean_doc_id(fields.text("doc_id"))
        except ValidationError as error:
            raise BadFile(f"{fields.location}.doc_id: {error_text(error)}") from None
        rating = RatingContent(doc_id, rater, Verdict.RATED, value)
        present = self._ratings.setdefault((query, doc_id, rater), rating)
        if present.value != value:
            by = f" by {quote(rater)}" if rater else ""
            raise BadFile(
                f"{fields.location}: document {quote(doc_id)} of query {quote(query)} is rated {value:g}{by} here "
                f"and {present.value:g} before. Keep one of them."
            )

    def _read_details(self, query: Fields) -> QueryDetails:
        return QueryDetails(
            information_need=query.text("information_need"),
            notes=query.text("notes"),
            options=query.mapping("options"),
        )

    def book(self, name: str, scale: Scale | None) -> BookContent:
        """Returns the queries and ratings. The queries are in Quepid's manual order if the file has it for all of them."""
        details = self._details
        if None not in self._positions.values():
            details = {text: details[text] for text in sorted(details, key=lambda text: self._positions[text] or 0)}
        rows = [(query, rating) for (query, _, _), rating in self._ratings.items()]
        stream = RatingStream(len(rows), frozenset(rating.rater for _, rating in rows), lambda: iter(rows))
        return BookContent(name, stream, details, scale, remarks=self._all_remarks())

    def _all_remarks(self) -> list[str]:
        first = "joined with the first of the same text"
        counts = (
            (self._without_text, "query without text was left out", "queries without text were left out"),
            (self._repeated, f"repeated query was {first}", f"repeated queries were {first}"),
            (self._unrated, "document without a rating was left out", "documents without a rating were left out"),
        )
        return [f"{counted(count, one, several)}." for count, one, several in counts if count] + self.remarks

    def read_try(self, case: Fields) -> AttemptContent | None:
        """Returns the try of the file; None if it has none."""
        value = case.members.get("try")
        if value is None:
            self.remarks.append("The file has no try, so the case has no attempt yet.")
            return None
        attempt = Fields(value, "try")
        endpoint = _read_endpoint(attempt)
        return AttemptContent(
            template=attempt.text("query_params"),
            endpoint=endpoint,
            name=attempt.text("name").strip()[:120],
            knobs=_read_knobs(attempt),
            fields=attempt.text("field_spec"),
            depth=attempt.whole_number("number_of_rows", 10),
            # Quepid escapes for Solr only.
            escape=attempt.flag("escape_query", default=True) if endpoint.engine == "solr" else None,
        )


def _read_knobs(attempt: Fields) -> dict[str, float]:
    """Returns the values of the knobs: a list of names and values or, in older files, an object."""
    if "curator_variables" not in attempt.members:
        knobs = Fields(attempt.mapping("curator_vars"), f"{attempt.location}.curator_vars")
        return {name: knobs.number(name) or 0 for name in knobs.members}
    return {knob.text("name"): knob.number("value") or 0 for knob in attempt.objects("curator_variables")}


def _read_endpoint(attempt: Fields) -> EndpointContent:
    """Returns the endpoint of a try. Older files have it in the try itself."""
    nested = attempt.members.get("search_endpoint")
    endpoint = attempt if nested is None else Fields(nested, "try.search_endpoint")
    engine = endpoint.text("search_engine", "solr").strip().lower()
    url, credentials = _split_credentials(endpoint.text("endpoint_url" if nested is not None else "search_url").strip())
    if credential := endpoint.text("basic_auth_credential").strip():
        username, _, password = credential.partition(":")
        credentials = {"username": username, "password": password}
    options = endpoint.mapping("options")
    headers = Fields(endpoint.mapping("custom_headers"), f"{endpoint.location}.custom_headers")
    problem = ""
    if engine not in ENGINES:
        problem = _UNSUPPORTED.format(engine=quote(engine))
    elif engine == "static":
        problem = _STATIC
    elif not url:
        problem = "The file does not say its address."
    mapping, mapping_problem = _read_mapping(endpoint) if engine == "searchapi" else ({}, "")
    return EndpointContent(
        name=(endpoint.text("name").strip() if nested is not None else "") or urlsplit(url).hostname or "Quepid",
        engine=ENGINES.get(engine, engine),
        url=url,
        options={**mapping, **({"query_options": options} if options else {})},
        credentials=credentials,
        headers={name: headers.text(name) for name in headers.members},
        per_minute=endpoint.whole_number("requests_per_minute", 0),
        problem=problem or mapping_problem,
    )


def _read_mapping(endpoint: Fields) -> tuple[dict[str, str], str]:
    """Returns the options of an endpoint whose responses are read by a script, and why it cannot be created here; empty if it can."""
    script = endpoint.text("mapper_code")
    method = endpoint.text("api_method").strip()
    if not script.strip():
        return {}, _NOT_MAPPED
    if method.lower() not in _METHODS:
        return {}, _OTHER_METHOD.format(method=quote(method))
    test_query = endpoint.line("test_query")
    tested = {"test_query": test_query} if test_query else {}
    return {"method": _METHODS[method.lower()], "mapper": script, **tested}, ""


def _split_credentials(url: str) -> tuple[str, dict[str, str]]:
    """Returns the address without the user name and password that it may contain, and these."""
    try:
        parts = urlsplit(url)
        if parts.username is None:
            return url, {}
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=host).geturl(), {"username": parts.username, "password": parts.password or ""}
    except ValueError:
        return quote_url(url, safe=":/?&=%#"), {}
