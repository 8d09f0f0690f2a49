"""The command line: `relevancy COMMAND`, `python -m relevancy COMMAND`, `python manage.py COMMAND`."""

import os
import sys


def main() -> None:
    """Runs a management command. Wrong settings are reported in one line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "relevancy.settings")
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 (after the settings module is named)
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
