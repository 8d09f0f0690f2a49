"""`create_case Products --endpoint shop --template t.txt --fields "id title" --ratings ratings.csv --scale 0:3`"""

from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from relevancy import cases, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_endpoint, find_owner, find_scorers, read_text


class Command(Base):
    help = "Make a case with its first attempt, queries and ratings. All or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--endpoint", required=True, metavar="NAME")
        parser.add_argument("--template", required=True, metavar="FILE")
        parser.add_argument(
            "--fields", default="", metavar="SPEC", help='displayed fields: "id:id title:title overview"'
        )
        parser.add_argument("--queries", metavar="FILE", help="a query a line")
        parser.add_argument("--ratings", metavar="FILE", help="CSV query,docid,rating, which also makes the queries")
        parser.add_argument("--scale", default="", metavar="LO:HI", help="default: the first scorer's, or 1:10")
        parser.add_argument("--scorer", action="append", default=[], metavar="NAME")
        parser.add_argument("--depth", type=int, default=10, metavar="N")
        parser.add_argument(
            "--escape",
            action=BooleanOptionalAction,
            help="escape Lucene's special characters; default: on for query parameters, off for JSON",
        )
        parser.add_argument("--owner", default="", metavar="EMAIL")

    def work(self, **options: Any) -> None:
        owner = find_owner(options["owner"])
        endpoint = find_endpoint(options["endpoint"])
        template = read_text(options["template"])
        queries = read_text(options["queries"]) if options["queries"] else ""
        ratings = read_text(options["ratings"]) if options["ratings"] else ""
        with transaction.atomic():
            case = cases.create(
                name=options["name"],
                owner=owner,
                scorers=find_scorers(options["scorer"]),
                scale=cases.parse_scale(options["scale"]) if options["scale"] else None,
            )
            cases.attempts.save(
                case=case,
                endpoint=endpoint,
                template=template,
                fields=options["fields"],
                depth=options["depth"],
                escape=options["escape"],
                by=owner,
            )
            added = cases.queries.add(case=case, texts=queries.split("\n"))
            if added.refused:
                line, reason = added.refused[0]
                raise transfer.BadFile(reason, line=line)
            if ratings:
                transfer.ratings_csv.import_ratings(case=case, text=ratings, by=owner, source="command")
        count = case.case_queries.present().count()
        self.say(f"Case {case.pk} {case.name} made with {count:,} queries. Next: evaluate {case.pk}")
