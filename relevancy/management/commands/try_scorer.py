"""`try_scorer --measure "nDCG@10" --grades "3 2 - 1"`, `try_scorer --script scorer.js --grades "3 2 - 1"`"""

from typing import Any, NoReturn, TypedDict

from django.core.management.base import CommandParser

from relevancy import scorers, scores
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_scorers, read_text
from relevancy.models import ScorerDefinition
from relevancy.sandbox.errors import ScriptError
from relevancy.scores import ScorerPreview
from relevancy.templatetags import numbers


class Result(TypedDict):
    """What `--json` prints. `error` is the error of a script on this ranking."""

    value: float | None
    score: float | None
    low: float | None
    high: float | None
    console: list[str]
    error: str | None


class Command(Base):
    help = "Scores one ranking, given as grades, with one scorer; `-` is unrated. Only --scorer needs the database."

    def add_arguments(self, parser: CommandParser) -> None:
        scorer = parser.add_mutually_exclusive_group(required=True)
        scorer.add_argument("--measure", metavar="M")
        scorer.add_argument("--script", metavar="FILE", help="JavaScript; `-` is stdin")
        scorer.add_argument("--scorer", metavar="NAME", help="a saved scorer")
        parser.add_argument("--grades", required=True, help='in rank order: "3 2 - 1"')
        parser.add_argument("--known", default="", help='grades of rated documents that were not returned: "3 3 2"')
        parser.add_argument("--scale", default="", metavar="LO:HI", help="default: the scorer's, or 0 to the top grade")
        parser.add_argument(
            "--gives",
            dest="output_range",
            default="100",
            choices=["100", "1"],
            help="the highest score that a --script sets: 100 (default) or 1",
        )
        parser.add_argument(
            "--depth", type=int, help="number of results that a --script considers; default: what it declares"
        )
        parser.add_argument("--json", action="store_true")

    def run(self, **options: Any) -> None:
        try:
            definition, name, scale = self._read_scorer(options)
        except ScriptError as error:
            self._fail_on_script(error, options)
        preview = scores.preview_grades(definition, grades=options["grades"], known=options["known"], scale=scale)
        if options["json"]:
            self.write_json(_result(preview))
        else:
            self._print(preview, name)

    def _read_scorer(self, options: Any) -> tuple[ScorerDefinition, str, str]:
        """Returns the definition, its name, and the scale of the grades. Raises `ScriptError`."""
        scale = options["scale"]
        if options["scorer"]:
            version = scorers.newest_version(find_scorers([options["scorer"]])[0])
            definition = ScorerDefinition.of(version)  # normalized when it was saved
            return definition, version.measure or options["scorer"], scale or f"{version.lowest:g}:{version.top:g}"
        scale = scale or scores.infer_scale(options["grades"], options["known"])
        if options["measure"]:
            return scorers.normalize(ScorerDefinition(measure=options["measure"])), options["measure"], scale
        script, cutoff = read_text(options["script"]), options["depth"]
        if not script.strip():
            fail(f"{options['script']} is empty.")
        if cutoff is not None and not 1 <= cutoff <= scorers.MAX_CUTOFF:
            fail(f"--depth is {cutoff}; it must be from 1 to {scorers.MAX_CUTOFF}.")
        definition = ScorerDefinition(
            script=script, scale=scorers.parse_scale(scale), output_range=options["output_range"], cutoff=cutoff
        )
        return scorers.normalize(definition), options["script"], scale

    def _fail_on_script(self, error: ScriptError, options: Any) -> NoReturn:
        location = f"Line {error.line}, column {error.column}: " if error.line else ""
        if options["json"]:
            result: Result = {
                "value": None,
                "score": None,
                "low": None,
                "high": None,
                "console": [],
                "error": f"{location}{error}",
            }
            self.write_json(result)
        fail(f"{options['script'] or options['scorer']}: {location}{error}")

    def _print(self, preview: ScorerPreview, name: str) -> None:
        for line in preview.console:
            self.write(line)
        if preview.error:
            self.write(f"{name}: no score, the script failed. {preview.error}")
            return
        value = "–" if preview.value is None else f"{preview.value:.6f}"
        self.write(f"{name}: score {numbers.score(preview.score)}, value {value}")
        if preview.low is not None and preview.high is not None:
            self.write(f"between {preview.low:.1f} and {preview.high:.1f} once the unrated documents are rated")


def _result(preview: ScorerPreview) -> Result:
    return {
        "value": preview.value,
        "score": preview.score,
        "low": preview.low,
        "high": preview.high,
        "console": list(preview.console),
        "error": preview.error or None,
    }
