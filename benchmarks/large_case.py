"""A case of many invented queries, run twice on ranking files, with ten ratings to a query."""

import csv
from pathlib import Path

import fresh_site
from invented import document, query_grades, rankings

from relevancy import cases, endpoints, queries, ratings, runs, scorers
from relevancy.models import Case, Run, User

RUNS = 2  # so that there is a previous run to compare with


def write_rankings(path: Path, texts: list[str], seed: int) -> None:
    """A file for the engine `static`: ten documents for each query."""
    with path.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("query", "docid", "position", "title", "short_description", "supplier"))
        for text, numbers in rankings(texts, seed):
            for position, number in enumerate(numbers, 1):
                doc = document(number)
                rows.writerow((text, doc["id"], position, doc["title"], doc["short_description"], doc["supplier"]))


def make_case(name: str, texts: list[str], by: User) -> Case:
    """The case with its runs, scored by the default scorer."""
    case = cases.create(name=name, owner=by, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=texts)
    case_queries = case.case_queries.present().select_related("query")
    grades = query_grades(texts)
    ratings.rate_book(
        book=case.book,
        values={case_query.query_id: grades[case_query.query.text] for case_query in case_queries},
        rater=by,
        by=by,
    )
    folder = fresh_site.DATA / "static"
    folder.mkdir(exist_ok=True)
    for seed in range(RUNS):
        file = f"{name}-{seed}.csv"
        write_rankings(folder / file, texts, seed)
        endpoint = endpoints.create(name=file, engine="static", url=file, by=by)
        fields = "id:id title:title short_description supplier"
        attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", fields=fields, by=by)
        run = runs.finish_here(runs.start(attempt=attempt, by=by))
        assert run.status == Run.Status.COMPLETE, run.reason
    return case
