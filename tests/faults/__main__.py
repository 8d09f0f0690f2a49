"""`python -m tests.faults [--quick] [--kills N] [--seed N] [--tasks celery|database] REPORT`

Kills and starves the processes of a site, prints a table of faults, times to recovery and losses, and writes it to REPORT; what
the web server and the workers have printed goes to a file beside it that ends in .log. Ends with status 1 if anything was lost.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.faults import starved
from tests.faults.servers import missing_programs, running_site
from tests.faults.storm import make_world, say, storm, table
from tests.faults.work import ACTIVITIES, Deleting, Merging, Rescoring

PER_ROUND = 25
ROOT = Path(__file__).parents[2]
OPTIONAL = " ".join(sorted(path.parent.name for path in ROOT.glob("relevancy/optional/*/apps.py")))
QUICK_KILLS = 8


def main() -> int:
    """Returns the exit status."""
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("report", type=Path)
    line.add_argument("--quick", action="store_true", help=f"{QUICK_KILLS} kills, in less than a minute")
    line.add_argument("--kills", type=int, default=0, help="300 unless given")
    line.add_argument(
        "--per-round", type=int, default=0, help=f"kills before everything is checked; {PER_ROUND} unless given"
    )
    line.add_argument("--seed", type=int, default=1, help="of the choice of faults and of what is done")
    line.add_argument(
        "--only", default="", help="storm, starved (the faults that kill nothing), or an activity of the storm"
    )
    line.add_argument("--tasks", choices=["celery", "database"], default="celery")
    chosen = line.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))  # leaves no process behind
    if missing := missing_programs():
        sys.stderr.write(f"Not found: {', '.join(missing)}. Install the packages postgresql and redis-server.\n")
        return 2
    kills = 0 if chosen.only == "starved" else chosen.kills or (QUICK_KILLS if chosen.quick else 300)
    rounds = [[activity] for activity in ACTIVITIES if chosen.only in ("", "storm", activity.name)]
    if chosen.quick:
        rounds = [[Merging, Deleting, Rescoring]]
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="relevancy-faults-")))
        root.chmod(0o755)  # PostgreSQL runs as another user
        disk, data = root / "disk", root / "data"
        is_mounted = not chosen.quick and all(stack.enter_context(starved.small_disk(path)) for path in (disk, data))
        folders = {"database_folder": disk / "postgres", "data_folder": data / "relevancy"}
        without = OPTIONAL if chosen.quick else ""
        site = stack.enter_context(running_site(root / "site", tasks=chosen.tasks, without=without, **folders))
        world = make_world(site, chosen.seed, hurries=chosen.quick)
        say(f"the site is at {site.address}, its logs are in {site.folder}")
        per_round = chosen.per_round or PER_ROUND
        try:
            results = storm(world, kills, per_round=per_round, rounds=rounds)
            if chosen.quick:
                results.append(starved.read_only(world))
            elif not chosen.only or chosen.only == "starved":
                results += starved.every(world, disk if is_mounted else None, data if is_mounted else None)
        finally:
            chosen.report.with_suffix(".log").write_text(site.logs(), encoding="utf-8")
    report = table(results, world.answers.by_status)
    chosen.report.write_text(f"# Faults\n\nSeed {chosen.seed}, tasks by {chosen.tasks}.\n\n{report}", encoding="utf-8")
    sys.stdout.write(report)
    return int(any(result.lost for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
