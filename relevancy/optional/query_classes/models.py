"""Rules that set tags on the queries of a case, and which queries each of them has tagged."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from relevancy.models import Case, Query, User
from relevancy.models.text import LineField
from relevancy.queries.tags import MAX_LENGTH


class TagRule(models.Model):
    """A tag, and the condition of the queries that get it. Rules of one case with the same tag are alternatives.

    settings: of the condition, as the form of its kind reads them; see `conditions.build_matcher`.
    matches: how many queries of the case match; None until the rule has been applied.
    full: how many matching queries did not get the tag because they have as many tags as a query can have.
    error: why the rule could not be applied; the tags that it has set stay.
    is_deleted: the rule takes its tags back as soon as a worker gets to it, and then it is gone.
    """

    class Kind(models.TextChoices):
        WORDS = "words", "Contains one of these words"
        WORD_COUNT = "word_count", "Number of words"
        LENGTH = "length", "Length in characters"
        DIGIT = "digit", "Contains a digit"
        SCRIPT = "script", "Script of most letters"
        PATTERN = "pattern", "Regular expression"
        RESULTS = "results", "Number of results"
        OPTION = "option", "Option of the query"
        LIST = "list", "In a list"

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="tag_rules")
    tag = LineField(max_length=MAX_LENGTH)
    kind = models.CharField(max_length=12, choices=Kind)
    settings = models.JSONField(default=dict, blank=True)
    position = models.PositiveIntegerField(default=0)
    matches = models.PositiveIntegerField(null=True, editable=False)
    full = models.PositiveIntegerField(default=0, editable=False)
    error = models.TextField(blank=True, editable=False)
    is_deleted = models.BooleanField(default=False, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.tag


class TaggedQuery(models.Model):
    """A query that a rule has tagged. One that had the tag already is none: somebody has set it by hand."""

    rule = models.ForeignKey(TagRule, on_delete=models.CASCADE, related_name="tagged")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("rule", "query"), name="query_tagged_once_by_rule")]

    def __str__(self) -> str:
        return f"“{self.query}”, tagged “{self.rule}”"


class RuleStateQuerySet(models.QuerySet["RuleState"]):
    """States of the rules of cases."""

    def outdated(self) -> "RuleStateQuerySet":
        """Those whose rules have to be applied."""
        return self.exclude(revision=F("applied_revision"))


class RuleState(models.Model):
    """Whether the rules of a case have been applied to its queries as they are.

    revision: incremented by each change of the rules, of the case's queries, and of their results if a rule looks at them.
    applied_revision: the one that the rules were last applied for.
    """

    case = models.OneToOneField(Case, on_delete=models.CASCADE, related_name="tag_rule_state")
    revision = models.PositiveBigIntegerField(default=1)
    applied_revision = models.PositiveBigIntegerField(default=0)
    applied_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(null=True, help_text="When a background task was enqueued that applies the rules.")

    objects: ClassVar = RuleStateQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(condition=Q(applied_revision__lte=F("revision")), name="tag_rules_applied_before")
        ]

    def __str__(self) -> str:
        return f"Rules of {self.case}"

    @property
    def is_outdated(self) -> bool:
        """Whether a worker has to apply the rules."""
        return self.revision != self.applied_revision
