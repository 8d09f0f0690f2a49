"""What a run sends for a query: a snapshot of its attempt, turned into requests."""

from collections.abc import Iterable, Mapping
from typing import Any

from relevancy import engines
from relevancy.endpoints import connect
from relevancy.models import Attempt, CaseQuery, Endpoint, Ranking

QUERY_TEXTS = ("information_need", "reference_answer")  # of a query, which templates read as options


def snapshot_config(attempt: Attempt) -> dict[str, Any]:
    """Returns everything that decides what is sent, as JSON without credentials. It is stored with a run and never changes."""
    endpoint = attempt.endpoint
    return {
        "engine": endpoint.engine,
        "endpoint": endpoint.name,
        "url": endpoint.url,
        "template": attempt.template,
        "knobs": attempt.knobs,
        "fields": attempt.fields,
        "depth": attempt.depth,
        "escape": attempt.escape,
        "options": {**attempt.case.options, **endpoint.options.get("query_options", {})},
        **({"mapping": mapping} if (mapping := endpoint_mapping(endpoint)) else {}),
    }


def endpoint_mapping(endpoint: Endpoint) -> dict[str, Any]:
    """Returns the options of an endpoint that decide what is sent and how a response is read; empty for engines without any."""
    engine = engines.find(endpoint.engine)
    names = [option.name for option in engine.options if option.decides_results] if engine else []
    return {name: endpoint.options[name] for name in names if name in endpoint.options}


def query_options(template: str, case_query: CaseQuery) -> dict[str, Any]:
    """Returns the options of a query, and those of its texts that a template reads as options the query does not have."""
    texts = {name: getattr(case_query.query, name) for name in QUERY_TEXTS if f"$qOption.{name}" in template}
    return {**{name: text for name, text in texts.items() if text}, **case_query.options}


def field_spec(config: Mapping[str, Any]) -> engines.FieldSpec:
    """Returns the displayed fields of a run. Results of a run can be displayed even if its engine has been uninstalled."""
    engine = engines.find(config["engine"])
    return engines.parse_fields(config["fields"], engine.default_id_field if engine else "id")


class RequestBuilder:
    """Builds the requests of a run from its `config`; parses template and fields once. Raises `EngineError`."""

    def __init__(self, config: Mapping[str, Any], rows: int) -> None:
        adapter = engines.get(config["engine"])
        self.template = engines.parse_template(config["template"], adapter.syntax)
        self.fields = engines.parse_fields(config["fields"], adapter.default_id_field)
        self.config = config
        self.rows = rows

    def request(self, text: str, options: Mapping[str, Any]) -> engines.Request:
        """Returns the request for one query. The query's own options override those of the case and the endpoint.

        Snippets are requested only if a displayed field has `highlight:`, because they take time.
        """
        return engines.Request(
            query=text,
            template=self.template,
            fields=self.fields,
            rows=self.rows,
            knobs=self.config["knobs"],
            options={**self.config["options"], **options},
            escape=self.config["escape"],
            highlight=bool(self.fields.highlights),
        )

    def requests(self, case_queries: Iterable[CaseQuery]) -> list[engines.Request]:
        """Returns one request per query, in their order."""
        template = self.config["template"]
        return [self.request(case_query.query.text, query_options(template, case_query)) for case_query in case_queries]


def document_url(ranking: Ranking, doc_id: str) -> str:
    """Returns an address at which a browser sees a document in the engine of the run; empty if there is none. Sends nothing."""
    try:
        with connect(ranking.run.attempt.endpoint) as engine:
            if engine.key != ranking.run.config["engine"] or engine.connection.url != ranking.run.config["url"]:
                return ""
            return engine.document_url(doc_id, field_spec(ranking.run.config))
    except engines.EngineError:
        return ""


def rendered_request(ranking: Ranking) -> Mapping[str, Any]:
    """Returns what the run sent for a query, rendered again from its `config`. Sends nothing. Raises `EngineError`."""
    builder = RequestBuilder(ranking.run.config, ranking.run.rows)
    with connect(ranking.run.attempt.endpoint) as engine:
        return engine.render(builder.request(ranking.text, ranking.options))
