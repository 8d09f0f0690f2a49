"""The activity log of cases and teams."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .case import Case
from .team import Team


class Activity(models.Model):
    """One thing that a person or the server did. Rows are never changed, and are deleted with their case or team.

    verb: one of `Verb`, without a constraint, so that a new one needs no migration.
    by: None for what the server did by itself, and for commands.
    person: the member concerned, whose name changes when the account is deleted.
    subject: the name of what was changed, as it was then. object_id: its id, if it has one.
    details: values of the sentence that says what was done; see `relevancy.activity.sentences`.
    """

    class Verb(models.TextChoices):
        """What was done. The part before the dot is the kind, by which the log is filtered."""

        CASE_CREATED = "case.created"
        CASE_COPIED = "case.copied"
        CASE_RENAMED = "case.renamed"
        CASE_ARCHIVED = "case.archived"
        CASE_RESTORED = "case.restored"
        CASE_DELETED = "case.deleted"
        CASE_SHARED = "sharing.shared"
        CASE_UNSHARED = "sharing.unshared"
        ATTEMPT_CREATED = "attempt.created"
        ATTEMPT_CHANGED = "attempt.changed"
        ATTEMPT_DESCRIBED = "attempt.described"
        ATTEMPT_ARCHIVED = "attempt.archived"
        ATTEMPT_RESTORED = "attempt.restored"
        RUN_STARTED = "run.started"
        RUN_CONTINUED = "run.continued"
        RUN_STOPPED = "run.stopped"
        RUN_FINISHED = "run.finished"
        RUN_INCOMPLETE = "run.incomplete"
        RUN_CANCELLED = "run.cancelled"
        RUN_FAILED = "run.failed"
        RUN_PINNED = "run.pinned"
        RUN_UNPINNED = "run.unpinned"
        RUN_DESCRIBED = "run.described"
        RUN_IMPORTED = "run.imported"
        ANNOTATION_ADDED = "annotation.added"
        ANNOTATION_CHANGED = "annotation.changed"
        ANNOTATION_REMOVED = "annotation.removed"
        ANNOTATION_RESTORED = "annotation.restored"
        QUERIES_ADDED = "query.added"
        QUERY_CHANGED = "query.changed"
        QUERY_DETAILS_IMPORTED = "query.details_imported"
        QUERIES_MOVED = "query.moved"
        QUERY_REMOVED = "query.removed"
        QUERY_RESTORED = "query.restored"
        QUERIES_LINKED = "query.linked"
        QUERIES_UNLINKED = "query.unlinked"
        SCORER_ADDED = "scorer.added"
        SCORER_REMOVED = "scorer.removed"
        SCORER_PRIMARY = "scorer.primary"
        SCORER_UPDATED = "scorer.updated"
        SCORER_SHARED = "scorer.shared"
        SCORER_UNSHARED = "scorer.unshared"
        BOOK_CHANGED = "book.changed"
        BOOK_RENAMED = "book.renamed"
        BOOK_DELETED = "book.deleted"
        BOOK_GUIDELINES = "book.guidelines"
        BOOK_MERGED = "book.merged"
        RATINGS_COPIED = "rating.copied"
        RATINGS_REMOVED = "rating.removed"
        RATINGS_ASSIGNED = "rating.assigned"
        RATINGS_IMPORTED = "rating.imported"
        FILE_EXPORTED = "file.exported"
        TEAM_CREATED = "team.created"
        TEAM_ALLOWED = "team.allowed"
        TEAM_DISALLOWED = "team.disallowed"
        MEMBER_INVITED = "member.invited"
        INVITATION_WITHDRAWN = "member.invitation_withdrawn"
        INVITATION_DECLINED = "member.invitation_declined"
        MEMBER_JOINED = "member.joined"
        MEMBER_ROLE = "member.role"
        MEMBER_LEFT = "member.left"
        MEMBER_REMOVED = "member.removed"
        ENDPOINT_CREATED = "endpoint.created"
        ENDPOINT_CHANGED = "endpoint.changed"
        ENDPOINT_SHARED = "endpoint.shared"
        ENDPOINT_UNSHARED = "endpoint.unshared"
        ENDPOINT_ARCHIVED = "endpoint.archived"
        ENDPOINT_RESTORED = "endpoint.restored"

    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    case = models.ForeignKey(Case, null=True, on_delete=models.CASCADE, related_name="activities")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="activities")
    verb = models.CharField(max_length=40)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=200, blank=True)
    object_id = models.BigIntegerField(null=True)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "activities"
        ordering = ("-at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=Q(case__isnull=False) | Q(team__isnull=False), name="activity_of_a_case_or_team"
            )
        ]
        indexes = [
            models.Index(fields=("case", "-at", "-id"), name="activity_of_case"),
            models.Index(fields=("team", "-at", "-id"), name="activity_of_team"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}".strip()
