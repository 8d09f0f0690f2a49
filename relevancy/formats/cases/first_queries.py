"""The queries of a case that is about to be created: a list of them, or a file with queries or ratings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from relevancy import queries
from relevancy.formats.file_formats import PLAIN_QUERIES, FileKind, choose, find_kind
from relevancy.formats.queries import queries_import
from relevancy.formats.ratings import ratings_import
from relevancy.formats.ratings.ratings_import import RatingsSource
from relevancy.formats.ratings.ratings_preview import RatingsPreview
from relevancy.models import Case, User


@dataclass(frozen=True)
class FirstQueries:
    """What a case starts with.

    format: how the file was read, for people; format_name: for programs.
    pasted: the queries, and lines that are repeated or cannot be a query. changes: their details.
    ratings: what would be imported, and source: from where; None without ratings.
    errors: line and message of what is wrong with the file; with any, the case cannot be created.
    """

    format: str = ""
    format_name: str = ""
    pasted: queries.PastedQueries = field(default_factory=queries.PastedQueries)
    changes: queries.DetailChanges = field(default_factory=dict)
    ratings: RatingsPreview | None = None
    source: RatingsSource | None = None
    errors: Sequence[tuple[int | None, str]] = ()

    @property
    def is_list(self) -> bool:
        """Whether each line was read as a query."""
        return self.format_name in ("", PLAIN_QUERIES.name)


def read_first_queries(*, case: Case, file: IO[bytes], by: User, name: str = "", format: str = "") -> FirstQueries:
    """Reads a list of queries, or a file of queries or ratings. Writes nothing.

    case: that is not saved yet, with its book. name: of the file. format: one of queries or ratings; empty to recognise it.
    Raises `BadFile`, `UnclearFile` if the user has to choose the format, and `ValidationError` for too many queries.
    """
    chosen = choose(file, find_kind(file, name=name, wanted=format), name=name, wanted=format)
    if chosen.kind == FileKind.QUERIES:
        content = queries_import.open_source(case=None, file=file, format=chosen.name)
        return FirstQueries(content.format, chosen.name, content.pasted, content.changes, errors=content.errors)
    source = ratings_import.open_source(case=case, file=file, format=chosen.name)
    preview = ratings_import.preview_ratings(case=case, source=source, by=by)
    return FirstQueries(
        preview.format,
        chosen.name,
        queries.PastedQueries(texts=list(preview.queries)),
        ratings=preview,
        source=source,
        errors=preview.errors,
    )
