"""The base of all commands. A user's mistake is reported as one line on stderr with exit status 2, never as a traceback."""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import IO, Any, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import OperationalError, ProgrammingError
from django.db.models import QuerySet

from relevancy import formats, ratings, runs, scorers
from relevancy.engines.errors import EngineError
from relevancy.formats.cells import MAX_BYTES, READ_BYTES
from relevancy.models import Attempt, Book, Case, Endpoint, Run, Scorer, ScorerVersion, Team, UnreadableSecret, User
from relevancy.models.errors import error_fields, error_text
from relevancy.scoring.errors import ScoringError
from relevancy.wording import listed

MISTAKES = (
    ValidationError,
    runs.RunNotAllowed,
    ratings.InvalidRating,
    formats.BadFile,
    EngineError,
    ScoringError,
    UnreadableSecret,
)
MAX_LISTED = 30  # names in an error message
MAX_ID_DIGITS = 19  # longer numbers do not fit into the database
MAX_STDIN = 2 * 1024**3  # bytes; no file may be larger
MISTAKE_STATUS = 2
BROKEN_PIPE_STATUS = 141  # what a shell reports for other programs whose output is closed: 128 + SIGPIPE


class Error(CommandError):
    """A user's mistake. Django prints the name of this class before the message."""


def fail(message: str) -> NoReturn:
    """Ends the command with exit status 2."""
    raise Error(message, returncode=MISTAKE_STATUS)


def describe_error(error: Exception) -> str:
    """Returns the message of a mistake, with the names of the fields that a `ValidationError` is about."""
    if isinstance(error, ValidationError) and error_fields(error):
        return " ".join(f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items())
    return error_text(error)


class Command(BaseCommand):
    """A command. Subclasses implement `run` instead of `handle`."""

    # System checks query the database; without one they would end in a traceback before `handle` is called.
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
            self.stdout.flush()
        except MISTAKES as error:
            fail(describe_error(error))
        except (OperationalError, ProgrammingError) as error:
            reason = " ".join(str(error).split())
            fail(
                f"The database cannot be used: {reason}. Check that it is running and that `relevancy migrate` was run."
            )
        except BrokenPipeError:
            # The reader of a pipe, such as `head`, has ended. Python flushes stdout once more at exit: let that succeed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(BROKEN_PIPE_STATUS)

    def run(self, **options: Any) -> None:
        """Executes the command. May raise any of `MISTAKES`."""
        raise NotImplementedError

    def write(self, text: str = "") -> None:
        """Writes a line to stdout."""
        self.stdout.write(text)

    def write_json(self, data: object) -> None:
        """Writes indented JSON to stdout."""
        self.stdout.write(json.dumps(data, ensure_ascii=False, indent=2))


def read_text(path: str) -> str:
    """Returns the text of a UTF-8 file, with or without a byte order mark; `-` is stdin. Reads little more than is accepted."""
    if path == "-":
        return formats.decode(sys.stdin.buffer.read(MAX_BYTES + 1))
    with open_binary(path) as file:
        return formats.decode(file.read(MAX_BYTES + 1))


@contextmanager
def open_binary(path: str) -> Iterator[IO[bytes]]:
    """Opens a file that may be read several times; `-` is stdin, which is copied to a temporary file."""
    if path == "-":
        with tempfile.TemporaryFile() as copy:
            while content := sys.stdin.buffer.read(READ_BYTES):
                copy.write(content)
                if copy.tell() > MAX_STDIN:
                    fail(f"stdin is too large: the maximum is {MAX_STDIN:,} bytes.")
            copy.seek(0)
            yield copy
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (errors inside are not those of opening)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}.")
    with file:
        yield file


def write_text(path: str, text: str, stdout: OutputWrapper) -> None:
    """Writes a file completely or not at all; `-` is stdout."""
    if path == "-":
        stdout.write(text, ending="" if text.endswith("\n") else "\n")
        return
    write_file(path, io.BytesIO(text.encode()), stdout)


def write_file(path: str, content: IO[bytes], stdout: OutputWrapper) -> None:
    """Writes the rest of a file in UTF-8 completely or not at all, piece by piece; `-` is stdout."""
    if path == "-":
        for line in io.TextIOWrapper(content, encoding="utf-8", newline=""):
            stdout.write(line, ending="")
        return
    target = Path(path).resolve()
    partial = target.with_name(target.name + ".partial")
    try:
        # /dev/null or a named pipe must not be replaced by a file
        is_replaced = target.is_file() or not target.exists()
        with (partial if is_replaced else target).open("wb") as file:
            shutil.copyfileobj(content, file)
        if is_replaced:
            partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        fail(f"{path} cannot be written: {error.strerror}.")


def add_owner(parser: CommandParser, help: str = "default: the only superuser") -> None:
    """Adds the option `--owner`, for `find_owner`."""
    parser.add_argument("--owner", default="", metavar="EMAIL", help=help)


def list_names(names: Iterable[object]) -> str:
    """Returns the first names for an error message."""
    return ", ".join(map(str, islice(names, MAX_LISTED))) or "none yet"


def by_id(text: str) -> int:
    """Returns an id; 0, which no row has, for what is not one."""
    return int(text) if text.isdecimal() and len(text) < MAX_ID_DIGITS else 0


def find_case(name_or_id: str) -> Case:
    """Returns a case by its exact name or its id; names come first."""
    live = Case.objects.live().select_related("book")
    return _find_one("case", name_or_id, [live.filter(name=name_or_id), live.filter(pk=by_id(name_or_id))], live)


def find_book(name_or_id: str) -> Book:
    """Returns a book by its exact name, the name of its only case, or its id; in this order."""
    books = Book.objects.order_by("pk")
    used_by_case = books.filter(cases__in=Case.objects.live().filter(name=name_or_id)).distinct()
    candidates = [books.filter(name=name_or_id), used_by_case, books.filter(pk=by_id(name_or_id))]
    return _find_one("book", name_or_id, candidates, books)


def _find_one[M: (Case, Book)](kind: str, text: str, candidates: Sequence[QuerySet[M]], rows: QuerySet[M]) -> M:
    """Returns the row that the first candidates have; fails if they are several, or if none has one."""
    for matches in map(list, candidates):
        if len(matches) > 1:
            fail(f"Several {kind}s are named {text!r}. Use an id instead: {list_names(row.pk for row in matches)}.")
        if matches:
            return matches[0]
    names = list_names(f"{row.pk} {row.name}" for row in rows)
    fail(f"There is no {kind} {text!r}. {kind.capitalize()}s: {names}.")


def find_endpoint(name: str) -> Endpoint:
    """Returns an endpoint that is not archived."""
    return _find_named("endpoint", Endpoint.objects.live(), name)


def find_team(name: str) -> Team:
    """Returns a team by its exact name."""
    return _find_named("team", Team.objects.all(), name)


def _find_named[M: (Endpoint, Team)](kind: str, rows: QuerySet[M], name: str) -> M:
    row = rows.filter(name=name).first()
    if row is None:
        names = list_names(rows.values_list("name", flat=True))
        fail(f"There is no {kind} {name!r}. {kind.capitalize()}s: {names}.")
    return row


def find_attempt(case: Case, number: int | None = None) -> Attempt:
    """Returns an attempt of a case by its number, archived or not; without one the newest that is not archived."""
    attempts = case.attempts.select_related("endpoint__owner", "case__book").order_by("-number")
    # Imported runs have archived attempts, which cannot be searched.
    chosen = attempts.filter(archived_at=None) if number is None else attempts.filter(number=number)
    attempt: Attempt | None = chosen.first()
    if attempt is None:
        numbers = list_names(case.attempts.order_by("number").values_list("number", flat=True))
        fail(f"Case {case} has no {'attempt' if number is None else f'attempt {number}'}. Attempts: {numbers}.")
    return attempt


def find_run(text: str) -> Run:
    """Returns a run by its id or by `CASE:NUMBER`."""
    all_runs = Run.objects.select_related("case__book", "attempt")
    case, colon, number = text.rpartition(":")
    if colon and number.isdecimal():
        run = all_runs.filter(case=find_case(case), number=int(number)).first()
    else:
        run = all_runs.filter(pk=int(text)).first() if text.isdecimal() else None
    if run is None:
        fail(f"There is no run {text!r}. Use its id, or CASE:NUMBER such as Movies:2.")
    return run


def find_scorers(names: list[str]) -> list[Scorer]:
    """Returns scorers by their exact names, in the same order."""
    scorers_by_name = {scorer.name: scorer for scorer in Scorer.objects.live()}
    for name in names:
        if name not in scorers_by_name:
            fail(f"There is no scorer {name!r}. {suggest_names(name, scorers_by_name)}")
    return [scorers_by_name[name] for name in names]


def find_versions(case: Case, names: Sequence[str]) -> list[ScorerVersion]:
    """Returns the versions of the named scorers: the case's own, or the newest of a scorer that the case does not have.

    Without names, returns those of all scorers of the case.
    """
    versions_of_case = {version.scorer.name: version for version in ScorerVersion.objects.used_by(case)}
    if not names:
        return [*versions_of_case.values()]
    usable = {scorer.name: scorer for scorer in Scorer.objects.offered(case.owner, case).exclude(versions=None)}
    for name in names:
        if name not in versions_of_case and name not in usable:
            suggestion = suggest_names(name, {*versions_of_case, *usable})
            fail(f"There is no scorer {name!r} that {case.owner} can use. {suggestion}")
    return [versions_of_case.get(name) or scorers.newest_version(usable[name]) for name in dict.fromkeys(names)]


def suggest_names(name: str, scorer_names: Collection[str]) -> str:
    """Returns a sentence with the scorers whose names are similar or, if none is, with the first of all."""
    names_by_lowercase = {candidate.lower(): candidate for candidate in sorted(scorer_names)}
    similar = [names_by_lowercase[match] for match in get_close_matches(name.lower(), names_by_lowercase)]
    if similar:
        return f"Did you mean {' or '.join(map(repr, similar))}?"
    return f"Scorers: {listed(sorted(scorer_names), MAX_LISTED)}."


def find_owner(email: str) -> User:
    """Returns the user with an email address or, without one, the only superuser."""
    if email:
        user = User.objects.find(email)
        if user is None:
            fail(f"No user has the email address {email!r}.")
        return user
    superusers = list(User.objects.filter(is_superuser=True, is_active=True)[:2])
    if len(superusers) != 1:
        reason = "There are several superusers." if superusers else "There is no superuser."
        fail(f"{reason} Name the owner: --owner EMAIL.")
    return superusers[0]
