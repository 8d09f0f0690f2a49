"""What is sent for a query: the attempt as it was asked, turned into requests."""

from collections.abc import Iterable, Mapping
from typing import Any

from relevancy import engines
from relevancy.models import Attempt, CaseQuery, Ranking

from .connecting import connect


def asked(attempt: Attempt) -> dict[str, Any]:
    """The attempt with everything that decides what is sent, as plain JSON without credentials: kept with a run for ever."""
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
    }


class Asker:
    """Makes requests out of queries; the template and the fields are read once. Raises `TemplateError`."""

    def __init__(self, asked: Mapping[str, Any], rows: int) -> None:
        adapter = engines.get(asked["engine"])
        self.template = engines.parse_template(asked["template"], adapter.syntax)
        self.fields = engines.parse_fields(asked["fields"], adapter.default_id_field)
        self.asked = asked
        self.rows = rows

    def request(self, text: str, options: Mapping[str, Any]) -> engines.Request:
        """The request for one query; its own options win over the case's and the endpoint's. Snippets cost time, so they are
        asked for only where the displayed fields name one with `highlight:`."""
        return engines.Request(
            query=text,
            template=self.template,
            fields=self.fields,
            rows=self.rows,
            knobs=self.asked["knobs"],
            options={**self.asked["options"], **options},
            escape=self.asked["escape"],
            highlight=bool(self.fields.highlights),
        )

    def requests(self, case_queries: Iterable[CaseQuery]) -> list[engines.Request]:
        """One request per query, in their order."""
        return [self.request(entry.query.text, entry.options) for entry in case_queries]


def as_sent(ranking: Ranking) -> Mapping[str, Any]:
    """What a run sent for a query, made again from what was asked: nothing is sent now. Raises `EngineError`."""
    asker = Asker(ranking.run.asked, ranking.run.rows)
    with connect(ranking.run.attempt.endpoint) as engine:
        return engine.render(asker.request(ranking.text, ranking.options))
