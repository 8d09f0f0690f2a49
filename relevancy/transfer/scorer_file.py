"""One scorer as a JSON file that lives well in git: a stable order of keys, a script line by line.

    {"format": "relevancy-scorer/1", "name": "…", "description": "…", "scale": [[0, "Poor"], …], "measure": "nDCG@10",
     "count_unscoreable_as_zero": false}

or, in place of the measure, `"script": ["line", …], "gives": "100" | "1", "depth": 10 | null`.
"""

import json
from collections.abc import Mapping
from typing import Any

from relevancy import cases
from relevancy.evaluation import Draft
from relevancy.models import Scorer, ScorerVersion

from .errors import BadFile

FORMAT = "relevancy-scorer/1"
_REQUIRED = {"format", "name", "scale"}
_KNOWN = _REQUIRED | {"description", "measure", "script", "gives", "depth", "count_unscoreable_as_zero"}
_LONGEST_SCRIPT = 100_000


def export(*, scorer: Scorer, version: ScorerVersion) -> str:
    """The file of one version, with a line end after its last line."""
    data: dict[str, Any] = {"format": FORMAT, "name": scorer.name, "description": scorer.description}
    data["scale"] = [list(step) for step in version.scale]
    if version.measure:
        data["measure"] = version.measure
    else:
        data |= {"script": version.script.split("\n"), "gives": version.gives, "depth": version.depth}
    data["count_unscoreable_as_zero"] = version.count_unscoreable_as_zero
    return _written(data)


def _written(data: Mapping[str, Any]) -> str:
    """As `json.dumps` would indent it, but a grade with its label on one line."""
    lines = []
    for key, value in data.items():
        if key in {"scale", "script"}:
            items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in value)
            text = f"[\n{items}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(text: str) -> tuple[str, str, Draft]:
    """`(name, description, definition)` of a file. Raises `BadFile` naming the field, or the line that is no JSON."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        reason = (
            f"column {error.colno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        )
        raise BadFile(f"this is no JSON: {reason}.", line=line) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        said = data.get("format") if isinstance(data, dict) else None
        raise BadFile(f"format: this is no scorer that was exported here; it should say {FORMAT!r}, not {said!r}.")
    for key in sorted(_REQUIRED - data.keys()):
        raise BadFile(f"{key}: it is missing.")
    for key in sorted(data.keys() - _KNOWN):
        raise BadFile(f"{key}: there is no such field. There are: {', '.join(sorted(_KNOWN))}.")
    if ("measure" in data) == ("script" in data):
        raise BadFile("measure, script: a scorer has exactly one of them.")
    draft = Draft(
        measure=_text(data, "measure"),
        script=_script(data),
        scale=_scale(data["scale"]),
        gives=_text(data, "gives", "100"),
        depth=_depth(data),
        count_unscoreable_as_zero=_flag(data, "count_unscoreable_as_zero"),
    )
    return _text(data, "name"), _text(data, "description"), draft


def load(*, text: str, by: Any, name: str = "", communal: bool = False) -> Scorer:
    """A new scorer out of a file, under another `name` if one is given. Raises `BadFile`, or `cases.Refused` for what the file
    says rightly but cannot be had: a name that is taken, a script with an error."""
    own_name, description, draft = read(text)
    try:
        return cases.scorers.create(
            name=name or own_name, description=description, draft=draft, by=by, communal=communal
        )
    except cases.Refused as reason:
        if reason.field in {"name", ""}:
            raise
        where = f", line {reason.line}, column {reason.column}" if reason.line else ""
        raise BadFile(f"{reason.field}{where}: {reason}") from None


def _text(data: Mapping[str, Any], key: str, default: str = "") -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise BadFile(f"{key}: it should be a text, not {value!r:.60}.")
    return value


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise BadFile(f"{key}: it should be true or false, not {value!r:.60}.")
    return value


def _depth(data: Mapping[str, Any]) -> int | None:
    value = data.get("depth")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BadFile(f"depth: it should be a whole number or null, not {value!r:.60}.")
    return value


def _script(data: Mapping[str, Any]) -> str:
    lines = data.get("script", [])
    if isinstance(lines, str):
        lines = [lines]
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise BadFile("script: it should be a list of lines.")
    script = "\n".join(lines)
    if len(script) > _LONGEST_SCRIPT:
        raise BadFile(f"script: it has {len(script):,} characters; {_LONGEST_SCRIPT:,} are possible.")
    return script


def _scale(value: Any) -> list[list[float | str]]:
    """Grades with labels, checked as what is typed is. A label may hold a comma, so the grades alone go through that check."""
    steps = value if isinstance(value, list) else []
    if not steps or not all(isinstance(step, list) and len(step) == 2 and isinstance(step[1], str) for step in steps):
        raise BadFile(f'scale: it should be a list such as [[0, "Poor"], [1, "Good"]], not {value!r:.60}.')
    if any(isinstance(grade, bool) or not isinstance(grade, int | float) for grade, _ in steps):
        raise BadFile(f"scale: its grades should be numbers, not {value!r:.60}.")
    try:
        grades = cases.parse_scale(", ".join(repr(grade) for grade, _ in steps))
    except cases.Refused as reason:
        raise BadFile(f"scale: {reason}") from None
    labels = {float(grade): label for grade, label in steps}
    return [[grade, labels[float(grade)]] for grade, _ in grades]
