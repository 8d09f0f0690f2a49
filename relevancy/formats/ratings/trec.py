"""TREC files: qrels (`topic 0 document grade`) and runs (`topic Q0 document rank score tag`).

Topics are the ids of queries, because the texts contain spaces. Document ids are percent-encoded where necessary.

See docs/decisions/0005.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import batched
from typing import Any
from urllib.parse import quote as percent_encode

import numpy as np

from relevancy import scoring
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.progress import count_read
from relevancy.models import Case, DocumentCache, Run, unpack_numbers, unpack_scores

from .graded_queries import graded_queries
from .ratings_file import RatingRow
from .topics import Topics

QRELS_COLUMNS = ("topic", "0", "document", "grade")
RUN_COLUMNS = ("topic", "Q0", "document", "rank", "score", "tag")
CHUNK = 500  # rankings in memory at once
RUN_TAG = "relevancy-run-"  # and the number of the run
_LINE_END = re.compile(r"\r\n|\r|\n")
_WHITESPACE_OR_PERCENT_ENCODED = re.compile(r"\s|%[0-9A-Fa-f]{2}")
_WHITESPACE_OR_PERCENT = re.compile(r"[\s%]")


def read_qrels(text: str) -> dict[str, dict[str, float]]:
    """Returns `{topic: {document: grade}}`. Raises `BadFile`."""
    qrels = _read(text, QRELS_COLUMNS, "grade", ignores_rest=False)
    if not qrels:
        raise BadFile(f"The file of qrels is empty; its lines must be '{' '.join(QRELS_COLUMNS)}'.")
    return qrels


def read_run(text: str) -> dict[str, dict[str, float]]:
    """Returns `{topic: {document: score}}`. As in trec_eval the score counts, not the rank. Raises `BadFile`."""
    return _read(text, RUN_COLUMNS, "score", ignores_rest=True)


def _read(
    text: str, columns: tuple[str, ...], number_column: str, *, ignores_rest: bool
) -> dict[str, dict[str, float]]:
    """Like trec_eval 10, ignores what follows the columns of a run."""
    numbers_by_topic: dict[str, dict[str, float]] = {}
    for line, cells in _rows(_LINE_END.split(text), columns, ignores_rest=ignores_rest):
        topic, doc_id = cells[0], cells[2]
        numbers = numbers_by_topic.setdefault(topic, {})
        if doc_id in numbers:
            raise BadFile(f"document {quote(doc_id)} of topic {quote(topic)} occurs for the second time.", line=line)
        numbers[doc_id] = _parse_number(cells[columns.index(number_column)], number_column, line)
    return numbers_by_topic


def read_topics(lines: Iterable[str]) -> set[str]:
    """Returns the topics of qrels."""
    return {cells[0] for _, cells in _rows(lines, ())}


def read_ratings(lines: Iterable[str], topics: Topics) -> Iterator[RatingRow]:
    """Yields the grades of qrels as ratings. topics: what the first column means. Grades below 0 are unjudged, as for trec_eval.

    Raises `BadFile` for a query that the case does not have.
    """
    for line, (topic, _, doc_id, grade) in _rows(lines, QRELS_COLUMNS):
        is_unjudged = _parse_number(grade, "grade", line) < 0
        yield RatingRow(topics.text(topic, line), topics.doc_id(doc_id), "" if is_unjudged else grade, line=line)


def _rows(
    lines: Iterable[str], columns: Sequence[str], *, ignores_rest: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yields `(line, cells)` for each line that is neither blank nor a comment. columns: their names; any number if empty."""
    for line, content in enumerate(lines, 1):
        cells = content.split()
        if not cells or cells[0].startswith("#"):
            continue
        if "\0" in content:
            raise BadFile("this line contains the character U+0000. Remove it.", line=line)
        if columns and (len(cells) < len(columns) or (len(cells) > len(columns) and not ignores_rest)):
            raise BadFile(
                f"{len(cells)} columns instead of {len(columns)} ({' '.join(columns)}): {quote(content.strip())}.",
                line=line,
            )
        yield line, cells


def _parse_number(text: str, column: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(f"column {column}: {quote(text)} is not a number.", line=line)
    return value


def measure(
    *, qrels: str, run: str, measures: Sequence[str], scale: str = "", count_unscoreable_as_zero: bool = False
) -> dict[str, dict[str, Any]]:
    """Scores a TREC run against TREC qrels. Returns `{measure: summary}`; values are 0 to 1, those of CG and DCG sums.

    qrels, run: the content of the files.
    scale: "LOWEST:HIGHEST", by default 0 to the highest grade.
    count_unscoreable_as_zero: as in trec_eval.
    Raises `BadFile`, `MeasureError` and `ScaleError`.
    """
    values_by_measure = scoring.evaluate(measures, read_qrels(qrels), read_run(run), scale or None)
    return {name: _summarize(values, count_unscoreable_as_zero) for name, values in values_by_measure.items()}


def _summarize(values: dict[str, float | None], count_unscoreable_as_zero: bool) -> dict[str, Any]:
    """Returns the mean over the scored queries, the number of these and of all, and the value of each query."""
    if count_unscoreable_as_zero:
        values = {topic: value or 0.0 for topic, value in values.items()}
    return {
        "mean": scoring.mean_value(values.values()),
        "scored": sum(value is not None for value in values.values()),
        "queries": len(values),
        "per_query": values,
    }


def export_run(*, run: Run) -> Iterator[str]:
    """Yields a run in the format of trec_eval, by the ids of queries. A document that was returned twice is listed at its first rank
    only.

    trec_eval sorts by score. If the engine's scores do not decrease from rank to rank, a query gets scores computed from
    its ranks. Two SQL statements for 500 rankings.
    """
    tag = f"{RUN_TAG}{run.number}"
    rankings = run.rankings.filter(error_kind="").order_by("query_id")
    documents = DocumentCache(("doc_id",), encode_doc_id)
    query_ids = array("q", rankings.values_list("query_id", flat=True).iterator())
    for part in batched(query_ids, CHUNK):
        columns = ("query_id", "returned", "documents", "engine_scores")
        rows = [
            (query_id, unpack_numbers(packed, count), unpack_scores(scores, count))
            for query_id, count, packed, scores in rankings.filter(query__in=part).values_list(*columns)
        ]
        doc_ids = documents.read(number for _, numbers, _ in rows for number in numbers)
        yield "".join(
            line
            for query_id, numbers, scores in rows
            for line in _run_lines(query_id, [doc_ids[number] for number in numbers], scores, tag)
        )
        count_read(len(part))


def _run_lines(topic: int, doc_ids: Sequence[str], scores: Sequence[float | None], tag: str) -> list[str]:
    score_by_doc: dict[str, float | None] = {}
    for doc_id, score in zip(doc_ids, scores, strict=True):
        score_by_doc.setdefault(doc_id, score)
    exported: Iterable[float | None] = score_by_doc.values()
    if not _is_decreasing_in_single_precision(list(exported)):
        exported = range(len(score_by_doc), 0, -1)
    return [
        f"{topic} Q0 {doc_id} {rank} {score!r} {tag}\n"
        for rank, (doc_id, score) in enumerate(zip(score_by_doc, exported, strict=True), 1)
    ]


def _is_decreasing_in_single_precision(engine_scores: Sequence[float | None]) -> bool:
    """Returns whether trec_eval, which keeps scores in single precision, sorts the documents like their ranks."""
    if None in engine_scores:
        return False
    with np.errstate(over="ignore"):
        single = np.array(engine_scores, dtype=np.float64).astype(np.float32)
    return bool((single[:-1] > single[1:]).all())


def export_qrels(*, case: Case) -> Iterator[str]:
    """Yields the grades of a case as qrels, with the topics of `export_run`. Fractions have all their digits."""
    for query, grades in graded_queries(case, order=["query_id"]):
        topic = query.pk
        yield "".join(f"{topic} 0 {encode_doc_id(doc_id)} {format_grade(grade)}\n" for doc_id, grade in grades.items())


def format_grade(grade: float) -> str:
    """Returns a grade with all its digits, and whole numbers without a point."""
    return str(int(grade)) if float(grade).is_integer() else repr(float(grade))


def grade_number(grade: float) -> float:
    """Returns a grade as a number for JSON, which has whole numbers without a point."""
    return int(grade) if float(grade).is_integer() else float(grade)


def encode_doc_id(doc_id: str) -> str:
    """Returns a document id without whitespace, which separates the columns of TREC files. `unquote` restores the id.

    Ids are changed only if they contain whitespace or a percent-encoded character, such as `%20`: then whitespace and
    `%` are percent-encoded. Different ids stay different.
    """
    if not _WHITESPACE_OR_PERCENT_ENCODED.search(doc_id):
        return doc_id
    return _WHITESPACE_OR_PERCENT.sub(lambda match: percent_encode(match[0], safe=""), doc_id)
