"""What somebody who makes a case is offered: engines, and fields and a template that suit an index."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import engines, evaluation
from relevancy.models import Endpoint, UnreadableSecret

TITLES = ("title", "name", "product_title", "product_name", "label", "headline", "subject", "heading")
THUMBS = (
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
MORE = (
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
# Texts to read: shown as a snippet with the words that were found.
PROSE = frozenset(
    ("overview", "description", "product_description", "summary", "abstract", "plot", "body", "content", "text")
)
MOST_MORE = 4
SHOWN = 3
DEFAULT_KNOB = 10
API = "http"  # the engine whose options say how it is asked
API_OPTIONS = engines.JSON_API_OPTIONS


@dataclass(frozen=True)
class Kind:
    """An engine as a form offers it."""

    key: str
    label: str
    syntax: str
    example_url: str
    id_field: str
    asks: bool  # with a template; a file of rankings is only looked up


@dataclass(frozen=True)
class Fields:
    """What is shown of a document; `more` in order."""

    id: str
    title: str
    thumb: str = ""
    more: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """As a field specification."""
        named = {"id": self.id, "title": self.title, "thumb": self.thumb}
        more = [f"highlight:{name}" if name.lower() in PROSE else name for name in self.more]
        return " ".join([*(f"{kind}:{name}" for kind, name in named.items() if name), *more])


@dataclass(frozen=True)
class Document:
    """A returned document as a page shows it."""

    id: str
    title: str
    thumb_url: str | None
    subs: tuple[tuple[str, str], ...]
    score: float | None


def kinds() -> list[Kind]:
    """Every engine there is, in the registry's order."""
    return [kind(engine.key) for engine in engines.available()]


def kind(key: str) -> Kind:
    """One engine. Raises `UnknownEngine`."""
    engine = engines.get(key)
    asks = engine.example_template.strip() != "{}"
    return Kind(engine.key, engine.label, engine.syntax, engine.example_url, engine.default_id_field, asks)


def suggest_fields(*, engine: str, names: Sequence[str]) -> Fields:
    """Fields by the names that indexes use for them; the title falls back to the id."""
    id_field = engines.get(engine).default_id_field
    if id_field == "id" and "id" not in names:
        id_field = next((name for name in names if name.lower().endswith(("_id", "id"))), "id")
    title = _first(TITLES, names) or next((name for name in names if "title" in name.lower()), "") or id_field
    thumb = _first(THUMBS, names)
    there = {name.lower(): name for name in names}
    more = [there[name] for name in MORE if name in there and there[name] not in (id_field, title, thumb)]
    return Fields(id_field, title, thumb, tuple(more[:MOST_MORE]))


def _first(wanted: Iterable[str], names: Sequence[str]) -> str:
    there = {name.lower(): name for name in names}
    return next((there[name] for name in wanted if name in there), "")


def suggest_template(
    *, engine: str, fields: Fields, words: Iterable[str] | None = None, options: Mapping[str, Any] | None = None
) -> str:
    """A template that searches the title and what is shown besides it. `words`: the fields known to hold text, if it is known;
    `options`: the endpoint's, which know how an API is asked."""
    if engine == API:
        return engines.json_api_template(options or {})
    known = None if words is None else set(words)
    shown = [fields.title, *fields.more]
    searched = [name for name in dict.fromkeys(shown) if ":" not in name and (known is None or name in known)]
    writer = _TEMPLATES.get(engine)
    return writer(searched) if writer else engines.get(engine).example_template


def _solr(searched: Sequence[str]) -> str:
    fields = " ".join([f"{name}^##title_boost##" if not place else name for place, name in enumerate(searched)])
    return "q=#$query##\n&defType=edismax" + (f"\n&qf={fields}\n&tie=0.1" if searched else "")


def _elasticsearch(searched: Sequence[str]) -> str:
    if not searched:
        return '{\n  "query": {\n    "simple_query_string": {"query": "#$query##"}\n  }\n}'
    fields = ", ".join(
        json.dumps(f"{name}^##title_boost##" if not place else name, ensure_ascii=False)
        for place, name in enumerate(searched)
    )
    body = f'"query": "#$query##",\n      "fields": [{fields}],\n      "tie_breaker": 0.1,\n      "lenient": true'
    return f'{{\n  "query": {{\n    "multi_match": {{\n      {body}\n    }}\n  }}\n}}'


def _embedded(searched: Sequence[str]) -> str:
    if not searched:
        return '{\n  "query": "#$query##"\n}'
    boosts = ", ".join(
        f"{json.dumps(name, ensure_ascii=False)}: {'1' if place else '##title_boost##'}"
        for place, name in enumerate(searched)
    )
    return f'{{\n  "query": "#$query##",\n  "fields": {{{boosts}}},\n  "tie": 0.1\n}}'


_TEMPLATES = {"solr": _solr, "elasticsearch": _elasticsearch, "opensearch": _elasticsearch, "embedded": _embedded}


@dataclass(frozen=True)
class Trial:
    """What an endpoint said when it was asked: its product, its fields, and the first documents it returned."""

    version: str
    fields: list[str]
    page: engines.Page | None
    error: str = ""


def trial(*, endpoint: Endpoint, text: str, template: str = "", fields: str = "*") -> Trial:
    """Ask an endpoint who it is and, if there is a text, a query; without a template one that suits any index.

    Never raises for what the endpoint does: `error` says it, beside what was found out until then.
    """
    adapter = engines.get(endpoint.engine)
    version, names = "", list[str]()
    try:
        with evaluation.connect(endpoint) as engine:
            version, names = engine.version(), engine.fields()
            if not text.strip():
                return Trial(version, names, None)
            parsed = engines.parse_template(template or _any_template(endpoint, names), adapter.syntax)
            request = engines.Request(
                query=text.strip(),
                template=parsed,
                fields=engines.parse_fields(fields, adapter.default_id_field),
                rows=SHOWN,
                knobs=dict.fromkeys(parsed.knobs, DEFAULT_KNOB),
                options=endpoint.options.get("query_options", {}),
                escape=adapter.syntax == "params",
            )
            page = engine.search(request)
            return Trial(version, names or engines.field_names([hit.fields for hit in page.hits]), page)
    except (engines.EngineError, UnreadableSecret) as error:
        return Trial(version, names, None, str(error))


def _any_template(endpoint: Endpoint, names: Sequence[str]) -> str:
    engine = endpoint.engine
    # Which fields hold text is not known yet; Solr passes over those that do not, the others search all text unasked.
    words = names if engine == "solr" else ()
    fields = suggest_fields(engine=engine, names=names)
    return suggest_template(engine=engine, fields=fields, words=words, options=endpoint.options)


def text_fields(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of fields that hold words in these documents: texts or lists of texts."""
    found: dict[str, bool] = {}
    for document in documents:
        for name, value in document.items():
            values = value if isinstance(value, list) else [value]
            found[name] = found.get(name, True) and bool(values) and all(isinstance(item, str) for item in values)
    return [name for name, text in found.items() if text]


def documents(*, endpoint: Endpoint, trial: Trial, fields: str) -> list[Document]:
    """What a trial returned, ready to be shown. Raises `TemplateError` for a field specification that cannot be read."""
    spec = engines.parse_fields(fields, engines.get(endpoint.engine).default_id_field)
    shown = []
    for hit in trial.page.hits if trial.page else ():
        display = spec.display({**hit.fields, spec.id: hit.fields.get(spec.id, hit.id)})
        shown.append(Document(hit.id, display.title, display.thumb_url, display.subs, hit.score))
    return shown
