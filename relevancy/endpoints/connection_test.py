"""Connection tests: ask an endpoint for its product, its fields and, with a query, its first documents."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

from relevancy import engines
from relevancy.models import Endpoint, UnreadableSecret

from .connections import connect_for_page
from .suggestions import suggest_fields, suggest_template

TEST_ROWS = 3
TEST_KNOB = 10


@dataclass(frozen=True)
class Document:
    """A returned document as a page shows it."""

    id: str
    title: str
    thumb_url: str | None
    subs: tuple[tuple[str, str], ...]
    score: float | None


@dataclass(frozen=True)
class ConnectionTest:
    """What an endpoint returned: its product and version, its fields, and the first documents of a query.

    `text`: the query. `documents`: those of `page`, as pages show them.
    `error`: what went wrong; the other attributes are what was returned before that.
    `warnings`: probable mistakes in the template.
    `recognized`, `recognized_version`: after an error, key and version of the engine that responds at this address instead.
    """

    version: str
    fields: list[str]
    page: engines.Page | None
    error: str = ""
    warnings: tuple[engines.TemplateWarning, ...] = ()
    recognized: str = ""
    recognized_version: str = ""
    text: str = ""
    documents: tuple[Document, ...] = ()

    @property
    def total(self) -> int | None:
        """How many documents the query has found; None if the engine did not say."""
        return self.page.total if self.page else None

    @property
    def filled_fields(self) -> list[str]:
        """The fields that have a value in a returned document; all fields if no document was returned."""
        hits = self.page.hits if self.page else ()
        if not hits:
            return self.fields
        filled = {name for hit in hits for name, value in hit.fields.items() if value not in (None, "", [], {})}
        return [name for name in self.fields if name in filled]


def test_connection(*, endpoint: Endpoint, text: str, template: str = "", fields: str = "") -> ConnectionTest:
    """Asks an endpoint for its version, which is stored, and, if `text` is not blank, searches for it.

    Without a template it uses one that suits any index; without `fields`, documents are shown with those that suit them.
    Never raises for what the endpoint does, see `ConnectionTest.error`; raises `Busy`.
    """
    version, names = "", list[str]()
    warnings: tuple[engines.TemplateWarning, ...] = ()
    try:
        adapter = engines.get(endpoint.engine)
        with connect_for_page(endpoint) as engine:
            version = engine.version()
            stored = Endpoint.objects.filter(pk=endpoint.pk, engine=endpoint.engine, url=endpoint.url)
            stored.update(version=engines.excerpt(version, 200))
            names = engine.fields()
            if not text.strip():
                return ConnectionTest(version, names, None)
            parsed = engines.parse_template(template or _template_for_any_index(endpoint, names), adapter.syntax)
            warnings = tuple(adapter.template_warnings(parsed))
            request = engines.Request(
                query=text.strip(),
                template=parsed,
                fields=engines.parse_fields(fields or "*", adapter.default_id_field),
                rows=TEST_ROWS,
                knobs=dict.fromkeys(parsed.knobs, TEST_KNOB),
                options=endpoint.options.get("query_options", {}),
                escape=adapter.syntax == "params",
            )
            page = engine.search(request)
            names = names or engines.field_names([hit.fields for hit in page.hits])
            test = ConnectionTest(version, names, page, warnings=warnings, text=text)
            spec = fields or suggest_fields(engine=endpoint.engine, names=test.filled_fields).spec
            shown = engines.parse_fields(spec, adapter.default_id_field)
            displays = [shown.display({**hit.fields, shown.id: hit.fields.get(shown.id, hit.id)}) for hit in page.hits]
            documents = tuple(
                Document(hit.id, display.title, display.thumb_url, display.subs, hit.score)
                for hit, display in zip(page.hits, displays, strict=True)
            )
            return replace(test, documents=documents)
    except (engines.EngineError, UnreadableSecret) as error:
        recognized, recognized_version = ("", "")
        if not version and isinstance(error, engines.EngineError):
            recognized, recognized_version = _recognize(endpoint, error)
        return ConnectionTest(version, names, None, str(error), warnings, recognized, recognized_version)


def _recognize(endpoint: Endpoint, error: engines.EngineError) -> tuple[str, str]:
    """Returns key and version of another engine that responds at the address of an endpoint; empty if there is none.

    Only if something has responded. An adapter can be tried if only its own product answers its question for the version.
    """
    if isinstance(error, engines.EndpointUnreachable | engines.TooSlow) and error.status is None:
        return "", ""
    for adapter in engines.available():
        if adapter.recognizes_product and adapter.key != endpoint.engine:
            other = copy(endpoint)
            other.engine = adapter.key
            try:
                with connect_for_page(other) as engine:
                    return adapter.key, engine.version()
            except engines.EngineError:
                continue
    return "", ""


def _template_for_any_index(endpoint: Endpoint, names: Sequence[str]) -> str:
    # It is not known yet which fields contain text.
    text_names = () if engines.get(endpoint.engine).searches_all_fields else names
    return suggest_template(
        engine=endpoint.engine,
        fields=suggest_fields(engine=endpoint.engine, names=names),
        text_names=text_names,
        options=endpoint.options,
    )
