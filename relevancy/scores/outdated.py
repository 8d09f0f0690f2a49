"""Scores that no worker is computing although they are outdated: the task was lost with its queue, or with the worker that had it."""

from django.db.models import Exists, OuterRef, Subquery

from relevancy.models import CaseScore, CaseScorer, Run
from relevancy.models.score import case_revision

from .definitions import missing_measures
from .score_rankings import scoreable_versions


def find_outdated_books() -> list[int]:
    """Returns the ids of the books with a case whose newest finished run has no current score under one of its scorers.

    Leaves out archived cases, and scores that cannot be computed now. Scores of older runs are computed after that of the newest one
    and are not looked at. One SQL statement, and up to two for each outdated score of a script.
    """
    newest = Run.objects.finished().filter(case=OuterRef("case")).order_by("-number").values("pk")[:1]
    current = CaseScore.objects.filter(
        run=OuterRef("newest"), version=OuterRef("version"), revision=case_revision(OuterRef("run__case"))
    )
    rows = CaseScorer.objects.filter(case__archived_at=None).annotate(newest=Subquery(newest)).exclude(newest=None)
    rows = rows.filter(~Exists(current)).select_related("case", "version").order_by("case__book_id")
    books = [
        row.case.book_id
        for row in rows
        if not missing_measures([row.version]) and scoreable_versions(Run(pk=row.newest), [row.version])
    ]
    return list(dict.fromkeys(books))
