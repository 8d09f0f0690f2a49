"""`try_scorer --measure "nDCG@10" --grades "3 2 - 1"`, `try_scorer --script scorer.js --grades "3 2 - 1"`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import cases, evaluation
from relevancy.evaluation import Draft, ScriptError, Tried
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_scorers, read_text
from relevancy.templatetags import numbers

DEEPEST = cases.scorers.DEEPEST


class Command(Base):
    help = "One typed ranking through one scorer. `-` is unrated. Needs no database but for --scorer."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--measure", metavar="M")
        what.add_argument("--script", metavar="FILE", help="JavaScript; `-` is stdin")
        what.add_argument("--scorer", metavar="NAME")
        parser.add_argument("--grades", required=True, help='in rank order: "3 2 - 1"')
        parser.add_argument("--known", default="", help='grades of further rated documents: "3 3 2"')
        parser.add_argument(
            "--scale", default="", metavar="LO:HI", help="default: the scorer's, else 0 to the highest grade typed"
        )
        parser.add_argument(
            "--gives", default="100", choices=["100", "1"], help="what a --script's numbers go up to (default 100)"
        )
        parser.add_argument("--depth", type=int, help="how many results a --script looks at; default: what it declares")
        parser.add_argument("--json", action="store_true")

    def work(self, **options: Any) -> None:
        draft, name, scale = self._what(options)
        try:
            draft = evaluation.check(draft)
        except ScriptError as error:
            self._cannot_be_read(error, options)
        tried = evaluation.try_typed(draft, grades=options["grades"], known=options["known"], scale=scale)
        if options["json"]:
            self.say_json(_answer(tried))
        else:
            self._for_people(tried, name)

    def _what(self, options: Any) -> tuple[Draft, str, str]:
        """The definition, what it is called, and the scale of the grades."""
        scale = options["scale"]
        if options["scorer"]:
            version = cases.newest_version(find_scorers([options["scorer"]])[0])
            return (
                Draft.of(version),
                version.measure or options["scorer"],
                scale or f"{version.lowest:g}:{version.top:g}",
            )
        scale = scale or evaluation.scale_for(options["grades"], options["known"])
        if options["measure"]:
            return Draft(measure=options["measure"]), options["measure"], scale
        grades = cases.parse_scale(scale)
        script = read_text(options["script"])
        if not script.strip():
            fail(f"{options['script']} is empty.")
        if options["depth"] is not None and not 1 <= options["depth"] <= DEEPEST:
            fail(f"A script cannot look at {options['depth']} results: say --depth 1 to {DEEPEST}.")
        draft = Draft(script=script, scale=grades, gives=options["gives"], depth=options["depth"])
        return draft, options["script"], scale

    def _cannot_be_read(self, error: ScriptError, options: Any) -> None:
        where = f"Line {error.line}, column {error.column}: " if error.line else ""
        if options["json"]:
            nothing = dict.fromkeys(("value", "score", "low", "high"))
            self.say_json({**nothing, "console": [], "error": f"{where}{error}"})
        fail(f"{options['script'] or options['scorer']}: {where}{error}")

    def _for_people(self, tried: Tried, name: str) -> None:
        for line in tried.console:
            self.say(line)
        if tried.error:
            self.say(f"{name}: no score, the script failed. {tried.error}")
            return
        value = "–" if tried.value is None else f"{tried.value:.6f}"
        self.say(f"{name}: score {numbers.score(tried.score)}, value {value}")
        if tried.low is not None and tried.high is not None:
            self.say(f"between {tried.low:.1f} and {tried.high:.1f} once the unrated documents are rated")


def _answer(tried: Tried) -> dict[str, Any]:
    """What a program reads. A script that failed on this ranking is an answer, too: `error` says where and why."""
    found = {name: getattr(tried, name) for name in ("value", "score", "low", "high")}
    return {**found, "console": list(tried.console), "error": tried.error or None}
