"""Engines as forms, pages and commands show them."""

from django.core.exceptions import ValidationError

from relevancy import engines
from relevancy.engines.types import Preset


def find_preset(*, engine: str, key: str) -> Preset:
    """Returns a preset of an engine. Raises `ValidationError` with the names of those that there are."""
    presets = {preset.key: preset for preset in engines.get(engine).presets}
    if key in presets:
        return presets[key]
    presets_text = f"Its presets: {', '.join(presets)}." if presets else "It has none."
    raise ValidationError({"preset": f"The engine {engine} has no preset “{key}”. {presets_text}"})


def is_file_engine(key: str) -> bool:
    """Whether the address of such an endpoint is an uploaded file."""
    engine = engines.find(key)
    return engine is not None and engine.address.kind == "file"


def address_of_page(*, engine: str, url: str) -> str:
    """Returns the address that is meant by that of a page which the engine shows in a browser; any other as it is."""
    adapter = engines.find(engine)
    return adapter.address_of_page(url) if adapter is not None else url


def default_engine() -> str:
    """Returns the key of the engine that the form of a new endpoint starts with."""
    return engines.available()[0].key
