"""The deployment files as Docker would read them: the services of docker-compose.yml, filled in, and the image they run."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
# `${NAME}`, `${NAME:-default}`, `${NAME:?what to do}`; `$$` is a dollar sign.
_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Z_]+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\})")
_IMAGE = "relevancy"


def compose_text() -> str:
    """docker-compose.yml as it stands in the repository."""
    return (ROOT / "docker-compose.yml").read_text(encoding="utf-8")


def compose() -> dict[str, Any]:
    """docker-compose.yml, its anchors resolved and its variables not yet."""
    content: dict[str, Any] = YAML(typ="safe", pure=True).load(compose_text())
    return content


def variables() -> dict[str, tuple[str, str]]:
    """The variables of docker-compose.yml by name: `(kind, rest)`, kind "?" for needed ones, rest then what to do.

    Raises `ValueError` for one that is written in two ways: one of them might have a default.
    """
    known: dict[str, tuple[str, str]] = {}
    for match in _VARIABLE.finditer(compose_text()):
        how = (match["kind"] or "", match["rest"] or "")
        if match["name"] and known.setdefault(match["name"], how) != how:
            raise ValueError(f"{match['name']} is written as {known[match['name']]} and as {how}.")
    return known


def fill(value: Any, given: Mapping[str, str]) -> Any:
    """A value of docker-compose.yml with its variables filled in. Raises `KeyError` for a needed one that is not given."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _fill_one(match, given), value)
    if isinstance(value, Mapping):
        return {name: fill(inner, given) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, given) for inner in value]
    return value


def _fill_one(match: "re.Match[str]", given: Mapping[str, str]) -> str:
    if match["dollar"]:
        return "$"
    value = given.get(match["name"], "")
    if value or match["kind"] == "-":
        return value or match["rest"]
    raise KeyError(f"{match['name']}: {match['rest']}")


def instructions(word: str) -> list[str]:
    """The arguments of an instruction of the Dockerfile, in order, with continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.removeprefix(word).strip() for line in text.splitlines() if line.startswith(word + " ")]


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(pair.split("=", 1) for line in instructions("ENV") for pair in line.split())


def is_ours(service: Mapping[str, Any]) -> bool:
    """Whether a service runs the image of the Dockerfile."""
    return bool(service["image"] == _IMAGE)


def command(service: Mapping[str, Any]) -> list[str]:
    """What a service runs: its own command or the image's."""
    own = service.get("command")
    return list(own) if own else list(json.loads(instructions("CMD")[-1]))


def health_check(service: Mapping[str, Any]) -> list[str]:
    """The health check of a service, its own or the image's, as a command; empty for none."""
    own = service.get("healthcheck")
    if own is None:
        (line,) = instructions("HEALTHCHECK")
        return list(json.loads(line[line.index("[") :])) if is_ours(service) else []
    if own.get("disable"):
        return []
    kind, *words = own["test"]
    return ["sh", "-c", *words] if kind == "CMD-SHELL" else list(words)
