"""`tune CASE --knob title_boost=0.1:10:log`: searches for better values of knobs, and says what is gain and what is luck."""

import json
import time
from typing import Any

from django.core.management.base import CommandParser

from relevancy import runs, tasks
from relevancy.engines import knob_text
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, fail, find_attempt, find_case, find_owner, find_versions, write_text
from relevancy.management.progress import Progress
from relevancy.models import Run, User
from relevancy.optional.studies import findings, sealed_queries, studies
from relevancy.optional.studies.estimates import describe_estimates
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.samplers import count_trials
from relevancy.optional.studies.space import SpaceError, parse_knob
from relevancy.statistics import SEED

WAIT_SECONDS = 0.2  # while another worker has the study or the requests of the endpoint


class Command(Base):
    help = (
        "Tries many values of the knobs of an attempt (default: the newest) and says how much better the best are on queries that did "
        "not choose them. It works in this process, and a worker goes on with it if this process dies."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "--knob",
            action="append",
            required=True,
            metavar="NAME=VALUES",
            help="NAME=LOW:HIGH, NAME=LOW:HIGH:log (or whole), NAME=1,2,5, NAME=and,or or NAME=switch; may be repeated",
        )
        parser.add_argument("--attempt", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--scorer", default="", metavar="NAME", help="default: the first scorer of the case")
        parser.add_argument(
            "--trials", type=int, default=100, metavar="N", help="the attempt itself included; default: 100"
        )
        parser.add_argument("--max-requests", type=int, metavar="N")
        parser.add_argument("--max-minutes", type=int, metavar="N")
        parser.add_argument("--max-ms", type=int, metavar="MS", help="the mean search time that chosen values may have")
        parser.add_argument(
            "--guard",
            action="append",
            default=[],
            metavar="TAG:POINTS",
            help="by how many points the mean of the queries with a tag may fall, or of all: “:1”; may be repeated",
        )
        parser.add_argument(
            "--estimates",
            action="store_true",
            help="where knobs are weights of sums, such as boosts: the best of thousands of estimated settings are tried last",
        )
        parser.add_argument("--seed", type=int, default=SEED, metavar="N")
        parser.add_argument("--name", default="", help="of the study")
        parser.add_argument("--plan", action="store_true", help="only say what the study would do")
        parser.add_argument(
            "--adopt", action="store_true", help="make an attempt of the proposed values if they are better"
        )
        parser.add_argument(
            "--open-sealed",
            action="store_true",
            help="open the sealed queries of the case once, for the chosen values or the best",
        )
        parser.add_argument("--json", metavar="FILE", help="write the study and what it has found; - is stdout")
        add_owner(parser, help="who makes the study; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        parent = find_attempt(case, options["attempt"])
        version = find_versions(case, [options["scorer"]] if options["scorer"] else [])[0]
        settings = _read_settings(options)
        plan = studies.plan_study(case=case, parent=parent, version=version, settings=settings)
        if options["json"] != "-":
            self._print_plan(plan)
        if options["plan"]:
            return
        if options["open_sealed"] and not plan.sealed:
            fail("No queries of the case are sealed. Seal those with a tag on the page “Sealed queries” first.")
        study = studies.create(case=case, parent=parent, version=version, settings=settings, by=by)
        self._work(study)
        study.refresh_from_db()
        findings.update_findings(study)
        if options["open_sealed"]:
            self._open_sealed(study, by)
        if options["adopt"] and study.findings.get("is_improvement"):
            trial = study.trials.get(number=study.findings["proposed"])
            attempt = studies.adopt(study=study, trial=trial, by=by)
            self.stderr.write(f"Attempt {attempt.number} has the proposed values.")
        if options["json"]:
            found = {**findings.summarize(study), "estimates_listed": findings.list_estimates(study)}
            write_text(options["json"], json.dumps(found, ensure_ascii=False, indent=2) + "\n", self.stdout)
        if options["json"] != "-":
            self._print(study)
        if study.status == Study.Status.FAILED:
            fail(study.reason)

    def _work(self, study: Study) -> None:
        """Works on the study until it has ended, also if a worker does a part of it. Ctrl+C stops it; what it has found stays."""
        total = count_trials(study.knobs, study.trials_wanted)
        progress = Progress(self.stderr, "trials")
        try:
            while True:
                is_unfinished = studies.continue_study(study.pk, seconds=1.0)
                study.refresh_from_db(fields=("status", "reason", "requests", "seconds"))
                progress.show(study.trials.count(), total, f"{study.requests:,} requests")
                if not study.is_active:
                    return
                for run_id in runs.waiting_runs(study.parent.endpoint_id):
                    tasks.enqueue_run(Run(pk=run_id))
                if not is_unfinished:
                    time.sleep(WAIT_SECONDS)
        except KeyboardInterrupt:
            studies.stop(study=study, by=study.created_by)
            studies.continue_study(study.pk)
        finally:
            progress.close()

    def _open_sealed(self, study: Study, by: User) -> None:
        """Opens the sealed queries, if the study is complete and a setting is better than the attempt; says why not otherwise."""
        if reason := studies.why_not_opened(study):
            self.stderr.write(reason)
            return
        studies.open_sealed(study=study, by=by)
        self._work(study)
        study.refresh_from_db()

    def _print_plan(self, plan: studies.StudyPlan) -> None:
        for line in studies.describe_plan(plan):
            self.write(line)

    def _print(self, study: Study) -> None:
        found = findings.summarize(study)
        self.write(f"{study} is {study.status}. {study.reason}".strip())
        self.write(found["sentence"])
        for warning in found["findings"].get("warnings", ()):
            self.write(warning)
        if tag_sentence := found["findings"].get("tag_sentence"):
            self.write(tag_sentence)
        if opening := found["opening"]:
            self.write(opening["sentence"])
            for sentence in sealed_queries.describe_openings(study.case):
                self.write(sentence)
        if study.estimated:
            self.write(describe_estimates(study.estimated))
        if not found["proposed_settings"] or not found["is_improvement"]:
            return
        parent = found["parent_settings"]
        for name, value in found["proposed_settings"].items():
            self.write(f"  {name}: {knob_text(parent[name])} → {knob_text(value)}")


def _read_settings(options: dict[str, Any]) -> studies.StudySettings:
    try:
        knobs = [parse_knob(text) for text in options["knob"]]
    except SpaceError as error:
        fail(str(error))
    guards = []
    for text in options["guard"]:
        tag, _, points = text.rpartition(":")
        try:
            guards.append({"tag": tag, "max_fall": float(points)})
        except ValueError:
            fail(f"“{text}” is no guard. Write TAG:POINTS, or :POINTS for all queries.")
    names = ("trials", "max_requests", "max_minutes", "max_ms", "estimates", "seed", "name")
    return studies.StudySettings(knobs=knobs, guards=guards, **{name: options[name] for name in names})
