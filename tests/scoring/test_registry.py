import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from relevancy.scoring import Definition, MeasureError, definitions, measures, parse_measure, registry
from relevancy.scoring.measures.judged import JUDGED
from relevancy.scoring.registry import BUILT_IN, registered

MEASURES = Path(measures.__file__).parent
TESTS = Path(__file__).parent / "measures"


def test_definitions_describe_themselves():
    assert tuple(definitions().values())[: len(BUILT_IN)] == BUILT_IN
    for definition in BUILT_IN:
        assert definition.title
        assert definition.description.endswith(".")
        for parameter in definition.parameters:
            assert parameter.title and parameter.description
            assert not parameter.choices or parameter.default == parameter.choices[0][0]


def test_every_measure_has_one_file_with_formula_source_and_example_and_a_test():
    files = {path.stem for path in MEASURES.glob("*.py")} - {"__init__"}
    assert files == {definition.compute.__module__.rpartition(".")[2] for definition in BUILT_IN}
    for stem in files:
        text = import_module(f"relevancy.scoring.measures.{stem}").__doc__
        assert "Source:" in text
        assert "Example:" in text
        assert (TESTS / f"test_{stem}.py").exists()


def test_registered_refuses_two_of_one_name():
    with pytest.raises(MeasureError, match="Two measures are called 'Judged'"):
        registered((*BUILT_IN, JUDGED))


def test_definitions_include_installed_measures(monkeypatch):
    entry = EntryPoint("shown", "tests.scoring.test_registry:SHOWN", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.GROUP else [])
    definitions.cache_clear()
    try:
        assert str(parse_measure("Shown@3")) == "Shown@3"
    finally:
        definitions.cache_clear()


def test_definitions_refuse_entry_points_that_name_something_else(monkeypatch):
    entry = EntryPoint("wrong", "pathlib:Path", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    definitions.cache_clear()
    try:
        with pytest.raises(MeasureError, match=r"'wrong' of relevancy.measures must name a Definition"):
            definitions()
    finally:
        monkeypatch.undo()
        definitions.cache_clear()


SHOWN = Definition("Shown", "Shown", "How many results there are.", lambda slots, _settings: slots.held)


def test_scoring_imports_neither_django_nor_other_rooms():
    code = (
        "import sys, relevancy.scoring\n"
        "rooms = [m for m in sys.modules if m.split('.')[0] in ('django', 'scipy')"
        " or (m.startswith('relevancy.') and not m.startswith('relevancy.scoring'))]\n"
        "sys.exit(', '.join(rooms))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.strip() == ""
