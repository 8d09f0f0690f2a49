"""Who may change what a query is: that belongs to the book, not to the case."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from .bench import Bench, editable


def editable_book(request: HttpRequest, case_id: int) -> Bench:
    """The workbench of a case whose book the user may change too; 404 or 403 for any other."""
    bench = editable(request, case_id)
    if not bench.can_edit_book:
        raise PermissionDenied("You may not change this case's book, which its queries belong to.")
    return bench
