"""What all commands share: a user's mistake is one line on stderr and exit status 2, never a traceback."""

import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, ProgrammingError

from relevancy import cases, evaluation, judging, transfer
from relevancy.evaluation import EngineError, ScoringError
from relevancy.models import Case, Endpoint, Run, Scorer, UnreadableSecret, User

MISTAKES = (
    cases.Refused,
    evaluation.CannotRun,
    judging.CannotRate,
    transfer.BadFile,
    EngineError,
    ScoringError,
    UnreadableSecret,
)


LISTED = 30  # names in a message


class Error(CommandError):
    """What a user did wrong. Django prints the name of the class before the message."""


def fail(message: str) -> NoReturn:
    """End with exit status 2."""
    raise Error(message, returncode=2)


class Command(BaseCommand):
    """Base of our commands: write `work` instead of `handle`."""

    # They ask the database, whose absence is then a traceback before `handle` is reached.
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.work(**options)
        except MISTAKES as error:
            fail(str(error))
        except (OperationalError, ProgrammingError) as error:
            reason = " ".join(str(error).split())
            fail(f"The database cannot be used: {reason}. Is it up, and was `relevancy migrate` run?")

    def work(self, **options: Any) -> None:
        """What the command does."""
        raise SystemExit("A command without work.")

    def say(self, text: str = "") -> None:
        """A line for a person, on stdout."""
        self.stdout.write(text)

    def say_json(self, data: Any) -> None:
        """Data for a program, on stdout."""
        self.stdout.write(json.dumps(data, ensure_ascii=False, indent=2))


def read_text(path: str) -> str:
    """A file's text, `-` for stdin; UTF-8 with or without a byte order mark."""
    if path == "-":
        return transfer.decode(sys.stdin.buffer.read())
    try:
        return transfer.decode(Path(path).read_bytes())
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}.")


def write_text(path: str, text: str, out: Any) -> None:
    """Write a file, whole or not at all; `-` is stdout."""
    if path == "-":
        out.write(text, ending="" if text.endswith("\n") else "\n")
        return
    target = Path(path).resolve()
    partial = target.with_name(target.name + ".partial")
    try:
        if (
            target.exists() and not target.is_file()
        ):  # /dev/null, a pipe: nothing that another file may take the place of
            target.write_text(text, encoding="utf-8")
            return
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        fail(f"{path} cannot be written: {error.strerror}.")


def find_case(word: str) -> Case:
    """A case by id or exact name."""
    live = Case.objects.live().select_related("book")
    found = list(live.filter(name=word)[:2])
    if not found and word.isdecimal():
        found = list(live.filter(pk=int(word)))
    if not found:
        names = ", ".join(f"{case.pk} {case.name}" for case in live[:20])
        fail(f"There is no case {word!r}. Cases: {names or 'none yet'}.")
    if len(found) > 1:
        fail(f"Several cases are called {word!r}. Say which by its id: {', '.join(str(case.pk) for case in found)}.")
    return found[0]


def find_endpoint(name: str) -> Endpoint:
    """A live endpoint by name."""
    endpoint = Endpoint.objects.live().filter(name=name).first()
    if endpoint is None:
        names = ", ".join(Endpoint.objects.live().values_list("name", flat=True))
        fail(f"There is no endpoint {name!r}. Endpoints: {names or 'none yet'}.")
    return endpoint


def find_run(word: str) -> Run:
    """A run by id, or `CASE:NUMBER`."""
    runs = Run.objects.select_related("case__book", "attempt")
    case, colon, number = word.rpartition(":")
    if colon and number.isdecimal():
        run = runs.filter(case=find_case(case), number=int(number)).first()
    else:
        run = runs.filter(pk=int(word)).first() if word.isdecimal() else None
    if run is None:
        fail(f"There is no run {word!r}. Say its id, or CASE:NUMBER such as Movies:2.")
    return run


def find_scorers(names: list[str]) -> list[Scorer]:
    """Scorers by exact name, in the order named."""
    found = {scorer.name: scorer for scorer in Scorer.objects.live()}
    for name in names:
        if name not in found:
            fail(f"There is no scorer {name!r}. {instead(name, set(found))}")
    return [found[name] for name in names]


def instead(name: str, there: set[str]) -> str:
    """The names most like one that does not exist, else the first of all."""
    by_lowered = {each.lower(): each for each in sorted(there)}
    alike = [by_lowered[each] for each in get_close_matches(name.lower(), by_lowered)]
    if alike:
        return f"Did you mean {' or '.join(repr(each) for each in alike)}?"
    more = f" and {len(there) - LISTED:,} more" if len(there) > LISTED else ""
    return f"Scorers: {', '.join(sorted(there)[:LISTED])}{more}."


def find_owner(email: str) -> User:
    """The user with this address, or without one the only superuser."""
    if email:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            fail(f"Nobody has the address {email!r}.")
        return user
    admins = list(User.objects.filter(is_superuser=True, is_active=True)[:2])
    if len(admins) != 1:
        fail(
            "Say who owns it: --owner EMAIL. "
            + ("There is no superuser." if not admins else "There are several superusers.")
        )
    return admins[0]
