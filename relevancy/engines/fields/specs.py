"""Field specifications in Quepid's grammar: which fields of a document are fetched, and how they are displayed.

    id:id title:title thumb:poster_url overview cast
    {"name": "poster", "type": "image", "prefix": "https://images.example/"}

Tokens are separated by blanks, commas or `+`. The first `name` without a type is the title, later ones are further fields.
`type:name` and `type1:type2:name` give a field its types; if a single-valued type occurs twice, the first wins. `*` means all
fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NoReturn
from urllib.parse import urlsplit

from relevancy.engines.errors import TemplateError, UnreadableResponse
from relevancy.engines.templates.slots import as_text, location
from relevancy.engines.types import Display

from .values import as_display_text, value_at

TYPES = ("id", "title", "thumb", "image", "media", "translate", "unabridged", "highlight", "func", "sub")
_SINGLE_VALUED = ("id", "title", "thumb", "image")
_ALIASES = {"hl": "highlight", "function": "func", "f": "func"}
_TOKEN = re.compile(r"[^\s,+{]+")


@dataclass(frozen=True)
class Picture:
    """A field that contains the address of an image. `prefix` is put before its value."""

    name: str
    prefix: str = ""


@dataclass(frozen=True)
class FieldSpec:
    """A parsed field specification: which fields of a document are fetched, and how they are displayed.

    `sub`: fields displayed besides the title, in order, whatever their type.
    `all_fields`: fetch every field.
    `functions`: field name → Solr parameter with its function query.
    """

    id: str
    title: str
    thumb: Picture | None = None
    image: Picture | None = None
    sub: tuple[str, ...] = ()
    all_fields: bool = False
    highlights: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    unabridged: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict, hash=False)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Names of the fields to fetch, the id first, without functions; None means all fields."""
        if self.all_fields:
            return None
        subs = [name for name in self.sub if name not in self.functions]
        pictures = [picture.name for picture in (self.thumb, self.image) if picture]
        return tuple(dict.fromkeys([self.id, self.title, *pictures, *subs]))

    def pick(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the specified fields of a document by name, without those that it lacks."""
        names = self.names
        if names is None:
            return dict(document)
        values = ((name, value_at(document, name)) for name in (*names, *self.functions))
        return {name: value for name, value in values if value is not None}

    def id_of(self, document: Mapping[str, Any]) -> str:
        """Returns the document's id as trimmed text.

        Raises `UnreadableResponse` if the id field is missing, empty or not a scalar.
        """
        value = value_at(document, self.id)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        doc_id = "" if isinstance(value, list | Mapping) else as_text(value).strip()
        if not doc_id:
            names = ", ".join(sorted(map(str, document))) or "none"
            raise UnreadableResponse(
                f"A hit has no id: its field “{self.id}” is missing or empty. Its fields: {names}.",
                hint="Name the field that contains the id in the displayed fields, such as id:sku.",
            )
        return doc_id

    def display(self, fields: Mapping[str, Any], highlights: Mapping[str, str] | None = None) -> Display:
        """Returns the picked fields of a hit, with its highlights, as a page displays them.

        Omits images whose address is not http or https.
        """
        snippets = highlights or {}
        named = {self.id, self.title, *(picture.name for picture in (self.thumb, self.image) if picture)}
        names = dict.fromkeys([*self.sub, *(name for name in fields if self.all_fields and name not in named)])
        texts = ((name, as_display_text(value_at(fields, name))) for name in names)
        subs = tuple((name, text) for name, text in texts if text)
        return Display(
            title=as_display_text(value_at(fields, self.title)) or as_display_text(value_at(fields, self.id)),
            thumb_url=_image_url(self.thumb, fields),
            image_url=_image_url(self.image, fields),
            subs=subs,
            highlighted_title=snippets.get(self.title, ""),
            highlights={name: snippets[name] for name, _ in subs if name in snippets},
            unabridged=self.unabridged,
        )


@lru_cache(maxsize=256)
def parse_fields(spec: str, default_id: str = "id") -> FieldSpec:
    """Parses a field specification. A blank one, or one that starts with `*`, means the id and all fields.

    Raises `TemplateError` with line and column for an unknown type, a type without a name, and invalid JSON.
    """
    if not spec.strip() or re.split(r"[\s,+]+", spec.strip())[0] == "*":
        return FieldSpec(id=default_id, title=default_id, all_fields=True)
    chosen: list[tuple[str, Picture]] = []
    all_fields = False
    for types, picture in _tokens(spec):
        if picture.name == "*":
            all_fields = True
        else:
            has_title = any(field_type == "title" for field_type, _ in chosen)
            chosen += [(field_type, picture) for field_type in types or ("sub" if has_title else "title",)]

    def first(field_type: str) -> Picture | None:
        return next((picture for other, picture in chosen if other == field_type), None)

    def names(*field_types: str) -> tuple[str, ...]:
        found = [(other, picture.name) for other, picture in chosen if other in field_types]
        return tuple(dict.fromkeys([name.removeprefix("$") if other == "func" else name for other, name in found]))

    id_field = first("id") or Picture(default_id)
    return FieldSpec(
        id=id_field.name,
        title=(first("title") or id_field).name,
        thumb=first("thumb"),
        image=first("image"),
        sub=names(*[field_type for field_type in TYPES if field_type not in _SINGLE_VALUED]),
        all_fields=all_fields,
        highlights=names("highlight"),
        media=names("media"),
        unabridged=names("unabridged"),
        functions={name: f"${name}" for name in names("func")},
    )


def _tokens(spec: str) -> Iterator[tuple[tuple[str, ...], Picture]]:
    """Yields the types of each token (none for a bare name) and its field."""
    offset = 0
    while offset < len(spec):
        if spec[offset] == "{":
            types, picture, offset = _json_token(spec, offset)
            yield types, picture
        elif match := _TOKEN.match(spec, offset):
            *types_text, name = match[0].split(":")
            if not name:
                _fail(spec, offset, f"“{match[0]}” names no field.", hint="Write it as type:name, such as title:name.")
            yield tuple(_field_type(spec, offset, text) for text in types_text), Picture(name)
            offset = match.end()
        else:
            offset += 1


def _json_token(spec: str, offset: int) -> tuple[tuple[str, ...], Picture, int]:
    try:
        token, end = json.JSONDecoder().raw_decode(spec, offset)
    except json.JSONDecodeError as error:
        _fail(spec, error.pos, f"this is not valid JSON: {error.msg[0].lower()}{error.msg[1:]}.")
    except RecursionError:
        _fail(spec, offset, "this JSON is nested too deeply.")
    except ValueError:
        _fail(spec, offset, "this JSON contains a number with too many digits.")
    name, text, prefix = token.get("name"), token.get("type"), token.get("prefix", "")
    if not isinstance(name, str) or not name.strip() or not isinstance(prefix, str):
        example = '{"name": "poster", "type": "image", "prefix": "https://…/"}'
        _fail(
            spec,
            offset,
            "a field in JSON needs a “name”, and its “prefix” must be a string.",
            hint=f"For example {example}.",
        )
    return () if text is None else (_field_type(spec, offset, str(text)),), Picture(name.strip(), prefix), end


def _field_type(spec: str, offset: int, text: str) -> str:
    field_type = _ALIASES.get(text, text)
    if field_type not in TYPES:
        hint = " Links need no type." if text == "link" else ""
        _fail(spec, offset, f"“{text}” is not a field type.", hint=f"Choose one of {', '.join(TYPES)}.{hint}")
    return field_type


def _fail(spec: str, offset: int, problem: str, *, hint: str = "") -> NoReturn:
    line, column = location(spec, offset)
    raise TemplateError(problem, line=line, column=column, hint=hint)


def _image_url(picture: Picture | None, fields: Mapping[str, Any]) -> str | None:
    value = value_at(fields, picture.name) if picture else None
    if isinstance(value, list):
        value = next(iter(value), None)
    if picture is None or not isinstance(value, str) or not value.strip():
        return None
    url = picture.prefix + value.strip()
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"[\s\x00-\x1f\\]", url)
    except ValueError:
        return None
    return url if is_safe else None
