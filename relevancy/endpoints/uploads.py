"""Uploaded files that are the address of an endpoint, such as rankings of another system; kept below the data directory."""

import re
import secrets
import time
from pathlib import Path

from django.core.exceptions import ValidationError
from django.utils.text import slugify

from relevancy import engines
from relevancy.models import Endpoint, StoredIndex, User

from .indexes import claim, data_folder

MAX_BYTES = 50_000_000
DAY = 24 * 3600
_STORED_NAME = re.compile(r".*-[0-9a-f]{16}\.(csv|txt)")


def store(*, engine: str, content: bytes, name: str, by: User) -> str:
    """Checks and stores a file, which belongs to `by`. Returns its name, the address of an endpoint of this engine.

    Raises `ValidationError` with line, column and value. Deletes files that no endpoint has used within a day.
    """
    if len(content) > MAX_BYTES:
        raise ValidationError({"file": f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are allowed."})
    if content.startswith(b"PK\x03\x04"):
        raise ValidationError({"file": "The file is a ZIP file, but text is needed. Unpack it."})
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValidationError({"file": f"The file is not UTF-8: see line {line}. Save it as UTF-8."}) from None
    try:
        suffix = engines.get(engine).check_upload(text)
    except engines.EngineError as error:
        raise ValidationError({"file": str(error)}) from None
    _delete_unused(engine)
    stored_name = f"{slugify(Path(name).stem)[:80] or 'rankings'}-{secrets.token_hex(8)}.{suffix}"
    claim(engine=engine, name=stored_name, by=by)
    data_folder(engine).mkdir(parents=True, exist_ok=True)
    (data_folder(engine) / stored_name).write_text(text, encoding="utf-8")
    return stored_name


def _delete_unused(engine: str) -> None:
    """Deletes only files that `store` named, and only after a day: the user may still be filling in the form."""
    if not data_folder(engine).is_dir():
        return
    used = set(Endpoint.objects.filter(engine=engine).values_list("url", flat=True))
    for path in data_folder(engine).iterdir():
        if path.name not in used and _STORED_NAME.fullmatch(path.name) and path.stat().st_mtime < time.time() - DAY:
            path.unlink(missing_ok=True)
            StoredIndex.objects.filter(engine=engine, name=path.name).delete()
