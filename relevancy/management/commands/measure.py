"""`measure --qrels F --run F -m nDCG@10`: TREC files, no database."""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import read_text


class Command(Base):
    help = "Score a TREC run against TREC qrels. Needs no database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--qrels", required=True, metavar="FILE")
        parser.add_argument("--run", required=True, metavar="FILE")
        parser.add_argument("-m", "--measure", action="append", required=True, metavar="MEASURE", nargs="+")
        parser.add_argument("--per-query", action="store_true")
        parser.add_argument("--zero", action="store_true", help="what is not scoreable counts as 0, as in trec_eval")
        parser.add_argument("--scale", default="", metavar="LO:HI")
        parser.add_argument("--json", action="store_true")

    def work(self, **options: Any) -> None:
        names = [name for group in options["measure"] for name in group]
        found = transfer.trec.measure(
            qrels=read_text(options["qrels"]),
            run=read_text(options["run"]),
            measures=names,
            scale=options["scale"],
            zero=options["zero"],
        )
        if options["json"]:
            self.say_json({"measures": found})
            return
        width = max(len(name) for name in found)
        for name, row in found.items():
            if options["per_query"]:
                for query, value in row["per_query"].items():
                    self.say(f"{name:<{width}}  {query:<12}  {_shown(value)}")
            self.say(
                f"{name:<{width}}  {'mean':<12}  {_shown(row['mean'])}  {row['scored']} of {row['queries']} scored"
            )


def _shown(value: float | None) -> str:
    return "–     " if value is None else f"{value:.4f}"
