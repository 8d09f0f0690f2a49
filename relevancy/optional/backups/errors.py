"""What stops a backup or a restore."""


class BackupError(Exception):
    """The message says what happened, with which file or program, and what to do."""
