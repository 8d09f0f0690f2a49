"""Cases: what a team tunes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.db import connection, models
from django.db.models.functions import Coalesce, RowNumber

from .access import SharedModel, SharedQuerySet
from .book import Book, Query
from .scorer import Scorer, ScorerVersion
from .team import Team
from .text import LineField

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .run import Run
    from .user import User

# Queries up to which a page may read all of a case: to count what is stale, to list tags, to sort by any column. Pages of larger cases
# read by key, and show what a worker has stored.
LARGE_CASE = 50_000


class CaseQuerySet(SharedQuerySet["Case"]):
    """Cases; `SharedQuerySet` defines access."""

    def live(self) -> Self:
        """Excludes archived cases."""
        return self.filter(archived_at=None)


class Case(SharedModel):
    """A search application to be tuned: queries of one book, attempts, runs, scorers, teams."""

    name = LineField(max_length=191)
    book = models.ForeignKey(Book, on_delete=models.PROTECT, related_name="cases")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="cases")
    teams = models.ManyToManyField(Team, blank=True, related_name="cases")
    scorers = models.ManyToManyField(Scorer, through="CaseScorer", related_name="cases")
    options = models.JSONField(default=dict, blank=True)
    # Fields with a colour of their own in explanations, in the order of the colours; see `runs.explain_results`.
    explained_fields = models.JSONField(default=list, editable=False)
    # `{name of a knob: [lowest, highest, step]}` of its slider, where an editor has set them; see `cases.set_knob_ranges`.
    knob_ranges = models.JSONField(default=dict, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    history_queued_at = models.DateTimeField(
        null=True, editable=False, help_text="When a background task was enqueued that rescores all runs of the case."
    )

    objects: ClassVar = CaseQuerySet.as_manager()

    class Meta:
        ordering = ("name", "id")

    def __str__(self) -> str:
        return self.name


class CaseScorer(models.Model):
    """A scorer of a case, in the version that scores the case. The scorer with the lowest position is the primary one."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="case_scorers")
    scorer = models.ForeignKey(Scorer, on_delete=models.PROTECT, related_name="case_scorers")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="case_scorers")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("position", "id")
        constraints = [models.UniqueConstraint(fields=("case", "scorer"), name="case_scorer_once")]

    def __str__(self) -> str:
        return f"{self.scorer} of {self.case}"


class CaseQueryQuerySet(models.QuerySet["CaseQuery"]):
    """Queries of cases."""

    def present(self) -> Self:
        """Excludes removed queries."""
        return self.filter(removed_at=None)

    def texts(self) -> dict[int, str]:
        """Returns `{query id: text}` without removed queries, in the order of the case. One SQL statement."""
        return dict(self.present().order_by("position", "id").values_list("query_id", "query__text"))

    def in_parts(self, size: int) -> Iterator[list[tuple[int, int]]]:
        """Yields `(id, query id)` of the queries of one case, without removed ones, in its order, `size` at a time. Each part is read
        by key, so that it costs the same wherever it is. One SQL statement for each."""
        ordered = self.present().order_by("position", "id")
        rest = ordered
        while rows := list(rest.values_list("id", "query_id", "position")[:size]):
            yield [(pk, query_id) for pk, query_id, _ in rows]
            pk, _, position = rows[-1]
            # The first condition lets the database begin in the middle of an index.
            rest = ordered.filter(models.Q(position__gte=position) & ~models.Q(position=position, id__lte=pk))

    def numbers(self, ids: Sequence[int] | None = None) -> dict[int, int]:
        """Returns the numbers that queries of one case have in its manual order, without removed ones, by id of the case query. One SQL
        statement. ids: of those to return; all of them unless given."""
        numbered = self.present().order_by().annotate(number=models.Window(RowNumber(), order_by=("position", "id")))
        statement, parameters = numbered.values("id", "number").query.sql_with_params()
        wanted = "" if ids is None else f"WHERE id IN ({', '.join(['%s'] * len(ids))})"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT id, number FROM ({statement}) numbered {wanted}", [*parameters, *(ids or ())])
            return dict(cursor.fetchall())

    def with_role(self, user: User) -> Self:
        """Annotates `role`, that of the user on the case; see `SharedQuerySet`."""
        return self.annotate(role=Case.objects.all().role_of(user, "case__"))

    def tagged(self, name: str) -> Self:
        """Queries with a tag of exactly this spelling."""
        return self.filter(query__tags__has_element=name)

    def with_scores(
        self,
        run: Run | None,
        version: ScorerVersion | None,
        before: Run | None = None,
        *,
        secondary: Sequence[ScorerVersion] = (),
    ) -> Self:
        """Annotates the results of a run and its scores under a scorer version; None where there are none.

        `hits`, `returned`, `took_ms`, `error`, `error_kind`: of the search.
        `former_text`, `asked_options`: the query text as searched if it is another one now, and the options as searched.
        `score`, `low`, `high`, `unrated`, `score_error`: under `version`.
        `gap`: points between `score` and the score of the ideal ranking, or 100 if the scorer has no ideal.
        `score_before`: in run `before`; `difference`: `score` minus `score_before`, None if one of them is stale.
        `is_stale`: whether one of them was computed from older ratings.
        `score_1`, `score_2` …: under the versions in `secondary`; `is_stale_1` …: whether it was computed from older ratings.
        """
        # No run has the id 0. For "run IS NULL", SQLite would read all scores of the version for each query.
        run_id, before_id = run.pk if run else 0, before.pk if before else 0
        ranking = models.FilteredRelation("query__rankings", condition=models.Q(query__rankings__run=run_id))
        score = models.FilteredRelation(
            "query__scores", condition=models.Q(query__scores__run=run_id, query__scores__version=version)
        )
        earlier = models.FilteredRelation(
            "query__scores", condition=models.Q(query__scores__run=before_id, query__scores__version=version)
        )
        revision = models.F("query__revision")
        is_stale = models.Q(scored__revision__lt=revision) | models.Q(earlier__revision__lt=revision)
        others: dict[str, Any] = {}
        for number, other in enumerate(secondary, 1):
            name = f"secondary_{number}"
            condition = models.Q(query__scores__run=run_id, query__scores__version=other)
            others[name] = models.FilteredRelation("query__scores", condition=condition)
            others[f"score_{number}"] = models.F(f"{name}__score")
            is_older = models.Q(**{f"{name}__revision__lt": revision})
            others[f"is_stale_{number}"] = models.Case(models.When(is_older, then=True), default=False)
        return self.select_related("query").annotate(
            ranking=ranking,
            scored=score,
            earlier=earlier,
            ranking_id=models.F("ranking__id"),
            hits=models.F("ranking__total"),
            returned=models.F("ranking__returned"),
            took_ms=models.F("ranking__took_ms"),
            error_kind=models.F("ranking__error_kind"),
            error=models.F("ranking__error"),
            former_text=models.F("ranking__former_text"),
            asked_options=models.F("ranking__options"),
            score=models.F("scored__score"),
            low=models.F("scored__low"),
            high=models.F("scored__high"),
            unrated=models.F("scored__unrated"),
            score_error=models.F("scored__error"),
            gap=Coalesce(models.F("scored__ideal"), 100.0) - models.F("scored__score"),
            score_before=models.F("earlier__score"),
            difference=models.Case(
                models.When(is_stale, then=None), default=models.F("scored__score") - models.F("earlier__score")
            ),
            is_stale=models.Case(models.When(is_stale, then=True), default=False),
            **others,
        )


class CaseQuery(models.Model):
    """A query of a case. A removed query keeps its row, so that undoing the removal restores its options and position."""

    # Its index looks redundant beside `case_query_once`, but SQLite reads a part of a run with it: ids of one case in a range.
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="case_queries")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="case_queries")
    position = models.FloatField()
    options = models.JSONField(default=dict, blank=True)
    weight = models.FloatField(default=1)
    removed_at = models.DateTimeField(null=True, blank=True)
    role: int = 0  # of a user on the case; see `CaseQueryQuerySet.with_role`

    objects: ClassVar = CaseQueryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "case queries"
        ordering = ("position", "id")
        constraints = [
            models.UniqueConstraint(fields=("case", "query"), name="case_query_once"),
            models.CheckConstraint(condition=models.Q(weight__gte=0), name="case_query_weight_not_negative"),
        ]
        # Of the present and of the removed ones: PostgreSQL takes no order from an index that begins with "removed_at IS NULL".
        indexes = [
            models.Index(
                fields=("case", "position", "id"), condition=models.Q(removed_at=None), name="case_query_in_order"
            ),
            models.Index(
                fields=("case", "position", "id"),
                condition=models.Q(removed_at__isnull=False),
                name="case_query_removed",
            ),
        ]

    def __str__(self) -> str:
        return str(self.query)
