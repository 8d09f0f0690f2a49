"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from io import BytesIO
from types import ModuleType
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy.models import Case, Run, User
from relevancy.optional.clicks.click_logs import import_clicks
from relevancy.optional.clicks.log_formats import read_log

PAGES_WITH_FILES = ["optional/clicks/pages.py", "optional/clicks/query_log.py"]
READING_PAGES = {"query_log": {"file": "query,count\nstar,3\n", "method": "frequency", "size": "5", "seed": "1"}}
CLICKS = "query,count,docid,position,clicks\nquery 1,40,a,1,9\n"
# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
query_log              GET    edit    200
query_log              POST   edit    302
book_clicks            GET    see     200
clicks_import          POST   edit    302
clicks_count           POST   edit    302
"""
OPERATIONS = """
operation          role    scope  status
import_query_log   edit    write  200
import_clicks      edit    write  200
"""
OPERATION_PARAMETERS = {"import_clicks": "?model=coec"}
OPERATION_FILES = {"import_query_log": "query,count\na searched query,7\n", "import_clicks": CLICKS}


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A log of the book, which is found by the book."""
    with read_log(BytesIO(CLICKS.encode())) as log:
        import_clicks(book=case.book, log=log, method="coec", by=case.owner)
    return {}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    searches = SimpleUploadedFile("log.csv", b"query,count\na searched query,7\n")
    return {
        "query_log": {"do": "import", "file": searches, "method": "frequency", "size": "1", "seed": "1"},
        "clicks_import": {
            "file": SimpleUploadedFile("clicks.csv", CLICKS.encode()),
            "method": "coec",
            "strength": "10",
        },
        "clicks_count": {"do": "withdraw"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    query = case.book.queries.first()
    assert query is not None
    with read_log(BytesIO(CLICKS.replace("query 1", query.text).encode())) as log:
        import_clicks(book=case.book, log=log, method="coec", by=rater)


def add_ways_in(bad_files: ModuleType) -> None:
    """Adds to the tables of tests/test_bad_files.py."""
    log = b"query,count\nquery 1,7\nalien,3\n"
    clicks = b"query,count,docid,position,clicks\nquery 1,90,a,1,30\nquery 1,90,b,2,9\n"
    searches = b'{"query_id": "1", "user_query": "query 1", "query_response_object_ids": ["a", "b"]}\n'
    events = b'{"query_id": "1", "action_name": "click", "event_attributes": {"object": {"object_id": "a"}}}\n'
    left_out = ("U+0000",)  # a search whose text cannot be a query is left out and counted
    draw = {"method": "frequency", "size": "2", "seed": "1"}
    model = {"method": "coec", "strength": "10"}
    log_page, clicks_page = "/cases/{case}/files/query-log/", "/books/{book}/clicks/import/"
    bad_files.CSV += [log, clicks]
    bad_files.WAYS_IN.update(
        {
            "page of logs": bad_files.WayIn(log, lambda world, file: world.page(log_page, file, **draw), left_out),
            "page of logs, UBI": bad_files.WayIn(searches, lambda world, file: world.page(log_page, file, **draw)),
            "page of clicks": bad_files.WayIn(
                clicks, lambda world, file: world.page(clicks_page, file, **model), left_out
            ),
            "page of clicks, events": bad_files.WayIn(
                events,
                lambda world, file: world.page(
                    clicks_page, file, "events", file=SimpleUploadedFile("q", searches), **model
                ),
            ),
            "import_query_log of the API": bad_files.WayIn(
                log, lambda world, file: world.api("/cases/{case}/import/query-log", file), left_out
            ),
            "import_clicks of the API": bad_files.WayIn(
                clicks, lambda world, file: world.api("/books/{book}/import/clicks?model=coec", file), left_out
            ),
            "sample_queries": bad_files.by_command(log, "sample_queries", "{case}", bad_files.FILE, takes=left_out),
            "import_clicks": bad_files.by_command(
                clicks, "import_clicks", "{book}", bad_files.FILE, "--model", "coec", takes=left_out
            ),
        }
    )
