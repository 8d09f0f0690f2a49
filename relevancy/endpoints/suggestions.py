"""Suggestions for a new case: displayed fields and a query template that suit an index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import engines

TITLE_NAMES = ("title", "name", "product_title", "product_name", "label", "headline", "subject", "heading")
THUMB_NAMES = (
    "thumb",
    "thumbnail",
    "thumb_url",
    "poster",
    "poster_url",
    "poster_path",
    "image",
    "image_url",
    "picture",
    "img",
)
OTHER_NAMES = (
    "overview",
    "description",
    "summary",
    "abstract",
    "product_description",
    "body",
    "content",
    "text",
    "cast",
    "directors",
    "director",
    "genres",
    "brand",
    "product_brand",
    "category",
    "author",
    "year",
    "price",
)
# Fields of prose are displayed as a snippet with highlighted words.
PROSE_NAMES = frozenset(
    ("overview", "description", "product_description", "summary", "abstract", "plot", "body", "content", "text")
)
NO_TEXT = ("id", "url", "uri", "link", "image", "date", "_at")  # ends of names whose strings are not read
MAX_OTHER_FIELDS = 4


@dataclass(frozen=True)
class Fields:
    """Displayed fields of a document. `more`: further fields, in order."""

    id: str
    title: str
    thumb: str = ""
    more: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """The field specification."""
        by_type = {"id": self.id, "title": self.title, "thumb": self.thumb}
        more = [f"highlight:{name}" if name.lower() in PROSE_NAMES else name for name in self.more]
        return " ".join([*(f"{field_type}:{name}" for field_type, name in by_type.items() if name), *more])


def suggest_fields(*, engine: str, names: Sequence[str], text_names: Iterable[str] | None = None) -> Fields:
    """Returns displayed fields, chosen by the names that indexes commonly use, then by their text. The title defaults to the id.

    text_names: as `text_fields` returns them; None if they are unknown.
    """
    id_field = engines.get(engine).default_id_field
    if id_field == "id" and "id" not in names:
        id_field = next((name for name in names if name.lower().endswith(("_id", "id"))), "id")
    title = _first(TITLE_NAMES, names) or next((name for name in names if "title" in name.lower()), "") or id_field
    thumb = _first(THUMB_NAMES, names)
    by_lower_case = {name.lower(): name for name in names}
    used = (id_field, title, thumb)
    known = [by_lower_case[name] for name in OTHER_NAMES if name in by_lower_case]
    texts = [name for name in text_names or () if name in names and not name.lower().endswith(NO_TEXT)]
    # A name that ends like one of prose, such as short_description, says more than another.
    texts.sort(key=lambda name: not name.lower().endswith(tuple(PROSE_NAMES)))
    more = [name for name in dict.fromkeys([*known, *texts]) if name not in used and not name.startswith("_")]
    return Fields(id_field, title, thumb, tuple(more[:MAX_OTHER_FIELDS]))


def _first(candidates: Iterable[str], names: Sequence[str]) -> str:
    by_lower_case = {name.lower(): name for name in names}
    return next((by_lower_case[name] for name in candidates if name in by_lower_case), "")


def suggest_template(
    *, engine: str, fields: Fields, text_names: Iterable[str] | None = None, options: Mapping[str, Any] | None = None
) -> str:
    """Returns a query template that searches the displayed fields.

    `text_names`: names of the fields that contain text, None if they are unknown.
    `options`: the endpoint's options.
    """
    searchable = None if text_names is None else set(text_names)
    displayed = dict.fromkeys([fields.title, *fields.more])
    searched = [name for name in displayed if ":" not in name and (searchable is None or name in searchable)]
    return engines.get(engine).suggest_template(searched, options or {})


def text_fields(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the fields that contain text in these documents: strings or lists of strings."""
    is_text: dict[str, bool] = {}
    for document in documents:
        for name, value in document.items():
            values = value if isinstance(value, list) else [value]
            is_text[name] = is_text.get(name, True) and bool(values) and all(isinstance(v, str) for v in values)
    return [name for name, text in is_text.items() if text]
