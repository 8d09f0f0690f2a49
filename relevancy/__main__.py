"""The command line: `relevancy COMMAND`, `python -m relevancy COMMAND`, `python manage.py COMMAND`."""

import os
import sys


def main() -> None:
    """Run a management command. `demo` runs with the settings of a demonstration unless the environment says otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "relevancy.settings")
    if sys.argv[1:2] == ["demo"]:
        os.environ.setdefault("RELEVANCY_DEMO", "1")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 (settings first)

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
