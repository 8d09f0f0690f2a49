"""Files of rankings that were handed in, kept below the data directory for the static engine."""

import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.text import slugify

from relevancy import engines
from relevancy.engines.rankings_file import read_rankings
from relevancy.engines.static import RankingsSummary, check_rankings
from relevancy.models import Endpoint

from .errors import Refused

MAX_BYTES = 50_000_000
DAY = 24 * 3600
_OURS = re.compile(r".*-[0-9a-f]{16}\.(csv|txt)")


@dataclass(frozen=True)
class Upload:
    """A stored file: `name` is the address of a static endpoint, `summary` what was found in it."""

    name: str
    summary: RankingsSummary


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "static"


def store(*, content: bytes, name: str) -> Upload:
    """Check a file of rankings and keep it. Raises `Refused` with line, column and value; then nothing is stored.

    Files that no endpoint took over within a day are deleted here.
    """
    if len(content) > MAX_BYTES:
        raise Refused(f"The file has {len(content):,} bytes; {MAX_BYTES:,} are possible.", field="file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Refused(f"The file is not UTF-8: see line {line}. Save it as UTF-8.", field="file") from None
    try:
        summary = check_rankings(text)
    except engines.EngineError as error:
        raise Refused(str(error), field="file") from None
    if not summary.queries:
        raise Refused("The file names no query. Each line needs one, with a document and its position.", field="file")
    _forget_unused()
    suffix = "csv" if summary.form == "CSV" else "txt"
    stored = f"{slugify(Path(name).stem)[:80] or 'rankings'}-{secrets.token_hex(8)}.{suffix}"
    _folder().mkdir(parents=True, exist_ok=True)
    (_folder() / stored).write_text(text, encoding="utf-8")
    return Upload(stored, summary)


def queries_of(name: str) -> list[str]:
    """The queries of a stored file, in its order. Raises `Refused` for a file that is not there any more."""
    path = _folder() / name
    if path.parent != _folder():
        raise Refused(f"“{name}” is no stored file. Upload it again.", field="file")
    try:
        return list(read_rankings(path))
    except engines.EngineError as error:
        raise Refused(str(error), field="file") from None


def sample_query(endpoint: Endpoint) -> str:
    """A query the endpoint is sure to know: the first one of a file of rankings; "" for every other engine."""
    if endpoint.engine != "static":
        return ""
    try:
        return next(iter(queries_of(endpoint.url)), "")
    except Refused:
        return ""


def _forget_unused() -> None:
    """Only files this module named, and only after a day: whoever is choosing fields meanwhile keeps theirs."""
    if not _folder().is_dir():
        return
    taken = set(Endpoint.objects.filter(engine="static").values_list("url", flat=True))
    for path in _folder().iterdir():
        if path.name not in taken and _OURS.fullmatch(path.name) and path.stat().st_mtime < time.time() - DAY:
            path.unlink(missing_ok=True)
