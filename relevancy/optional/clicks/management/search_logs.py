"""Where commands read search logs from: a file, or the server of an endpoint."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command, fail, find_endpoint, open_binary
from relevancy.optional.clicks import log_formats
from relevancy.optional.clicks.search_log import SearchLog


def add_endpoint_arguments(parser: CommandParser) -> None:
    """Adds the options for the server of an endpoint, instead of a file."""
    parser.add_argument("--endpoint", default="", metavar="NAME", help="reads ubi_queries and ubi_events of its server")
    parser.add_argument("--days", type=int, help="with --endpoint: how many days are read (default: all)")


@contextmanager
def open_log(command: Command, options: dict[str, Any], **reading: Any) -> Iterator[SearchLog]:
    """Reads the log that the options of a command name, and closes it. reading: options of `log_formats.read_endpoint`."""
    if bool(options["file"]) == bool(options["endpoint"]):
        fail("Name either a file or --endpoint.")
    days = options["days"]
    if days is not None and not (options["endpoint"] and 1 <= days <= log_formats.MAX_DAYS):
        fail(f"--days {days} has to be 1 to {log_formats.MAX_DAYS:,}, and needs --endpoint.")
    with ExitStack() as stack:
        if options["endpoint"]:
            endpoint = find_endpoint(options["endpoint"])

            def progress(name: str, count: int) -> None:
                command.write(f"{name}: {count:,} records")

            log = log_formats.read_endpoint(endpoint, days=days, progress=progress, **reading)
        else:
            reading.pop("with_events", None)
            file = stack.enter_context(open_binary(options["file"]))
            events = stack.enter_context(open_binary(options["events"])) if options.get("events") else None
            log = log_formats.read_log(file, events, **reading)
        yield stack.enter_context(log)
