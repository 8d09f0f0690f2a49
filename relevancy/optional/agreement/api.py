"""The agreement of raters in the REST API."""

from django.core.exceptions import ValidationError
from ninja import Router

from relevancy import books
from relevancy.api.access import Id, get_book
from relevancy.api.authentication import READ, ApiRequest

from . import agreement
from .result_json import AgreementResult, build_agreement

MAX_PAIRS = 30  # pairs of raters, each of which takes a bootstrap
router = Router(tags=["Books"])


@router.get("/books/{book_id}/agreement", auth=READ, response=AgreementResult)
def read_agreement(request: ApiRequest, book_id: Id) -> AgreementResult:
    """How far the raters of a book agree, with 95 % intervals, as `agreement --json` prints it.

    `by_pair` has the 30 pairs of raters with most documents in common. 422 for books of more than 200,000 ratings.
    """
    book = get_book(request, book_id)
    ratings = sum(grade.count for grade in books.count_by_grade(book))
    if ratings > agreement.MAX_RATINGS:
        raise ValidationError(
            f"The book has {ratings:,} ratings; at most {agreement.MAX_RATINGS:,} are compared while you wait. "
            "Use the command `relevancy agreement` on the server."
        )
    result, queries = agreement.measure_agreement(book=book), agreement.measure_query_agreement(book=book)
    return build_agreement(result, queries, book.grades, max_pairs=MAX_PAIRS)
