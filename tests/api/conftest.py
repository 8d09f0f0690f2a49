"""Fixtures of the tests of the REST API: people with tokens, and a client that sends them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from relevancy.accounts import api_tokens
from relevancy.api.authentication import limiter
from relevancy.models import ApiToken, User

PREFIX = "/api/v1"


class ApiClient:
    """Sends requests in the name of a user, with a new token of a scope; without a user, without a token."""

    def __init__(self, user: User | None = None, scope: ApiToken.Scope = ApiToken.Scope.WRITE) -> None:
        self.token = ""
        if user is not None:
            self.token = api_tokens.create(user=user, name="test", scope=scope, days=1)[1]

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Sends a body as JSON. path: behind the prefix of the API."""
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        content = "" if body is None else json.dumps(body)
        return Client().generic(
            method.upper(), PREFIX + path, content, content_type="application/json", headers=headers
        )

    def upload(self, path: str, content: bytes | str, name: str = "file") -> HttpResponse:
        """Sends a file."""
        content = content if isinstance(content, bytes) else content.encode()
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return Client().post(PREFIX + path, {"file": SimpleUploadedFile(name, content)}, headers=headers)

    def download(self, path: str) -> bytes:
        """Returns a file."""
        response = self.send("GET", path)
        assert response.status_code == 200, response.content
        return b"".join(response.streaming_content)

    def get(self, path: str, **headers: str) -> Any:
        """Returns the JSON of a successful GET."""
        response = self.send("GET", path, **headers)
        assert response.status_code == 200, response.content
        return response.json()

    def items(self, path: str, limit: int = 2) -> list[Any]:
        """Returns the items of all pages of a list."""
        items: list[Any] = []
        cursor = ""
        while True:
            page = self.get(f"{path}?limit={limit}&cursor={cursor}")
            items += page["items"]
            if page["next"] is None:
                return items
            cursor = page["next"]


@pytest.fixture
def api() -> Callable[..., ApiClient]:
    """Makes clients: `api(user, scope)`."""
    return ApiClient


@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "_per_minute", 0)
