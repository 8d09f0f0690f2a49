"""What is wrong with the run shown, or missing from it, and what the user can do about it."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.html import format_html

from relevancy import runs, scores
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.templatetags.when import ago
from relevancy.views.notices import Notice, NoticeAction
from relevancy.wording import counted

from .access import CaseAccess
from .run_selection import RunSelection
from .scale_notes import scale_note
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
        *_engine(case, user, access, selection),
        *_missing_measures(panel),
        *_run_state(case, access, selection),
        *_scorers(case, access, selection, panel),
        *_scores(case, selection, panel, stale_scores),
    ]


def _engine(case: Case, user: User, access: CaseAccess, selection: RunSelection) -> Iterator[Notice]:
    run = selection.run
    if run is None:
        return
    if access.can_edit and (reason := runs.why_not_usable(case=case, endpoint=run.attempt.endpoint, by=user)):
        yield Notice(
            "endpoint-not-usable",
            f"{reason} Until then, choose another endpoint to run an attempt; ratings and scores are not affected.",
            title="You cannot search this case any more.",
            icon="lock",
        )
    if engine := runs.missing_engine(run):
        yield Notice(
            "engine-missing",
            "This run can be viewed and rated, but nothing can be searched or explained. Install the package that "
            "provides the engine, or choose another endpoint.",
            title=f"The engine “{engine}” is not installed.",
            level="bad",
        )


def _missing_measures(panel: ScorePanel) -> Iterator[Notice]:
    for version in scores.missing_measures(panel.versions):
        yield Notice(
            "measure-missing",
            "Stored scores stay as they are, and ratings are kept, but nothing new can be scored. Install the package "
            "that provides the measure, or choose another scorer.",
            title=f"The measure {version.measure} of {version.scorer.name} is not installed.",
            level="bad",
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
        if newest.status == Run.Status.INCOMPLETE:
            label = f"Try {_it_or_them(newest.failed)} again"
        else:
            label = "Search the rest" if newest.done else "Run again"
        left_out = " Unsearched queries are not scored." if newest.done and run.pk == newest.pk else ""
        others = []  # leads from the last complete run to a newer one that failed, and back
        if newest.pk != default.pk and run.pk == default.pk:
            newer_url = reverse("case", args=[case.pk], query={"run": newest.number})
            others = [NoticeAction(f"Show run {newest.number}", newer_url)]
        elif newest.pk != default.pk:
            others = [NoticeAction(f"Back to run {default.number}", reverse("case", args=[case.pk]))]
        shown = f" This page shows run {run.number}, the last complete one." if run.pk != newest.pk else ""
        yield Notice(
            f"run-{newest.status}",
            f"{newest.reason}{left_out}{shown}",
            title=f"Run {newest.number} {title}",
            level="warn" if newest.status == Run.Status.CANCELLED else "bad",
            actions=[*others, *_complete_run(access, newest, label)],
        )
    elif not run.is_active:
        yield from unsearched(access, run)


def unsearched(access: CaseAccess, run: Run, *, is_next: bool = False) -> Iterator[Notice]:
    """Yields the notice about queries that are not in a run. is_next: whether to search them is the next step on the page."""
    counts = runs.count_unsearched(run)
    new, edited = counts["new"], counts["edited"]
    if not new + edited:
        return
    changes = []
    if new:
        changes.append(f"{counted(new, 'query is', 'queries are')} new")
    if edited:
        changes.append(f"{counted(edited, 'query was', 'queries were')} edited")
    label = (
        f"Search {_it_or_them(new + edited)}" if edited else f"Search the {counted(new, 'new query', 'new queries')}"
    )
    included = "It is" if new + edited == 1 else "They are"
    yield Notice(
        "unsearched",
        f"since run {run.number}. {included} not included in the score yet.",
        title=" and ".join(changes),
        actions=_complete_run(access, run, label, is_next=is_next),
    )


def _complete_run(access: CaseAccess, run: Run, label: str, *, is_next: bool = False) -> list[NoticeAction]:
    url = reverse("run_complete", args=[run.case_id, run.number])
    return [NoticeAction(label, url, post=True, is_next=is_next)] if access.can_edit else []


def _it_or_them(count: int) -> str:
    return "it" if count == 1 else "them"


def _scorers(case: Case, access: CaseAccess, selection: RunSelection, panel: ScorePanel) -> Iterator[Notice]:
    run, missing = selection.run, scores.missing_measures(panel.versions)
    newest = {version.scorer_id: version for version in ScorerVersion.objects.newer_than_used_by(case)}
    for version in panel.versions:
        cutoff = 0 if version in missing else scores.cutoff_of(version) or 0
        if run is not None and cutoff > run.rows:
            yield Notice(
                "cutoff",
                f"but run {run.number} fetched {run.rows}. Run again for a score that includes them all.",
                title=f"{version.scorer.name} considers {cutoff} results,",
            )
    for version in panel.versions:
        note = scale_note(version, case.book)
        if note and note.is_mapped:
            yield Notice("scale", f"{note.long}.", title=f"{version.scorer.name} has another scale.")
    for version in panel.versions:
        if newer := newest.get(version.scorer_id):
            url = reverse("case_scorer_adopt", args=[case.pk, version.scorer_id])
            label = f"Score with version {newer.number}"
            yield Notice(
                "scorer-outdated",
                f"this case is scored with version {version.number}.",
                title=f"{version.scorer.name} has a newer version ({newer.number});",
                actions=[NoticeAction(label, url, post=True)] if access.can_edit else [],
            )
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


def _scores(case: Case, selection: RunSelection, panel: ScorePanel, stale_scores: int) -> Iterator[Notice]:
    run = selection.run
    if stale_scores:
        yield Notice(
            "stale-scores",
            f"Updating {counted(stale_scores, 'score')}: ratings or scorers have changed.",
            icon="clock",
            poll_url=reverse("run_state", args=[case.pk], query=selection.parameters or None),
        )
    if run is None:
        return
    if run.fields_dropped_at:
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
    if panel.ids_look_wrong():
        yield Notice(
            "unknown-ids",
            format_html("Is <code>{}</code> the correct id field?", run.config.get("fields") or "id"),
            title="No returned document has a rating, although the book has many.",
        )
