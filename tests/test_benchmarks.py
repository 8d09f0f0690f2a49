"""Every benchmark runs with a few queries and prints its figures. How good they are is not tested."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.servers import QUICK_JVM, fetched

FOLDER = Path(__file__).parents[1] / "benchmarks"
# The options that make each of them quick, and words of its output.
QUICK = {
    "abuse": (["--quick", "--only", "nothing", "bodies", "sign-in"], ["nothing", "bodies", "sign-in", "target p95"]),
    "fuzzing": (["--quick"], ["requests to", "target no error"]),
    "compare": (["--queries", "200", "--runs", "3"], ["s of CPU", "peak memory"]),
    "intervals": (["--samples", "5"], ["coverage", "agreement with p 1.000"]),
    "home": (["--quick"], ["home page", "update of active runs"]),
    "importing": (["--quick"], ["new ratings", "other grades", "target at most"]),
    "judging": (["--quick"], ["the pairs are chosen", "nothing rated", "of CPU", "agreement:", "target at most 30 ms"]),
    "load": (["--quick"], ["4 raters", "4 readers", "runs at once", "target no error", "the limit is"]),
    "memory": (["--quick"], ["peak", "target no process above"]),
    "million": (["--queries", "60", "--embedded", "20"], ["queries imported", "is killed after", "nDCG@10", "bytes: "]),
    "pages": (["--queries", "120", "--rounds", "1"], ["the next page", "a rating", "target at most", "by a worker"]),
    "raters": (["--quick"], ["one alone", "20 without a pause", "target p95"]),
    "roads": ([], ["rate", "import", "compare", "functions"]),
    "sandbox": (
        ["--queries", "20"],
        ["first script of a process", "queries per second", "ms a response, in one process"],
    ),
    "scoring": (["--quick"], ["pytrec_eval", "with bounds"]),
    "size": ([], ["tokens of the core", "decision records"]),
    "short_run": (["--quick"], ["queue", "poll", "target at most 400 ms"]),
    "storage": (["--queries", "20"], ["MB"]),
    "switching": (["--queries", "60"], ["fresh", "ratio"]),
    "transfer": (["--quick"], ["export_ratings --format csv", "export_case", "import_book", "target at most 20 s"]),
    "tuning": (["--quick"], ["covered", "sample: 20 trials", "estimates: ", "stub: 10 trials"]),
    "workers": (
        ["--quick", "--only", "limited"],
        ["1 workers", "4 workers", "at most 4 requests", "target four workers"],
    ),
    "workbench": (["--queries", "120", "--rounds", "2"], ["statements", "ratio"]),
}
DATA = {
    **dict.fromkeys(QUICK, "invented data"),
    **dict.fromkeys(("short_run", "storage"), "films of the sample"),
    **dict.fromkeys(("roads", "size"), "target"),
}
ON_ENGINES = {
    "engine_runs": (["elasticsearch", "opensearch"], "target ratio of time below 1"),
    "solr_run": (["solr"], "target ratio at most 1.5"),
}
SHARED = {
    "fresh_site",
    "invented",
    "large_case",
    "options",
    "own_environment",
    "product_case",
    "served_site",
}  # not benchmarks themselves


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, which the benchmarks copy."""
    folder = tmp_path_factory.mktemp("migrated")
    sqlite = {key: value for key, value in os.environ.items() if key != "RELEVANCY_DATABASE_URL"}
    subprocess.run(
        [sys.executable, "-m", "relevancy", "migrate", "--verbosity", "0"],
        env=sqlite | {"RELEVANCY_DATA_DIR": str(folder)},
        cwd=FOLDER.parent,
        check=True,
    )
    return folder / "relevancy.sqlite3"


def run(migrated: Path, name: str, *words: str) -> str:
    """The output of a benchmark, on SQLite. A missed target is not an error here: so few queries say nothing about time."""
    own = {key: value for key, value in os.environ.items() if key != "RELEVANCY_DATABASE_URL"}
    own |= QUICK_JVM | {"MIGRATED_DATABASE": str(migrated)}
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *words],
        env=own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    missed = done.returncode == 1 and "MISSED" in done.stdout
    assert (done.returncode == 0 or missed) and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout


def test_every_benchmark_is_run_here() -> None:
    benchmarks = {path.stem for path in FOLDER.glob("*.py")}
    assert benchmarks == QUICK.keys() | ON_ENGINES.keys() | SHARED


@pytest.mark.parametrize("name", sorted(QUICK))
def test_runs_and_prints_its_figures(name: str, migrated: Path) -> None:
    words, figures = QUICK[name]
    output = run(migrated, name, *words)
    assert [figure for figure in [*figures, DATA[name]] if figure not in output] == [], output


@pytest.mark.live
@pytest.mark.parametrize("name", sorted(ON_ENGINES))
def test_runs_on_real_engines_and_prints_its_figures(name: str, migrated: Path) -> None:
    engines, figure = ON_ENGINES[name]
    if absent := [engine for engine in engines if not fetched(engine)]:
        pytest.skip(f"{', '.join(absent)}: run `make engines` first.")
    output = run(migrated, name, "--quick")
    assert output.count(figure) == len(engines)
    assert output.count("; real products") + output.count("; invented data") == len(engines), output


def test_a_run_on_an_engine_says_that_its_data_are_invented(tmp_path: Path) -> None:
    """Without the products, the benchmark invents data and says so with its result."""
    program = f"""
import sys
sys.path[:0] = [{str(FOLDER)!r}, {str(FOLDER.parent)!r}]
import product_case
from pathlib import Path
product_case.PRODUCTS = Path({str(tmp_path / "missing")!r})
given = product_case.material(5, quick=True)
print(len(given.documents), len(given.texts), len(given.ratings.splitlines()), given.source)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["2000 5 51 invented data"], done


def test_a_million_queries_are_read_from_files_of_others(tmp_path: Path, migrated: Path) -> None:
    """As MS MARCO and TREC have them: columns between tabs, texts with quotation marks, runs with a hundred results and more."""
    texts = [
        ("7", "what is a knob"),
        ("12", 'say "hello",  twice '),
        ("5", "what is a knob"),
        ("9", "no run, no rating"),
    ]
    (tmp_path / "queries").write_text("".join(f"{topic}\t{text}\n" for topic, text in texts))
    (tmp_path / "qrels").write_text("7\t0\t1001\t1\n7\t0\t1002\t3\n12 0 1003 -1\n")
    (tmp_path / "run.tsv").write_text("".join(f"7\t{2000 - rank}\t{rank}\n" for rank in range(100, 0, -1)))
    (tmp_path / "run.trec").write_text("12 Q0 1003 1 9.5 tag\n7 Q0 1002 2 1.5 tag\n7 Q0 1001 1 2.5 tag\n")
    paths = [str(tmp_path / name) for name in ("queries", "qrels", "run.tsv", "run.trec")]
    program = f"""
import sys
sys.path[:0] = [{str(FOLDER)!r}, {str(FOLDER.parent)!r}]
import million
files = million.write_files(million.queries_from_tsv({paths!r}, 10))
print(files.count, files.judged, files.top)
for path in [files.queries, files.ratings, *files.rankings]:
    print(path.read_text())
"""
    own = {key: value for key, value in os.environ.items() if key != "RELEVANCY_DATABASE_URL"}
    own |= {"MIGRATED_DATABASE": str(migrated)}
    done = subprocess.run([sys.executable, "-c", program], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == ["3 2 3", "what is a knob", 'say "hello",  twice', "no run, no rating"]
    assert lines[6:8] == ["what is a knob,1001,1", "what is a knob,1002,3"]
    assert [line for line in lines if line.startswith("what") and line.count(",") == 2][2:][:10] == [
        f"what is a knob,{2000 - rank},{rank}" for rank in range(1, 11)
    ]
    assert '"say ""hello"",  twice",1003,1' in lines
    assert lines.count('"no run, no rating",,') == 2
