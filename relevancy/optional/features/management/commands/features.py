"""`features CASE`: saves and logs the features of a case, and writes files of them."""

from collections import deque
from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_attempt, find_case, find_owner, read_text, write_text
from relevancy.models import Case, Run, ScorerVersion
from relevancy.optional.features import feature_sets, fitting, logs
from relevancy.optional.features.access import newest_log
from relevancy.optional.features.dataset import read_dataset
from relevancy.optional.features.feature_text import format_features
from relevancy.optional.features.files import FILES
from relevancy.optional.features.models import FeatureLog, FeatureModel, FeatureSet
from relevancy.wording import counted


class Command(Base):
    help = "Prints the features of a case. Saves a new version, logs it with the engine, and writes files for training elsewhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", metavar="CASE", help="id or exact name")
        parser.add_argument("--version-number", type=int, metavar="NUMBER", help="default: the newest version")
        parser.add_argument("--set", metavar="FILE", help="save the features of this text as a version; - is stdin")
        parser.add_argument(
            "--attempt", type=int, metavar="NUMBER", help="whose endpoint is asked; default: the newest"
        )
        parser.add_argument(
            "--log", action="store_true", help="log the version here, without a worker; goes on with a log"
        )
        parser.add_argument("--run", type=int, metavar="NUMBER", help="log the results of this run as well")
        parser.add_argument("--by", default="", metavar="EMAIL", help="default: the only superuser")
        parser.add_argument(
            "--fit", choices=FeatureModel.Kind.values, help="fit a model of the newest log, and say what it gains"
        )
        parser.add_argument("--attempt-of", type=int, metavar="MODEL", help="make an attempt of this model")
        for name, file in FILES.items():
            parser.add_argument(f"--{name}", metavar="FILE", help=f"write {file.label}: {file.hint} - is stdout")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        if options["set"]:
            self._save(case, options)
        feature_set = _find_version(case, options["version_number"])
        if options["log"]:
            self._log(feature_set, options)
        log = newest_log(feature_set)
        if options["fit"] or options["attempt_of"]:
            self._model(feature_set, log, options)
            return
        wanted = [name for name in FILES if options[name]]
        if not wanted:
            self.write(f"{feature_set} of {case}, attempt {feature_set.attempt.number}: {_describe(log)}")
            self.write(format_features(feature_set.items))
            return
        if log is None or not log.done:
            fail(f"{feature_set} has not been logged. Log it first: --log.")
        dataset = read_dataset(log)
        for name in wanted:
            write_text(options[name], "".join(FILES[name].write(log, dataset)), self.stdout)

    def _save(self, case: Case, options: dict[str, Any]) -> None:
        attempt = find_attempt(case, options["attempt"])
        saved = feature_sets.save(
            case=case, attempt=attempt, text=read_text(options["set"]), by=find_owner(options["by"])
        )
        self.stderr.write(f"{saved} saved.")

    def _log(self, feature_set: FeatureSet, options: dict[str, Any]) -> None:
        by = find_owner(options["by"])
        run = None
        if options["run"]:
            run = Run.objects.filter(case=feature_set.case, number=options["run"]).first()
            if run is None:
                fail(f"Case {feature_set.case} has no run {options['run']}.")
        log = feature_set.logs.active().first()
        if log is None:
            log = logs.start(feature_set=feature_set, run=run, by=by)
        deque(iter(lambda: logs.continue_log(log.pk), False), maxlen=0)
        log.refresh_from_db()
        if log.status == FeatureLog.Status.FAILED:
            fail(log.reason)
        self.stderr.write(f"{feature_set}: {_describe(log)}")

    def _model(self, feature_set: FeatureSet, log: FeatureLog | None, options: dict[str, Any]) -> None:
        by = find_owner(options["by"])
        if options["attempt_of"]:
            model = FeatureModel.objects.filter(log__feature_set=feature_set, pk=options["attempt_of"]).first()
            if model is None:
                fail(f"{feature_set} has no model {options['attempt_of']}.")
            self.write(f"{fitting.adopt(model=model, by=by)} created of {model}.")
            return
        version = ScorerVersion.objects.used_by(feature_set.case).first()
        if log is None or version is None:
            fail("Log the features first (--log), and add a scorer to the case.")
        model = fitting.create(log=log, kind=options["fit"], version=version, by=by)
        fitting.fit(model)
        if model.status != FeatureModel.Status.COMPLETE:
            fail(model.reason or f"A worker fits {model} already; its page will show what it gains.")
        self.write(f"{model}: {model.findings['sentence']}")
        for name, weight in model.content.get("weights", {}).items():
            self.write(f"  {name:<20} {weight:.6g}")


def _find_version(case: Case, number: int | None) -> FeatureSet:
    versions = FeatureSet.objects.filter(case=case).select_related("attempt__endpoint", "case__book")
    found: FeatureSet | None = versions.filter(version=number).first() if number else versions.first()
    if found is None:
        fail(f"Case {case} has no feature set{f' {number}' if number else ''}. Save one: --set FILE.")
    return found


def _describe(log: FeatureLog | None) -> str:
    if log is None:
        return "not logged yet"
    failed = f", {log.failed:,} of them with an error" if log.failed else ""
    return (
        f"{log.status}, {log.done:,} of {counted(log.queries, 'query', 'queries')} logged{failed}. {log.reason}".strip()
    )
