"""Requests that no browser sends: every route, with hostile values in addresses, query strings, forms, files and headers.

Deterministic for a seed. Forms of the pages are harvested and sent again with one or two hostile values, so that most requests
pass the checks that come before the one they are meant for. Everything that a request changes is rolled back.
"""

from __future__ import annotations

import random
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, urljoin, urlsplit

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from relevancy import endpoints, models, ratings
from tests import factories as factories_of_tests
from tests.views import factories

HOSTILE: tuple[bytes, ...] = (
    b"",
    b" ",
    b"\x00",
    b"a\x00b",
    b"\xff\xfe",
    b"\xed\xa0\x80",  # a lone surrogate
    b"9" * 5000,
    b"-" + b"9" * 5000,
    b"1." + b"9" * 5000,
    b"-1",
    b"0",
    b"1",
    b"2",
    str(2**31).encode(),
    str(2**63).encode(),
    str(2**64).encode(),
    b"1e999",
    b"-1e309",
    b"nan",
    b"inf",
    "²".encode(),
    "١٢".encode(),
    b"1_000",
    b"0x10",
    b"{" * 3000,
    b"[" * 100_000,
    b"{}",
    b"[]",
    b"null",
    b"[null]",
    b'{"a": "\\u0000"}',
    b'{"a": "\\ud800"}',
    b'{"a": ' + b"9" * 5000 + b"}",
    b'{"a": NaN}',
    b"'; DROP TABLE x; --",
    b"<script>alert(1)</script>",
    b"../../etc/passwd",
    b"http://127.0.0.1:1/",
    b"http://[",
    b"http://a:99999999999/",
    b"//[::1",
    b"x" * 3000,
    b"\r\nSet-Cookie: a=b",
    b"9999-99-99",
    b"0:3",
    b"0:" + b"9" * 5000,
    b"#$keyword" + b"9" * 5000 + b"##",
    b"#$qOption.a." + b"9" * 5000 + b"##",
    b'{"query": "a", "fields": ["title"], "minimum_should_match": "' + b"9" * 5000 + b'"}',
    b'{"query": "a", "fields": ["title"], "size": ' + b"9" * 400 + b"}",
    b"1:" + b"9" * 400,
    b"%",
    b"_",
    b"*",
    b"\\",
    b"##",
    b"#$query##",
    b"##a##",
    b"nDCG@" + b"9" * 5000,
    b"nDCG@0",
    b"(" * 2000,
    b"=1+1",
    "🦆".encode() * 100,
    "ß‮".encode(),
    b"on",
    b"title:title, thumb:x",
)
NUMBERS = (b"0", b"1", b"2147483648", b"9223372036854775807", b"9223372036854775808", b"9" * 30, b"9" * 5000)
FILES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"query,docid,rating\na,b,1\n",
    b"query,docid,position\na,\x00,1\n",
    b"query,docid,position\na,b," + b"9" * 5000 + b"\n",
    b"q Q0 d 1 " + b"9" * 5000 + b" t\n",
    b"q Q0 d 1 nan t\n",
    b'query,docid,position\n"a,b,1\n',
    b'{"format": "relevancy-scorer/1", "name": "\\u0000", "scale": [[0, ""], [1, ""]], "measure": "nDCG@10"}',
    b'{"format": "relevancy-scorer/1", "name": "a", "scale": [[' + b"9" * 5000 + b', ""]], "measure": "nDCG@10"}',
    b"[" * 100_000,
)
_SOURCE_NAMES = re.compile(
    r"""(?:GET|POST)(?:\.get|\.getlist)?[\[(]\s*["'](\w+)["']|^    (\w+) = (?:forms\.|\w+Field\()""", re.M
)


@dataclass
class Form:
    """A form of a page: where it goes, and the values it would be sent with."""

    method: str
    path: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class _FormParser(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[Form] = []
        self.form: Form | None = None
        self.text_area = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.form = Form(given.get("method", "get").upper(), urljoin(self.page, given.get("action", "")))
            self.forms.append(self.form)
        if path := given.get("hx-get"):
            self.forms.append(Form("GET", urljoin(self.page, path)))
        if self.form is None or not given.get("name"):
            return
        if tag == "input" and given.get("type") == "file":
            self.form.files.append(given["name"])
        elif tag in {"input", "button", "select", "option", "textarea"}:
            self.form.fields.append((given["name"], given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None


class Fuzzer:
    """Sends `requests(n)` requests; `failures` are those with an error."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.failures: list[str] = []
        self.reported = 0
        self.statuses: dict[int, int] = {}
        self.routes = sorted(set(_routes(get_resolver().url_patterns)))
        self.names = sorted(_names_in_sources())
        self.forms: dict[tuple[str, str], Form] = {}
        self.clients = self._make_site()
        self.ids = _ids()

    def _make_site(self) -> list[Client]:
        people = factories.make_people()
        owner = people["owner"]
        endpoint = factories.make_endpoint(owner, engine="embedded", url="films")
        endpoint.teams.add(models.Team.objects.get(name="Search"))
        with endpoints.connect(endpoint) as engine:
            engine.load_documents([{"id": str(n), "title": f"star {n}"} for n in range(3)])
        case = factories.make_case(owner, endpoint=endpoint, team=models.Team.objects.get(name="Search"))
        attempt = case.attempts.get()
        attempt.template, attempt.fields = '{"query": "#$query##", "fields": ["title"]}', "id:id title:title"
        attempt.save()
        run = factories_of_tests.run_now(attempt)
        query = run.rankings.order_by("pk").first().query
        ratings.rate(query=query, doc_id="1", value=case.book.top, by=people["rater"])
        factories_of_tests.rescore_query(run, query.pk)
        models.Annotation.objects.create(case=case, run=run, text="a", created_by=owner)
        clients = [Client(SERVER_NAME="localhost") for _ in range(5)]
        for client, name in zip(clients, ("owner", "admin", "rater", "viewer"), strict=False):  # the last is signed out
            client.force_login(people[name])
        return clients

    def requests(self, count: int, *, progress: bool = False) -> None:
        """Sends every route a GET, then `count` requests. progress: write each new failure and every thousandth request."""
        for client in self.clients[:2]:
            for path in ("/", *(self._path(route, hostile=False) for route in self.routes)):
                self._send(client, "GET", path, {}, {})
        for number in range(count):
            if progress and number % 1000 == 0:
                self._report(number)
            client = self.random.choices(self.clients, weights=(6, 2, 2, 1, 1))[0]
            if self.forms and self.random.random() < 0.6:
                self._send_form(client)
            else:
                self._send_any(client)

    def _report(self, number: int) -> None:
        sys.stdout.write(f"{number:,} requests, {len(self.failures)} failures\n")
        for failure in self.failures[self.reported :]:
            sys.stdout.write(f"{failure}\n")
        sys.stdout.flush()
        self.reported = len(self.failures)

    def _send_form(self, client: Client) -> None:
        form = self.forms[self.random.choice(sorted(self.forms))]
        values: dict[str, list[bytes]] = {}
        for name, value in form.fields:
            values.setdefault(name, []).append(value.encode())
        for name in self.random.sample(sorted(values), min(len(values), self.random.choice((0, 1, 1, 2)))):
            values[name] = [self._hostile() for _ in range(self.random.choice((1, 1, 1, 2)))]
        files = {name: self.random.choice(FILES) for name in form.files if self.random.random() < 0.8}
        self._send(client, form.method, form.path, values, files)

    def _send_any(self, client: Client) -> None:
        method = self.random.choice(("GET", "GET", "GET", "POST", "POST", "POST", "POST", "HEAD", "PUT"))
        names = self.random.sample(self.names, self.random.randint(0, 5))
        values = {name: [self._hostile()] for name in names}
        self._send(client, method, self._path(self.random.choice(self.routes)), values, {})

    def _hostile(self) -> bytes:
        return self.random.choice(HOSTILE)

    def _path(self, route: str, hostile: bool = True) -> str:
        def fill(parameter: re.Match[str]) -> str:
            kind, name = parameter["kind"] or "str", parameter["name"]
            known = self.ids.get(name) if hasattr(self, "ids") else None
            if known and (not hostile or self.random.random() < 0.8):
                return str(self.random.choice(known))
            if kind == "int":
                return self.random.choice(NUMBERS).decode() if hostile else "1"
            value = (self._hostile() if hostile else b"1") or b"x"
            return quote_from_bytes(value[:2000], safe="/" if kind == "path" else "")

        return "/" + re.sub(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>", fill, route)

    def _send(
        self, client: Client, method: str, path: str, values: dict[str, list[bytes]], files: dict[str, bytes]
    ) -> None:
        pairs = [(name, value) for name, several in values.items() for value in several]
        encoded = "&".join(f"{quote_from_bytes(name.encode())}={quote_from_bytes(value)}" for name, value in pairs)
        headers = self._headers()
        address, _, query = path.partition("?")
        arguments: dict[str, Any] = {"headers": headers}
        if method in {"GET", "HEAD"}:
            query = f"{query}&{encoded}".strip("&")
        elif files:
            arguments["data"] = {
                name: [value.decode("utf-8", "replace") for value in several] for name, several in values.items()
            }
            for name, content in files.items():
                arguments["data"][name] = SimpleUploadedFile(self.random.choice(("a.csv", "a", "x" * 300)), content)
        elif self.random.random() < 0.05:
            body = self._hostile()
            kinds = (
                "application/json",
                "text/plain",
                "multipart/form-data; boundary=",
                "multipart/form-data; boundary=x",
            )
            arguments |= {"data": body, "content_type": self.random.choice(kinds)}
        else:
            arguments |= {"data": encoded, "content_type": "application/x-www-form-urlencoded"}
        cookies = {name: morsel.value for name, morsel in client.cookies.items()}
        described = f"{method} {address}?{query[:300]} {encoded[:600]} files={sorted(files)} {headers}"
        try:
            with transaction.atomic():
                if files and "content_type" not in arguments:
                    response = client.post(address, query_params=None, **arguments)
                else:
                    response = client.generic(method, address, **_generic(arguments), QUERY_STRING=query)
                content = b"".join(response.streaming_content) if response.streaming else response.content
                transaction.set_rollback(True)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            position = f"{Path(frame.filename).name}:{frame.lineno}"
            self.failures.append(f"{type(error).__name__} in {position}: {str(error)[:300]}\n    {described}")
            return
        finally:
            client.cookies.clear()  # a session that the request has begun or ended is rolled back
            client.cookies.load(cookies)
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        if response.status_code >= 500:
            self.failures.append(f"status {response.status_code}\n    {described}")
        if response.headers.get("Content-Type", "").startswith("text/html") and len(self.forms) < 2000:
            self._harvest(address, content)

    def _harvest(self, address: str, content: bytes) -> None:
        parser = _FormParser(address)
        parser.feed(content.decode("utf-8", "replace"))
        for form in parser.forms:
            parts = urlsplit(form.path)
            if not parts.netloc and parts.path != "/logout/":
                form.path = parts.path + (f"?{parts.query}" if parts.query else "")
                self.forms.setdefault((form.method, re.sub(r"\d+", "1", parts.path)), form)

    def _headers(self) -> dict[str, str]:
        headers = {}
        if self.random.random() < 0.5:
            headers["HX-Request"] = "true"
        for name in (
            "HX-Target",
            "HX-Current-URL",
            "HX-Trigger",
            "Referer",
            "Accept-Language",
            "X-Forwarded-For",
            "Range",
        ):
            if self.random.random() < 0.05:
                headers[name] = self._hostile()[:500].decode("latin-1").translate({0: None, 10: None, 13: None})
        return headers


def _generic(arguments: dict[str, Any]) -> dict[str, Any]:
    data = arguments.get("data", b"")
    return {
        "data": data.encode() if isinstance(data, str) else data,
        "content_type": arguments.get("content_type", "application/octet-stream"),
        "headers": arguments["headers"],
    }


def _routes(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    """Routes without regular expressions: `cases/<int:case_id>/`."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and not re.search(r"[\^$(]", route) and "logout" not in route:
            yield route


def _names_in_sources() -> set[str]:
    """Names of parameters: what views read, and fields of forms."""
    names: set[str] = set()
    for path in (Path(settings.BASE_DIR) / "relevancy" / "views").rglob("*.py"):
        for groups in _SOURCE_NAMES.findall(path.read_text(encoding="utf-8")):
            names |= {name for name in groups if name}
    return names


def _ids() -> dict[str, list[Any]]:
    """Ids of the rows that exist, by the name of a parameter of a route."""
    by_name = {
        "case_id": models.Case,
        "case_query_id": models.CaseQuery,
        "annotation_id": models.Annotation,
        "endpoint_id": models.Endpoint,
        "scorer_id": models.Scorer,
        "team_id": models.Team,
        "member_id": models.Membership,
        "run_id": models.Run,
        "query_id": models.Query,
        "book_id": models.Book,
    }
    ids: dict[str, list[Any]] = {
        name: list(model.objects.values_list("pk", flat=True)) for name, model in by_name.items()
    }
    ids["number"] = [1]
    ids["step"] = ["endpoint", "fields", "template", "queries", "scorers", "case"]
    ids["key"] = ["case-1"]
    ids["object_id"] = [1]
    return {name: pk for name, pk in ids.items() if pk}
