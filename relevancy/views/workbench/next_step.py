"""What to do next in a case: a sentence that says why, and links. And the first steps of a new case."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from relevancy import hooks
from relevancy.hooks import Link
from relevancy.models import Case, Rating
from relevancy.templatetags.addresses import run_url
from relevancy.views.next_steps import NextSteps
from relevancy.views.ticks import Tick
from relevancy.wording import counted

from .access import CaseAccess
from .query_list import QueryList
from .run_selection import RunSelection
from .score_panel import ScorePanel

NEW_FOR = timedelta(days=30)  # how long a case shows its first steps


def next_step(
    case: Case, access: CaseAccess, selection: RunSelection, panel: ScorePanel, queries: QueryList
) -> NextSteps:
    """Returns the next step for the user. Reads what the head of the page has read; only without a score a query and rights besides."""
    run = selection.run
    if run is None and not queries.total:
        return NextSteps("The case has no queries.", list(_sources(case, access)))
    if run is None:
        steps = [Link("run the attempt", "#run-button", "next-run")] if access.can_edit else []
        return NextSteps("Nothing has been searched yet.", steps)
    if run.is_active:
        return NextSteps(
            "", [Link("rate the first results while the others are searched", _first_url(case), "next-rate")]
        )
    if run.failed:
        failed = Link(
            "look at it" if run.failed == 1 else "look at them",
            run_url(case, selection, "case", state="failed"),
            "next-failed",
        )
        return NextSteps(f"{counted(run.failed, 'query', 'queries')} failed.", [failed])
    if not run.done:
        steps = [Link("run it again", "#run-button", "next-run")] if access.can_edit else []
        return NextSteps(f"Run {run.number} has no results.", steps)
    if panel.score is None or not panel.score.scored:
        return NextSteps(
            "Nothing that was returned is rated, so there is no score.", list(_first_ratings(case, access))
        )
    return _improve(case, access, selection, panel)


def _sources(case: Case, access: CaseAccess) -> Iterator[Link]:
    if access.can_edit_book:
        yield Link("paste them", "#pasted", "next-paste")
        yield Link("import a file with queries or ratings", reverse("case_files", args=[case.pk]), "next-import")
        for name, label in hooks.query_pages.items():
            yield Link(label.lower(), reverse(name, args=[case.pk]), f"next-{name}")


def _first_ratings(case: Case, access: CaseAccess) -> Iterator[Link]:
    if access.can_rate:
        yield Link("rate the results of the first query", _first_url(case), "next-rate")
    if access.can_edit_book:
        yield Link("import ratings", reverse("case_files", args=[case.pk]), "next-import")
    if access.can_share:
        yield Link("invite raters", reverse("case_share", args=[case.pk]), "next-share")


def _first_url(case: Case) -> str:
    first = case.case_queries.present().order_by("position", "id").values_list("pk", flat=True).first()
    return reverse("query", args=[case.pk, first]) if first else reverse("case", args=[case.pk])


def _improve(case: Case, access: CaseAccess, selection: RunSelection, panel: ScorePanel) -> NextSteps:
    score, run, why, steps = panel.score, selection.run, "", []
    assert score is not None and run is not None
    if score.unrated and access.can_rate:
        url = run_url(case, selection, "case", state="unrated", sort="-unrated")
        why = (
            f"{counted(score.unrated, 'returned document is', 'returned documents are')} unrated: the score can change."
        )
        steps.append(Link("rate them" if score.unrated > 1 else "rate it", url, "next-rate"))
    if selection.baseline is None and access.can_edit:
        steps.append(Link("change the request and run again", "#tune", "next-tune"))
    elif selection.baseline is not None:
        url = reverse("compare", args=[case.pk], query={"run": run.number})
        steps.append(Link(f"compare with run {selection.baseline.number}", url, "next-compare"))
    if panel.largest_gap is not None and panel.primary.script == "":
        url = reverse("compare", args=[case.pk], query={"run": run.number, "best": 1, "sort": "-gain"})
        steps.append(Link("see what can be gained", url, "next-gain"))
    return NextSteps(why, steps)


def first_steps(
    case: Case, access: CaseAccess, panel: ScorePanel, *, has_queries: bool, attempts: int
) -> Sequence[Tick]:
    """Returns the first steps of a new case, for its owners; none for an older one."""
    if not access.can_share or timezone.now() - case.created_at > NEW_FOR:
        return ()
    files_url, share_url = (reverse(name, args=[case.pk]) for name in ("case_files", "case_share"))
    # Ratings that came with the case count before its first run has a score.
    is_scored = panel.score is not None and panel.score.scored > 0
    is_rated = is_scored or Rating.objects.filter(query__book=case.book_id).exists()
    return (
        Tick("Add queries", files_url, has_queries),
        Tick("Rate results, or import ratings", _first_url(case) if has_queries else files_url, is_rated),
        Tick("Try a second attempt", "#tune", attempts > 1),
        Tick("Share the case with a colleague", share_url, case.teams.exists()),
    )
