"""`try_scorer --measure "nDCG@10" --grades "3 2 - 1"`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import cases, evaluation
from relevancy.management.command import Command as Base
from relevancy.management.command import find_scorers
from relevancy.templatetags import numbers


class Command(Base):
    help = "One typed ranking through one scorer. `-` is unrated."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--measure", metavar="M")
        what.add_argument("--scorer", metavar="NAME")
        parser.add_argument("--grades", required=True, help='in rank order: "3 2 - 1"')
        parser.add_argument("--known", default="", help='grades of further rated documents: "3 3 2"')
        parser.add_argument(
            "--scale", default="", metavar="LO:HI", help="default: the scorer's, else 0 to the highest grade typed"
        )
        parser.add_argument("--json", action="store_true")

    def work(self, **options: Any) -> None:
        measure, scale = options["measure"], options["scale"]
        if options["scorer"]:
            version = cases.newest_version(find_scorers([options["scorer"]])[0])
            measure = version.measure
            scale = scale or f"{version.scale[0][0]}:{version.scale[-1][0]}"
        tried = evaluation.try_measure(measure=measure, grades=options["grades"], known=options["known"], scale=scale)
        if options["json"]:
            self.say_json({**tried, "console": [], "error": None})
            return
        value = "–" if tried["value"] is None else f"{tried['value']:.6f}"
        self.say(f"{measure}: score {numbers.score(tried['score'])}, value {value}")
        if tried["low"] is not None:
            self.say(f"between {tried['low']:.1f} and {tried['high']:.1f} once the unrated documents are rated")
