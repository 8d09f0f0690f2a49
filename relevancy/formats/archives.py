"""A JSON file that may be packed into a ZIP file, read without unpacking it to a disk."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO

from .errors import BadFile, quote

MAX_MEMBERS = 1_000
_ENCRYPTED = 0x1
_UNREADABLE = "The ZIP file cannot be read: it is damaged or incomplete. Export it again."


@contextmanager
def open_json(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Opens a JSON file, or the only one in a ZIP file. It can be read again after `seek(0)`.

    What is packed is never written anywhere, so a name in the ZIP file cannot be a path; such names are refused all the same.
    Raises `BadFile`, also while the file is read.
    """
    file.seek(0)
    is_zip = file.read(4) == b"PK\x03\x04"
    file.seek(0)
    if not is_zip:
        yield file
        return
    try:
        with zipfile.ZipFile(file) as archive, archive.open(_member(archive)) as member:
            yield member
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise BadFile(_UNREADABLE) from None


def _member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise BadFile(f"The ZIP file contains {len(members):,} files; it must contain one JSON file.")
    for member in members:
        path = PurePosixPath(member.orig_filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise BadFile(
                f"The ZIP file contains the path {quote(member.orig_filename)}. It must contain one JSON file."
            )
    files = [
        member
        for member in members
        if member.filename.lower().endswith(".json") and not member.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        raise BadFile(f"The ZIP file contains {len(files)} JSON files; it must contain one.")
    if files[0].flag_bits & _ENCRYPTED:
        raise BadFile("The ZIP file is encrypted. Unpack it and upload the JSON file.")
    return files[0]
