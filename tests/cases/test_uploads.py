"""Files of rankings: checked, kept, and forgotten when nobody took them."""

import os
import time

import pytest

from relevancy import cases
from relevancy.models import Endpoint, User

CSV = b"\xef\xbb\xbfquery,docid,position\r\nstar wars,1,1\r\nstar trek,2,1\r\n"
RUN = b"star Q0 d1 1 2.5 tag\nstar Q0 d2 2 1.5 tag\n"


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path / "static"


def test_store_csv_and_run(db, folder):
    first = cases.uploads.store(content=CSV, name="../../Old Shop!.csv")
    second = cases.uploads.store(content=RUN, name="")
    assert (first.summary.queries, second.summary.form) == (2, "TREC run")
    assert sorted(path.name for path in folder.iterdir()) == sorted([first.name, second.name])
    assert first.name.startswith("old-shop-")
    assert second.name.startswith("rankings-")
    assert cases.uploads.queries_of(first.name) == ["star wars", "star trek"]


@pytest.mark.parametrize(
    "content", [b"", b"query,docid,position\n", b"a,b\n1,2\n", b"query,docid,position\nx,\xff,1\n"]
)
def test_store_refused_keeps_nothing(db, folder, content):
    with pytest.raises(cases.Refused) as reason:
        cases.uploads.store(content=content, name="x.csv")
    assert reason.value.field == "file"
    assert not folder.exists()


def test_store_too_large(db, monkeypatch):
    monkeypatch.setattr(cases.uploads, "MAX_BYTES", 10)
    with pytest.raises(cases.Refused, match="10 are possible"):
        cases.uploads.store(content=CSV, name="x.csv")


def test_store_forgets_what_nobody_took_within_a_day(db, folder):
    taken, left, fresh = (cases.uploads.store(content=CSV, name="x").name for _ in range(3))
    foreign = folder / "put-here-by-hand.csv"
    foreign.write_bytes(CSV)
    owner = User.objects.create_user("a@example.org")
    Endpoint.objects.create(name="x", engine="static", url=taken, owner=owner)
    old = time.time() - 2 * cases.uploads.DAY
    for name in (taken, left, foreign.name):
        os.utime(folder / name, (old, old))
    new = cases.uploads.store(content=CSV, name="y").name
    assert {path.name for path in folder.iterdir()} == {taken, fresh, new, foreign.name}


def test_queries_of_another_folder(folder):
    with pytest.raises(cases.Refused):
        cases.uploads.queries_of("../secret.csv")


def test_sample_query():
    assert cases.uploads.sample_query(Endpoint(engine="solr", url="x")) == ""
    assert cases.uploads.sample_query(Endpoint(engine="static", url="gone.csv")) == ""
