"""Engines as forms, pages and commands show them."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError

from relevancy import engines
from relevancy.engines.types import AddressField, OptionInfo, Preset, Syntax


@dataclass(frozen=True)
class EngineInfo:
    """An engine that an endpoint can use.

    `address`: how an endpoint says where the engine is.
    `options`: options of an endpoint that the engine reads. `presets`: their values for well-known products.
    `uses_template`: False if the query template does not change what is returned.
    `loads_documents`: documents can be added to its index.
    """

    key: str
    label: str
    syntax: Syntax
    address: AddressField
    options: tuple[OptionInfo, ...]
    presets: tuple[Preset, ...]
    uses_template: bool
    loads_documents: bool


def engine_infos() -> list[EngineInfo]:
    """Returns every installed engine, the built-in ones first."""
    return [_info(engine) for engine in engines.available()]


def engine_info(key: str) -> EngineInfo:
    """Returns one engine. Raises `UnknownEngine`."""
    return _info(engines.get(key))


def find_preset(*, engine: str, key: str) -> Preset:
    """Returns a preset of an engine. Raises `ValidationError` with the names of those that there are."""
    presets = engine_info(engine).presets
    for preset in presets:
        if preset.key == key:
            return preset
    names = ", ".join(preset.key for preset in presets)
    presets_text = f"Its presets: {names}." if names else "It has none."
    raise ValidationError({"preset": f"The engine {engine} has no preset “{key}”. {presets_text}"})


def engine_label(key: str) -> str:
    """Returns an engine's name for people, or its key if its package is no longer installed."""
    return engines.label(key)


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


def _info(engine: type[engines.Engine]) -> EngineInfo:
    return EngineInfo(
        key=engine.key,
        label=engine.label,
        syntax=engine.syntax,
        address=engine.address,
        options=engine.options,
        presets=engine.presets,
        uses_template=engine.uses_template,
        loads_documents=engine.abilities.load,
    )
