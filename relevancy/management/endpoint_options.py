"""Options of an endpoint on the command line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import endpoints
from relevancy.engines.types import Preset
from relevancy.models import User

from .command import fail, open_binary

CREDENTIALS = {"username", "password", "api_key", "bearer"}
ENDPOINT_FIELDS = {"parallel", "per_minute"}
PRESET = "preset"


def parse_options(words: Sequence[str], *, engine: str) -> dict[str, Any]:
    """Returns the options, credentials, headers and fields of an endpoint from words such as `username=reader`.

    `preset=NAME` gives the options of a preset, whichever place it has; options that are given themselves replace them. Raises
    `ValidationError` for an unknown one.
    """
    fields: dict[str, Any] = {"options": {}, "credentials": {}, "headers": {}}
    preset = find_preset(words, engine=engine)
    # Expressions and templates are strings, even those that are valid JSON.
    strings = {option.name for option in endpoints.get_engine(engine).options}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            fail(f"--option {word!r} does not have the form KEY=VALUE.")
        if key == PRESET:
            continue
        if key in ENDPOINT_FIELDS:
            if not value.isdecimal():
                fail(f"--option {key} is {value!r}; write an integer.")
            fields[key] = int(value)
        elif key in CREDENTIALS:
            fields["credentials"][key] = value
        elif key.startswith("header."):
            fields["headers"][key.removeprefix("header.")] = value
        else:
            others = {*CREDENTIALS, *ENDPOINT_FIELDS, PRESET, "header.NAME"}
            try:
                endpoints.check_option_names([key], engine=engine, also=others)
            except ValidationError as error:
                fail(f"--option: {error.messages[0]}")  # without the value, which may be a password
            fields["options"][key] = value if key in strings else _parse_value(value)
    if preset is not None:
        fields["options"] = {**preset.options, **fields["options"]}
    return fields


def find_preset(words: Sequence[str], *, engine: str) -> Preset | None:
    """Returns the preset that the words name, None if they name none. Raises `ValidationError` for an unknown one."""
    keys = [word.removeprefix(f"{PRESET}=") for word in words if word.startswith(f"{PRESET}=")]
    if len(keys) > 1:
        fail("--option preset=… can be given once.")
    return endpoints.find_preset(engine=engine, key=keys[0]) if keys else None


def store_address(url: str, *, engine: str, by: User) -> str:
    """Returns the address of an endpoint. A file on this machine is checked and copied to the data folder first."""
    if endpoints.is_file_engine(engine) and Path(url).is_file():
        with open_binary(url) as file:
            return endpoints.uploads.store_file(engine=engine, file=file, name=Path(url).name, by=by)
    return url


def _parse_value(value: str) -> Any:
    """Returns the value as JSON if it is valid JSON, otherwise as a string."""
    try:
        return json.loads(value)
    except ValueError:
        return value
