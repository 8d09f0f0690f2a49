"""Endpoints: the search engines of cases. Their credentials and headers are stored, and never returned."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import endpoints
from relevancy.models import Endpoint, Role

from .access import Id, get_endpoint, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag

MAX_OPTIONS, MAX_HEADERS = 50, 20

router = Router(tags=["Endpoints"])


Options = Annotated[
    dict[str, str],
    Field(
        max_length=MAX_OPTIONS,
        examples=[{"method": "POST"}],
        description="Of the engine, by name, as commands take them.",
    ),
]
Secret = Annotated[str, Field(max_length=4_000)]
Headers = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")],
        Annotated[str, Field(pattern=r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$", max_length=4_000)],
    ],
    Field(
        max_length=MAX_HEADERS, examples=[{"X-Shop": "de"}], description="Further headers. Kept secret like a password."
    ),
]


class EndpointSummary(Schema):
    """An endpoint. url: null unless you are an editor of it."""

    id: int
    name: str = Field(examples=["shop"])
    engine: str = Field(examples=["solr"])
    url: str | None
    role: str = Field(examples=["editor"])


class EndpointDetails(EndpointSummary):
    """An endpoint with its settings. options: null unless you are an editor of it. Credentials and headers are not returned."""

    options: dict[str, Any] | None
    parallel: int = Field(description="Requests at once.", examples=[8])
    per_minute: int = Field(description="Requests per minute; 0: no limit.", examples=[0])
    archived_at: datetime | None


class Credentials(Input):
    """How requests sign in: user name and password, an API key, or a bearer token."""

    username: Secret = ""
    password: Secret = ""
    api_key: Secret = ""
    bearer: Secret = ""


class NewEndpoint(Input):
    """A search engine. You need the right to create endpoints, because this server sends requests to their addresses."""

    name: str = Field(min_length=1, max_length=120, examples=["shop"])
    engine: str = Field(max_length=30, examples=["solr"])
    url: str = Field(max_length=500, examples=["http://127.0.0.1:8983/solr/products"])
    options: Options = Field(default_factory=dict)
    credentials: Credentials = Field(default_factory=Credentials)
    headers: Headers = Field(default_factory=dict)
    parallel: int = Field(8, strict=True, ge=1, le=64)
    per_minute: int = Field(0, strict=True, ge=0, le=1_000_000)


class EndpointChanges(Input):
    """What to change. Fields that are left out or null stay as they are; options are replaced as a whole.

    Another address needs the right to create endpoints, and stored credentials to be sent again or cleared.
    """

    name: str | None = Field(None, min_length=1, max_length=120, examples=["shop"])
    url: str | None = Field(None, max_length=500, examples=["http://127.0.0.1:8983/solr/products"])
    options: Options | None = None
    credentials: Credentials | None = None
    headers: Headers | None = None
    clear: StrictBool = Field(
        False, description="Whether stored credentials and headers that are not sent are deleted."
    )
    parallel: int | None = Field(None, strict=True, ge=1, le=64)
    per_minute: int | None = Field(None, strict=True, ge=0, le=1_000_000)
    archived: StrictBool | None = Field(None, description="true: it is not offered any more; false restores it.")


class TriedQuery(Input):
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


@router.get("/endpoints", auth=READ, response=Page[EndpointSummary])
def list_endpoints(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The endpoints that you may see, except archived ones."""
    visible = Endpoint.objects.visible_to(request.user).live().defer("credentials", "headers")
    rows, following = paginate(visible, page, "id")
    return {"items": [_summary(row) for row in rows], "next": following}


@router.post("/endpoints", auth=WRITE, response={201: EndpointDetails})
def create_endpoint(request: ApiRequest, response: HttpResponse, new: NewEndpoint) -> Status[dict[str, Any]]:
    """Creates an endpoint that is yours. Does not connect to the engine: test it at `endpoints/{endpoint_id}/try`."""
    if not endpoints.may_create(request.user):
        raise PermissionDenied(endpoints.CREATE_DENIED)
    endpoints.check_option_names(new.options, engine=new.engine)
    values = new.dict(exclude={"credentials", "url"})
    url = endpoints.address_of_page(engine=new.engine, url=new.url)
    created = endpoints.create(by=request.user, url=url, credentials=_credentials(new.credentials), **values)
    response["Location"] = f"/api/v1/endpoints/{created.pk}"
    return Status(201, _tagged(response, get_endpoint(request, created.pk)))


@router.get("/endpoints/{endpoint_id}", auth=READ, response=EndpointDetails)
def read_endpoint(request: ApiRequest, response: HttpResponse, endpoint_id: Id) -> dict[str, Any]:
    """An endpoint. The ETag can be sent as If-Match when you change it."""
    return _tagged(response, get_endpoint(request, endpoint_id))


@router.patch("/endpoints/{endpoint_id}", auth=WRITE, response=EndpointDetails)
def change_endpoint(
    request: ApiRequest, response: HttpResponse, endpoint_id: Id, changes: EndpointChanges, if_match: IfMatch
) -> dict[str, Any]:
    """Changes, archives or restores an endpoint. Does not connect to the engine. Runs keep the address they were made with."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.EDITOR)
    endpoints.check_option_names(changes.options or {}, engine=endpoint.engine, also=endpoint.options)
    values = {
        name: getattr(endpoint, name) if getattr(changes, name) is None else getattr(changes, name)
        for name in ("name", "url", "options", "parallel", "per_minute")
    }
    if changes.dict(exclude={"archived"}, exclude_defaults=True, exclude_none=True):
        endpoints.update(
            endpoint=endpoint,
            by=request.user,
            engine=endpoint.engine,
            credentials=_credentials(changes.credentials),
            headers=changes.headers or {},
            clear=changes.clear,
            check=partial(_check, endpoint, if_match),
            **values,
        )
        if_match = ""  # the state that it names is that before this change
    with transaction.atomic():
        _check(endpoint, if_match)
        if changes.archived not in (None, endpoint.archived_at is not None):
            change = endpoints.archive if changes.archived else endpoints.restore
            change(endpoint=endpoint, by=request.user)
    return _tagged(response, endpoint)


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


def _credentials(given: Credentials | None) -> dict[str, str]:
    credentials = {name: value for name, value in given.dict().items() if value} if given else {}
    endpoints.check_credentials(credentials)
    return credentials


def _check(endpoint: Endpoint, if_match: str) -> None:
    rows = lockable(Endpoint.objects.defer("credentials", "headers"), lock=True)
    check_if_match(if_match, state=_state(rows.get(pk=endpoint.pk)))


def _state(endpoint: Endpoint) -> object:
    """Returns what `change_endpoint` changes, without secrets: a digest of them could be used to guess them."""
    return [
        endpoint.name,
        endpoint.url,
        endpoint.options,
        endpoint.parallel,
        endpoint.per_minute,
        endpoint.archived_at,
    ]


def _summary(endpoint: Endpoint) -> dict[str, Any]:
    role = Role(vars(endpoint)["role"])
    return {
        "id": endpoint.pk,
        "name": endpoint.name,
        "engine": endpoint.engine,
        "url": endpoint.url if role >= Role.EDITOR else None,
        "role": role.label,
    }


def _tagged(response: HttpResponse, endpoint: Endpoint) -> dict[str, Any]:
    summary = _summary(endpoint)
    details = {
        **summary,
        "options": None if summary["url"] is None else endpoint.options,
        "parallel": endpoint.parallel,
        "per_minute": endpoint.per_minute,
        "archived_at": endpoint.archived_at,
    }
    return set_etag(response, details, state=_state(endpoint))
