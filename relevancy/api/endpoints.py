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

from .access import Id, Number, get_endpoint, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Changes, Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag

MAX_OPTIONS, MAX_HEADERS = 50, 20

router = Router(tags=["Endpoints"])


Options = Annotated[
    dict[str, str | Number | dict[str, Any]],
    Field(
        max_length=MAX_OPTIONS,
        examples=[{"method": "POST", "read_timeout": 5}],
        description="Of the engine, by name, as strings; and of every engine connect_timeout and read_timeout, in seconds, and "
        "query_options, an object.",
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

    @staticmethod
    def resolve_url(endpoint: Endpoint) -> str | None:
        return endpoint.url if endpoint.is_editable else None

    @staticmethod
    def resolve_role(endpoint: Endpoint) -> str:
        return endpoint.role_label


class EndpointDetails(EndpointSummary):
    """An endpoint with its settings. options: null unless you are an editor of it. Credentials and headers are not returned."""

    options: dict[str, Any] | None
    parallel: int = Field(description="Requests at once.", examples=[8])
    per_minute: int = Field(description="Requests per minute; 0: no limit.", examples=[0])
    archived_at: datetime | None

    @staticmethod
    def resolve_options(endpoint: Endpoint) -> dict[str, Any] | None:
        return endpoint.options if endpoint.is_editable else None


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


class EndpointChanges(Changes, NewEndpoint):
    """What to change. Fields that are left out or null stay as they are; options are replaced as a whole.

    Another engine or address needs the right to create endpoints, and stored credentials to be sent again or cleared.
    """

    clear: StrictBool = Field(description="Whether stored credentials and headers that are not sent are deleted.")
    archived: StrictBool = Field(description="true: it is not offered any more; false restores it.")


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
    return paginate(visible, page, "id")


@router.post("/endpoints", auth=WRITE, response={201: EndpointDetails})
def create_endpoint(request: ApiRequest, response: HttpResponse, new: NewEndpoint) -> Status[EndpointDetails]:
    """Creates an endpoint that is yours. Does not connect to the engine: test it at `endpoints/{endpoint_id}/try`."""
    if not endpoints.may_create(request.user):
        raise PermissionDenied(endpoints.CREATE_DENIED)
    endpoints.check_option_names(new.options, engine=new.engine)
    settings = _settings(new)
    settings["url"] = endpoints.address_of_page(engine=new.engine, url=new.url)
    created = endpoints.create(by=request.user, **settings)
    response["Location"] = f"/api/v1/endpoints/{created.pk}"
    return Status(201, _tagged(response, get_endpoint(request, created.pk)))


@router.get("/endpoints/{endpoint_id}", auth=READ, response=EndpointDetails)
def read_endpoint(request: ApiRequest, response: HttpResponse, endpoint_id: Id) -> EndpointDetails:
    """An endpoint. The ETag can be sent as If-Match when you change it."""
    return _tagged(response, get_endpoint(request, endpoint_id))


@router.patch("/endpoints/{endpoint_id}", auth=WRITE, response=EndpointDetails)
def change_endpoint(
    request: ApiRequest, response: HttpResponse, endpoint_id: Id, changes: EndpointChanges, if_match: IfMatch
) -> EndpointDetails:
    """Changes, archives or restores an endpoint. Does not connect to the engine. Runs keep the address they were made with."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.EDITOR)
    engine = changes.engine or endpoint.engine
    endpoints.check_option_names(changes.options or {}, engine=engine, also=endpoint.options)
    settings = _settings(changes)
    archived = settings.pop("archived", None)
    if settings:
        endpoints.update(endpoint=endpoint, by=request.user, check=partial(_check, endpoint, if_match), **settings)
        if_match = ""  # the state that it names is that before this change
    with transaction.atomic():
        _check(endpoint, if_match)
        if archived not in (None, endpoint.archived_at is not None):
            change = endpoints.archive if archived else endpoints.restore
            change(endpoint=endpoint, by=request.user)
    return _tagged(response, endpoint)


@router.post("/endpoints/{endpoint_id}/try", auth=WRITE, response=ConnectionTest)
def try_endpoint(request: ApiRequest, endpoint_id: Id, query: TriedQuery) -> endpoints.ConnectionTest:
    """Asks the engine for its version and its fields, and for the first documents of a query. Needs the role editor."""
    endpoint = get_endpoint(request, endpoint_id, needs=Role.EDITOR)
    return endpoints.test_connection(endpoint=endpoint, text=query.text)


def _settings(sent: NewEndpoint) -> dict[str, Any]:
    """Returns what was sent of the fields of an endpoint. Raises `ValidationError` for credentials that do not go together."""
    settings = sent.model_dump(exclude_none=True)
    if "credentials" in settings:
        settings["credentials"] = {name: value for name, value in settings["credentials"].items() if value}
        endpoints.check_credentials(settings["credentials"])
    return settings


def _check(endpoint: Endpoint, if_match: str) -> None:
    stored = lockable(Endpoint.objects.defer("credentials", "headers"), lock=True).get(pk=endpoint.pk)
    check_if_match(if_match, state=_state(stored))


def _state(endpoint: Endpoint) -> object:
    """Returns what `change_endpoint` changes, without secrets: a digest of them could be used to guess them."""
    changed = EndpointChanges.model_fields.keys() - {"credentials", "headers", "clear", "archived"}
    return [endpoint.archived_at, *(getattr(endpoint, name) for name in sorted(changed))]


def _tagged(response: HttpResponse, endpoint: Endpoint) -> EndpointDetails:
    return set_etag(response, EndpointDetails.from_orm(endpoint), state=_state(endpoint))
