"""An opened query of a run beside the best order of the documents that are rated today."""

from collections.abc import Iterable, Mapping

from django.db.models import F

from relevancy import comparison, runs, scores
from relevancy.models import CaseQuery, Hit, QueryScore, Ranking, Run, ScorerVersion, User, read_hits
from relevancy.templatetags import numbers
from relevancy.views.workbench.access import HIDDEN, CaseAccess

from .query_comparison import QueryComparison, Side, build_side

MAX_SEARCHED_RUNS = 20  # newest runs of the query, in which displayed fields of documents are looked for


def compare_with_best_order(
    case_query: CaseQuery, run: Run, version: ScorerVersion, user: User, access: CaseAccess, *, name: str
) -> QueryComparison:
    """Returns an opened query. name: of the run. Documents that the run did not return have the displayed fields of another run of
    the case, or only their id. The best order is empty for raters who judge blind. Eight SQL statements at most."""
    query_id = case_query.query_id
    ranking = run.rankings.filter(query=query_id).first()
    stored = QueryScore.objects.filter(run=run, version=version, query=query_id)
    score = stored.annotate(newest_revision=F("query__revision")).first()
    ratings = access.read_ratings(query_id)
    side = build_side(run, name, ranking, score, user, ratings)
    k = scores.considered_depth(version, int(run.config["depth"]))
    grades = {} if access.is_blind else ratings.grades(run.case.book)
    best = _best_ranking(case_query, run, ranking, grades, k)
    why_empty = HIDDEN if access.is_blind else "No document is rated that the best order could consist of."
    # Only points are shown of it; it is never stored.
    best_score = QueryScore(score=score.ideal, revision=score.revision) if score is not None else None
    best_side = Side(
        comparison.BEST_ORDER,
        runs.build_results(best, by=user, depth=k, ratings=ratings),
        best_score,
        side.is_stale,
        "" if best.hits else why_empty,
    )
    note = "" if side.is_stale or score is None else _describe_gain(run, name, version, score)
    return QueryComparison.build(case_query, side, best_side, note=note)


def _best_ranking(
    case_query: CaseQuery, run: Run, ranking: Ranking | None, grades: Mapping[str, float], k: int
) -> Ranking:
    """Returns the k best rated documents as a ranking that is not stored. Documents with the same grade stand in the order of the
    run. Documents that the run did not return are left out if they add nothing: those of grade 0 and below."""
    own = _hits_by_id([ranking.hits]) if ranking is not None else {}
    candidates = [*own, *sorted(doc_id for doc_id, grade in grades.items() if grade > 0 and doc_id not in own)]
    best = comparison.best_order([doc_id for doc_id in candidates if doc_id in grades], grades)[:k]
    others: dict[str, Hit] = {}
    if not own.keys() >= set(best):
        rankings = Ranking.objects.filter(query=case_query.query_id, run__case=run.case_id, error_kind="")
        newest = rankings.exclude(run=run).order_by("-run__number")
        others = _hits_by_id(ranking.hits for ranking in read_hits(newest[:MAX_SEARCHED_RUNS]))
    hits = [own.get(doc_id) or others.get(doc_id) or [doc_id, None, {}] for doc_id in best]
    return Ranking.with_hits(hits, run=run, query=case_query.query)


def _hits_by_id(lists: Iterable[list[Hit]]) -> dict[str, Hit]:
    """Returns the first hit of each document, without its engine score."""
    first_hits: dict[str, Hit] = {}
    for hits in lists:
        for doc_id, _, *rest in hits:
            first_hits.setdefault(doc_id, [doc_id, None, *rest])
    return first_hits


def _describe_gain(run: Run, name: str, version: ScorerVersion, score: QueryScore) -> str:
    """Returns how much the order and how much other documents can gain, in a sentence; empty if nothing can be gained."""
    if score.score is None or score.ideal is None or score.ideal - score.score < comparison.TIE:
        return ""
    split = comparison.split_gains(run, version, {score.query_id: (score.score, score.ideal)}).get(score.query_id)
    if split is None:
        return ""
    order, documents = (
        f"{text} point{'' if text == '1.0' else 's'}"
        for text in (numbers.score(split.by_order), numbers.score(split.by_documents))
    )
    if split.by_documents < comparison.TIE:
        return f"{name} fetched all that it needs: a better order of its documents gains all {order}."
    if split.by_order < comparison.TIE:
        return f"Documents that {name} did not fetch make up all {documents}; no other order of what it fetched gains anything."
    return f"A better order of what {name} fetched gains {order}; documents that it did not fetch make up {documents}."
