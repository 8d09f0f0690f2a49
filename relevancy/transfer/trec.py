"""TREC's files: qrels (`topic 0 document grade`) and runs (`topic Q0 document rank score tag`)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from relevancy import evaluation, scoring
from relevancy.models import Case, Run

from .errors import BadFile


def read_qrels(text: str) -> dict[str, dict[str, float]]:
    """`{topic: {document: grade}}`. Raises `BadFile`."""
    found: dict[str, dict[str, float]] = {}
    for line, (topic, _, doc_id, grade) in _lines(text, 4, "topic 0 document grade"):
        documents = found.setdefault(topic, {})
        if doc_id in documents:
            raise BadFile(f"document {doc_id!r} of topic {topic!r} stands here for the second time.", line=line)
        documents[doc_id] = _number(grade, "grade", line)
    return found


def read_run(text: str) -> dict[str, dict[str, float]]:
    """`{topic: {document: score}}`; as in trec_eval the score decides, not the rank column. Raises `BadFile`."""
    found: dict[str, dict[str, float]] = {}
    for line, (topic, _, doc_id, _, score, _) in _lines(text, 6, "topic Q0 document rank score tag"):
        documents = found.setdefault(topic, {})
        if doc_id in documents:
            raise BadFile(f"document {doc_id!r} of topic {topic!r} stands here for the second time.", line=line)
        documents[doc_id] = _number(score, "score", line)
    return found


def _lines(text: str, width: int, form: str) -> list[tuple[int, list[str]]]:
    rows = [(number, line.split()) for number, line in enumerate(text.split("\n"), 1)]
    rows = [(number, cells) for number, cells in rows if cells]
    for number, cells in rows:
        if len(cells) != width:
            raise BadFile(f"{len(cells)} columns instead of {width} ({form}): {' '.join(cells)[:80]!r}.", line=number)
    return rows


def _number(text: str, column: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(f"column {column}: {text!r} is no number.", line=line)
    return value


def measure(
    *, qrels: str, run: str, measures: Sequence[str], scale: str = "", zero: bool = False
) -> dict[str, dict[str, Any]]:
    """Score a TREC run against TREC qrels: `{measure: {mean, scored, queries, per_query}}`, values 0…1.

    `scale`: "LOWEST:HIGHEST", default 0 to the highest grade there is. `zero`: what is not scoreable counts as 0.
    Raises `BadFile`, `MeasureError` (a `ValueError`).
    """
    values = scoring.evaluate(measures, read_qrels(qrels), read_run(run), scoring.Scale.parse(scale) if scale else None)
    return {name: _summary(per_query, zero) for name, per_query in values.items()}


def _summary(per_query: dict[str, float | None], zero: bool) -> dict[str, Any]:
    if zero:
        per_query = {query: value or 0.0 for query, value in per_query.items()}
    scored = [value for value in per_query.values() if value is not None]
    mean = sum(scored) / len(scored) if scored else None
    return {"mean": mean, "scored": len(scored), "queries": len(per_query), "per_query": per_query}


def export_run(*, run: Run) -> str:
    """A run as trec_eval reads it. The topic is the query's id: texts have blanks. A repeated document stands at its first rank only.

    trec_eval orders by score, so a query whose engine scores do not fall strictly gets scores made from its ranks.
    """
    lines = []
    tag = f"relevancy-run-{run.number}"
    for ranking in run.rankings.filter(error_kind="").order_by("query_id").iterator(chunk_size=200):
        first: dict[str, float | None] = {}
        for doc_id, score, *_ in ranking.hits:
            first.setdefault(doc_id, score)
        falling = _falling(list(first.values()))
        for rank, (doc_id, score) in enumerate(first.items(), 1):
            shown = score if falling else len(first) - rank + 1
            lines.append(f"{ranking.query_id} Q0 {_token(doc_id)} {rank} {shown!r} {tag}\n")
    return "".join(lines)


def _falling(scores: Sequence[float | None]) -> bool:
    """Whether trec_eval, which keeps scores in single precision, would see each score below the one before."""
    if any(score is None for score in scores):
        return False
    with np.errstate(over="ignore"):
        single = np.array(scores, dtype=np.float64).astype(np.float32)
    return bool((single[:-1] > single[1:]).all())


def export_qrels(*, case: Case) -> str:
    """The case's grades as qrels, topics as in `export_run`. Fractions are written as they are."""
    query_ids = list(case.case_queries.present().values_list("query_id", flat=True))
    known = evaluation.known_grades(case.book, query_ids)
    return "".join(
        f"{query_id} 0 {_token(doc_id)} {grade:g}\n"
        for query_id in sorted(query_ids)
        for doc_id, grade in sorted(known[query_id].items())
    )


def _token(doc_id: str) -> str:
    """TREC's columns are separated by blanks, so a blank in a document id is written as %20 (and % as %25)."""
    if any(char.isspace() for char in doc_id):
        return "".join(f"%{ord(char):02X}" if char.isspace() or char == "%" else char for char in doc_id)
    return doc_id
