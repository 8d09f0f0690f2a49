"""`create_case Products --endpoint shop --template t.txt --fields "id title" --ratings ratings.csv --scale 0:3`"""

from argparse import BooleanOptionalAction
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from relevancy import cases, formats, queries, runs, scorers
from relevancy.formats.queries import queries_csv, queries_import
from relevancy.formats.ratings import ratings_import
from relevancy.management.command import Command as Base
from relevancy.management.command import (
    add_owner,
    fail,
    find_endpoint,
    find_owner,
    find_scorers,
    open_binary,
    read_text,
)
from relevancy.models import Case, Endpoint
from relevancy.models.saving import clean_and_save
from relevancy.wording import counted


class Command(Base):
    help = "Creates a case with its first attempt, queries and ratings. If anything is wrong, nothing is created."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--endpoint",
            default="",
            metavar="NAME",
            help="without one, the case only holds imported runs: see import_run",
        )
        parser.add_argument("--template", metavar="FILE", help="query template; - is stdin; needed with an endpoint")
        parser.add_argument(
            "--fields", default="", metavar="SPEC", help='displayed fields: "id:id title:title overview"'
        )
        parser.add_argument("--queries", metavar="FILE", help="one query per line, or CSV as import_queries reads it")
        parser.add_argument("--ratings", metavar="FILE", help="CSV query,docid,rating[,rater]; also adds the queries")
        parser.add_argument("--scale", default="", metavar="LO:HI", help="default: the first scorer's scale, or 1:10")
        parser.add_argument("--scorer", action="append", default=[], metavar="NAME", help="may be repeated")
        parser.add_argument("--depth", type=int, default=10, metavar="N", help="number of results; default: 10")
        parser.add_argument(
            "--escape",
            action=BooleanOptionalAction,
            help="escape Lucene's special characters in queries; default: for query parameters, but not for JSON",
        )
        add_owner(parser)

    def run(self, **options: Any) -> None:
        owner = find_owner(options["owner"])
        endpoint = _find_endpoint(options)
        template = read_text(options["template"]) if endpoint else ""
        listed = _read_queries(options["queries"])
        case_scorers = find_scorers(options["scorer"])
        scale = scorers.parse_scale(options["scale"]) if options["scale"] else None
        book = cases.build_book(name=options["name"], owner=owner, scorers=case_scorers, scale=scale)

        def create(query_ids: Sequence[int] = ()) -> Case:
            case = cases.create(name=options["name"], owner=owner, scorers=case_scorers, book=book)
            if endpoint:
                runs.attempts.save(
                    case=case,
                    endpoint=endpoint,
                    template=template,
                    fields=options["fields"],
                    depth=options["depth"],
                    escape=options["escape"],
                    by=owner,
                )
            queries.add(case=case, texts=listed.pasted, by=owner)
            queries.change_details(case=case, changes=listed.changes, by=owner)
            queries.add_prepared(case=case, query_ids=query_ids, by=owner)
            return case

        with transaction.atomic():
            clean_and_save(book)
            case = create()
            transaction.set_rollback(bool(options["ratings"]))  # then this was only a check of everything else
        if options["ratings"]:
            book.pk = None
            with open_binary(options["ratings"]) as file:
                case = ratings_import.import_with_case(
                    book=book, lines=formats.read_lines(file), by=owner, origin="command", create_case=create
                )
        if endpoint:
            for warning in runs.attempts.template_warnings(endpoint=endpoint, template=template):
                self.stderr.write(f"Template, line {warning.line}: {warning.message}")
        count = case.case_queries.present().count()
        following = f"evaluate {case.pk}" if endpoint else f"import_run {case.pk} FILE"
        self.write(f"Case {case.pk} {case.name} created with {counted(count, 'query', 'queries')}. Next: {following}")


def _read_queries(path: str | None) -> queries_csv.QueriesFile:
    """Returns the queries of a file, none without one. Raises `BadFile` if any line of it cannot be a query."""
    if not path:
        return queries_csv.QueriesFile(queries.PastedQueries(), {})
    with open_binary(path) as file:
        queries_file = queries_import.open_source(case=None, file=file, name=path)
    queries_import.check_errors(queries_file)
    if queries_file.pasted.rejected:
        line, reason = queries_file.pasted.rejected[0]
        raise formats.BadFile(reason, line=line)
    return queries_file


def _find_endpoint(options: dict[str, Any]) -> Endpoint | None:
    """Returns the endpoint, None without one. Fails if the options of an attempt come without an endpoint or the other way round."""
    if not options["endpoint"]:
        given = [name for name in ("template", "fields", "escape") if options[name]]
        if given:
            fail(f"--{given[0]} needs an endpoint that it is for: --endpoint NAME.")
        if not options["ratings"] and not options["queries"]:
            fail("A case without an endpoint needs queries: --ratings FILE or --queries FILE.")
        return None
    if not options["template"]:
        fail("A case with an endpoint needs a query template: --template FILE.")
    return find_endpoint(options["endpoint"])
