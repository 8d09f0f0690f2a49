"""A case as Quepid exports and imports it: see `case` for the format.

Quepid stores queries, ratings, the try and its endpoint by the names in the file, so these have no further members. What its format
does not hold is said in the member `left_out` of the file, which Quepid skips.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from relevancy import accounts, runs, scores, scoring
from relevancy.engines.templates.parameters import blank_comments
from relevancy.engines.templates.slots import find_slots
from relevancy.formats.ratings.graded_queries import MAX_QUERIES, query_batches
from relevancy.formats.ratings.trec import grade_number
from relevancy.formats.relevancy.writer import name_raters
from relevancy.models import Attempt, Book, Case, Endpoint, Query, Rating, ScorerVersion, User, Verdict
from relevancy.wording import counted, listed

from .case import ENGINES
from .json_file import write_object
from .scorers import SHIPPED

STEP = 1_000_000  # between the positions of queries, so that others fit between them
MAX_INFORMATION_NEED, MAX_TRY_NAME, MAX_FIELD_SPEC = 255, 50, 500  # characters that Quepid stores
MAX_NAMED = 10
_ENGINES = {ours: theirs for theirs, ours in ENGINES.items()}
_NAMES = {"ndcg@10": "nDCG@10"}  # the others are written in capitals
_METHODS = {"solr": "GET", "es": "POST", "os": "POST", "static": "GET"}
_SEARCH_PATHS = {"solr": "/select", "es": "/_search", "os": "/_search"}
_OWN_HANDLERS = ("select", "query", "_search", "_msearch")


def export_case(*, case: Case, by: User, left_out: list[str] | None = None) -> Iterator[str]:
    """Returns the parts of the file.

    by: raters that `by` knows are named by e-mail address, as in our own files, and the address of the endpoint is in the file if `by`
    may use it; credentials and headers never are.
    left_out: gets the sentences about what the format does not hold.
    A few statements for 20,000 ratings, or 500 queries, and some more.
    """
    left_out = [] if left_out is None else left_out
    owner = case.owner.email
    head = {
        "case_name": case.name,
        "owned": case.owner_id == by.pk,
        "owner_email": owner if accounts.known_raters([owner], by=by) else None,
        "public": False,
        "archived": case.archived_at is not None,
        "options": case.options,
        "scorer": _scorer(case, left_out),
        "try": _try(case, by, left_out),
    }
    queries = _Queries(case.book, name_raters(case.book, by))

    def read_tail() -> dict[str, Any]:
        left_out.extend([*queries.left_out(), _other_parts(case)])
        return {"left_out": left_out}

    return write_object(head, "queries", queries.read(case), read_tail)


def _scorer(case: Case, left_out: list[str]) -> dict[str, Any] | None:
    """Returns the primary scorer by its name in Quepid. Script and scale are for Relevancy: Quepid reads the name alone."""
    versions = list(ScorerVersion.objects.used_by(case))
    if not versions:
        left_out.append("The case has no scorer, and Quepid imports no case without one: write its name into the file.")
        return None
    version, *others = versions
    if others:
        left_out.append(f"Further scorers: {listed([other.scorer.name for other in others], MAX_NAMED)}.")
    scale = {f"{grade:g}": label for grade, label in version.scale}
    described = {"scale": [grade_number(grade) for grade, _ in version.scale], "scale_with_labels": scale}
    if case.book.scale != version.scale:
        grades = case.book.grades
        left_out.append(f"The scale of the book, {grades[0]:g}–{grades[-1]:g}; that of the scorer is in the file.")
    name = _shipped_name(version)
    if name is None:
        left_out.append(
            f"Quepid finds the scorer by its name: create a scorer “{version.scorer.name}” there before you import the file."
        )
        code = {"code": version.script} if version.script else {}
        return {"name": version.scorer.name, **code, **described}
    if not version.count_unscoreable_as_zero:
        left_out.append(
            f"Queries that cannot be scored: Quepid's scorer {name} counts them as 0, “{version.scorer}” leaves them out."
        )
    return {"name": name, **described}


def _shipped_name(version: ScorerVersion) -> str | None:
    """Returns the name of Quepid's scorer that computes the same measure; None if there is none."""
    if not version.measure:
        return None
    measures = {str(scoring.parse_measure(measure)): name for name, (_, measure, _) in SHIPPED.items()}
    name = measures.get(version.measure)
    return None if name is None else _NAMES.get(name, name.upper())


def _try(case: Case, by: User, left_out: list[str]) -> dict[str, Any] | None:
    """Returns the newest attempt that Quepid has an engine for; None if there is none."""
    live = (
        case.attempts.filter(archived_at=None)
        .select_related("endpoint")
        .defer("endpoint__credentials", "endpoint__headers")
    )
    searched = [attempt for attempt in live.order_by("-number") if not runs.is_for_imported(attempt.endpoint)]
    attempt = next((attempt for attempt in searched if attempt.endpoint.engine in _ENGINES), None)
    if attempt is None:
        reason = (
            f"Quepid has no engine “{searched[0].endpoint.engine}”"
            if searched
            else "There is none that searches an engine"
        )
        left_out.append(f"The attempts. {reason}, and it imports no case without a try: add one to the file.")
        return None
    if others := case.attempts.count() - 1:
        left_out.append(f"{counted(others, 'other attempt')}: the file has attempt {attempt.number}.")
    for part, text, limit in (
        ("name", attempt.name, MAX_TRY_NAME),
        ("displayed fields", attempt.fields, MAX_FIELD_SPEC),
    ):
        if len(text) > limit:
            left_out.append(f"The end of the {part} of the attempt: Quepid stores {limit} characters.")
    fields = attempt.fields  # without one that is cut
    if len(fields) > MAX_FIELD_SPEC:
        fields = fields[: MAX_FIELD_SPEC + 1].rpartition(" ")[0]
    return {
        "escape_query": attempt.escape,
        "field_spec": fields,
        "name": attempt.name[:MAX_TRY_NAME].strip() or f"Try {attempt.number}",
        "number_of_rows": attempt.depth,
        "query_params": _with_texts(attempt, left_out),
        "curator_variables": [
            {"name": name, "value": value} for name, value in attempt.knobs.items() if not isinstance(value, str)
        ],
        "search_endpoint": _endpoint(attempt, by, left_out),
    }


def _with_texts(attempt: Attempt, left_out: list[str]) -> str:
    """Returns the template with the knobs that are texts written into it: those of Quepid are numbers."""
    texts = {name: value for name, value in attempt.knobs.items() if isinstance(value, str)}
    if not texts:
        return attempt.template
    left_out.append(f"The knobs {listed(list(texts), MAX_NAMED)}: their texts are in the query template.")
    is_json = runs.attempts.syntax(attempt.endpoint, attempt.template) == "json"
    code = attempt.template if is_json else blank_comments(attempt.template)
    parts, end = [], 0
    for match, slot in find_slots(code, json_strings=is_json):
        if slot.root == "knob" and slot.path[0] in texts:
            quoted = json.dumps(texts[slot.path[0]], ensure_ascii=False)
            text = (quoted if slot.bare else quoted[1:-1]) if is_json else quote(texts[slot.path[0]], safe=" <^:,/")
            parts += [attempt.template[end : match.start()], text]
            end = match.end()
    return "".join([*parts, attempt.template[end:]])


def _endpoint(attempt: Attempt, by: User, left_out: list[str]) -> dict[str, Any]:
    endpoint, engine = attempt.endpoint, _ENGINES[attempt.endpoint.engine]
    left_out.append(
        "Credentials and headers of the endpoint, which no file has: enter them in Quepid if the engine needs them."
    )
    may_see = Endpoint.objects.usable_by(by).filter(pk=endpoint.pk).exists()
    if not may_see:
        left_out.append("The address of the endpoint, because you may not use it: write it into the file.")
    mapper = str(endpoint.options.get("mapper", "")) if engine == "searchapi" and may_see else ""
    if engine == "searchapi" and not mapper:
        left_out.append("How responses are read: write the mapper code of the endpoint in Quepid.")
    if engine == "static":
        left_out.append("The stored rankings of the endpoint: upload them in Quepid.")
    return {
        "name": endpoint.name,
        "endpoint_url": _search_url(endpoint.url, engine) if may_see else "",
        "search_engine": engine,
        "api_method": str(endpoint.options.get("method", "GET")) if engine == "searchapi" else _METHODS[engine],
        "custom_headers": None,
        "basic_auth_credential": None,
        "mapper_code": mapper or None,
        "proxy_requests": False,
        "requests_per_minute": endpoint.per_minute,
        "test_query": str(endpoint.options.get("test_query", "")) or None if engine == "searchapi" else None,
        "options": endpoint.options.get("query_options", {}),
    }


def _search_url(url: str, engine: str) -> str:
    """Returns the address with the handler that Quepid needs at its end."""
    url = url.rstrip("/")
    last = url.rpartition("/")[2]
    parent = url.split("/")[-3:-2]
    has_handler = last in _OWN_HANDLERS or (engine == "solr" and parent == ["solr"])
    return url if has_handler else url + _SEARCH_PATHS.get(engine, "")


class _Queries:
    """The queries of a file, and counts of what the format does not hold of them. names: of raters, by id."""

    def __init__(self, book: Book, names: Mapping[int, str]) -> None:
        self._book = book
        self._names = names
        self._combined = self._unnamed = self._verdicts = self._notes = 0
        self._tagged = self._weighted = self._cut = 0
        self._people: dict[str, None] = {}

    def read(self, case: Case) -> Iterator[dict[str, Any]]:
        """Yields the queries of the case in their order."""
        listed = case.case_queries.present().select_related("query").order_by("position", "id")
        number = 0
        for rows in query_batches((row.query_id, row) for row in listed.iterator(chunk_size=MAX_QUERIES)):
            grades = scores.known_grades(self._book, list(rows))
            given = self._given(list(rows))
            for query_id, row in rows.items():
                number += 1
                self._tagged += bool(row.query.tags)
                self._weighted += row.weight != 1
                yield {
                    "arranged_at": number * STEP,
                    "arranged_next": (number + 1) * STEP,
                    "query_text": row.query.text,
                    "options": row.options,
                    "notes": row.query.notes or None,
                    "information_need": self._information_need(row.query),
                    "ratings": [
                        self._rating(doc_id, grade, given[query_id].get(doc_id, ()))
                        for doc_id, grade in sorted(grades[query_id].items())
                    ],
                }

    def _given(self, query_ids: Sequence[int]) -> dict[int, dict[str, list[tuple[int, float]]]]:
        """Returns the ratings of queries: `{query id: {document: [(rater, value), …]}}`. Counts verdicts and notes."""
        given: dict[int, dict[str, list[tuple[int, float]]]] = {query_id: {} for query_id in query_ids}
        columns = ("query_id", "doc_id", "rater_id", "verdict", "value", "note")
        rows = Rating.objects.filter(query_id__in=query_ids).order_by().values_list(*columns)
        for query_id, doc_id, rater_id, verdict, value, note in rows.iterator():
            self._notes += bool(note)
            if verdict == Verdict.RATED:
                given[query_id].setdefault(doc_id, []).append((rater_id, value))
            else:
                self._verdicts += 1
        return given

    def _rating(self, doc_id: str, grade: float, given: Sequence[tuple[int, float]]) -> dict[str, Any]:
        """Returns the grade of a document: with its rater, if it is the rating of a single one."""
        email = None
        if [value for _, value in given] != [grade]:
            self._combined += 1
        else:
            name = self._names[given[0][0]]
            if "@" in name:
                email = name
                self._people[name] = None
            else:
                self._unnamed += 1
        return {"doc_id": doc_id, "rating": grade_number(grade), "user_email": email}

    def _information_need(self, query: Query) -> str | None:
        self._cut += len(query.information_need) > MAX_INFORMATION_NEED
        return query.information_need[:MAX_INFORMATION_NEED].strip() or None

    def left_out(self) -> list[str]:
        """Returns sentences about what the queries have besides. Call it when all have been read."""
        sentences = []
        if self._people:
            sentences.append(
                f"Quepid needs an account for each rater, or creates it on import: {listed(list(self._people), MAX_NAMED)}."
            )
        counts = (
            (self._unnamed, "the rater of {} whose address is not known: Quepid finds people by it", "rating"),
            (
                self._combined,
                "the ratings of {} that several people rated: the file has the grade",
                "document",
            ),
            (self._verdicts, "{} “cannot judge” or “later”", "rating"),
            (self._notes, "the notes of {}", "rating"),
            (self._tagged, "the tags of {}", "query"),
            (self._weighted, "the weights of {}", "query"),
            (self._cut, f"the end of {{}} longer than {MAX_INFORMATION_NEED} characters", "information need"),
        )
        for count, text, noun in counts:
            if count:
                plural = "queries" if noun == "query" else f"{noun}s"
                sentence = text.format(counted(count, noun, plural))
                sentences.append(f"{sentence[:1].upper()}{sentence[1:]}.")
        return sentences


def _other_parts(case: Case) -> str:
    parts = ["annotations, schedules and teams"]
    if pinned := case.runs.exclude(pinned_at=None).count():
        parts.insert(
            0,
            f"{counted(pinned, 'pinned run')}: export them as CSV, which Quepid imports as snapshots",
        )
    if case.book.guidelines:
        parts.insert(0, "the guidelines of the book")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
