"""Uploaded files that are the address of an endpoint, such as rankings of another system; kept below the data directory."""

import codecs
import glob
import io
import re
import secrets
import time
from pathlib import Path
from typing import IO

from django.core.exceptions import ValidationError
from django.utils.text import slugify

from relevancy import engines
from relevancy.models import Endpoint, StoredIndex, User

from .indexes import claim, data_folder

MAX_BYTES = 50_000_000  # of a file that a page takes, which is in the memory of a web process
DAY = 24 * 3600
_READ_BYTES = 1 << 20
_STORED_NAME = re.compile(r".*-[0-9a-f]{16}\.(csv|txt)|\.[0-9a-f]{16}")  # the latter of files that are not checked yet


def store(*, engine: str, content: bytes, name: str, by: User) -> str:
    """As `store_file`, with the content of a file that a page has taken: at most `MAX_BYTES`."""
    if len(content) > MAX_BYTES:
        raise ValidationError({"file": f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are allowed."})
    return store_file(engine=engine, file=io.BytesIO(content), name=name, by=by)


def store_file(*, engine: str, file: IO[bytes], name: str, by: User) -> str:
    """Checks and stores a file of any size, which belongs to `by`. Returns its name, the address of an endpoint of this engine.

    Raises `ValidationError` with line, column and value. Deletes files that no endpoint has used within a day.
    """
    folder = data_folder(engine)
    folder.mkdir(parents=True, exist_ok=True)
    token = secrets.token_hex(8)
    staged = folder / f".{token}"
    try:
        _copy(file, staged)
        suffix = engines.get(engine).check_upload(staged)
        _delete_unused(engine)
        stored_name = f"{slugify(Path(name).stem)[:80] or 'rankings'}-{token}.{suffix}"
        claim(engine=engine, name=stored_name, by=by)
        for path in _belonging_to(staged):
            path.rename(folder / path.name.replace(staged.name, stored_name, 1))
    except engines.EngineError as error:
        raise ValidationError({"file": str(error)}) from None
    finally:
        for path in _belonging_to(staged):
            path.unlink(missing_ok=True)
    return stored_name


def _copy(file: IO[bytes], path: Path) -> None:
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    line = 1
    with path.open("xb") as copy:
        while chunk := file.read(_READ_BYTES):
            if not copy.tell() and chunk.startswith(b"PK\x03\x04"):
                raise ValidationError({"file": "The file is a ZIP file, but text is needed. Unpack it."})
            try:
                decode(chunk)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                raise _not_utf8(line) from None
            line += chunk.count(b"\n")
            copy.write(chunk)
        try:
            decode(b"", True)
        except UnicodeDecodeError:
            raise _not_utf8(line) from None


def _not_utf8(line: int) -> ValidationError:
    return ValidationError({"file": f"The file is not UTF-8: see line {line}. Save it as UTF-8."})


def _belonging_to(path: Path) -> list[Path]:
    """Returns the paths of a file and of those that its engine has made beside it."""
    return list(path.parent.glob(f"{glob.escape(path.name)}*"))


def _delete_unused(engine: str) -> None:
    """Deletes only files that `store_file` named, and only after a day: the user may still be filling in the form."""
    used = set(Endpoint.objects.filter(engine=engine).values_list("url", flat=True))
    for path in list(data_folder(engine).iterdir()):
        if path.name not in used and _STORED_NAME.fullmatch(path.name) and path.stat().st_mtime < time.time() - DAY:
            for part in _belonging_to(path):
                part.unlink(missing_ok=True)
            StoredIndex.objects.filter(engine=engine, name=path.name).delete()
