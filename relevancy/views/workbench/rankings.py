"""The ranking of one query in the run shown, for views that ask the engine about it."""

from django.http import Http404

from relevancy.models import Ranking, Run
from relevancy.views.requests import parse_number

from .run_selection import RunSelection


def find_ranking(ranking: Ranking, number: str) -> Ranking:
    """Returns what another run of the case returned for the query of a ranking; raises `Http404` as `get_ranking` does."""
    runs = Run.objects.filter(case=ranking.run.case_id, number=parse_number(number))
    run = runs.select_related("case", "attempt__endpoint").first()
    same_query = run.rankings.filter(query=ranking.query_id, error_kind="").first() if run else None
    if run is None or same_query is None:
        raise Http404("This query was not searched in this run.")
    same_query.run = run
    return same_query


def get_ranking(selection: RunSelection, case_query_id: int) -> Ranking:
    """Returns what the run shown returned for a query; raises `Http404` if it was not searched, or its search failed."""
    run = selection.run
    ranking = run.rankings.filter(query__case_queries=case_query_id, error_kind="").first() if run else None
    if run is None or ranking is None:
        raise Http404("This query was not searched in this run.")
    ranking.run = run
    return ranking
