"""Rounds of random kills while people work; afterwards everything settles by itself, and nothing is lost."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.faults import checks
from tests.faults.servers import FAULTS, FaultSite
from tests.faults.work import MAKE, Activity, Judging, Rating, World

RATERS, JUDGES, QUERIES = 4, 2, 60
RATED_SECONDS = 120.0  # after a kill, until a rating that was sent later is acknowledged
GAPS = (0.0, 0.3, 1.0, 2.5)  # seconds between two kills; some hit a process that is just starting


@dataclass
class Result:
    """One line of the report. count: how often. seconds: the longest time until all went on. lost: what was wrong."""

    fault: str
    count: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    remark: str = ""

    def add(self, seconds: float, lost: list[str]) -> None:
        """Adds one fault."""
        self.count += 1
        self.seconds = max(self.seconds, seconds)
        self.lost += lost


def make_world(site: FaultSite, seed: int, *, hurries: bool = False) -> World:
    """A case that raters rate, and cases for the other activities. hurries: see `World`."""
    made = site.site.ask(MAKE, site.engine, str(RATERS + JUDGES), str(QUERIES), seconds=180)
    return World(site, made, random.Random(seed), hurries)


def storm(world: World, kills: int, *, per_round: int, rounds: Sequence[Sequence[type[Activity]]]) -> list[Result]:
    """Kills at random, `per_round` times in each round, while raters and judges rate and the activities of the round go on.

    rounds: what is done in each, over and over.
    """
    by_fault: dict[str, Result] = {}
    by_round: dict[str, Result] = {}
    killed = number = 0
    while killed < kills:
        activities = [activity(world) for activity in rounds[number % len(rounds)]]
        name = ", ".join(activity.name for activity in activities)
        result = by_round.setdefault(name, Result(f"all work after a round of {name}"))
        count = min(per_round, kills - killed)
        _round(world, activities, count, by_fault, result)
        killed, number = killed + count, number + 1
        lost = sum(len(line.lost) for line in (*by_fault.values(), *by_round.values()))
        say(
            f"{killed} kills, {world.ledger.count} ratings, {lost} losses; {name}: {result.remark}, {result.seconds:.0f} s"
        )
    return [*sorted(by_fault.values(), key=lambda line: line.fault), *by_round.values()]


def _round(
    world: World, activities: Sequence[Activity], kills: int, by_fault: dict[str, Result], result: Result
) -> None:
    for activity in activities:
        activity.prepare()
    with working(world, *activities):
        for _ in range(kills):
            fault = world.chance.choice(FAULTS)
            line = by_fault.setdefault(_kind(fault), Result(f"kill -9 of {_kind(fault)}"))
            begun = time.monotonic()
            world.site.kill(fault)
            until_rated(world)
            line.add(time.monotonic() - begun, checks.lost_ratings(world, is_quiet=False))
            time.sleep(world.chance.choice(GAPS))
    seconds, problems = settle(world, *activities)
    result.add(seconds, problems)
    result.remark = ", ".join(f"{activity.done} times acknowledged" for activity in activities)


@contextmanager
def working(world: World, *activities: Activity) -> Iterator[None]:
    """Raters, judges and activities work for the duration of a `with` block, and finish what they have begun."""
    stop = threading.Event()
    people: list[Activity] = [Rating(world, number) for number in range(RATERS)]
    people += [Judging(world, RATERS + number) for number in range(JUDGES)]
    failed: list[BaseException] = []

    def go(person: Activity) -> None:
        try:
            person.work(stop)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=go, args=(person,)) for person in (*people, *activities)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1.0)
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def settle(world: World, *activities: Activity) -> tuple[float, list[str]]:
    """Waits until all work is done. Returns after how many seconds it was, and everything that is wrong then."""
    ready = world.site.wait_until_ready()
    if world.hurries:
        world.site.site.ask(checks.MOVE_TIMES, "-5")
        world.site.kill("worker 1")  # it sweeps when it starts
    seconds, still_open = checks.settle(world)
    problems = [f"after {seconds:.0f} s: {work}" for work in still_open]
    problems += checks.recount(world)
    problems += checks.lost_ratings(world, is_quiet=True)
    for activity in activities:
        problems += activity.problems()
    with world.site.postgres.connect() as connection:
        problems += checks.log_problems(connection)
    problems += [f"{count} answers {wrong}" for wrong, count in world.answers.wrong.items()]
    world.answers.wrong.clear()
    for problem in problems:
        say(f"  {problem}")
    return ready + seconds, problems


def until_rated(world: World) -> float:
    """Returns after how many seconds a rating was acknowledged that was sent after this call."""
    begun = time.monotonic()
    while world.ledger.sent < begun:
        if time.monotonic() > begun + RATED_SECONDS:
            raise AssertionError(f"no rating was acknowledged within {RATED_SECONDS:.0f} s")
        world.site.supervise()
        time.sleep(0.02)
    return time.monotonic() - begun


def _kind(fault: str) -> str:
    return {"postgres stop": "postgres (immediate stop)", "postgres": "postgres (main process)"}.get(
        fault, fault.rstrip(" 0123456789")
    )


def say(text: str) -> None:
    """Writes a line to stderr."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def table(results: list[Result], world_answers: Counter[int]) -> str:
    """The report: faults, times to recovery, losses."""
    lines = ["| fault | times | longest recovery | lost or wrong | |", "|---|---:|---:|---:|---|"]
    lines += [
        f"| {line.fault} | {line.count} | {line.seconds:.1f} s | {len(line.lost)} | {line.remark} |" for line in results
    ]
    answers = ", ".join(f"{count:,} × {status or 'none'}" for status, count in sorted(world_answers.items()))
    lost: dict[str, list[str]] = defaultdict(list)
    for line in results:
        lost[line.fault] += line.lost
    details = [f"- {fault}: {problem}" for fault, problems in lost.items() for problem in problems]
    return "\n".join([*lines, "", f"Answers of the web server by status: {answers}.", *details, ""])
