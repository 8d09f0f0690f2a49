"""A case or a book as one JSON file in our own format, made to live in version control.

Keys have a fixed order, and each query, rating and ranking is on a line of its own, so that a diff shows what changed. There are no
addresses and no credentials of endpoints, and no scores: they are computed from what is in the file.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from relevancy import accounts, hooks, runs
from relevancy.formats.json_stream import write_list
from relevancy.formats.progress import count_read, count_rows
from relevancy.formats.rankings.run_csv import pinned_runs, ranking_parts
from relevancy.formats.ratings.graded_queries import query_batches
from relevancy.formats.ratings.trec import grade_number
from relevancy.models import (
    Attempt,
    Book,
    Case,
    DocumentCache,
    Endpoint,
    Query,
    Rating,
    ScorerVersion,
    User,
    Verdict,
    unpack_numbers,
    unpack_scores,
)

from .scorer_file import describe_scorer, format_object

FORMAT = "relevancy/1"
CASE, BOOK = "case", "book"
IMPORTED_RUNS = "Imported runs"  # the name of the endpoint of all imported runs, which is different in each case
CHUNK = 2_000  # rows
NEXT = ",\n    "  # between two elements of a list
_encode = json.JSONEncoder(ensure_ascii=False).encode
_DETAILS = ("text", "information_need", "reference_answer", "notes", "tags")  # of queries, as `_describe` takes them
_RATING_COLUMNS = ("query_id", "doc_id", "rater_id", "verdict", "value", "note", "is_adjudication", "updated_at", "id")


def export_case(*, case: Case, by: User) -> Iterator[str]:
    """Yields the parts of a file, which are to be read at once: a transaction is open until the last.

    It has the queries of the case in their order, all ratings of them, its scorers, attempts and pinned runs.
    by: raters that `by` knows are named by e-mail address, others by name; see `accounts.known_raters`.
    A statement for 20,000 ratings, two for each pinned run, and a few more.
    """
    with _snapshot():
        rows = case.case_queries.present().order_by("position", "id")
        versions = ScorerVersion.objects.used_by(case)
        attempts = case.attempts.select_related("endpoint", "parent")
        sections = [
            ("options", [json.dumps(case.options, ensure_ascii=False)]),
            *([("knob_ranges", [json.dumps(case.knob_ranges, ensure_ascii=False)])] if case.knob_ranges else []),
            *_parts(case),
            ("book", [_settings(case.book)]),
            ("scorers", _objects(describe_scorer(scorer=version.scorer, version=version) for version in versions)),
            ("endpoints", _lines(_endpoints(case))),
            ("attempts", _objects(map(_attempt, attempts.order_by("number")))),
            ("queries", _queries(rows.values_list(*(f"query__{name}" for name in _DETAILS), "options", "weight"))),
            *_links(rows.values_list("query__link_id", "query_id", "query__text").filter(query__link__isnull=False)),
            ("ratings", write_list(_ratings(case.book, rows.values_list("query_id", "query__text"), by))),
            ("runs", _lines(_runs(case))),
            ("rankings", write_list(_rankings(case))),
        ]
        yield from _write({"format": FORMAT, "kind": CASE, "name": case.name}, sections)


def export_book(*, book: Book, by: User) -> Iterator[str]:
    """Yields the parts of a file as `export_case` does, with the settings of the book, its queries and all their ratings."""
    with _snapshot():
        rows = Query.objects.live().filter(book=book).order_by("pk")
        sections = [
            ("book", [_settings(book)]),
            ("queries", _queries(rows.values_list(*_DETAILS))),
            *_links(rows.values_list("link_id", "pk", "text").filter(link__isnull=False)),
            ("ratings", write_list(_ratings(book, rows.values_list("pk", "text"), by))),
        ]
        yield from _write({"format": FORMAT, "kind": BOOK, "name": book.name}, sections)


@contextmanager
def _snapshot() -> Iterator[None]:
    """All statements see the database at one moment, on PostgreSQL.

    SQLite would keep everybody from writing meanwhile; there a change may come between two statements.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _write(head: Mapping[str, str], sections: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    members = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
    yield f"{{\n{members}"
    for key, parts in sections:
        yield f",\n  {json.dumps(key)}: "
        yield from parts
    yield "\n}\n"


def _lines(elements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the parts of a list with one element on each line."""
    return write_list(map(_encode, elements))


def _objects(elements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the parts of a list with one member of an element, or one line of a text, on each line."""
    return write_list(format_object(element, indent="    ") for element in elements)


def _settings(book: Book) -> str:
    return format_object(
        {
            "name": book.name,
            "scale": [list(step) for step in book.scale],
            "relevant_from": grade_number(book.relevant_from),
            "rule": book.rule,
            "guidelines": _split(book.guidelines),
            "raters_are_blind": book.raters_are_blind,
        },
        indent="  ",
    )


def _parts(case: Case) -> list[tuple[str, list[str]]]:
    """Returns the section with what optional apps have of a case; none if they have nothing."""
    written = {name: part.write(case) for name, part in sorted(hooks.case_parts.items())}
    present = {name: value for name, value in written.items() if value is not None}
    text = json.dumps(present, ensure_ascii=False, indent=2)
    return [("apps", [text.replace("\n", "\n  ")])] if present else []


def _endpoints(case: Case) -> Iterator[dict[str, Any]]:
    used = Endpoint.objects.filter(attempts__case=case).distinct().defer("credentials", "headers")
    endpoints = {_endpoint_name(endpoint): endpoint for endpoint in used.order_by("name")}
    for name, endpoint in endpoints.items():
        is_imported = {"is_imported": True} if runs.is_for_imported(endpoint) else {}
        yield {"name": name, "engine": endpoint.engine, "options": endpoint.options, **is_imported}


def _endpoint_name(endpoint: Endpoint) -> str:
    return IMPORTED_RUNS if runs.is_for_imported(endpoint) else endpoint.name


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "parent": attempt.parent.number if attempt.parent else None,
        "name": attempt.name,
        "note": attempt.note,
        "endpoint": _endpoint_name(attempt.endpoint),
        "template": _split(attempt.template),
        "knobs": attempt.knobs,
        "fields": attempt.fields,
        "depth": attempt.depth,
        "escape": attempt.escape,
        "is_archived": attempt.archived_at is not None,
    }


def _queries(rows: QuerySet[Any, tuple[Any, ...]]) -> Iterator[str]:
    """Yields the parts of the list of queries. rows: as `_describe` takes them."""
    return _lines(_describe(*row) for row in count_rows(rows.iterator(chunk_size=CHUNK)))


def _describe(
    text: str,
    information_need: str,
    reference_answer: str,
    notes: str,
    tags: list[str],
    options: Mapping[str, Any] | None = None,
    weight: float = 1,
) -> dict[str, Any]:
    optional = {
        "information_need": information_need,
        "reference_answer": reference_answer,
        "notes": notes,
        "tags": tags,
        "options": options,
    }
    data = {"query": text, **{key: value for key, value in optional.items() if value}}
    return data if weight == 1 else {**data, "weight": grade_number(weight)}


def _links(linked: Iterable[tuple[int, int, str]]) -> list[tuple[str, Iterator[str]]]:
    """Returns the section with the links of queries; none if no two of them are linked, as in files of older versions.

    linked: the id of the link, the id and the text of each query that is linked.
    """
    by_link: dict[int, list[tuple[int, str]]] = {}
    for link_id, query_id, text in linked:
        by_link.setdefault(link_id, []).append((query_id, text))
    several = [sorted(by_link[link_id]) for link_id in sorted(by_link) if len(by_link[link_id]) > 1]
    elements = ({"queries": [text for _, text in of_link]} for of_link in several)
    return [("links", _lines(elements))] if several else []


def _ratings(book: Book, queries: QuerySet[Any, tuple[int, str]], by: User) -> Iterator[str]:
    """Yields the ratings of queries, of which ids and texts are read, in their order; those of a query together, by document, and of a
    document by time.

    As JSON objects, which are put together here: an encoder for each takes three times as long.
    """
    names = {rater_id: _encode(name) for rater_id, name in name_raters(book, by).items()}
    for texts in query_batches(queries.iterator(chunk_size=CHUNK)):
        by_query: dict[int, list[Any]] = {query_id: [] for query_id in texts}
        ratings = Rating.objects.filter(query_id__in=texts).order_by()
        for row in ratings.values_list(*_RATING_COLUMNS).iterator(chunk_size=CHUNK):
            by_query[row[0]].append(row)
        for query_id, rows in by_query.items():
            if rows:
                yield NEXT.join(_describe_ratings(_encode(texts[query_id]), rows, names))


def _describe_ratings(text: str, rows: list[Any], names: Mapping[int, str]) -> Iterator[str]:
    """Yields the ratings of a query. text: that of the query, as JSON. names: of the raters, as JSON."""
    for _, doc_id, rater_id, verdict, value, note, is_adjudication, updated_at, _ in sorted(
        rows, key=itemgetter(1, 7, 8)
    ):
        judged = f'"rating": {grade_number(value)}' if verdict == Verdict.RATED else f'"verdict": {_encode(verdict)}'
        noted = f', "note": {_encode(note)}' if note else ""
        decides = ', "is_adjudication": true' if is_adjudication else ""
        yield (
            f'{{"query": {text}, "document": {_encode(doc_id)}, "rater": {names[rater_id]}, {judged}, '
            f'"at": "{_time(updated_at)}"{noted}{decides}}}'
        )


def name_raters(book: Book, by: User) -> dict[int, str]:
    """Returns `{id: name}` of the raters of a book: different names, which `accounts.ensure_raters` finds again."""
    rater_ids = Rating.objects.filter(query__book=book).order_by().values("rater")
    raters = list(User.objects.filter(pk__in=rater_ids).order_by("pk"))
    known_emails = accounts.known_raters([rater.email for rater in raters], by=by)
    names: dict[int, str] = {}
    taken: set[str] = set()
    for rater in raters:
        stem = rater.email if rater.email in known_emails else rater.name or f"Rater {rater.pk}"
        name, number = stem, 1
        while name.lower() in taken:
            number += 1
            name = f"{stem} ({number})"
        taken.add(name.lower())
        names[rater.pk] = name
    return names


def _runs(case: Case) -> Iterator[dict[str, Any]]:
    for run in pinned_runs(case):
        config = {**run.config, "endpoint": _endpoint_name(run.attempt.endpoint)}
        in_case = case.case_queries.present().filter(query=OuterRef("query"))
        removed = run.done - run.rankings.filter(Exists(in_case)).count()
        yield {
            "number": run.number,
            "attempt": run.attempt.number,
            "name": run.name,
            "note": run.note,
            "status": run.status,
            "reason": run.reason,
            "version": run.version,
            "rows": run.rows,
            "queries": run.queries - removed,
            "seconds": run.seconds,
            "created_at": _time(run.created_at),
            "started_at": _time(run.started_at),
            "finished_at": _time(run.finished_at),
            "config": {key: value for key, value in config.items() if key != "url"},
        }


def _rankings(case: Case) -> Iterator[str]:
    """Yields the rankings of the pinned runs as JSON objects, which are put together of those of their documents."""
    optional = ("options", "total", "took_ms", "error_kind", "error")
    columns = ("former_text", "query__text", "returned", "documents", "engine_scores", "snippets", *optional)
    documents = DocumentCache(
        ("doc_id", "fields"), lambda doc_id, fields: (_encode(doc_id), _encode({} if fields is None else fields))
    )
    for run in pinned_runs(case):
        for rankings in ranking_parts(run, columns):
            encoded = documents.read(number for row in rankings for number in unpack_numbers(row[3], row[2]))
            for former_text, text, count, packed, scores, snippets, *values in rankings:
                given = {"text": former_text if former_text != text else "", **dict(zip(optional, values, strict=True))}
                head = {
                    "run": run.number,
                    "query": text,
                    **{key: value for key, value in given.items() if value not in ("", None, {})},
                }
                of_ranks = json.loads(snippets) if snippets else [{}] * count
                hits = ", ".join(
                    f"[{encoded[number][0]}, {_encode(score)}, {encoded[number][1]}{f', {_encode(snippet)}' if snippet else ''}]"
                    for number, score, snippet in zip(
                        unpack_numbers(packed, count), unpack_scores(scores, count), of_ranks, strict=True
                    )
                )
                yield f'{_encode(head)[:-1]}, "hits": [{hits}]}}'
            count_read(len(rankings))


def _split(text: str) -> list[str]:
    return text.split("\n") if text else []


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
