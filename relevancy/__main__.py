"""The command line: `relevancy COMMAND`, `python -m relevancy COMMAND`, `python manage.py COMMAND`."""

import os
import sys


def main() -> None:
    """Run a management command. `demo` runs with the settings of a demonstration unless the environment says otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "relevancy.settings")
    if sys.argv[1:2] == ["demo"]:
        os.environ.setdefault("RELEVANCY_DEMO", "1")
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 (settings first)
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(_say(str(error)))


def _say(error: str) -> int:
    sys.stderr.write(f"Error: {error}\n")
    return 2


if __name__ == "__main__":
    main()
