"""Field specifications in Quepid's grammar: which fields of a document are fetched, and how they are shown.

    id:id title:title thumb:poster_url overview cast
    {"name": "poster", "type": "image", "prefix": "https://images.example/"}

Tokens are separated by blanks, commas or `+`. `name` alone is the title the first time, then a further field.
`type:name` and `type1:type2:name` say what a field is for; of single-valued types the first wins. `*` means all fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit

from .errors import TemplateError, UnreadableAnswer
from .marks import Pieces, pieces_within
from .template_slots import as_text, place

TYPES = ("id", "title", "thumb", "image", "media", "translate", "unabridged", "highlight", "func", "sub")
_ALIASES = {"hl": "highlight", "function": "func", "f": "func"}
_TOKEN = re.compile(r"[^\s,+{]+")


@dataclass(frozen=True)
class Picture:
    """A field that holds an address of an image; `prefix` goes before its value."""

    name: str
    prefix: str = ""


@dataclass(frozen=True)
class Display:
    """A document as a page shows it: plain text, nothing escaped or shortened. `subs`: (field name, text) in order.

    `marked_title`, `marked`: the highlights of the title and of other fields, as the hit has them. `whole`: names of fields
    that are never shortened.
    """

    title: str
    thumb_url: str | None
    image_url: str | None
    subs: tuple[tuple[str, str], ...]
    marked_title: str = ""
    marked: Mapping[str, str] = field(default_factory=dict)
    whole: tuple[str, ...] = ()

    @property
    def title_pieces(self) -> Pieces:
        """The whole title as (text, whether it is marked)."""
        return pieces_within(self.title, self.marked_title, whole=True)

    @property
    def snippets(self) -> tuple[tuple[str, Pieces], ...]:
        """For each of `subs` its name and (text, whether it is marked): of its highlight, or its text where it has none."""
        return tuple(
            (name, pieces_within(text, self.marked.get(name, ""), whole=name in self.whole)) for name, text in self.subs
        )


@dataclass(frozen=True)
class FieldSpec:
    """`sub`: names shown besides the title, in order, whatever their type. `functions`: field name → Solr parameter."""

    id: str
    title: str
    thumb: Picture | None = None
    image: Picture | None = None
    sub: tuple[str, ...] = ()
    all: bool = False
    highlights: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    translate: tuple[str, ...] = ()
    unabridged: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Fields to fetch, the id first, functions left out; None stands for all."""
        if self.all:
            return None
        shown = [name for name in self.sub if name not in self.functions]
        pictures = [picture.name for picture in (self.thumb, self.image) if picture]
        return tuple(dict.fromkeys([self.id, self.title, *pictures, *shown]))

    def pick(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a document that is kept: its specified fields by name, absent ones left out, or all of it."""
        names = self.names
        if names is None:
            return dict(doc)
        found = ((name, value_at(doc, name)) for name in (*names, *self.functions))
        return {name: value for name, value in found if value is not None}

    def id_of(self, doc: Mapping[str, Any]) -> str:
        """The document's id as a trimmed text. Raises `UnreadableAnswer` where the field is absent, empty or no scalar."""
        value = value_at(doc, self.id)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        text = "" if isinstance(value, list | Mapping) else as_text(value).strip()
        if not text:
            there = ", ".join(sorted(map(str, doc))) or "none"
            raise UnreadableAnswer(
                f"A hit has no id: its field “{self.id}” is missing or empty. Fields it has: {there}.",
                todo="Name the field that holds the id in the displayed fields, such as id:sku.",
            )
        return text

    def display(self, fields: Mapping[str, Any], highlights: Mapping[str, str] | None = None) -> Display:
        """What a page shows of the picked fields, with the highlights of the hit. Image addresses other than http(s) are
        left out."""
        marked = highlights or {}
        rest = _rest(self, fields) if self.all else ()
        texts = ((name, display_text(value_at(fields, name))) for name in dict.fromkeys([*self.sub, *rest]))
        subs = tuple((name, text) for name, text in texts if text)
        return Display(
            title=display_text(value_at(fields, self.title)) or display_text(value_at(fields, self.id)),
            thumb_url=_image_url(self.thumb, fields),
            image_url=_image_url(self.image, fields),
            subs=subs,
            marked_title=marked.get(self.title, ""),
            marked={name: marked[name] for name, _ in subs if name in marked},
            whole=self.unabridged,
        )


def parse_fields(spec: str, default_id: str = "id") -> FieldSpec:
    """Parse a field specification. Blank, or starting with `*`: the id, and all fields.

    Raises `TemplateError` with line and column for an unknown type, a type without a name, and bad JSON.
    """
    if not spec.strip() or re.split(r"[\s,+]+", spec.strip())[0] == "*":
        return FieldSpec(id=default_id, title=default_id, all=True)
    single: dict[str, Picture] = {}
    many: dict[str, list[str]] = {kind: [] for kind in TYPES}
    shown: list[str] = []
    everything = False
    for kinds, picture in _tokens(spec):
        if picture.name == "*":
            everything = True
            continue
        for kind in kinds or ("sub" if "title" in single else "title",):
            name = picture.name.removeprefix("$") if kind == "func" else picture.name
            if kind in ("id", "title", "thumb", "image"):
                single.setdefault(kind, picture)
            else:
                many[kind].append(name)
                shown.append(name)
    doc_id = single["id"].name if "id" in single else default_id
    return FieldSpec(
        id=doc_id,
        title=single["title"].name if "title" in single else doc_id,
        thumb=single.get("thumb"),
        image=single.get("image"),
        sub=_once(shown),
        all=everything,
        highlights=_once(many["highlight"]),
        media=_once(many["media"]),
        translate=_once(many["translate"]),
        unabridged=_once(many["unabridged"]),
        functions={name: f"${name}" for name in many["func"]},
    )


def value_at(doc: Any, name: str) -> Any:
    """A field by its literal name, else along its dots, through arrays (whose values are collected). None where absent."""
    if type(doc) is dict and name in doc:  # what nearly every answer is, and a check that costs little
        return doc[name]
    if isinstance(doc, Mapping):
        if name in doc:
            return doc[name]
        head, dot, rest = name.partition(".")
        while dot:
            if head in doc:
                found = value_at(doc[head], rest)
                if found is not None:
                    return found
            more, dot, rest = rest.partition(".")
            head = f"{head}.{more}"
        return None
    if isinstance(doc, list | tuple):
        values: list[Any] = []
        for item in doc:
            value = value_at(item, name)
            values += value if isinstance(value, list) else [] if value is None else [value]
        return values or None
    return None


def display_text(value: Any) -> str:
    """A value as one text: a list of plain values is joined by comma and blank, anything deeper is JSON."""
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | Mapping) for item in value):
        return ", ".join(text for text in map(as_text, value) if text)
    return as_text(value)


def _tokens(spec: str) -> Iterator[tuple[tuple[str, ...], Picture]]:
    """Types (none for a bare name) and field of each token."""
    at = 0
    while at < len(spec):
        if spec[at] == "{":
            kinds, picture, at = _json_token(spec, at)
            yield kinds, picture
        elif match := _TOKEN.match(spec, at):
            *types, name = match[0].split(":")
            if not name:
                _refuse(spec, at, f"“{match[0]}” names no field.", todo="Write it as type:name, such as title:name.")
            yield tuple(_kind(spec, at, kind) for kind in types), Picture(name)
            at = match.end()
        else:
            at += 1


def _json_token(spec: str, at: int) -> tuple[tuple[str, ...], Picture, int]:
    try:
        token, end = json.JSONDecoder().raw_decode(spec, at)
    except json.JSONDecodeError as error:
        _refuse(spec, error.pos, f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]}.")
    except RecursionError:
        _refuse(spec, at, "this JSON is nested too deep.")
    name, kind, prefix = token.get("name"), token.get("type"), token.get("prefix", "")
    if not isinstance(name, str) or not name.strip() or not isinstance(prefix, str):
        example = '{"name": "poster", "type": "image", "prefix": "https://…/"}'
        _refuse(
            spec, at, "a field in JSON needs a “name”, and a “prefix” that is text.", todo=f"For example {example}."
        )
    return () if kind is None else (_kind(spec, at, str(kind)),), Picture(name.strip(), prefix), end


def _kind(spec: str, at: int, kind: str) -> str:
    kind = _ALIASES.get(kind, kind)
    if kind not in TYPES:
        hint = " A value that is a link is shown as one without a type." if kind == "link" else ""
        _refuse(spec, at, f"there is no field type “{kind}”. There are: {', '.join(TYPES)}.{hint}")
    return kind


def _refuse(spec: str, at: int, what: str, *, todo: str = "") -> NoReturn:
    line, column = place(spec, at)
    raise TemplateError(what, line=line, column=column, todo=todo)


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _rest(spec: FieldSpec, fields: Mapping[str, Any]) -> list[str]:
    shown = {spec.id, spec.title, *(picture.name for picture in (spec.thumb, spec.image) if picture)}
    return [name for name in fields if name not in shown]


def _image_url(picture: Picture | None, fields: Mapping[str, Any]) -> str | None:
    value = value_at(fields, picture.name) if picture else None
    if isinstance(value, list):
        value = next(iter(value), None)
    if picture is None or not isinstance(value, str) or not value.strip():
        return None
    url = picture.prefix + value.strip()
    try:
        parts = urlsplit(url)
        safe = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"[\s\x00-\x1f\\]", url)
    except ValueError:
        return None
    return url if safe else None
