"""The options of every benchmark, and how it reports whether its target was met."""

import argparse


def parser(doc: str | None, queries: int) -> argparse.ArgumentParser:
    """Returns a parser with `--queries` (`queries` by default), `--quick` and `--check`."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--queries", type=int, default=queries, metavar="N", help=f"{queries:,} unless given")
    found.add_argument("--quick", action="store_true", help="a few queries, once: shows that it runs, not how fast")
    found.add_argument("--check", action="store_true", help="end with status 1 where a target is missed")
    return found


def read(line: argparse.ArgumentParser, quick: int, rounds: int = 1) -> argparse.Namespace:
    """Returns the options, with `rounds`; with `--quick`, `quick` queries in one round."""
    said = line.parse_args()
    said.queries, said.rounds = (quick, 1) if said.quick else (said.queries, rounds)
    return said


def verdict(good: bool, target: str) -> bool:
    """Prints whether a target was met; returns `good`."""
    print(f"  target {target}: {'ok' if good else 'MISSED'}", flush=True)
    return good


def status(said: argparse.Namespace, good: bool) -> int:
    """The exit status: figures never fail a run unless `--check` asks for it."""
    return int(said.check and not good)
