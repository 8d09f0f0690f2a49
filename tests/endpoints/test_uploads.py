"""Uploaded files: checked, stored, and deleted if no endpoint uses them."""

import io
import os
import time

import pytest
from django.core.exceptions import ValidationError

from relevancy import endpoints
from relevancy.models import Endpoint, User
from relevancy.models.errors import error_fields
from tests.factories import make_user

CSV = b"\xef\xbb\xbfquery,docid,position\r\nstar wars,1,1\r\nstar trek,2,1\r\n"
RUN = b"star Q0 d1 1 2.5 tag\nstar Q0 d2 2 1.5 tag\n"


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path / "static"


def test_store_csv_and_trec_run(db, folder):
    first = endpoints.uploads.store(engine="static", content=CSV, name="../../Old Shop!.csv", by=make_user())
    second = endpoints.uploads.store(engine="static", content=RUN, name="", by=make_user())
    assert (first[-4:], second[-4:]) == (".csv", ".txt")
    assert sorted(path.name for path in folder.iterdir() if ".index" not in path.name) == sorted([first, second])
    assert first.startswith("old-shop-")
    assert second.startswith("rankings-")
    assert endpoints.known_queries(Endpoint(engine="static", url=first)) == ["star wars", "star trek"]


@pytest.mark.parametrize(
    "content", [b"", b"query,docid,position\n", b"a,b\n1,2\n", b"query,docid,position\nx,\xff,1\n"]
)
def test_store_of_an_invalid_file(db, folder, content):
    with pytest.raises(ValidationError) as reason:
        endpoints.uploads.store(engine="static", content=content, name="x.csv", by=make_user())
    assert error_fields(reason.value) == ["file"]
    assert not list(folder.iterdir())


def test_store_of_a_large_file(db, monkeypatch):
    monkeypatch.setattr(endpoints.uploads, "MAX_BYTES", 10)
    with pytest.raises(ValidationError, match="at most 10 are allowed"):
        endpoints.uploads.store(engine="static", content=CSV, name="x.csv", by=make_user())


def test_store_deletes_files_unused_for_a_day(db, folder):
    used, unused, fresh = (
        endpoints.uploads.store(engine="static", content=CSV, name="x", by=make_user()) for _ in range(3)
    )
    foreign = folder / "put-here-by-hand.csv"
    foreign.write_bytes(CSV)
    owner = User.objects.create_user("a@example.org")
    Endpoint.objects.create(name="x", engine="static", url=used, owner=owner)
    old = time.time() - 2 * endpoints.uploads.DAY
    for name in (used, unused, foreign.name):
        os.utime(folder / name, (old, old))
    new = endpoints.uploads.store(engine="static", content=CSV, name="y", by=make_user())
    kept = [used, fresh, new]
    assert {path.name for path in folder.iterdir() if not path.name.endswith(".lock")} == {
        foreign.name,
        *kept,
        *(f"{name}.index" for name in kept),
    }


def test_store_file_of_any_size_is_for_commands(db, folder, monkeypatch):
    monkeypatch.setattr(endpoints.uploads, "MAX_BYTES", 10)
    monkeypatch.setattr(endpoints.uploads, "_READ_BYTES", 7)
    content = CSV.replace(b"star", "schön".encode())
    name = endpoints.uploads.store_file(engine="static", file=io.BytesIO(content), name="x.csv", by=make_user())
    assert (folder / name).read_bytes() == content
    assert endpoints.known_queries(Endpoint(engine="static", url=name), 1) == ["schön wars"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"query,docid,position\nx,1,1\nx,\xff,2\n", "not UTF-8: see line 3"),
        (CSV + "schön".encode()[:4], "not UTF-8: see line 4"),
        (b"PK\x03\x04", "ZIP file"),
        (b"query,docid,position\nx,1,one\n", "Line 2, column position"),
    ],
)
def test_store_file_refuses_and_leaves_nothing(db, folder, monkeypatch, content, message):
    monkeypatch.setattr(endpoints.uploads, "_READ_BYTES", 4)
    with pytest.raises(ValidationError, match=message):
        endpoints.uploads.store_file(engine="static", file=io.BytesIO(content), name="x.csv", by=make_user())
    assert not list(folder.iterdir())


def test_known_queries_of_a_file_outside_the_folder(folder):
    folder.mkdir()
    (folder.parent / "secret.csv").write_bytes(CSV)
    (folder / "rankings.csv").write_bytes(CSV)
    assert endpoints.known_queries(Endpoint(engine="static", url="rankings.csv")) == ["star wars", "star trek"]
    assert endpoints.known_queries(Endpoint(engine="static", url="../secret.csv")) == []


def test_sample_query():
    assert endpoints.sample_query(Endpoint(engine="solr", url="x")) == ""
    assert endpoints.sample_query(Endpoint(engine="static", url="gone.csv")) == ""
    assert endpoints.sample_query(Endpoint(engine="uninstalled", url="x")) == ""
