"""The documents of pairs as the runs stored them, for the raters who judge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relevancy import runs, scores
from relevancy.models import JudgingPair, Query, Ranking, User, Verdict, read_hits


@dataclass(frozen=True)
class JudgedDocument:
    """A document to judge.

    result: how it is displayed, and the judgments of all raters; None if the run does not store it any more.
    own: the rater's own judgment; None if there is none. options: of the query, as the run searched with them.
    """

    pair: JudgingPair
    query: Query
    result: runs.Result | None
    judgments: Sequence[scores.RatingRecord] = ()
    own: scores.RatingRecord | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        """Whether the rater has judged it."""
        return self.own is not None and self.own.verdict != Verdict.LATER

    @property
    def shows_others(self) -> bool:
        """Whether the rater may see the judgments of others."""
        return self.is_judged or not self.query.book.raters_are_blind

    @property
    def title(self) -> str:
        """The displayed title, or the document id."""
        return self.result.display.title if self.result else self.pair.doc_id


def read_documents(pairs: Iterable[JudgingPair], *, by: User) -> list[JudgedDocument]:
    """Returns the documents of pairs of one book, in their order. Three SQL statements, and one per query."""
    pairs = list(pairs)
    rankings = Ranking.objects.filter(
        run__in={pair.run_id for pair in pairs}, query__in={pair.query_id for pair in pairs}
    )
    rankings = rankings.select_related("run__case__book")
    by_pair = {(ranking.run_id, ranking.query_id): ranking for ranking in read_hits(rankings)}
    queries = Query.objects.select_related("book").in_bulk({pair.query_id for pair in pairs})
    ratings = {query_id: scores.QueryRatings.read(query_id) for query_id in queries}
    return [
        _read(pair, queries[pair.query_id], by_pair.get((pair.run_id, pair.query_id)), ratings[pair.query_id], by)
        for pair in pairs
    ]


def _read(
    pair: JudgingPair, query: Query, ranking: Ranking | None, ratings: scores.QueryRatings, by: User
) -> JudgedDocument:
    hit = next((hit for hit in ranking.hits if hit[0] == pair.doc_id), None) if ranking else None
    result = None
    if ranking is not None and hit is not None:
        ranking.hits = [hit, *(other for other in ranking.hits if other is not hit)]  # the first one is displayed
        result = runs.build_results(ranking, by=by, depth=1, ratings=ratings)[0]
    judgments, own = ratings.by_document.get(pair.doc_id, ()), ratings.own(pair.doc_id, by)
    return JudgedDocument(pair, query, result, judgments, own, ranking.options if ranking else {})
