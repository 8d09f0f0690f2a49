"""Judge models: language models that rate documents. Their answers stand apart from ratings until an editor accepts them as ratings."""

from decimal import Decimal
from typing import ClassVar, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from relevancy.models import Book, EncryptedJSONField, Query, Role, Run, Team, User
from relevancy.models.access import SharedModel, SharedQuerySet
from relevancy.models.text import LineField, MultilineField
from relevancy.wording import counted


class JudgeModelQuerySet(SharedQuerySet["JudgeModel"]):
    """Judge models, by role."""

    def live(self) -> Self:
        """Excludes archived judge models."""
        return self.filter(archived_at=None)

    def of_book(self, book: Book, user: User) -> Self:
        """Judge models that the user may see and that are not archived, and all that have answered for the book; with `role`."""
        answers = JudgeAnswer.objects.filter(judge=OuterRef("pk"), query__book=book)
        own = Q(role__gte=Role.VIEWER, archived_at=None)
        return self.with_role(user).filter(own | Exists(answers))


def _price(name: str) -> models.DecimalField[Decimal, Decimal]:
    return models.DecimalField(
        name,
        max_digits=10,
        decimal_places=4,
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(100_000)],
        help_text="Per million tokens, in any currency. 0: nothing is paid.",
    )


class JudgeModel(SharedModel):
    """A language model with its prompt, as an instrument. What decides its answers never changes, but for its instructions, which every
    job keeps as it has sent them.

    rater: a user that cannot sign in; the ratings that count are this user's.
    model, prompt, protocol, parameters: never change. prompt: key of the shipped prompt.
    instructions: an own text instead of the shipped one, with placeholders; see `prompts.check_own_text`.
    secrets: {"key": …}, encrypted and never displayed.
    image_tokens: the most that a picture counts as, for estimates and budgets; 0 sends no pictures. Never changes.
    input_price, output_price: per million tokens, in the currency of the budgets.
    """

    name = LineField(max_length=100, unique=True, help_text="Its ratings are marked with this name and “(AI judge)”.")
    rater = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="judge_model")
    protocol = models.CharField(max_length=20)
    url = LineField(
        "address", max_length=500, help_text="Such as https://api.openai.com/v1 or https://api.anthropic.com."
    )
    model = LineField(max_length=200, help_text="Its name at the server.")
    prompt = models.CharField(max_length=40)
    instructions = MultilineField(blank=True, max_length=20_000)
    parameters = models.JSONField(default=dict, blank=True)
    image_tokens = models.PositiveIntegerField(
        "tokens of a picture",
        default=0,
        validators=[MaxValueValidator(1_000_000)],
        help_text="0: pictures are not sent. To send them, enter the most that the server counts for one, such as 2000.",
    )
    secrets = EncryptedJSONField(default=dict, blank=True, editable=False)
    input_price = _price("price of the prompt")
    output_price = _price("price of the answer")
    parallel = models.PositiveSmallIntegerField(
        "parallel requests", default=4, validators=[MinValueValidator(1), MaxValueValidator(64)]
    )
    per_minute = models.PositiveIntegerField(
        "requests per minute", default=0, validators=[MaxValueValidator(1_000_000)], help_text="0: no limit"
    )
    read_timeout = models.PositiveSmallIntegerField(
        "seconds for an answer", default=120, validators=[MinValueValidator(1), MaxValueValidator(600)]
    )
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="judge_models")
    teams = models.ManyToManyField(
        Team,
        blank=True,
        related_name="judge_models",
        verbose_name="shared with",
        help_text="Editors of these teams may start jobs, which spend what the key pays for.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = JudgeModelQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def is_paid(self) -> bool:
        """Whether its answers have a price, so that jobs need a budget."""
        return bool(self.input_price or self.output_price)


def _budget(name: str, help_text: str) -> models.DecimalField[Decimal | None, Decimal | None]:
    return models.DecimalField(
        name,
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(10_000_000)],
        help_text=help_text,
    )


class AutomaticJudging(models.Model):
    """The wish that a judge model judges new results of a book by itself, after a run.

    created_by: who switched it on last, and starts its jobs. budget: of all its jobs together; None if nothing is paid.
    note, checked_at: what it did when new results were last looked for.
    """

    judge = models.ForeignKey(JudgeModel, on_delete=models.CASCADE, related_name="automatic")
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="automatic_judging")
    is_on = models.BooleanField(
        "judge new results after each run",
        default=False,
        help_text="Only results without a rating. The answers stand apart until you accept them as ratings.",
    )
    budget = _budget("budget in all", "What all jobs that were started in this way may cost together.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    note = MultilineField(blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "automatic judging"
        constraints = [models.UniqueConstraint(fields=("judge", "book"), name="automatic_judging_once")]

    def __str__(self) -> str:
        return f"{self.judge} on {self.book}"


class JudgeJob(models.Model):
    """The documents of a book that a judge model was asked to rate at once, within a budget.

    instructions: as they are sent with every document of the job, with the scale and the guidelines of its start.
    is_trial: a few documents, to see how the judge model answers.
    claimed_by, heartbeat_at: the process that works on it, and when it last said so.
    automatic: what started it, if no user did.
    is_background: the worker continues it. consecutive_failures: requests in a row that failed, before its present process.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        STOPPED = "stopped"

    judge = models.ForeignKey(JudgeModel, on_delete=models.PROTECT, related_name="jobs")
    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="judge_jobs")
    automatic = models.ForeignKey(AutomaticJudging, on_delete=models.SET_NULL, null=True, related_name="jobs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    reason = MultilineField(blank=True, help_text="why it was stopped")
    budget = _budget("budget", "The most that the job may cost.")
    spent = models.DecimalField(max_digits=16, decimal_places=8, default=0, editable=False)
    instructions = MultilineField(blank=True, editable=False)
    is_trial = models.BooleanField(default=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    is_background = models.BooleanField(default=False)
    consecutive_failures = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "running", "complete", "stopped"]), name="judge_job_status_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.book}"

    @property
    def is_active(self) -> bool:
        """Whether the job is waiting or running."""
        return self.status in (self.Status.WAITING, self.Status.RUNNING)


class JudgeAnswer(models.Model):
    """What a judge model answered for a document. Not a rating: it affects no score.

    run: stores the document. model: the name that the server returned. cost: of all attempts, in the currency of the prices; if the
    server named no tokens, the most that the answer can have cost.
    reason: the model's own. error: why there is no answer, or why it was not understood. text: of an answer that was not understood.
    """

    class State(models.TextChoices):
        OPEN = "open"
        RATED = "rated"
        CANNOT = "cannot", "cannot judge"
        UNREADABLE = "unreadable", "not understood"
        FAILED = "failed"

    judge = models.ForeignKey(JudgeModel, on_delete=models.PROTECT, related_name="answers")
    job = models.ForeignKey(JudgeJob, on_delete=models.CASCADE, related_name="answers")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judge_answers")
    doc_id = models.CharField("document id", max_length=500)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    value = models.FloatField(null=True, blank=True)
    reason = MultilineField(blank=True)
    error = MultilineField(blank=True)
    text = MultilineField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    answer_format = models.CharField(max_length=20, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=16, decimal_places=8, default=0)
    took_ms = models.PositiveIntegerField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("judge", "query", "doc_id"), name="judge_answer_once"),
            models.CheckConstraint(
                condition=Q(state="rated", value__isnull=False) | (~Q(state="rated") & Q(value__isnull=True)),
                name="judge_answer_value_goes_with_state",
            ),
        ]
        indexes = [models.Index(fields=("job", "state", "id"), name="judge_answer_of_job")]

    def __str__(self) -> str:
        return f"{self.doc_id}: {self.value if self.value is not None else self.state}"


class CalibrationSample(models.Model):
    """Queries of a book, drawn at random once, that people rate completely so that a judge model can be compared with them."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="calibration_samples")
    query_ids = models.JSONField()
    seed = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{counted(len(self.query_ids), 'query', 'queries')} of {self.book}"
