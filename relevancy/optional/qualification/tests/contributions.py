"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from django.utils import timezone

from relevancy.models import Case, Run, User
from relevancy.optional.qualification.models import Qualification, QualificationPair, QualificationRule

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
book_qualification     GET    edit    200
book_qualification     POST   edit    302
qualify                GET    rate    302
qualify_rate           POST   rate    302
qualify_pause          GET    rate    200
qualify_pause          POST   rate    302
qualify_undo           POST   rate    302
"""
FORM_PARTS = """
route         fields
qualify_rate  query
"""


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    query = world.case.book.queries.first()
    return {
        "book_qualification": {"do": "settings", "share": "", "distance": "0"},
        "qualify_rate": {"query": query.pk, "doc_id": "a", "grade": "2"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    QualificationRule.objects.create(book=case.book)
    pair = QualificationPair.objects.create(query=case.book.queries.first(), doc_id="1", value=1)
    pair.answers.create(rater=rater, round=1, verdict="rated", value=1, at=timezone.now())
    Qualification.objects.create(book=case.book, rater=rater)
