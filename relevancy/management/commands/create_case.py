"""`create_case Products --endpoint shop --template t.txt --fields "id title" --ratings ratings.csv --scale 0:3`"""

from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from relevancy import cases, queries, runs, scorers, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_endpoint, find_owner, find_scorers, read_text


class Command(Base):
    help = "Creates a case with its first attempt, queries and ratings. If anything is wrong, nothing is created."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--endpoint", required=True, metavar="NAME")
        parser.add_argument("--template", required=True, metavar="FILE", help="query template; - is stdin")
        parser.add_argument(
            "--fields", default="", metavar="SPEC", help='displayed fields: "id:id title:title overview"'
        )
        parser.add_argument("--queries", metavar="FILE", help="one query per line")
        parser.add_argument("--ratings", metavar="FILE", help="CSV query,docid,rating; also adds the queries")
        parser.add_argument("--scale", default="", metavar="LO:HI", help="default: the first scorer's scale, or 1:10")
        parser.add_argument("--scorer", action="append", default=[], metavar="NAME", help="may be repeated")
        parser.add_argument("--depth", type=int, default=10, metavar="N", help="number of results; default: 10")
        parser.add_argument(
            "--escape",
            action=BooleanOptionalAction,
            help="escape Lucene's special characters in queries; default: for query parameters, but not for JSON",
        )
        parser.add_argument("--owner", default="", metavar="EMAIL", help="default: the only superuser")

    def run(self, **options: Any) -> None:
        owner = find_owner(options["owner"])
        endpoint = find_endpoint(options["endpoint"])
        template = read_text(options["template"])
        query_lines = read_text(options["queries"]) if options["queries"] else ""
        ratings = read_text(options["ratings"]) if options["ratings"] else ""
        with transaction.atomic():
            case = cases.create(
                name=options["name"],
                owner=owner,
                scorers=find_scorers(options["scorer"]),
                scale=scorers.parse_scale(options["scale"]) if options["scale"] else None,
            )
            runs.attempts.save(
                case=case,
                endpoint=endpoint,
                template=template,
                fields=options["fields"],
                depth=options["depth"],
                escape=options["escape"],
                by=owner,
            )
            added = queries.add(case=case, texts=queries.parse_pasted(query_lines))
            if added.rejected:
                line, reason = added.rejected[0]
                raise transfer.BadFile(reason, line=line)
            if ratings:
                transfer.ratings_csv.import_ratings(case=case, text=ratings, by=owner, source="command")
        for warning in runs.attempts.template_warnings(endpoint=endpoint, template=template):
            self.stderr.write(f"Template, line {warning.line}: {warning.message}")
        count = case.case_queries.present().count()
        self.write(f"Case {case.pk} {case.name} created with {count:,} queries. Next: evaluate {case.pk}")
