"""The release gate of `evaluate` and of the API: whether a run has errors, too low a score, or dropped against its baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from relevancy import comparison
from relevancy.models import Run, ScorerVersion
from relevancy.models.errors import error_text

from .evaluation_json import Check, Evaluation, ScorerResult, build_baseline_comparison, build_evaluation


@dataclass(frozen=True)
class Gate:
    """What the gate says about a run. drops: one for each scorer if there is a baseline that the run can be compared with."""

    evaluation: Evaluation
    checks: Sequence[Check]
    drops: Sequence[comparison.DropCheck]

    @property
    def error(self) -> str:
        """Why the gate could not decide; empty if it could."""
        return next((check["message"] for check in self.checks if check["is_error"]), "")


def check_run(
    *,
    run: Run,
    versions: Sequence[ScorerVersion],
    fail_under: float | None = None,
    baseline: Run | None = None,
    max_drop: float = 0.0,
    alpha: float = comparison.DEFAULT_ALPHA,
    is_strict: bool = False,
) -> Gate:
    """Checks a finished run, whose scores are up to date, under some scorers.

    fail_under: the lowest score that passes. baseline: what the run is compared with; see `comparison.check_drop`. is_strict: too few
    queries to tell whether a score dropped do not pass.
    """
    evaluation = build_evaluation(run=run, versions=versions)
    error = " ".join(comparison.find_run_errors(run, versions))
    checks = [build_check(f"run {run.number} is complete", error, is_error=True)]
    checks += _check_minimum(evaluation["scorers"], fail_under)
    drops: list[comparison.DropCheck] = []
    if baseline is not None and not error:
        try:
            drops = [
                comparison.check_drop(run=run, baseline=baseline, version=version, max_drop=max_drop, alpha=alpha)
                for version in versions
            ]
        except ValidationError as reason:
            name = f"run {run.number} can be compared with {baseline}"
            checks.append(build_check(name, error_text(reason), is_error=True))
    if drops:
        evaluation["comparison"] = build_baseline_comparison(drops)
        checks += [
            build_check(
                f"{drop.comparison.version.scorer} has not dropped against {baseline}",
                drop.describe() if drop.has_dropped or (drop.is_too_few and is_strict) else "",
            )
            for drop in drops
        ]
    evaluation["passed"] = all(check["passed"] for check in checks)
    return Gate(evaluation, checks, drops)


def build_check(name: str, message: str, *, is_error: bool = False) -> Check:
    """Returns a check that has failed if there is a message. is_error: then it says nothing about the scores."""
    return {"name": name, "passed": not message, "message": message, "is_error": is_error and bool(message)}


def _check_minimum(results: Sequence[ScorerResult], minimum: float | None) -> list[Check]:
    if minimum is None:
        return []
    checks = []
    for result in results:
        message = ""
        if result["score"] is None:
            message = f"{result['name']} has no score, so it is not at least {minimum:g}."
        elif result["score"] < minimum:
            message = f"{result['name']} is {result['score']:.6g}, less than {minimum:g}."
        checks.append(build_check(f"{result['name']} is at least {minimum:g}", message))
    return checks
