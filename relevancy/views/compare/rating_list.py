"""What to rate next for a comparison: the documents that can change the difference most, with links to open their queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from relevancy import comparison, runs
from relevancy.models import Ranking, Run, read_hits
from relevancy.templatetags import numbers

from .query_table import PresentQuery


@dataclass(frozen=True)
class RatingList:
    """rows: the documents that can change the difference most first, each with its query, and its title or its id. sentence: what
    rating them is good for."""

    rows: Sequence[tuple[comparison.DocumentToRate, PresentQuery, str]]
    sentence: str


def build_rating_list(
    documents: Sequence[comparison.DocumentToRate],
    plan: comparison.RatingPlan,
    pair: Sequence[Run],
    queries: Mapping[int, PresentQuery],
) -> RatingList:
    """Returns the list of documents of a plan. One SQL statement.

    pair: the baseline and the other run. queries: the present queries by id.
    """
    titles = _read_titles(documents, pair)
    rows = [
        (
            document,
            queries[document.query_id],
            titles.get((document.query_id, document.doc_id)) or document.doc_id,
        )
        for document in documents
    ]
    these = "this document" if len(rows) == 1 else f"these {len(rows)} documents"
    sentence = (
        f"The unrated documents leave the difference open within {numbers.score(plan.width)} points. Rating {these} narrows that "
        f"to about {numbers.score(plan.width_after)}."
    )
    return RatingList(rows, sentence)


def _read_titles(documents: Sequence[comparison.DocumentToRate], pair: Sequence[Run]) -> dict[tuple[int, str], str]:
    """Returns the titles of documents by query and document id, as one of the runs displayed them."""
    wanted = {(document.query_id, document.doc_id) for document in documents}
    configs = {run.pk: run.config for run in pair}
    rankings = Ranking.objects.filter(run__in=configs, query__in={query_id for query_id, _ in wanted})
    titles: dict[tuple[int, str], str] = {}
    read_spec = cache(lambda run_id: runs.field_spec(configs[run_id]))
    for ranking in read_hits(rankings):
        query_id = ranking.query_id
        for doc_id, _, fields, *_ in ranking.hits:
            if (query_id, doc_id) in wanted and (query_id, doc_id) not in titles:
                spec = read_spec(ranking.run_id)
                titles[query_id, doc_id] = spec.display({**fields, spec.id: fields.get(spec.id, doc_id)}).title
    return titles
