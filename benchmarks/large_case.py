"""A case of many invented queries, run twice on ranking files, with ten ratings to a query; and a much larger one, copied from it by
the database."""

import csv
from pathlib import Path

import fresh_site
from django.db import connection, models
from django.db.models import Max
from invented import document, query_grades, rankings

from relevancy import cases, endpoints, queries, ratings, runs, scorers, scores
from relevancy.models import Case, CaseQuery, Query, QueryScore, Ranking, Rating, Run, ScorerVersion, User
from relevancy.queries.text import text_key

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


def make_case(name: str, texts: list[str], by: User, rated: int = 10) -> Case:
    """The case with its runs, scored by the default scorer. rated: how many ratings a query has."""
    case = cases.create(name=name, owner=by, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=texts)
    case_queries = case.case_queries.present().select_related("query")
    grades = query_grades(texts)
    ratings.rate_book(
        book=case.book,
        values={
            case_query.query_id: dict(list(grades[case_query.query.text].items())[:rated])
            for case_query in case_queries
        },
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


def multiply(case: Case, times: int) -> None:
    """Makes a case `times` as large, with copies of its queries, their ratings, rankings and scores; sums its scores.

    A copy has the text of the original with its number, so that texts stay distinct; its documents are the same.
    """
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE copies AS "
            "WITH RECURSIVE numbers(copy) AS (SELECT 2 UNION ALL SELECT copy + 1 FROM numbers WHERE copy < %s) "
            "SELECT id AS query_id, copy, "
            f"(SELECT MAX(id) FROM {Query._meta.db_table}) + ROW_NUMBER() OVER (ORDER BY copy, id) AS copied_id "
            f"FROM {Query._meta.db_table}, numbers WHERE book_id = %s",
            [times, case.book_id],
        )
        if is_postgres:
            cursor.execute("ANALYZE copies")
        else:
            connection.connection.create_function("text_key", 1, text_key, deterministic=True)
    text = "original.text || ' ' || copies.copy"
    key = f"encode(sha256(convert_to({text}, 'UTF8')), 'hex')" if is_postgres else f"text_key({text})"
    _copy(Query, "id", {"id": "copies.copied_id", "text": text, "text_key": key})
    span = (case.case_queries.aggregate(last=Max("position"))["last"] or 0) + 1
    _copy(CaseQuery, "query_id", {"position": f"original.position + (copies.copy - 1) * {span}"})
    for copied in (Rating, Ranking, QueryScore):
        _copy(copied, "query_id", {})
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE copies")
        tables = (Query, CaseQuery, Rating, Ranking, QueryScore)
        for model in tables if is_postgres else ():
            if model._meta.pk.name == "id":
                sequence = f"pg_get_serial_sequence('{model._meta.db_table}', 'id')"
                cursor.execute(f"SELECT setval({sequence}, (SELECT MAX(id) FROM {model._meta.db_table}))")
            cursor.execute(f"VACUUM ANALYZE {model._meta.db_table}")  # as autovacuum does within a minute
    total = case.case_queries.count()
    case.runs.update(queries=total, done=total)
    versions = ScorerVersion.objects.used_by(case)
    for run in case.runs.all():
        scores.score_case(run, versions)


def _copy(model: type[models.Model], key: str, values: dict[str, str]) -> None:
    """Copies the rows of the queries in the table `copies`. key: the column with the query. values: of columns, as SQL; the query and
    the id of a row are its own, all other columns those of the original."""
    values = {"query_id": "copies.copied_id", **values}
    columns = [str(field.column) for field in model._meta.concrete_fields if field.column != "id" or "id" in values]
    selected = ", ".join(values.get(column) or f'original."{column}"' for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {selected} FROM copies JOIN {table} original "
            f"ON original.{key} = copies.query_id ORDER BY copies.copied_id"
        )
