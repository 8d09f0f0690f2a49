"""`measure --qrels F --run F -m nDCG@10`: TREC files, no database."""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats.ratings import trec
from relevancy.management.command import Command as Base
from relevancy.management.command import read_text


class Command(Base):
    help = "Scores a TREC run against TREC qrels. Needs no database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--qrels", required=True, metavar="FILE")
        parser.add_argument("--run", required=True, metavar="FILE")
        parser.add_argument("-m", "--measure", action="append", required=True, metavar="MEASURE", nargs="+")
        parser.add_argument("--per-query", action="store_true", help="also print the value of each query")
        parser.add_argument(
            "--zero", action="store_true", help="count queries that cannot be scored as 0, as trec_eval does"
        )
        parser.add_argument("--scale", default="", metavar="LO:HI", help="default: 0 to the highest grade")
        parser.add_argument("--json", action="store_true")

    def run(self, **options: Any) -> None:
        measures = trec.measure(
            qrels=read_text(options["qrels"]),
            run=read_text(options["run"]),
            measures=[name for group in options["measure"] for name in group],
            scale=options["scale"],
            count_unscoreable_as_zero=options["zero"],
        )
        if options["json"]:
            self.write_json({"measures": measures})
            return
        width = max(len(name) for name in measures)
        for name, result in measures.items():
            if options["per_query"]:
                for query, value in result["per_query"].items():
                    self.write(f"{name:<{width}}  {query:<12}  {_format(value)}")
            scored = f"{result['scored']} of {result['queries']} scored"
            self.write(f"{name:<{width}}  {'mean':<12}  {_format(result['mean'])}  {scored}")


def _format(value: float | None) -> str:
    return "–     " if value is None else f"{value:.4f}"
