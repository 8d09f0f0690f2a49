"""A book as Quepid exports and imports it: see `book` for the format. What it does not hold is said in the member `left_out`."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from relevancy.formats.cases.case_content import UNKNOWN_RATER
from relevancy.formats.ratings.graded_queries import MAX_QUERIES, query_batches
from relevancy.formats.ratings.trec import grade_number
from relevancy.formats.relevancy.writer import name_raters
from relevancy.models import Book, Query, Rating, User, Verdict
from relevancy.wording import counted

from .json_file import write_object

_COLUMNS = ("query_id", "doc_id", "rater_id", "verdict", "value", "note", "is_adjudication")

type _Judgement = tuple[str, int, str, dict[str, Any]]
"""The address of the rater or "", the length of the name, the name, and what the file has of the judgment."""


def export_book(*, book: Book, by: User, left_out: list[str] | None = None) -> Iterator[str]:
    """Returns the parts of the file.

    by: raters that `by` knows are named by e-mail address; the ratings of others have no name, and Quepid takes them as anonymous.
    left_out: gets the sentences about what the format does not hold. A statement for 20,000 ratings, or 500 queries, and some more.
    """
    left_out = [] if left_out is None else left_out
    head = {
        "name": book.name,
        "show_rank": False,
        "scale": [grade_number(grade) for grade, _ in book.scale],
        "scale_with_labels": {f"{grade:g}": label for grade, label in book.scale},
        "scoring_guidelines": book.guidelines or None,
    }
    pairs = _Pairs(book, by)

    def read_tail() -> dict[str, Any]:
        left_out.extend(pairs.left_out())
        return {"support_implicit_judgements": pairs.has_fractions, "left_out": left_out}

    return write_object(head, "query_doc_pairs", pairs.read(), read_tail)


class _Pairs:
    """The pairs of a file, and counts of what the format does not hold. has_fractions: of the ratings; known when all are read."""

    def __init__(self, book: Book, by: User) -> None:
        self._book = book
        self._names = name_raters(book, by)
        self._empty = self._adjudications = 0
        self._unnamed: set[str] = set()
        self.has_fractions = False

    def read(self) -> Iterator[dict[str, Any]]:
        """Yields the pairs of the queries, in the order in which they were added; those of a query by document id, and judgments by
        address, those without one in the order of their names."""
        rows = Query.objects.live().filter(book=self._book).order_by("pk")
        judged = 0
        for queries in query_batches((query.pk, query) for query in rows.iterator(chunk_size=MAX_QUERIES)):
            given: dict[int, dict[str, list[_Judgement]]] = {query_id: {} for query_id in queries}
            ratings = Rating.objects.filter(query_id__in=queries).order_by()
            for row in ratings.values_list(*_COLUMNS).iterator():
                query_id, doc_id, rater_id, *rating = row
                name = self._names[rater_id]
                judgement = self._judgement(rater_id, *rating)
                # “Unknown rater 10” after “Unknown rater 9”: the file is read again with the same names.
                given[query_id].setdefault(doc_id, []).append(
                    (judgement["user_email"] or "", len(name), name, judgement)
                )
            for query_id, query in queries.items():
                judged += bool(given[query_id])
                for doc_id, judgements in sorted(given[query_id].items()):
                    yield {
                        "query_text": query.text,
                        "doc_id": doc_id,
                        "position": None,
                        "document_fields": None,
                        "information_need": query.information_need or None,
                        "notes": query.notes or None,
                        "options": {},
                        "judgements": [judgement for *_, judgement in sorted(judgements, key=itemgetter(0, 1, 2))],
                    }
        self._empty = len(queries) - judged

    def _judgement(
        self, rater_id: int, verdict: str, value: float | None, note: str, is_adjudication: bool
    ) -> dict[str, Any]:
        name = self._names[rater_id]
        is_named = "@" in name
        if not is_named and not name.startswith(UNKNOWN_RATER):
            self._unnamed.add(name)
        self._adjudications += is_adjudication
        self.has_fractions |= value is not None and not float(value).is_integer()
        return {
            "rating": None if value is None else grade_number(value),
            "unrateable": verdict == Verdict.CANNOT,
            "judge_later": verdict == Verdict.LATER,
            "user_email": name if is_named else None,
            "explanation": note or None,
        }

    def left_out(self) -> list[str]:
        """Returns sentences about what the book has besides. Call it when all pairs have been read."""
        sentences = [
            "The rule by which the book combines ratings: Quepid takes the lowest of the three best, or the mean of two."
        ]
        for count, singular, plural in (
            (self._empty, "query without judgments", "queries without judgments"),
            (
                len(self._unnamed),
                "rater whose address is not known: the judgments are anonymous",
                "raters whose addresses are not known: their judgments are anonymous",
            ),
            (
                self._adjudications,
                "decision that counts instead of all others: it is a judgment like any other",
                "decisions that count instead of all others: they are judgments like any other",
            ),
        ):
            if count:
                sentences.append(f"{counted(count, singular, plural)}.")
        sentences.append("Tags, links between queries, cases and the order of judging.")
        return sentences
