"""The result of `evaluate` as Markdown, for the description of a merge request."""

from collections.abc import Sequence

from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.wording import counted

from .evaluation_json import BaselineComparison, Check, Evaluation, ScorerDifference

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#&$"} | {"\n": " ", "\r": " "})


def build_markdown(evaluation: Evaluation, checks: Sequence[Check]) -> str:
    """Returns a heading that says whether the gate passed, the failed checks, and a table of the scorers."""
    heading = "passed" if evaluation["passed"] else "failed"
    lines = [f"### {escape_markdown(evaluation['case'])}: {heading}", ""]
    lines += [f"- {escape_markdown(check['message'])}" for check in checks if not check["passed"]]
    lines += [] if evaluation["passed"] else [""]
    lines += _build_table(evaluation)
    if evaluation["comparison"]:
        lines += _list_worst(evaluation["comparison"])
    return "\n".join(lines) + "\n"


def _build_table(evaluation: Evaluation) -> list[str]:
    comparison = evaluation["comparison"]
    differences = {row["name"]: row for row in comparison["scorers"]} if comparison else {}
    against = f" Change against run {comparison['number']} |" if comparison else ""
    lines = [f"| Scorer | Score | Scored |{against}", "|---|---:|---:|" + ("---:|" if comparison else "")]
    for result in evaluation["scorers"]:
        change = f" {_describe_change(differences.get(result['name']))} |" if comparison else ""
        scored = f"{result['scored']:,} of {result['queries']:,}"
        score = "–" if result["score"] is None else format_rounded(result["score"], 1)
        lines.append(f"| {escape_markdown(result['name'])} | {score} | {scored} |{change}")
    return lines


def _describe_change(row: ScorerDifference | None) -> str:
    if row is None:
        return "–"
    low, high = (format_rounded(bound, 1) for bound in row["interval"])
    too_few = ": too few to tell" if row["too_few"] else ""
    return f"{format_signed(row['difference'], 1)} ({low} to {high}), {counted(row['queries'], 'query', 'queries')}{too_few}"


def _list_worst(comparison: BaselineComparison) -> list[str]:
    lines = []
    for row in comparison["scorers"]:
        if row["worst"]:
            lines += ["", f"Largest losses under {escape_markdown(row['name'])}:", ""]
            lines += [
                f"- {escape_markdown(text)}: {format_rounded(points, 1)}" for text, points in row["worst"].items()
            ]
    return lines


def escape_markdown(text: str) -> str:
    """Returns the text so that Markdown shows it as it is, on one line, and takes nothing of it for HTML or mathematics."""
    return text.translate(_SPECIAL)
