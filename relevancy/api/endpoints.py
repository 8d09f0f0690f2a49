"""Endpoints: the search engines of cases. Their credentials are never returned."""

from typing import Any

from ninja import Query, Router, Schema
from pydantic import Field

from relevancy import endpoints
from relevancy.models import Endpoint, Role

from .access import Id, get_endpoint
from .authentication import READ, WRITE, ApiRequest
from .paging import Page, PageParameters, paginate

router = Router(tags=["Endpoints"])


class EndpointDetails(Schema):
    """An endpoint. url: null unless you are an editor of it."""

    id: int
    name: str = Field(examples=["shop"])
    engine: str = Field(examples=["solr"])
    url: str | None
    role: str = Field(examples=["editor"])


class TriedQuery(Schema):
    text: str = Field("", max_length=2048, examples=["star wars"], description="Empty: only asks for the version.")


class ReturnedDocument(Schema):
    id: str
    title: str
    score: float | None


class ConnectionTest(Schema):
    """What the engine answered. error: why it did not, or not everything; the other values are from before that."""

    version: str
    fields: list[str]
    total: int | None
    documents: list[ReturnedDocument]
    error: str


@router.get("/endpoints", auth=READ, response=Page[EndpointDetails])
def list_endpoints(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The endpoints that you may see, except archived ones."""
    visible = Endpoint.objects.visible_to(request.user).live().defer("credentials", "headers")
    rows, following = paginate(visible, page, "id")
    return {"items": [_details(row) for row in rows], "next": following}


@router.post("/endpoints/{endpoint_id}/try", auth=WRITE, response=ConnectionTest)
def try_endpoint(request: ApiRequest, endpoint_id: Id, query: TriedQuery) -> dict[str, Any]:
    """Asks the engine for its version and its fields, and for the first documents of a query. Needs the role editor."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.EDITOR)
    connection_test = endpoints.test_connection(endpoint=endpoint, text=query.text)
    documents: list[endpoints.Document] = []
    if not connection_test.error:
        spec = endpoints.suggestions.suggest_fields(engine=endpoint.engine, names=connection_test.fields).spec
        documents = endpoints.documents(endpoint=endpoint, connection_test=connection_test, fields=spec)
    return {
        "version": connection_test.version,
        "fields": connection_test.fields,
        "total": connection_test.page.total if connection_test.page else None,
        "documents": [{"id": document.id, "title": document.title, "score": document.score} for document in documents],
        "error": connection_test.error,
    }


def _details(endpoint: Endpoint) -> dict[str, Any]:
    role = Role(vars(endpoint)["role"])
    return {
        "id": endpoint.pk,
        "name": endpoint.name,
        "engine": endpoint.engine,
        "url": endpoint.url if role >= Role.EDITOR else None,
        "role": role.label,
    }
