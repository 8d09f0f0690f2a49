"""Counts of several processes: added up, kept when a process ends, and limited in size."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relevancy.optional.metrics import process_files
from relevancy.optional.metrics.process_files import ProcessFiles

CHILD = """
import sys
from pathlib import Path
from relevancy.optional.metrics.process_files import ProcessFiles
files = ProcessFiles(Path(sys.argv[1]))
for _ in range(5):
    files.count("relevancy_x", "Help.", {"a": "child"})
    files.observe("relevancy_x_seconds", "Help.", {"a": "child"}, 0.3, (0.1, 0.5))
print("counted", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def files(tmp_path: Path):
    own = ProcessFiles(tmp_path / "metrics")
    yield own
    own.close()


def samples(files: ProcessFiles) -> dict[tuple[str, ...], float]:
    """The value of each sample by its name and the values of its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value for metric in files.read() for sample in metric.samples
    }


def start_child(files: ProcessFiles) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(files.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
    )
    assert process.stdout
    assert process.stdout.readline() == "counted\n"
    return process


def test_counts_and_times(files: ProcessFiles) -> None:
    for seconds in (0.05, 0.1, 0.4, 7):
        files.observe("relevancy_x_seconds", "Help.", {"a": "b"}, seconds, (0.1, 0.5))
    files.count("relevancy_x", "Help.", {"a": "b", "c": "d"})
    assert samples(files) == {
        ("relevancy_x_total", "b", "d"): 1,
        ("relevancy_x_seconds_bucket", "b", "0.1"): 2,
        ("relevancy_x_seconds_bucket", "b", "0.5"): 3,
        ("relevancy_x_seconds_bucket", "b", "+Inf"): 4,
        ("relevancy_x_seconds_sum", "b"): pytest.approx(7.55),
        ("relevancy_x_seconds_count", "b"): 4,
    }


def test_processes_are_added_up_and_killed_ones_are_kept(files: ProcessFiles) -> None:
    files.count("relevancy_x", "Help.", {"a": "child"})
    children = [start_child(files) for _ in range(3)]
    assert samples(files)["relevancy_x_total", "child"] == 16
    for number, child in enumerate(children, 1):
        child.kill()
        child.communicate()
        assert samples(files)["relevancy_x_total", "child"] == 16
        assert samples(files)["relevancy_x_seconds_count", "child"] == 15
        names = sorted(path.name.partition("_")[2].partition("-")[0] for path in files.folder.glob("counter_*"))
        assert names == sorted([str(os.getpid()), *(str(other.pid) for other in children[number:]), "ended.db"])
    assert len(list(files.folder.glob("histogram_*"))) == 1 + 0 + 1


def test_a_process_goes_on_counting_while_others_read(files: ProcessFiles) -> None:
    reader = ProcessFiles(files.folder)
    for expected in range(1, 4):
        files.count("relevancy_x", "Help.", {})
        assert samples(reader) == {("relevancy_x_total",): expected}


def test_nothing_was_counted_yet(files: ProcessFiles) -> None:
    assert samples(files) == {}


def test_a_full_file_drops_new_series_and_says_so_once(
    files: ProcessFiles, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process_files, "FILE_BYTES", 4096)
    for number in range(100):
        files.count("relevancy_x", "Help.", {"a": f"{number:03}"})
    kept = len(samples(files))
    assert 10 < kept < 100
    files.count("relevancy_x", "Help.", {"a": "000"})
    assert samples(files)["relevancy_x_total", "000"] == 2
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert all(path.stat().st_size == 4096 for path in files.folder.glob("*.db"))


def test_a_damaged_file_of_an_ended_process_is_given_up(files: ProcessFiles, caplog: pytest.LogCaptureFixture) -> None:
    files.count("relevancy_x", "Help.", {})
    (files.folder / "counter_1-dead.db").write_bytes(b"\x40" + b"\0" * 7 + b"\x7f" * 56)
    assert samples(files) == {("relevancy_x_total",): 1}
    assert "counter_1-dead.db" in caplog.text
    assert not (files.folder / "counter_1-dead.db").exists()


def test_without_space_on_the_disk_nothing_is_counted_for_a_while(
    files: ProcessFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full_disk:
        full_disk.setattr(process_files.os, "posix_fallocate", refuse)
        with pytest.raises(OSError, match="No space"):
            files.count("relevancy_x", "Help.", {})
    files.count("relevancy_x", "Help.", {})  # it does not try again at once
    monkeypatch.setattr(files, "_retry_at", 0.0)
    files.count("relevancy_x", "Help.", {})
    assert samples(files) == {("relevancy_x_total",): 1}
