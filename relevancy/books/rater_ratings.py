"""What editors do with all ratings of one rater in a book: remove them, or give those of a name in a file to a person's account."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from relevancy import accounts, activity, hooks, scores
from relevancy.models import Activity, Book, Rating, User, Verdict
from relevancy.ratings.changes import REMOVAL, Change
from relevancy.ratings.ratings import change_raters
from relevancy.ratings.separate_ratings import query_batches, withdraw_ratings

from .previews import find_cases

REMOVAL_SOURCE, ASSIGNMENT_SOURCE = "removal", "assignment"
_REMOVED: Mapping[str, str] = {
    "": "all ratings",
    Verdict.CANNOT: "the answers “cannot judge”",
    Verdict.LATER: "the answers “later”",
}

type RatingKey = tuple[int, str]
"""The id of a query, and a document id."""


@dataclass(frozen=True)
class RaterPreview:
    """What a change of a rater's ratings would do.

    ratings: how many would be removed, or given. left_out: how many of them would not be given, because the person has judged the
    document. case_scores: of the cases that the user can see. hidden_cases: the number of further cases of the book.
    """

    ratings: int
    left_out: int
    case_scores: list[scores.CaseScorePreview]
    hidden_cases: int


def preview_removal(*, book: Book, rater: User, verdict: str = "", by: User) -> RaterPreview:
    """Returns what `remove_ratings` would do. Locks and writes nothing."""
    own = Rating.objects.filter(query__book=book, rater=rater)
    if verdict:
        own = own.filter(verdict=verdict)
    keys = set(own.values_list("query_id", "doc_id"))
    return _preview(book, rater, keys, by, ratings=len(keys), left_out=0)


def remove_ratings(*, book: Book, rater: User, verdict: str = "", by: User) -> int:
    """Removes the ratings of a rater from a book; the log keeps them. Returns how many. Computes no scores.

    verdict: removes only these, so that the documents come back to the rater: "cannot judge" or "later". Writes in transactions of
    about 1,000 ratings. If one fails, those before it stay; calling this again does the rest. Raises `ValidationError` for a
    machine with a page of its own, see `pages_of_machine`.
    """
    if pages_of_machine(book, rater):
        raise ValidationError(f"The ratings of {rater} are removed on the page where they were accepted as ratings.")
    removed = withdraw_ratings(book=book, rater=rater, by=by, source=REMOVAL_SOURCE, verdict=verdict)
    if removed:
        activity.record_for_book(
            Activity.Verb.RATINGS_REMOVED, book=book, by=by, person=rater, removed=_REMOVED[verdict], count=removed
        )
    return removed


def pages_of_machine(book: Book, rater: User) -> list[hooks.Link]:
    """Returns links to the pages where an optional app removes the ratings of its machine; none for other raters or without the app."""
    is_machine = rater.kind == User.Kind.MACHINE
    return list(hooks.links_at(hooks.Place.RATER, hooks.BookRater(book, rater))) if is_machine else []


def people_to_assign(*, by: User) -> QuerySet[User]:
    """Returns the people whom the user may give ratings to, by name: the user and the members of the same teams."""
    return accounts.known_people(by=by).filter(is_active=True).order_by("name", "email", "pk")


def preview_assignment(*, book: Book, rater: User, person: User, by: User) -> RaterPreview:
    """Returns what `assign_ratings` would do. Locks and writes nothing."""
    keys = set(Rating.objects.filter(query__book=book, rater=rater).values_list("query_id", "doc_id"))
    left_out = _judged_by_both(Rating.objects.filter(query__book=book), rater, person)
    return _preview(book, rater, left_out, by, ratings=len(keys), left_out=len(left_out))


def assign_ratings(*, book: Book, rater: User, person: User, by: User) -> tuple[int, int]:
    """Gives the ratings of a rater that cannot sign in, which is a name in a file, to a person. Computes no scores.

    Grade, note and time stay. A document that the person has judged keeps the person's rating, and the other one is removed; "later" is
    not a judgment. The log has a removal and a rating for each. Returns the numbers of ratings that were given and that were removed.

    Writes in transactions of about 1,000 ratings. If one fails, those before it stay; calling this again does the rest. Raises
    `ValidationError` for other raters, and for a person whom `by` does not know.
    """
    if rater.kind != User.Kind.FILE:
        raise ValidationError(
            f"{rater} has an account here or is not a person. Only ratings under a name from a file can be given to an account."
        )
    if not people_to_assign(by=by).filter(pk=person.pk).exists():
        raise ValidationError("Choose a person of one of your teams.")
    sizes = Counter(Rating.objects.filter(query__book=book, rater=rater).values_list("query_id", flat=True))
    given = removed = 0
    for batch in query_batches(set(sizes), sizes):
        new, left_out = _assign_some(rater, person, by, batch)
        given += new
        removed += left_out
    if given or removed:
        activity.record_for_book(
            Activity.Verb.RATINGS_ASSIGNED,
            book=book,
            by=by,
            person=person,
            rater=str(rater),
            count=given,
            removed=removed,
        )
    return given, removed


def _assign_some(rater: User, person: User, by: User, query_ids: Collection[int]) -> tuple[int, int]:
    """Gives the ratings of some queries, in one transaction. Returns how many are the person's now, and how many were removed."""
    given = left_out = 0

    def choose() -> list[tuple[User, Mapping[int, Mapping[str, Change]]]]:
        nonlocal given, left_out
        removals: dict[int, dict[str, Change]] = defaultdict(dict)
        arrivals: dict[int, dict[str, Change]] = defaultdict(dict)
        judged = _judged_by_both(Rating.objects.filter(query__in=query_ids), rater, person)
        for row in Rating.objects.filter(query__in=query_ids, rater=rater):
            key = row.query_id, row.doc_id
            removals[row.query_id][row.doc_id] = REMOVAL
            if key in judged:
                left_out += 1
                continue
            given += 1
            arrivals[row.query_id][row.doc_id] = Change.copying(
                row, is_adjudication=row.is_adjudication, rating_id=row.pk
            )
        return [(rater, removals), (person, arrivals)]

    change_raters(query_ids=query_ids, choose=choose, by=by, source=ASSIGNMENT_SOURCE)
    return given, left_out


def _judged_by_both(rated: QuerySet[Rating], rater: User, person: User) -> set[RatingKey]:
    """Returns the ratings of the rater whose document the person has judged."""
    judged = rated.filter(rater=person).exclude(verdict=Verdict.LATER).values_list("query_id", "doc_id")
    return set(rated.filter(rater=rater).values_list("query_id", "doc_id")).intersection(judged)


def _preview(
    book: Book, rater: User, removed: set[RatingKey], by: User, *, ratings: int, left_out: int
) -> RaterPreview:
    """Returns the scores with and without ratings of the rater. Giving the others to a person changes no grade."""

    def counts(query_id: int, doc_id: str, rater_id: int) -> bool:
        return rater_id != rater.pk or (query_id, doc_id) not in removed

    cases, hidden = find_cases(book, by=by)
    before = scores.score_cases(cases, book)
    after = scores.score_cases(cases, book, counts=counts) if removed else before
    return RaterPreview(ratings, left_out, scores.join_scores(before, after), hidden)
