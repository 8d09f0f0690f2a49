"""The base of all commands. A user's mistake is reported as one line on stderr with exit status 2, never as a traceback."""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import OperationalError, ProgrammingError

from relevancy import formats, ratings, runs, scorers
from relevancy.engines.errors import EngineError
from relevancy.formats.cells import MAX_BYTES, READ_BYTES
from relevancy.formats.exports import JSON, Export
from relevancy.models import Book, Case, Endpoint, Run, Scorer, ScorerVersion, Team, UnreadableSecret, User
from relevancy.models.errors import error_fields, error_text
from relevancy.scoring.errors import ScoringError

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


def read_bytes(path: str) -> bytes:
    """Returns the content of a file; `-` is stdin. Reads one byte more than `formats.decode` accepts at most."""
    if path == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}.")


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
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            fail(f"{path} cannot be read: {error.strerror}.")
        yield file


def read_text(path: str) -> str:
    """Returns the text of a UTF-8 file, with or without a byte order mark; `-` is stdin."""
    return formats.decode(read_bytes(path))


@contextmanager
def open_lines(path: str) -> Iterator[Iterator[str]]:
    """Opens a UTF-8 file, with or without a byte order mark, whose lines are read one by one; `-` is stdin."""
    if path == "-":
        yield formats.read_lines(sys.stdin.buffer)
        return
    try:
        with Path(path).open("rb") as file:
            yield formats.read_lines(file)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}.")


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


def write_export(
    command: "Command", export: Export[Any], row: Case | Book, owner: User, options: dict[str, Any]
) -> None:
    """Writes a file of a case or book as the options `--output` and `--owner` say, and to stderr what its format does not hold.

    Files that name raters do so for the user of `--owner`; the others do not depend on a user, and are written as for `owner`.
    """
    by = find_owner(options["owner"]) if export.content_type == JSON else owner
    left_out: list[str] = []
    with export.build(row, by, left_out) as file:
        write_file(options["output"], file, command.stdout)
    for sentence in left_out:
        command.stderr.write(sentence)


def find_case(name_or_id: str) -> Case:
    """Returns a case by its exact name or its id; names come first."""
    live = Case.objects.live().select_related("book")
    matches = list(live.filter(name=name_or_id)[:2])
    if not matches and name_or_id.isdecimal():
        matches = list(live.filter(pk=int(name_or_id)))
    if not matches:
        names = ", ".join(f"{case.pk} {case.name}" for case in live[:MAX_LISTED])
        fail(f"There is no case {name_or_id!r}. Cases: {names or 'none yet'}.")
    if len(matches) > 1:
        ids = ", ".join(str(case.pk) for case in live.filter(name=name_or_id))
        fail(f"Several cases are named {name_or_id!r}. Use an id instead: {ids}.")
    return matches[0]


def find_book(name_or_id: str) -> Book:
    """Returns a book by its exact name, the name of its only case, or its id; in this order."""
    for books in (
        Book.objects.filter(name=name_or_id),
        Book.objects.filter(cases__in=Case.objects.live().filter(name=name_or_id)).distinct(),
        Book.objects.filter(
            pk__in=[int(name_or_id)] if name_or_id.isdecimal() and len(name_or_id) < MAX_ID_DIGITS else []
        ),
    ):
        matches = list(books.order_by("pk")[:MAX_LISTED])
        if len(matches) > 1:
            ids = ", ".join(str(book.pk) for book in matches)
            fail(f"Several books are named {name_or_id!r}. Use an id instead: {ids}.")
        if matches:
            return matches[0]
    names = ", ".join(f"{book.pk} {book.name}" for book in Book.objects.order_by("pk")[:MAX_LISTED])
    fail(f"There is no book {name_or_id!r}. Books: {names or 'none yet'}.")


def find_endpoint(name: str) -> Endpoint:
    """Returns an endpoint that is not archived."""
    endpoint = Endpoint.objects.live().filter(name=name).first()
    if endpoint is None:
        names = ", ".join(Endpoint.objects.live().values_list("name", flat=True)[:MAX_LISTED])
        fail(f"There is no endpoint {name!r}. Endpoints: {names or 'none yet'}.")
    return endpoint


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
    more = f" and {len(scorer_names) - MAX_LISTED:,} more" if len(scorer_names) > MAX_LISTED else ""
    return f"Scorers: {', '.join(sorted(scorer_names)[:MAX_LISTED])}{more}."


def find_team(name: str) -> Team:
    """Returns a team by its exact name."""
    team = Team.objects.filter(name=name).first()
    if team is None:
        names = ", ".join(Team.objects.values_list("name", flat=True)[:MAX_LISTED])
        fail(f"There is no team {name!r}. Teams: {names or 'none yet'}.")
    return team


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
