"""What the app adds to the core: the tab of studies, what the worker does for them, and what becomes of them."""

from collections.abc import Iterator, Mapping

from django.urls import reverse

from relevancy.hooks import (
    Link,
    Loss,
    Place,
    ShownRun,
    activity_sentences,
    add_links,
    books_merged,
    case_activity_kinds,
    case_losses,
    case_parts,
    held_requests,
    help_pages,
    settings_tried,
    sweep,
)
from relevancy.models import Book, Case, User
from relevancy.wording import counted

from . import sealed_queries, studies, tasks
from .case_part import CASE_PART
from .models import Study

case_activity_kinds["study"] = "Study"
activity_sentences.update(
    {
        studies.CREATED: "Started {subject}",
        studies.STOPPED: "Stopped {subject}",
        studies.CONTINUED: "Continued {subject}",
        studies.DELETED: "Deleted {subject}",
        studies.FINISHED: "Finished {subject}. {reason}",
        studies.FAILED: "{subject} failed. {reason}",
        studies.ADOPTED: "Created {subject}",
        studies.OPENED: "Opened the sealed queries for {subject}",
        sealed_queries.SEALED: "Sealed the queries tagged “{subject}” against studies",
        sealed_queries.UNSEALED: "Unsealed the queries tagged “{subject}”",
    }
)
case_parts["studies"] = CASE_PART
held_requests.add(studies.held_requests)
settings_tried.add(studies.count_settings_tried)
help_pages |= {
    "cases/<int:case_id>/studies/": "studies",
    "cases/<int:case_id>/studies/new/": "studies#before-the-start",
    "cases/<int:case_id>/sealed-queries/": "studies#sealed-queries",
}


@add_links[Place.CASE_TABS]
def study_link(shown: ShownRun) -> Iterator[Link]:
    """Yields the link to the studies of a case."""
    yield Link("Studies", reverse("studies", args=[shown.case.pk]), "studies-link")


@add_links[Place.CASE_SETTINGS]
def sealed_queries_link(case: Case) -> Iterator[Link]:
    """Yields the link to the sealed queries of a case."""
    yield Link("Sealed queries", reverse("sealed_queries", args=[case.pk]), "sealed-queries-link")


@sweep.add
def continue_abandoned() -> None:
    """Goes on with studies whose worker has died, or that waited for the endpoint."""
    studies.release_dead()
    for study_id in studies.waiting_studies():
        tasks.enqueue(study_id)


@books_merged.add
def follow_queries(book: Book, other: Book, same: Mapping[int, int]) -> None:
    """Lets the studies of the other book's cases name the queries that stay."""
    for study in Study.objects.filter(case__book=other):
        study.query_ids = [same.get(query_id, query_id) for query_id in study.query_ids]
        study.sealed_query_ids = [same.get(query_id, query_id) for query_id in study.sealed_query_ids]
        study.save(update_fields=["query_ids", "sealed_query_ids"])


@case_losses.add
def losses(case: Case, user: User) -> Iterator[Loss]:
    """Yields the studies that are deleted with a case."""
    count = Study.objects.filter(case=case).count()
    if count:
        yield Loss("deleted", "studies", f"{counted(count, 'study', 'studies')} with all trials")
