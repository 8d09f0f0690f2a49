"""Peak memory of the processes that make, run and score a case of 10,000 queries with 10 results each.

    python benchmarks/memory.py [--queries N] [--quick] [--check]

Every step is the command that a user would run, in a separate process; its peak is what the kernel reports when it ends.
Engine: the embedded one, with 20,000 invented documents; ten ratings to a query; scorers AvgEdit and nDCG@10. Target: no
process above 600 MB.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from pathlib import Path

import options
from invented import DOCUMENTS, document, query_grades, query_texts
from own_environment import ROOT, environment, run_command

LIMIT = 600
TEMPLATE = '{"query": "#$query##", "fields": {"title": 2, "short_description": 1}}'


def write_files(folder: Path, count: int, documents: int) -> None:
    """Documents, template, and ratings that also name the queries; the second file changes every grade."""
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(document(number)) + "\n" for number in range(documents))
    (folder / "template.json").write_text(TEMPLATE, encoding="utf-8")
    grades_by_text = query_grades(query_texts(count))
    for name, shift in (("ratings.csv", 0), ("others.csv", 1)):
        with (folder / name).open("w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(("query", "docid", "rating"))
            for query, grades in grades_by_text.items():
                rows.writerows((query, doc_id, int(grade + shift) % 4) for doc_id, grade in grades.items())


def command(folder: Path, *words: str) -> tuple[float, float]:
    """Seconds and peak megabytes of `relevancy …`."""
    # Tasks run immediately: rescoring after changed ratings happens in the process that is measured.
    own = {**environment(folder), "RELEVANCY_TASKS": "immediate"}
    used = run_command(list(words), own, folder / "output.txt")
    return used.seconds, used.megabytes


def measure(folder: Path, count: int, documents: int) -> float:
    files = {name: str(folder / name) for name in ("documents.jsonl", "template.json", "ratings.csv", "others.csv")}
    case = ["Large", "--endpoint", "many", "--template", files["template.json"], "--scale", "0:3"]
    case += ["--fields", "id:id title:title short_description supplier", "--ratings", files["ratings.csv"]]
    steps = [
        ("load the documents", "load_documents", "embedded", "many", files["documents.jsonl"]),
        ("make the case", "create_case", *case, "--scorer", "AvgEdit", "--scorer", "nDCG@10"),
        ("run and score it", "evaluate", "Large", "--json", str(folder / "report.json")),
        ("rate and rescore", "import_ratings", "Large", files["others.csv"]),
        ("export the run", "export_run", "Large:1", "--output", str(folder / "run.trec")),
    ]
    command(folder, "migrate", "--verbosity", "0")
    os.environ["DJANGO_SUPERUSER_PASSWORD"] = "benchmark"
    command(folder, "createsuperuser", "--noinput", "--email", "benchmark@example.com", "--verbosity", "0")
    command(folder, "create_endpoint", "many", "embedded", "many")
    print(f"{count:,} queries × 10 results, embedded engine, {documents:,} documents; invented data")
    highest = 0.0
    for label, *words in steps:
        seconds, megabytes = command(folder, *words)
        highest = max(highest, megabytes)
        print(f"  {label:<22} {seconds:6.1f} s   peak {megabytes:5.0f} MB")
    lines = sum(1 for _ in (folder / "run.trec").open(encoding="utf-8"))
    print(f"  {lines:,} results were stored")
    return highest


if __name__ == "__main__":
    chosen = options.read(options.parser(__doc__, 10_000), quick=50)
    os.chdir(ROOT)  # where `-m relevancy` is found
    with tempfile.TemporaryDirectory(prefix="relevancy-benchmark-") as name:
        documents = DOCUMENTS // 10 if chosen.quick else DOCUMENTS
        write_files(Path(name), chosen.queries, documents)
        highest = measure(Path(name), chosen.queries, documents)
    good = options.verdict(highest < LIMIT, f"no process above {LIMIT} MB, the highest has {highest:.0f}")
    raise SystemExit(options.status(chosen, good))
