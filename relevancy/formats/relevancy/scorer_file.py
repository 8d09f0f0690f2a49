"""One scorer as a JSON file that suits version control: keys in a fixed order, one line of a script per line.

    {"format": "relevancy-scorer/1", "name": "…", "description": "…", "scale": [[0, "Poor"], …], "measure": "nDCG@10",
     "count_unscoreable_as_zero": false}

or, instead of the measure, `"script": ["line", …], "gives": "100" | "1", "depth": 10 | null`.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import scorers
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Scorer, ScorerDefinition, ScorerVersion, User
from relevancy.models.errors import error_fields, error_location, error_text

FORMAT = "relevancy-scorer/1"
_REQUIRED = {"name", "scale"}
_ALLOWED = _REQUIRED | {"description", "measure", "script", "gives", "depth", "count_unscoreable_as_zero"}
_FILE_KEYS = {"output_range": "gives", "cutoff": "depth"}  # model fields with another key in the file
_MAX_SCRIPT_LENGTH = 100_000


def export_scorer(*, scorer: Scorer, version: ScorerVersion) -> str:
    """Returns the file of one version."""
    return format_object({"format": FORMAT, **describe_scorer(scorer=scorer, version=version)})


def describe_scorer(*, scorer: Scorer, version: ScorerVersion) -> dict[str, Any]:
    """Returns the members of the file of one version, without `format`."""
    data: dict[str, Any] = {"name": scorer.name, "description": scorer.description}
    data["scale"] = [list(step) for step in version.scale]
    if version.measure:
        data["measure"] = version.measure
    else:
        data |= {"script": version.script.split("\n"), "gives": version.output_range, "depth": version.cutoff}
    data["count_unscoreable_as_zero"] = version.count_unscoreable_as_zero
    return data


def format_object(data: Mapping[str, Any], indent: str = "") -> str:
    """Returns JSON as `json.dumps` indents it, but with each element of a list on one line. indent: of the object itself."""
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            items = ",\n".join(f"{indent}    {json.dumps(item, ensure_ascii=False)}" for item in value)
            text = f"[\n{items}\n{indent}  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"{indent}  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" + ("" if indent else "\n")


def parse_scorer(text: str) -> tuple[str, str, ScorerDefinition]:
    """Returns `(name, description, definition)`. Raises `BadFile` with the field, or with the line that is not JSON."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadFile(f"this is not valid JSON: column {error.colno}: {error.msg}.", line=error.lineno) from None
    except RecursionError:
        raise BadFile("this is not valid JSON: nested too deeply.") from None
    except ValueError:
        raise BadFile("this JSON contains a number with too many digits.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        value = data.get("format") if isinstance(data, dict) else None
        raise BadFile(f"format: this is not an exported scorer; the format must be {FORMAT!r}, not {quote(value)}.")
    return read_definition({key: value for key, value in data.items() if key != "format"})


def read_definition(data: Mapping[str, Any]) -> tuple[str, str, ScorerDefinition]:
    """Returns `(name, description, definition)` of the members of a file without `format`. Raises `BadFile` with the field."""
    for key in sorted(_REQUIRED - data.keys()):
        raise BadFile(f"{key} is missing.")
    for key in sorted(data.keys() - _ALLOWED):
        raise BadFile(f"{quote(key)} is not a field of a scorer. The fields are {', '.join(sorted(_ALLOWED))}.")
    if ("measure" in data) == ("script" in data):
        raise BadFile("measure, script: a scorer must have exactly one of them.")
    definition = ScorerDefinition(
        measure=_text(data, "measure"),
        script=_script(data),
        scale=read_scale(data["scale"]),
        output_range=_text(data, "gives", "100"),
        cutoff=_cutoff(data),
        count_unscoreable_as_zero=_flag(data, "count_unscoreable_as_zero"),
    )
    return _text(data, "name"), _text(data, "description"), definition


def import_scorer(*, text: str, by: User, name: str = "", is_global: bool = False) -> Scorer:
    """Creates a scorer from a file, named `name` instead if given.

    Raises `BadFile`, or `ValidationError` for a name that is already taken and for what `by` is not allowed to do.
    """
    own_name, description, definition = parse_scorer(text)
    try:
        return scorers.create(
            name=name or own_name, description=description, definition=definition, by=by, is_global=is_global
        )
    except ValidationError as error:
        fields = error_fields(error)
        if not fields or fields == ["name"]:
            raise
        line, column = error_location(error)
        location = f", line {line}, column {column}" if line else ""
        raise BadFile(f"{_FILE_KEYS.get(fields[0], fields[0])}{location}: {error_text(error)}") from None


def _text(data: Mapping[str, Any], key: str, default: str = "") -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise BadFile(f"{key}: this must be a string, not {quote(value)}.")
    return value


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise BadFile(f"{key}: this must be true or false, not {quote(value)}.")
    return value


def _cutoff(data: Mapping[str, Any]) -> int | None:
    value = data.get("depth")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BadFile(f"depth: this must be an integer or null, not {quote(value)}.")
    return value


def _script(data: Mapping[str, Any]) -> str:
    lines = data.get("script", [])
    if isinstance(lines, str):
        lines = [lines]
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise BadFile("script: this must be a list of lines.")
    script = "\n".join(lines)
    if len(script) > _MAX_SCRIPT_LENGTH:
        raise BadFile(f"script: this has {len(script):,} characters; the maximum is {_MAX_SCRIPT_LENGTH:,}.")
    return script


def read_scale(value: Any) -> list[list[float | str]]:
    """Returns the grades with their labels. Only the grades are validated as text, since a label may contain a comma."""
    steps = value if isinstance(value, list) else []
    if not steps or not all(isinstance(step, list) and len(step) == 2 and isinstance(step[1], str) for step in steps):
        raise BadFile(f'scale: this must be a list such as [[0, "Poor"], [1, "Good"]], not {quote(value)}.')
    if any(isinstance(grade, bool) or not isinstance(grade, int | float) for grade, _ in steps):
        raise BadFile(f"scale: the grades must be numbers, not {quote(value)}.")
    try:
        grades = scorers.parse_scale(", ".join(repr(grade) for grade, _ in steps))
    except ValidationError as error:
        raise BadFile(f"scale: {error_text(error)}") from None
    labels = {float(grade): label for grade, label in steps}
    return [[grade, labels[float(grade)]] for grade, _ in grades]
