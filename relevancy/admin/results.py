"""Attempts, runs, ratings, scorers and scores."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from relevancy import models

from .base import ReadOnlyAdmin, ReadOnlyInline, UndeletableAdmin


@admin.register(models.Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("case", "number", "name", "endpoint", "depth", "created_by", "created_at")
    list_filter = ("endpoint__engine", "created_at")
    list_select_related = ("case", "endpoint", "created_by")
    search_fields = ("case__name", "name", "endpoint__name")
    raw_id_fields = ("case", "parent", "endpoint", "created_by")


@admin.register(models.Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "case",
        "number",
        "status",
        "done",
        "failed",
        "queries",
        "version",
        "created_by",
        "created_at",
        "pinned_at",
    )
    list_filter = ("status", "created_at", ("pinned_at", admin.EmptyFieldListFilter))
    list_select_related = ("case", "created_by")
    search_fields = ("case__name", "note", "reason")
    date_hierarchy = "created_at"


@admin.register(models.Ranking)
class RankingAdmin(ReadOnlyAdmin):
    list_display = ("text", "run", "returned", "total", "took_ms", "error_kind", "asked_at")
    list_filter = ("error_kind",)
    list_select_related = ("run",)
    search_fields = ("text",)


@admin.register(models.Rating)
class RatingAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "rater", "verdict", "value", "is_adjudication", "updated_at")
    list_filter = ("verdict", "updated_at")
    list_select_related = ("query", "rater")
    search_fields = ("doc_id", "query__text", "rater__email")


@admin.register(models.RatingChange)
class RatingChangeAdmin(ReadOnlyAdmin):
    list_display = ("at", "by", "rater", "query", "doc_id", "old_value", "new_value", "source")
    list_filter = ("source", "at")
    list_select_related = ("by", "rater", "query")
    search_fields = ("doc_id", "query__text", "by__email")


@admin.register(models.JudgingQueue)
class JudgingQueueAdmin(ReadOnlyAdmin):
    list_display = ("book", "depth", "ratings_per_pair", "order", "pair_count", "built_at")
    list_filter = ("order",)
    list_select_related = ("book",)
    search_fields = ("book__name",)


@admin.register(models.JudgingPair)
class JudgingPairAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "rank", "level", "claimed_by", "claimed_until")
    list_filter = ("claimed_until",)
    list_select_related = ("query", "claimed_by")
    search_fields = ("doc_id", "query__text")


@admin.register(models.QualificationPair)
class QualificationPairAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "value", "removed_at")
    list_select_related = ("query",)
    search_fields = ("doc_id", "query__text")


@admin.register(models.Qualification)
class QualificationAdmin(ReadOnlyAdmin):
    list_display = ("rater", "book", "state", "round", "agreed", "answered", "decided_by", "decided_at")
    list_filter = ("state",)
    list_select_related = ("rater", "book", "decided_by")
    search_fields = ("rater__email", "book__name")


@admin.register(models.QualificationAnswer)
class QualificationAnswerAdmin(ReadOnlyAdmin):
    list_display = ("pair", "rater", "round", "verdict", "value", "at")
    list_filter = ("verdict",)
    list_select_related = ("pair", "rater")
    search_fields = ("pair__doc_id", "rater__email")


@admin.register(models.RepeatedPair)
class RepeatedPairAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "rater", "wait", "first_value", "verdict", "value", "at")
    list_filter = ("verdict",)
    list_select_related = ("query", "rater")
    search_fields = ("doc_id", "query__text", "rater__email")


@admin.register(models.RatingImport)
class RatingImportAdmin(ReadOnlyAdmin):
    list_display = ("book", "by", "source", "progressed_at", "applied_at", "is_discarded")
    list_select_related = ("book", "by")
    search_fields = ("book__name", "by__email")


@admin.register(models.ImportedRating)
class ImportedRatingAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "rater", "value", "rating_import")
    list_select_related = ("query", "rater", "rating_import__book")
    search_fields = ("doc_id", "query__text")


@admin.register(models.JudgeModel)
class JudgeModelAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "protocol", "url", "model", "prompt", "created_at", "archived_at")
    list_filter = ("protocol", ("archived_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name", "model", "owner__email")
    exclude = ("secrets",)


@admin.register(models.AutomaticJudging)
class AutomaticJudgingAdmin(ReadOnlyAdmin):
    list_display = ("judge", "book", "is_on", "budget", "created_by", "note", "checked_at")
    list_filter = ("is_on",)
    list_select_related = ("judge", "book", "created_by")
    search_fields = ("judge__name", "book__name")


@admin.register(models.JudgeJob)
class JudgeJobAdmin(ReadOnlyAdmin):
    list_display = ("judge", "book", "created_by", "created_at", "status", "budget", "spent")
    list_filter = ("status", "created_at")
    list_select_related = ("judge", "book", "created_by")
    search_fields = ("judge__name", "book__name", "reason")


@admin.register(models.JudgeAnswer)
class JudgeAnswerAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "judge", "state", "value", "model", "cost", "answered_at")
    list_filter = ("state", "answered_at")
    list_select_related = ("query", "judge")
    search_fields = ("doc_id", "query__text", "judge__name")


@admin.register(models.CalibrationSample)
class CalibrationSampleAdmin(ReadOnlyAdmin):
    list_display = ("book", "seed", "created_by", "created_at")
    list_select_related = ("book", "created_by")
    search_fields = ("book__name",)


class ScorerVersionInline(ReadOnlyInline):
    model = models.ScorerVersion
    related = ("scorer", "created_by")
    fields = readonly_fields = (
        "number",
        "measure",
        "script",
        "output_range",
        "cutoff",
        "scale",
        "count_unscoreable_as_zero",
        "created_by",
        "created_at",
    )


@admin.register(models.Scorer)
class ScorerAdmin(UndeletableAdmin):
    list_display = ("name", "owner", "is_default", "only_for", "created_at", "retired_at")
    list_filter = ("is_default", ("owner", admin.EmptyFieldListFilter), ("retired_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner", "only_for")
    search_fields = ("name", "description", "owner__email")
    autocomplete_fields = ("owner", "teams")
    readonly_fields = ("only_for", "created_at")
    inlines = (ScorerVersionInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.ScorerVersion)
class ScorerVersionAdmin(ReadOnlyAdmin):
    list_display = ("scorer", "number", "measure", "is_script", "created_by", "created_at")
    list_filter = (("script", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("scorer", "created_by")
    search_fields = ("scorer__name", "measure", "script")

    @admin.display(boolean=True, description="script")
    def is_script(self, version: models.ScorerVersion) -> bool:
        return bool(version.script)


@admin.register(models.Policy)
class PolicyAdmin(UndeletableAdmin):
    """The only row exists once a setting differs from its default."""

    list_display = ("__str__", "allow_user_scripts")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not models.Policy.objects.exists()


@admin.register(models.QueryScore)
class QueryScoreAdmin(ReadOnlyAdmin):
    list_display = ("query", "run", "version", "score", "low", "high", "unrated")
    list_select_related = ("query", "run", "version__scorer")
    search_fields = ("query__text",)


@admin.register(models.CaseScore)
class CaseScoreAdmin(ReadOnlyAdmin):
    list_display = ("run", "version", "day", "score", "low", "high", "scored", "queries")
    list_filter = ("day",)
    list_select_related = ("run", "version__scorer")
    search_fields = ("run__case__name", "version__scorer__name")


@admin.register(models.CaseRevision)
class CaseRevisionAdmin(ReadOnlyAdmin):
    list_display = ("case", "revision")
    list_select_related = ("case",)
    search_fields = ("case__name",)


@admin.register(models.RunComparison)
class RunComparisonAdmin(ReadOnlyAdmin):
    list_display = ("run", "baseline", "version", "run_score", "baseline_score", "compared", "revision")
    list_select_related = ("run__case", "baseline", "version__scorer")
    search_fields = ("run__case__name", "version__scorer__name")


@admin.register(models.StoredComparison)
class StoredComparisonAdmin(ReadOnlyAdmin):
    list_display = ("key", "case", "version", "revision", "computed_at", "error")
    list_select_related = ("case", "version__scorer")
    search_fields = ("case__name", "version__scorer__name", "error")
    exclude = ("figures",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.StoredComparison]:
        return super().get_queryset(request).defer("figures")


@admin.register(models.StoredGroupComparison)
class StoredGroupComparisonAdmin(ReadOnlyAdmin):
    list_display = ("group", "key", "computed_at", "error")
    list_select_related = ("group",)
    search_fields = ("group__name", "error")
    exclude = ("figures",)


@admin.register(models.ComparedRun)
class ComparedRunAdmin(ReadOnlyAdmin):
    list_display = ("comparison", "position", "run", "p")
    list_select_related = ("comparison", "run")
    search_fields = ("comparison__key",)


@admin.register(models.Annotation)
class AnnotationAdmin(ReadOnlyAdmin):
    list_display = ("text", "case", "run", "created_by", "created_at", "removed_at")
    list_filter = (("removed_at", admin.EmptyFieldListFilter),)
    list_select_related = ("case", "run", "created_by")
    search_fields = ("text", "case__name")


@admin.register(models.Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    list_display = ("case", "group", "cron", "time_zone", "author", "next_at")
    list_select_related = ("case", "group", "author")
    search_fields = ("case__name", "group__name", "author__email")


@admin.register(models.ScheduledCheck)
class ScheduledCheckAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "case", "group", "run", "status", "message")
    list_filter = ("status", "created_at")
    list_select_related = ("case", "group", "run")
    search_fields = ("case__name", "group__name", "message")


@admin.register(models.GroupCheckRun)
class GroupCheckRunAdmin(ReadOnlyAdmin):
    list_display = ("check_of", "case", "run", "baseline", "problem")
    list_select_related = ("check_of__case", "check_of__group", "case", "run", "baseline")
    search_fields = ("case__name", "problem")


@admin.register(models.Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = ("check_of", "kind", "recipient", "attempts", "next_at", "delivered_at", "error")
    list_filter = ("kind",)
    list_select_related = ("check_of__case", "recipient")
    search_fields = ("check_of__case__name", "recipient__email")


@admin.register(models.ClickLog)
class ClickLogAdmin(ReadOnlyAdmin):
    list_display = ("name", "book", "method", "searches", "pairs", "is_ready", "created_by", "created_at")
    list_filter = ("method", "created_at")
    list_select_related = ("book", "created_by")
    search_fields = ("name", "book__name")


@admin.register(models.ClickEstimate)
class ClickEstimateAdmin(ReadOnlyAdmin):
    list_display = ("doc_id", "query", "log", "value", "evidence", "shown", "clicks")
    list_select_related = ("query", "log__book")
    search_fields = ("doc_id", "query__text")
