"""Jobs of judge models: which documents, what they may cost, and what was answered.

Every answer is stored as soon as it has arrived, because it may have been paid for. A job that ends early is continued by another one.
"""

import random
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_UP, Decimal
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from relevancy import activity, engines, runs
from relevancy.judging.judging_documents import JudgedDocument, read_documents
from relevancy.judging.judging_queue import judging_queue
from relevancy.models import Book, JudgingPair, Rating, User, Verdict
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_pause, write_turn
from relevancy.wording import counted

from .answers import UnreadableAnswer, parse_answer
from .client import JudgeClient, JudgeModelError
from .counting import JUDGED, AnswerCounts, count_job
from .judges import address_rules, build_instructions, output_limit, template_of
from .models import AutomaticJudging, JudgeAnswer, JudgeJob, JudgeModel
from .prompts import Prompt, build_prompt
from .protocols import Completion

STARTED = "rating.judge_started"
MAX_CONSECUTIVE_FAILURES = 10
STALE_AFTER = timedelta(seconds=40)
HEARTBEAT_SECONDS = 5.0
BATCH = 50
INSERTED = 500
ESTIMATED = 100  # documents whose length an estimate measures
CHARACTERS_PER_TOKEN = 4
TRIAL_DOCUMENTS = 5
MAX_TEXT = 2_000  # characters that are kept of an answer that was not understood
MILLION = Decimal(1_000_000)
CENT_FRACTION = Decimal("0.00000001")
State = JudgeAnswer.State
ACTIVE = (JudgeJob.Status.WAITING, JudgeJob.Status.RUNNING)
FAILED = (State.UNREADABLE, State.FAILED)
STOPPED = "It was stopped."


@dataclass(frozen=True)
class DocumentChoice:
    """Which documents of the judging queue are sent, besides those that the judge model has never been asked for.

    only_unrated: none that has a rating. repeat_failed: those that failed, or whose answer was not understood.
    repeat_former: those that were answered with other instructions than the present ones.
    """

    only_unrated: bool = False
    repeat_failed: bool = False
    repeat_former: bool = False


ALL = DocumentChoice()


@dataclass(frozen=True)
class JobEstimate:
    """What a job would do.

    documents: that would be sent. answered: that this judge model has answered before, and that are not sent again.
    images: of `documents`, about how many have a picture that would be sent.
    input_tokens, output_tokens, cost: of all documents; the first two are guesses, of four characters to a token and the tokens
        of the pictures, and of the most that an answer can have.
    """

    documents: int
    answered: int
    images: int
    input_tokens: int
    output_tokens: int
    cost: Decimal

    def describe(self) -> str:
        """Returns what a job would send, what that would cost, and what it would not send again, in sentences."""
        text = "No document is left to send."
        if self.documents:
            text = f"{counted(self.documents, 'document')}. "
            if self.images:
                text += f"About {counted(self.images, 'document has a picture', 'documents have a picture')}. "
            cost = f": {write_amount(self.cost)} at most" if self.cost else ""
            text += f"About {self.input_tokens:,} tokens to read and at most {self.output_tokens:,} to write{cost}."
        if self.answered:
            text += f" Not sent again: {counted(self.answered, 'document')} answered before."
        return text


@dataclass(frozen=True)
class _Question:
    """A prompt in progress. most: what it can cost."""

    answer: JudgeAnswer
    prompt: Prompt
    most: Decimal


type _Reply = tuple[_Question, Completion | JudgeModelError]


def write_amount(amount: Decimal) -> str:
    """Returns an amount with two decimals, or as many as it takes to be other than 0, at most six."""
    if not amount:
        return "0.00"
    places = next((places for places in range(2, 6) if round(abs(amount), places)), 6)
    return f"{amount:,.{places}f}"


def estimate(*, judge: JudgeModel, book: Book, choice: DocumentChoice = ALL) -> JobEstimate:
    """Returns what a job of the book's judging queue would do. Sends nothing."""
    answers = JudgeAnswer.objects.filter(judge=judge, query__book=book, state__in=JUDGED)
    instructions = build_instructions(judge, book)
    if choice.repeat_former:
        answers = answers.filter(job__instructions=instructions)
    pairs = _unanswered(judge, book, choice, instructions)
    documents = pairs.count()
    step = max(1, documents // ESTIMATED)
    ids = list(pairs.order_by("pk").values_list("pk", flat=True))[::step]
    prompts = [
        prompt
        for batch in batched(ids, BATCH)
        for document in read_documents(JudgingPair.objects.filter(pk__in=batch), by=judge.rater)
        if (prompt := prompt_for(judge, book, document, instructions)) is not None
    ]
    count = max(1, len(prompts))
    characters = documents * sum(len(prompt.instructions) + len(prompt.data) for prompt in prompts) / count
    images = round(documents * sum(bool(prompt.image_url) for prompt in prompts) / count)
    input_tokens = round(characters / CHARACTERS_PER_TOKEN) + images * judge.image_tokens
    output_tokens = documents * output_limit(judge)
    return JobEstimate(
        documents=documents,
        answered=answers.count(),
        images=images,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=_cost(judge, input_tokens, output_tokens),
    )


def start(
    *,
    judge: JudgeModel,
    book: Book,
    by: User,
    choice: DocumentChoice = ALL,
    budget: Decimal | None = None,
    is_background: bool = False,
    automatic: AutomaticJudging | None = None,
) -> JudgeJob:
    """Creates a job of the documents in the book's judging queue that the judge model has not answered, and those of `choice`.

    `is_background`: the worker runs it, and `sweep` finds it if the worker has died. automatic: what starts it, if no user does.
    Raises `ValidationError` if another job of the judge model works on the book.
    """
    job = JudgeJob(
        judge=judge, book=book, created_by=by, budget=budget, is_background=is_background, automatic=automatic
    )
    _begin(job)
    pairs = _unanswered(judge, book, choice, job.instructions).order_by("pk")
    _add_documents(job, list(pairs.values_list("query_id", "doc_id", "run_id")))
    return job


def start_trial(*, judge: JudgeModel, book: Book, by: User) -> JudgeJob:
    """Creates a background job of five documents that were not answered with the present instructions: rated ones first, so that the
    answers can be compared with people, and the same ones again after the instructions have changed. Raises what `start` raises."""
    job = JudgeJob(judge=judge, book=book, created_by=by, is_background=True, is_trial=True)
    _begin(job)
    ratings = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), verdict=Verdict.RATED)
    people = ratings.exclude(rater__kind=User.Kind.MACHINE)
    choice = DocumentChoice(repeat_failed=True, repeat_former=True)
    pairs = _unanswered(judge, book, choice, job.instructions).annotate(is_rated=Exists(people)).order_by("pk")
    rows = list(pairs.values_list("query_id", "doc_id", "run_id", "is_rated"))
    random.Random(book.pk).shuffle(rows)
    rows.sort(key=lambda row: not row[-1])
    _add_documents(job, [row[:-1] for row in rows[:TRIAL_DOCUMENTS]])
    return job


def _begin(job: JudgeJob) -> None:
    """Stores a job as the only one of its judge model that works on the book."""
    judge, book = job.judge, job.book
    job.instructions = build_instructions(judge, book)
    with write_turn(), transaction.atomic():
        # Two jobs at once would pay for every document twice.
        JudgeModel.objects.select_for_update(no_key=True).filter(pk=judge.pk).values_list("pk").first()
        if working_jobs(book).filter(judge=judge).exists():
            raise ValidationError(f"{judge} is judging {book} already. Wait until that job has ended, or stop it.")
        JudgeJob.objects.filter(judge=judge, book=book, status__in=ACTIVE).update(
            status=JudgeJob.Status.STOPPED, reason="Its process ended.", finished_at=timezone.now(), claimed_by=""
        )
        clean_and_save(job)
        actor = job.created_by if job.automatic is None else None
        activity.record_for_book(STARTED, book=book, by=actor, judge=str(judge))


def _add_documents(job: JudgeJob, rows: Sequence[tuple[int, str, int]]) -> None:
    """Adds documents to a job: ids of query, document and run. An earlier answer of the judge model is replaced."""
    for batch in batched(rows, INSERTED):
        keys = {(query_id, doc_id) for query_id, doc_id, _ in batch}
        stored = JudgeAnswer.objects.filter(judge=job.judge, query__in={key[0] for key in keys})
        present = {
            (query_id, doc_id): pk
            for pk, query_id, doc_id in stored.values_list("pk", "query_id", "doc_id")
            if (query_id, doc_id) in keys
        }
        new = [
            JudgeAnswer(judge=job.judge, job=job, query_id=query_id, doc_id=doc_id, run_id=run_id)
            for query_id, doc_id, run_id in batch
            if (query_id, doc_id) not in present
        ]
        with write_turn():
            JudgeAnswer.objects.filter(pk__in=present.values()).update(
                job=job, state=State.OPEN, value=None, reason="", error="", text=""
            )
            JudgeAnswer.objects.bulk_create(new, ignore_conflicts=True)
        write_pause()


def cancel(job: JudgeJob) -> None:
    """Stops a job: requests in progress are completed and stored, and no others are sent. At once if no process works on it."""
    JudgeJob.objects.filter(pk=job.pk).update(cancel_requested=True)
    JudgeJob.objects.filter(runs.is_idle(), pk=job.pk, status__in=ACTIVE).update(
        status=JudgeJob.Status.STOPPED, reason=STOPPED, finished_at=timezone.now()
    )


def working_jobs(book: Book) -> QuerySet[JudgeJob]:
    """Returns the jobs that send documents of a book, or will: not those of commands whose process has ended."""
    fresh = timezone.now() - STALE_AFTER
    works = Q(is_background=True) | Q(heartbeat_at__gte=fresh) | Q(heartbeat_at=None, created_at__gte=fresh)
    return JudgeJob.objects.filter(works, book=book, status__in=ACTIVE)


def latest_job(judge: JudgeModel, book: Book) -> JudgeJob | None:
    """Returns the job of a judge model on a book that was started last."""
    return JudgeJob.objects.filter(judge=judge, book=book).first()


def sweep() -> list[int]:
    """Returns the ids of background jobs that no process has worked on for a minute."""
    lost = timezone.now() - STALE_AFTER
    idle = Q(heartbeat_at__lt=lost) | Q(heartbeat_at=None, created_at__lt=lost)
    active = JudgeJob.objects.filter(idle, is_background=True, status__in=ACTIVE)
    return list(active.order_by("pk").values_list("pk", flat=True))


def run(
    job: JudgeJob,
    *,
    is_stopped: Callable[[], bool] = lambda: False,
    seconds: float | None = None,
) -> AnswerCounts:
    """Sends the open documents of a job until all are answered, the budget is spent, or it has to stop; `job` says why.

    With `seconds` it leaves the job after that time, to be continued by another call, if `job.is_active` afterwards.
    Returns at once if another process works on it.
    is_stopped: asked often; once it returns True, requests in progress are completed and stored, and no others are sent.
    """
    token = uuid.uuid4().hex
    now = timezone.now()
    wanted = JudgeJob.objects.filter(runs.is_idle(), pk=job.pk, status__in=ACTIVE)
    if wanted.update(claimed_by=token, heartbeat_at=now, status=JudgeJob.Status.RUNNING):
        job.refresh_from_db()
        reason, is_unfinished, failures = "", False, 0
        try:
            worker = _Worker(job, token, is_stopped, seconds)
            reason = worker.work()
            is_unfinished, failures = worker.is_out_of_time and not reason and worker.open > 0, worker.failures
        except JudgeModelError as error:
            reason = str(error)
        own = JudgeJob.objects.filter(pk=job.pk, claimed_by=token)
        if is_unfinished:
            own.update(claimed_by="", heartbeat_at=timezone.now(), consecutive_failures=failures)
        else:
            own.update(
                status=JudgeJob.Status.STOPPED if reason else JudgeJob.Status.COMPLETE,
                reason=reason,
                finished_at=timezone.now(),
                claimed_by="",
            )
    job.refresh_from_db()
    return count_job(job)


class _Worker:
    """One process that works on a job. open: documents that are left. reserved: what the requests in progress can cost."""

    def __init__(self, job: JudgeJob, token: str, is_stopped: Callable[[], bool], seconds: float | None) -> None:
        self.job, self.judge, self.book = job, job.judge, job.book
        self.token = token
        self.is_stopped = is_stopped
        self.open = count_job(job).open
        self.spent = job.spent
        self.reserved = Decimal(0)
        self.failures = job.consecutive_failures
        self.reason = STOPPED if job.cancel_requested else ""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.is_out_of_time = False
        self.is_out_of_budget = False
        self._checked_at = self._beat_at = time.monotonic()

    def work(self) -> str:
        """Returns why the job stopped; empty if it is complete."""
        with JudgeClient(self.judge, address_rules()) as client:
            while True:
                before = self.open
                self.is_out_of_budget = False
                replies = engines.in_parallel(
                    self._questions(client),
                    lambda question: _ask(client, question),
                    parallel=self.judge.parallel,
                    stop=self._must_stop,
                    before=client.wait,
                    ahead=1,
                )
                for reply in replies:
                    self._store(reply)
                if self.reason or self.is_out_of_time or not self.is_out_of_budget:
                    return self.reason
                if self.open == before:  # nothing is in progress any more, and there is still not enough left
                    return (
                        f"The budget of {self.job.budget:f} does not cover another document. {self.spent:f} are spent."
                    )

    def _questions(self, client: JudgeClient) -> Iterator[_Question]:
        """Yields the open documents while the budget covers them."""
        last = 0
        while answers := list(self.job.answers.filter(state=State.OPEN, pk__gt=last).order_by("pk")[:BATCH]):
            last = answers[-1].pk
            pairs = [
                JudgingPair(query_id=answer.query_id, doc_id=answer.doc_id, run_id=answer.run_id or 0)
                for answer in answers
            ]
            for answer, document in zip(answers, read_documents(pairs, by=self.judge.rater), strict=True):
                prompt = prompt_for(self.judge, self.book, document, self.job.instructions)
                if prompt is None:
                    answer.error = "The run does not store the document any more. Run the attempt again."
                    self._save(answer, State.FAILED, Decimal(0))
                    continue
                most = _cost(self.judge, client.most_tokens(prompt), output_limit(self.judge))
                if self.job.budget is not None and self.spent + self.reserved + most > self.job.budget:
                    self.is_out_of_budget = True
                    return
                self.reserved += most
                yield _Question(answer, prompt, most)

    def _store(self, reply: _Reply) -> None:
        question, completion = reply
        answer = question.answer
        self.reserved -= question.most
        if isinstance(completion, JudgeModelError):
            error = completion
            if error.stops_job:
                self.reason = self.reason or str(error)  # no fault of the document: it stays open
                return
            answer.error = str(error)
            self._save(answer, State.FAILED, question.most if error.may_cost else Decimal(0))
            self.failures += 1
            if self.failures >= MAX_CONSECUTIVE_FAILURES:
                self.reason = f"The last {self.failures} documents failed. {error}"
            return
        answer.model, answer.answer_format, answer.took_ms = (
            completion.model[:200],
            completion.answer_format,
            completion.took_ms,
        )
        answer.input_tokens, answer.output_tokens = completion.input_tokens, completion.output_tokens
        cost = question.most
        if answer.input_tokens is not None and answer.output_tokens is not None:
            cost = _cost(self.judge, answer.input_tokens, answer.output_tokens)
        self.failures = 0
        self._save(answer, _read_state(answer, completion, self.book), cost)

    def _save(self, answer: JudgeAnswer, state: State, cost: Decimal) -> None:
        answer.state = state
        answer.cost += cost
        answer.answered_at = timezone.now()
        with write_turn(), transaction.atomic():
            answer.save()
            JudgeJob.objects.filter(pk=self.job.pk).update(spent=F("spent") + cost)
        self.open -= 1
        self.spent += cost

    def _must_stop(self) -> bool:
        """Says that this process still works on the job, and notices that it was stopped or taken over."""
        now = time.monotonic()
        if not self.reason and self.is_stopped():
            self.reason = STOPPED
        if not self.reason and now - self._checked_at >= 1.0:
            self._checked_at = now
            row = JudgeJob.objects.filter(pk=self.job.pk).values("cancel_requested", "claimed_by").first()
            if row is None or row["claimed_by"] != self.token:
                self.reason = "Another process has taken the job over."
            elif row["cancel_requested"]:
                self.reason = STOPPED
            if now - self._beat_at >= HEARTBEAT_SECONDS:
                self._beat_at = now
                JudgeJob.objects.filter(pk=self.job.pk, claimed_by=self.token).update(heartbeat_at=timezone.now())
        if self.deadline is not None and now >= self.deadline:
            self.is_out_of_time = True
        return bool(self.reason) or self.is_out_of_time


def _ask(client: JudgeClient, question: _Question) -> _Reply:
    try:
        return question, client.ask(question.prompt)
    except JudgeModelError as error:
        return question, error


def _read_state(answer: JudgeAnswer, completion: Completion, book: Book) -> State:
    """Sets the grade and the reason of an answer. Returns its state."""
    if completion.refusal:
        answer.reason = engines.excerpt(f"The model declined: {completion.refusal}", 1_000)
        return State.CANNOT
    try:
        parsed = parse_answer(completion.text, book.grades)
    except UnreadableAnswer as error:
        limit = " The answer reached the limit of tokens: create a judge model with a higher one."
        answer.error = f"{error}{limit if completion.is_cut else ''}"
        answer.text = engines.excerpt(completion.text, MAX_TEXT)
        return State.UNREADABLE
    answer.value, answer.reason = parsed.value, parsed.reason
    return State.CANNOT if parsed.value is None else State.RATED


def prompt_for(judge: JudgeModel, book: Book, document: JudgedDocument, instructions: str) -> Prompt | None:
    """Returns the prompt for a document, None if the run does not store it."""
    if document.result is None:
        return None
    display = document.result.display
    return build_prompt(
        template_of(judge),
        instructions=instructions,
        scale=book.scale,
        query=document.query.text,
        information_need=document.query.information_need,
        reference_answer=document.query.reference_answer,
        options=document.options,
        document={"title": display.title, **dict(display.subs)},
        image_url=(display.image_url or display.thumb_url or "") if judge.image_tokens else "",
    )


def _unanswered(judge: JudgeModel, book: Book, choice: DocumentChoice, instructions: str) -> QuerySet[Any, Any]:
    """Returns the pairs of the book's queue that are sent. instructions: the present ones."""
    answers = JudgeAnswer.objects.filter(judge=judge, query=OuterRef("query"), doc_id=OuterRef("doc_id"))
    kept = answers.filter(state__in=JUDGED if choice.repeat_failed else (*JUDGED, *FAILED))
    if choice.repeat_former:
        kept = kept.filter(job__instructions=instructions)
    pairs = judging_queue(book).pairs.filter(~Exists(kept))
    if choice.only_unrated:
        ratings = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), verdict=Verdict.RATED)
        pairs = pairs.filter(~Exists(ratings))
    return pairs


def _cost(judge: JudgeModel, input_tokens: int, output_tokens: int) -> Decimal:
    cost = (judge.input_price * input_tokens + judge.output_price * output_tokens) / MILLION
    return Decimal(cost).quantize(CENT_FRACTION, rounding=ROUND_UP)
