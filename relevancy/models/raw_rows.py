"""What statements that are written by hand have read, as QuerySets return it.

See docs/decisions/0051.
"""

from datetime import UTC, datetime
from typing import Any

from django.db.models import Model


def in_utc[T: (datetime, datetime | None)](time: T) -> T:
    """Returns a time with its time zone. A cursor of SQLite returns it without, in UTC."""
    return time if time is None or time.tzinfo else time.replace(tzinfo=UTC)


def build_related[M: Model](model: type[M], row: Model, prefix: str, names: tuple[str, ...]) -> M:
    """Returns the related object whose fields `names` a raw QuerySet has read into the attributes `{prefix}_{name}` of a row.
    Its other fields are deferred."""
    values: list[Any] = [vars(row)[f"{prefix}_{name}"] for name in names]
    times = (in_utc(value) if isinstance(value, datetime) else value for value in values)
    return model.from_db(None, names, list(times))
