import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from relevancy.scoring import (
    Definition,
    Measure,
    MeasureError,
    ScoringError,
    UnknownMeasure,
    get_definitions,
    measures,
    parse_measure,
    registry,
)
from relevancy.scoring.measures.judged import JUDGED
from relevancy.scoring.registry import BUILT_IN, index_by_name

MEASURES = Path(measures.__file__).parent
TESTS = Path(__file__).parent / "measures"
SHARED_MODULES = {"__init__", "gains", "ideal", "latex"}
LENGTH = Definition("Length", "Length", "Number of results.", lambda slots, _settings: slots.filled_counts)


@pytest.fixture
def install(monkeypatch):
    """Replaces the entry points of the group `relevancy.measures`."""

    def clear_caches():
        get_definitions.cache_clear()
        parse_measure.cache_clear()

    def install(*entries):
        entry_points = [EntryPoint(name, value, registry.ENTRY_POINT_GROUP) for name, value in entries]
        monkeypatch.setattr(
            registry, "entry_points", lambda group: entry_points if group == registry.ENTRY_POINT_GROUP else []
        )
        clear_caches()

    yield install
    monkeypatch.undo()
    clear_caches()


def test_built_in_definitions_are_complete():
    assert tuple(get_definitions().values())[: len(BUILT_IN)] == BUILT_IN
    for definition in BUILT_IN:
        assert definition.title
        assert definition.description.endswith(".")
        assert definition.build_working is not None and definition.list_reasons is not None
        for parameter in definition.parameters:
            assert parameter.title and parameter.description
            assert not parameter.choices or parameter.default == parameter.choices[0][0]


def test_every_measure_has_a_file_with_source_and_example_and_a_test_of_the_example():
    files = {path.stem for path in MEASURES.glob("*.py")} - SHARED_MODULES
    assert files == {definition.compute.__module__.rpartition(".")[2] for definition in BUILT_IN}
    for stem in files:
        text = import_module(f"relevancy.scoring.measures.{stem}").__doc__
        assert "Source:" in text or "Sources:" in text
        assert "Example:" in text
        tests = (TESTS / f"test_{stem}.py").read_text()
        first_test = tests[tests.index("def test_") :].split("(")[0]
        assert first_test.endswith("_example"), stem


def test_two_measures_of_one_name_are_refused():
    with pytest.raises(MeasureError, match="Two measures are called 'Judged'"):
        index_by_name((*BUILT_IN, JUDGED))


def test_an_installed_measure_with_the_name_of_another_is_refused(install):
    install(("copy", "relevancy.scoring.measures.judged:JUDGED"))
    with pytest.raises(MeasureError, match="Two measures are called 'Judged'"):
        get_definitions()


def test_installed_measures_are_found(install):
    install(("length", "tests.scoring.test_registry:LENGTH"))
    assert str(parse_measure("Length@3")) == "Length@3"


@pytest.mark.parametrize(
    ("entry_point", "message"),
    [
        ("pathlib:Path", r"'wrong' of relevancy.measures must refer to a Definition"),
        ("no_such_module:MEASURE", r"'wrong' \(no_such_module:MEASURE\) cannot be imported: No module named"),
    ],
)
def test_broken_entry_points_are_refused(install, entry_point, message):
    install(("wrong", entry_point))
    with pytest.raises(MeasureError, match=message):
        get_definitions()


def test_a_measure_that_was_uninstalled_is_unknown(install):
    install(("length", "tests.scoring.test_registry:LENGTH"))
    measure = parse_measure("Length@3")
    install()
    for use in (lambda: parse_measure("Length@3"), lambda: measure.definition, lambda: measure.settings(1)):
        with pytest.raises(UnknownMeasure, match="There is no measure 'Length'") as caught:
            use()
        assert caught.value.name == "Length"
        assert isinstance(caught.value, ScoringError)
    assert measure == Measure("Length", (), 3)
    assert str(measure) == "Length@3"


def test_scoring_imports_neither_django_nor_other_packages():
    code = (
        "import sys, relevancy.scoring\n"
        "imported = [m for m in sys.modules if m.split('.')[0] in ('django', 'scipy')"
        " or (m.startswith('relevancy.') and not m.startswith('relevancy.scoring'))]\n"
        "sys.exit(', '.join(imported))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.strip() == ""
