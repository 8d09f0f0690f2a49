"""The options of every benchmark, and how it reports whether its target was met."""

import argparse


def parser(doc: str | None, queries: int) -> argparse.ArgumentParser:
    """Returns a parser with `--queries` (`queries` by default), `--quick` and `--check`."""
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--queries", type=int, default=queries, metavar="N", help=f"{queries:,} unless given")
    arguments.add_argument("--quick", action="store_true", help="a few queries, once: shows that it runs, not how fast")
    arguments.add_argument("--check", action="store_true", help="end with status 1 where a target is missed")
    return arguments


def read(line: argparse.ArgumentParser, quick: int, rounds: int = 1) -> argparse.Namespace:
    """Returns the options, with `rounds`; with `--quick`, `quick` queries in one round."""
    chosen = line.parse_args()
    chosen.queries, chosen.rounds = (quick, 1) if chosen.quick else (chosen.queries, rounds)
    return chosen


def verdict(good: bool, target: str) -> bool:
    """Prints whether a target was met; returns `good`."""
    print(f"  target {target}: {'ok' if good else 'MISSED'}", flush=True)
    return good


def status(chosen: argparse.Namespace, good: bool) -> int:
    """The exit status: figures never fail a run unless `--check` asks for it."""
    return int(chosen.check and not good)
