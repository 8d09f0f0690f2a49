"""One scorer as a JSON file that suits version control: keys in a fixed order, one line of a script per line.

    {"format": "relevancy-scorer/1", "name": "…", "description": "…", "scale": [[0, "Poor"], …], "measure": "nDCG@10",
     "count_unscoreable_as_zero": false}

or, instead of the measure, `"script": ["line", …], "gives": "100" | "1", "depth": 10 | null`.
"""

import io
import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import scorers
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import read_members
from relevancy.models import Scorer, ScorerVersion, User
from relevancy.models.errors import error_fields, error_location, error_text

from .schema import ScorerElement

FORMAT = "relevancy-scorer/1"
MAX_BYTES = 10_000_000
_FILE_KEYS = {"output_range": "gives", "cutoff": "depth"}  # model fields with another key in the file


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


def parse_scorer(text: str) -> ScorerElement:
    """Returns a checked scorer. Raises `BadFile` with the member, or with the line that is not JSON."""
    members = dict(read_members(io.BytesIO(text.encode()), limit=MAX_BYTES, lists=()))
    found = members.pop("format", None)
    if found != FORMAT:
        raise BadFile(f"format: this is not an exported scorer; the format must be {FORMAT!r}, not {quote(found)}.")
    return ScorerElement.read(members, "")


def import_scorer(*, text: str, by: User, name: str = "", is_global: bool = False) -> Scorer:
    """Creates a scorer from a file, named `name` instead if given.

    Raises `BadFile`, or `ValidationError` for a name that is already taken and for what `by` is not allowed to do.
    """
    scorer = parse_scorer(text)
    try:
        return scorers.create(
            name=name or scorer.name,
            description=scorer.description,
            definition=scorer.definition,
            by=by,
            is_global=is_global,
        )
    except ValidationError as error:
        fields = error_fields(error)
        if not fields or fields == ["name"]:
            raise
        line, column = error_location(error)
        location = f", line {line}, column {column}" if line else ""
        raise BadFile(f"{_FILE_KEYS.get(fields[0], fields[0])}{location}: {error_text(error)}") from None
