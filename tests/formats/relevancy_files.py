"""Files in our own format, with invented content."""

import io
import json
import zipfile
from typing import Any

CASE: dict[str, Any] = {
    "format": "relevancy/1",
    "kind": "case",
    "name": "Shop: phones",
    "options": {"country": "de"},
    "book": {
        "name": "Phones",
        "scale": [[0, "Poor"], [1, "Fair"], [2, "Good"]],
        "relevant_from": 1,
        "rule": "mean",
        "guidelines": ["Two", "lines"],
        "raters_are_blind": False,
    },
    "scorers": [
        {"name": "nDCG of phones", "description": "", "scale": [[0, ""], [1, ""], [2, ""]], "measure": "nDCG@5"}
    ],
    "endpoints": [{"name": "Shop", "engine": "scripted", "options": {}}],
    "attempts": [
        {
            "number": 2,
            "parent": None,
            "name": "First",
            "endpoint": "Shop",
            "template": ["{", '"query": "#$query##"}'],
            "knobs": {},
            "fields": "id",
            "depth": 10,
            "escape": False,
        }
    ],
    "queries": [
        {
            "query": "phone",
            "information_need": "Any phone",
            "reference_answer": "A **phone**.",
            "tags": ["head"],
            "weight": 2,
        },
        {"query": "case", "options": {"lang": "en"}},
    ],
    "ratings": [
        {"query": "phone", "document": "a", "rater": "Ann", "rating": 2, "at": "2026-01-02T03:04:05.000006+00:00"},
        {"query": "phone", "document": "a", "rater": "Ben", "rating": 1, "note": "small"},
        {"query": "phone", "document": "b", "rater": "Ben", "verdict": "cannot"},
    ],
    "runs": [
        {
            "number": 4,
            "attempt": 2,
            "name": "Baseline",
            "status": "complete",
            "rows": 10,
            "queries": 1,
            "created_at": "2026-01-03T00:00:00+00:00",
            "config": {"engine": "scripted", "endpoint": "Shop", "template": "{}", "fields": "id", "depth": 10},
        }
    ],
    "rankings": [
        {"run": 4, "query": "phone", "at": "2026-01-03T00:00:00+00:00", "hits": [["a", 1.5, {"id": "a"}]], "total": 1}
    ],
}
BOOK = {
    **{key: CASE[key] for key in ("format", "name", "queries", "ratings")},
    "kind": "book",
    "book": CASE["book"],
}


def as_file(content: Any) -> io.BytesIO:
    """Returns an open file with bytes, or with JSON."""
    return io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())


def zipped(content: Any, names: tuple[str, ...] = ("file.json",)) -> io.BytesIO:
    """Returns an open ZIP file with the same JSON under each name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, json.dumps(content))
    return io.BytesIO(file.getvalue())
