"""What is wrong with the run shown, or missing from it, and what the user can do about it."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.html import format_html

from relevancy import runs, scores
from relevancy.models import Case, Run, User
from relevancy.templatetags.when import ago
from relevancy.views.notices import Notice, NoticeAction
from relevancy.wording import counted

from .access import CaseAccess
from .run_selection import RunSelection
from .score_panel import ScorePanel

RUN_TITLES = {
    Run.Status.INCOMPLETE: "is incomplete:",
    Run.Status.FAILED: "failed:",
    Run.Status.CANCELLED: "was stopped:",
}


def run_notices(
    case: Case, user: User, access: CaseAccess, selection: RunSelection, panel: ScorePanel, *, stale_scores: int
) -> list[Notice]:
    """Returns the notices above the list of queries. `stale_scores`: how many are being computed in the background."""
    return [
        *_endpoint(case, user, access, selection),
        *_missing_packages(selection, panel),
        *_run_state(case, access, selection),
        *_scorers(case, access, selection, panel),
        *_switched_off(case, access, selection, panel),
        *_stale_scores(case, selection, stale_scores),
        *_display_fields(selection),
        *_ids(selection, panel),
    ]


def _missing_packages(selection: RunSelection, panel: ScorePanel) -> Iterator[Notice]:
    engine = runs.missing_engine(selection.run) if selection.run else ""
    if engine:
        yield Notice(
            "engine-missing",
            "This run can be viewed and rated, but nothing can be searched or explained. Install the package that "
            "provides the engine, or choose another endpoint.",
            title=f"The engine “{engine}” is not installed.",
            level="bad",
        )
    for version in scores.missing_measures(panel.versions):
        yield Notice(
            "measure-missing",
            "Stored scores stay as they are, and ratings are kept, but nothing new can be scored. Install the package "
            "that provides the measure, or choose another scorer.",
            title=f"The measure {version.measure} of {version.scorer.name} is not installed.",
            level="bad",
        )


def _endpoint(case: Case, user: User, access: CaseAccess, selection: RunSelection) -> Iterator[Notice]:
    if not access.can_edit or selection.run is None:
        return
    endpoint = selection.run.attempt.endpoint
    if reason := runs.why_not_usable(case=case, endpoint=endpoint, by=user):
        yield Notice(
            "endpoint-not-usable",
            f"{reason} Until then, choose another endpoint to run an attempt; ratings and scores are not affected.",
            title="You cannot search this case any more.",
            icon="lock",
        )


def _run_state(case: Case, access: CaseAccess, selection: RunSelection) -> Iterator[Notice]:
    run, newest, default = selection.run, selection.newest, selection.default
    if run is None or newest is None or default is None:
        return
    if run.pk != default.pk and selection.is_older:
        yield Notice(
            "older-run",
            format_html(
                "of attempt {}, started {}. It can be rated, but not searched.", run.attempt.number, ago(run.created_at)
            ),
            title=f"You are viewing run {run.number}",
            icon="clock",
            actions=[NoticeAction(f"Back to run {default.number}", reverse("case", args=[case.pk]))],
        )
    elif title := RUN_TITLES.get(Run.Status(newest.status)):
        left_out = " Unsearched queries are not scored." if newest.done and run.pk == newest.pk else ""
        shown = f" This page shows run {run.number}, the last complete one." if run.pk != newest.pk else ""
        yield Notice(
            f"run-{newest.status}",
            f"{newest.reason}{left_out}{shown}",
            title=f"Run {newest.number} {title}",
            level="warn" if newest.status == Run.Status.CANCELLED else "bad",
            actions=[*_other_run(case, selection), *_complete_run(case, access, newest, _completion_label(newest))],
        )
    elif not run.is_active:
        yield from _unsearched(case, access, run)


def _other_run(case: Case, selection: RunSelection) -> Iterator[NoticeAction]:
    """Leads from the last complete run to a newer one that failed, and back."""
    run, newest, default = selection.run, selection.newest, selection.default
    if run is None or newest is None or default is None or newest.pk == default.pk:
        return
    if run.pk == default.pk:
        yield NoticeAction(f"Show run {newest.number}", reverse("case", args=[case.pk], query={"run": newest.number}))
    else:
        yield NoticeAction(f"Back to run {default.number}", reverse("case", args=[case.pk]))


def _completion_label(run: Run) -> str:
    """Returns the text of the button that makes a run search what it has not searched."""
    if run.status == Run.Status.INCOMPLETE:
        return f"Try {_it_or_them(run.failed)} again"
    return "Search the rest" if run.done else "Run again"


def _unsearched(case: Case, access: CaseAccess, run: Run) -> Iterator[Notice]:
    counts = runs.count_unsearched(run)
    new, edited = counts["new"], counts["edited"]
    if not new + edited:
        return
    changes = []
    if new:
        changes.append(f"{counted(new, 'query is', 'queries are')} new")
    if edited:
        changes.append(f"{counted(edited, 'query was', 'queries were')} edited")
    included = "It is" if new + edited == 1 else "They are"
    yield Notice(
        "unsearched",
        f"since run {run.number}. {included} not included in the score yet.",
        title=" and ".join(changes),
        actions=_complete_run(case, access, run, f"Search {_it_or_them(new + edited)}"),
    )


def _complete_run(case: Case, access: CaseAccess, run: Run, label: str) -> list[NoticeAction]:
    url = reverse("run_complete", args=[case.pk, run.number])
    return [NoticeAction(label, url, post=True)] if access.can_edit else []


def _it_or_them(count: int) -> str:
    return "it" if count == 1 else "them"


def _scorers(case: Case, access: CaseAccess, selection: RunSelection, panel: ScorePanel) -> Iterator[Notice]:
    for version, cutoff in panel.deeper_cutoffs():
        assert selection.run is not None
        yield Notice(
            "cutoff",
            f"but run {selection.run.number} fetched {selection.run.rows}. Run again for a score that includes them all.",
            title=f"{version.scorer.name} considers {cutoff} results,",
        )
    for version, note in panel.mapped_scales():
        yield Notice("scale", f"{note.long}.", title=f"{version.scorer.name} has another scale.")
    for scorer in panel.outdated_scorers():
        url = reverse("case_scorer_adopt", args=[case.pk, scorer.used.scorer_id])
        label = f"Score with version {scorer.newest.number}"
        yield Notice(
            "scorer-outdated",
            f"this case is scored with version {scorer.used.number}.",
            title=f"{scorer.used.scorer.name} has a newer version ({scorer.newest.number});",
            actions=[NoticeAction(label, url, post=True)] if access.can_edit else [],
        )


def _switched_off(case: Case, access: CaseAccess, selection: RunSelection, panel: ScorePanel) -> Iterator[Notice]:
    run = selection.run
    if run is None:
        return
    for scorer in scores.switched_off_scorers(run, panel.versions):
        url = reverse("case_score_again", args=[case.pk], query=selection.parameters or None)
        queries = counted(scorer.unscored, "query was", "queries were")
        yield Notice(
            "script-off",
            f"It ran out of time or memory for several queries, so {queries} not scored.",
            title=f"{scorer.version.scorer.name} was switched off for the rest of run {run.number}.",
            level="bad",
            actions=[NoticeAction("Score again", url, post=True)] if access.can_edit else [],
        )


def _stale_scores(case: Case, selection: RunSelection, count: int) -> Iterator[Notice]:
    if count:
        yield Notice(
            "stale-scores",
            f"Updating {counted(count, 'score')}: ratings or scorers have changed.",
            icon="clock",
            poll_url=reverse("run_state", args=[case.pk], query=selection.parameters or None),
        )


def _display_fields(selection: RunSelection) -> Iterator[Notice]:
    run = selection.run
    if run is not None and run.fields_dropped_at:
        yield Notice(
            "fields-removed",
            format_html(
                "since {}. Displayed fields are kept for the newest runs of a case and for pinned runs. "
                "Scripts cannot score this run again.",
                ago(run.fields_dropped_at),
            ),
            title=f"Run {run.number} keeps only ids and scores,",
            icon="info",
        )


def _ids(selection: RunSelection, panel: ScorePanel) -> Iterator[Notice]:
    if selection.run is not None and panel.ids_look_wrong():
        yield Notice(
            "unknown-ids",
            format_html("Is <code>{}</code> the correct id field?", selection.run.config.get("fields") or "id"),
            title="No returned document has a rating, although the book has many.",
        )
