"""Python snippets that read a case into pandas by the REST API, and the same as a notebook (nbformat 4.5)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relevancy.formats.evaluation.evaluation_markdown import escape_markdown

SETUP = '''\
import json
import os
from getpass import getpass
from urllib.request import Request, urlopen

import pandas as pd

SITE = {site}
CASE = {case}
TOKEN = os.environ.get("RELEVANCY_TOKEN") or getpass("API token: ")


def get(path):
    """Returns the JSON at an address of the API."""
    headers = {{"Authorization": f"Bearer {{TOKEN}}"}}
    request = Request(f"{{SITE}}/api/v1/{{path}}", headers=headers)
    with urlopen(request) as response:
        return json.load(response)


def items(path):
    """Yields the items of all pages of a list."""
    cursor = ""
    while cursor is not None:
        page = get(f"{{path}}?limit=200&cursor={{cursor}}")
        yield from page["items"]
        cursor = page["next"]
'''
RATINGS = """\
case = get(f"cases/{CASE}/export/case")
ratings = pd.DataFrame(case["ratings"], columns=["query", "document", "rater", "rating", "at"])
ratings["at"] = pd.to_datetime(ratings["at"], format="ISO8601", utc=True)
ratings
"""
GRADES = """\
grades = pd.DataFrame(
    [
        (query["query"], document, grade)
        for query in get(f"cases/{CASE}/export/json")["queries"]
        for document, grade in query["ratings"].items()
    ],
    columns=["query", "document", "grade"],
)
grades
"""
RESULTS = """\
RUN = {run}
rankings = list(items(f"runs/{{RUN}}/rankings"))
results = pd.DataFrame(
    [(ranking["text"], hit["rank"], hit["doc_id"], hit["score"]) for ranking in rankings for hit in ranking["hits"]],
    columns=["query", "rank", "document", "engine_score"],
).merge(grades, on=["query", "document"], how="left")
results
"""
SCORES = """\
scores = pd.DataFrame(
    [{"query": ranking["text"], **score} for ranking in rankings for score in ranking["scores"]],
    columns=["query", "scorer", "score", "low", "high", "is_being_rescored"],
)
is_outdated = scores["is_being_rescored"].any()
assert not is_outdated, "Scores are being computed: read the run again."
scores.pivot(index="query", columns="scorer", values="score").describe()
"""
RUNS = """\
from itertools import islice

runs = pd.DataFrame(
    [
        {"run": run["number"], "name": run["name"], "at": run["created_at"], **score}
        for run in islice(items(f"cases/{CASE}/runs"), 100)
        for score in get(f"runs/{run['id']}")["scores"]
    ],
    columns=["run", "name", "at", "scorer", "score", "scored", "queries"],
)
runs
"""


@dataclass(frozen=True)
class Snippet:
    """A piece of Python that uses the names of those before it. title, text: for people. name: of its cell."""

    name: str
    title: str
    text: str
    code: str


def list_snippets(*, site: str, case_id: int, run_id: int | None) -> list[Snippet]:
    """Returns the snippets for a case, in the order in which they are executed.

    site: its address, without a slash at the end. run_id: of a run; None leaves out what needs one.
    """
    snippets = [
        Snippet(
            "setup",
            "Set-up",
            "It needs pandas, and a token with the scope “read” in RELEVANCY_TOKEN; without the variable it asks for one.",
            SETUP.format(site=json.dumps(site), case=case_id),
        ),
        Snippet(
            "ratings",
            "Ratings of every rater",
            "A row for each rating. The rating is missing where a rater cannot judge, or wants to judge later.",
            RATINGS,
        ),
        Snippet(
            "grades",
            "Grades",
            "The ratings of each document combined by the rule of the book: what scores are computed from.",
            GRADES,
        ),
    ]
    if run_id is not None:
        snippets += [
            Snippet(
                "results",
                "Results of a run",
                "A row for each ranked document. The grade is missing where the document is unrated.",
                RESULTS.format(run=run_id),
            ),
            Snippet(
                "scores",
                "Scores per query",
                "From 0 to 100 for each scorer, with the range that unrated documents leave open. A score is missing where a query "
                "cannot be scored: that is not 0.",
                SCORES,
            ),
            Snippet(
                "runs",
                "Scores of the newest runs",
                "A row for each scorer of the newest 100 runs, the newest run first.",
                RUNS,
            ),
        ]
    return snippets


def write_notebook(*, title: str, snippets: Sequence[Snippet]) -> str:
    """Returns a notebook: JSON in the format nbformat 4.5, without outputs."""
    cells = [_cell("title", "markdown", f"# {escape_markdown(title)}")]
    for snippet in snippets:
        cells.append(_cell(f"{snippet.name}-text", "markdown", f"## {snippet.title}\n\n{snippet.text}"))
        cells.append(_cell(snippet.name, "code", snippet.code.rstrip("\n")))
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cell(name: str, kind: str, source: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell
