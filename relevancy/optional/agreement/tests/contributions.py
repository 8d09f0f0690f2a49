"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from collections.abc import Iterator
from contextlib import contextmanager

from relevancy.management.commands import demo

# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
book_agreement         GET    see     200
book_agreement_queries GET    see     200
book_agreement_pair    GET    see     302
book_agreement_rater   GET    see     200
"""
OPERATIONS = """
operation          role    scope  status
read_agreement     see     read   200
"""


@contextmanager
def sample(sandbox: object) -> Iterator[None]:
    """The sample, whose figures the guide prints."""
    demo.load_demo()
    yield


GUIDE_SURROUNDINGS = {"agreement.md": sample}  # tests/test_guides.py
