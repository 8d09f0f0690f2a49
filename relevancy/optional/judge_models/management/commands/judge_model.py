"""`judge_model create | list | estimate | judge | sample | calibrate | count | withdraw`: language models that rate documents."""

import signal
import sys
import threading
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser

from relevancy import judging, tasks
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, fail, find_book, find_case, find_owner, find_versions
from relevancy.models import Book, Run
from relevancy.optional.agreement.sentences import describe
from relevancy.optional.judge_models import calibration, counting, jobs, judges, prompts, protocols
from relevancy.optional.judge_models.models import JudgeAnswer, JudgeJob, JudgeModel
from relevancy.templatetags import numbers

FIELDS = ("name", "protocol", "url", "model", "prompt", "parallel", "image_tokens")  # as they are entered


class Command(Base):
    help = "Lets language models rate the documents of a book. Their ratings count only after `count`."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        self._add_create(actions.add_parser("create", help="create a judge model; its key is read from stdin"))
        actions.add_parser("list", help="list judge models, and their answers by book")
        for action, text in (
            ("estimate", "say what judging a book would cost; sends nothing"),
            ("judge", "rate the documents in the queue of a book"),
            ("calibrate", "compare with people on the sampled queries, and correct the case score"),
            ("count", "let its answers count as ratings, where nobody else has rated"),
            ("withdraw", "take its ratings back; its answers stay"),
        ):
            added = actions.add_parser(action, help=text)
            added.add_argument("name", help="of the judge model")
            if action == "calibrate":
                added.add_argument("case", help="id or exact name")
                added.add_argument("--scorer", default="", help="name; default: the first of the case")
                continue
            added.add_argument("book", help="id, name, or the name of its only case")
            if action in ("estimate", "judge"):
                added.add_argument("--repeat-failed", action="store_true", help="documents that failed before, too")
                added.add_argument(
                    "--repeat-former", action="store_true", help="documents answered with other instructions, too"
                )
                added.add_argument("--only-unrated", action="store_true", help="only documents without any rating")
            if action == "judge":
                added.add_argument("--budget", default="", help="the most that the job may cost")
            if action != "estimate":
                added.add_argument(
                    "--owner", default="", metavar="EMAIL", help="who does it; default: the only superuser"
                )
        sample = actions.add_parser(
            "sample", help="draw queries at random that people rate completely, for calibration"
        )
        sample.add_argument("book", help="id, name, or the name of its only case")
        sample.add_argument("--queries", type=int, default=25)
        sample.add_argument("--seed", type=int, default=20261122)
        sample.add_argument("--owner", default="", metavar="EMAIL")

    def _add_create(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("protocol", help=" or ".join(protocols.PROTOCOLS))
        parser.add_argument("url", help="such as https://api.openai.com/v1")
        parser.add_argument("model", help="its name at the server")
        parser.add_argument(
            "--prompt",
            default=prompts.DEFAULT,
            help="; ".join(f"{template.key}: {template.title}" for template in prompts.TEMPLATES.values()),
        )
        parser.add_argument("--max-tokens", type=int, default=1000, help="of an answer")
        parser.add_argument("--input-price", default="0", help="per million tokens")
        parser.add_argument("--output-price", default="0", help="per million tokens")
        parser.add_argument("--parallel", type=int, default=4, help="requests at a time")
        parser.add_argument(
            "--image-tokens",
            type=int,
            default=0,
            help="send the addresses of pictures, each of which counts as at most so many tokens; 0: send none",
        )
        parser.add_argument("--no-key", action="store_true", help="the server needs no key: do not read one from stdin")
        add_owner(parser)

    def run(self, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _create(self, options: dict[str, Any]) -> None:
        judge = judges.create(
            parameters={"max_tokens": options["max_tokens"], "temperature": 0},
            input_price=_amount(options["input_price"], "--input-price"),
            output_price=_amount(options["output_price"], "--output-price"),
            key="" if options["no_key"] else sys.stdin.readline().strip(),
            by=find_owner(options["owner"]),
            unrestricted=True,
            **{name: options[name] for name in FIELDS},
        )
        self.write(
            f"Judge model {judge} created. Its ratings are those of “{judge.rater}”, and count only after `count`."
        )

    def _list(self, options: dict[str, Any]) -> None:
        for judge in JudgeModel.objects.live():
            self.write(f"{judge}: {judge.model} by {judge.protocol} at {judge.url}, prompt {judge.prompt}")
            for book in Book.objects.filter(queries__judge_answers__judge=judge).distinct():
                answers = JudgeAnswer.objects.filter(judge=judge, query__book=book)
                counts = {state: answers.filter(state=state).count() for state in JudgeAnswer.State.values}
                listed = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
                self.write(f"  {book}: {listed}")

    def _estimate(self, options: dict[str, Any]) -> None:
        estimate = jobs.estimate(
            judge=_find_judge(options["name"]), book=find_book(options["book"]), choice=_read_choice(options)
        )
        self.write(estimate.describe())

    def _judge(self, options: dict[str, Any]) -> None:
        judge, book, by = _find_judge(options["name"]), find_book(options["book"]), find_owner(options["owner"])
        budget = _amount(options["budget"], "--budget") if options["budget"] else None
        queue = judging.judging_queue(book)
        if judging.is_outdated(queue):
            judging.build_judging_queue(book=book)
        choice = _read_choice(options)
        self.write(jobs.estimate(judge=judge, book=book, choice=choice).describe())
        job = jobs.start(judge=judge, book=book, by=by, budget=budget, choice=choice)
        interrupted = threading.Event()
        previous = signal.signal(signal.SIGINT, lambda *_: interrupted.set())  # what was paid for is stored
        try:
            done = jobs.run(job, is_stopped=interrupted.is_set)
        finally:
            signal.signal(signal.SIGINT, previous)
        self.write(
            f"{done.rated:,} rated, {done.cannot:,} cannot judge, {done.unreadable:,} not understood, {done.failed:,} failed, "
            f"{done.open:,} left. "
            f"{done.spent:.4f} spent."
        )
        if job.status != JudgeJob.Status.COMPLETE:
            fail(f"The job stopped. {job.reason} Run the command again to continue.")

    def _sample(self, options: dict[str, Any]) -> None:
        book = find_book(options["book"])
        sample = calibration.draw_sample(
            book=book, size=options["queries"], seed=options["seed"], by=find_owner(options["owner"])
        )
        self.write(f"{len(sample.query_ids):,} queries of {book} drawn. People have to rate all their results:")
        texts = book.queries.in_bulk(sample.query_ids)
        for query_id in sample.query_ids:
            self.write(f"  {texts[query_id].text}")

    def _calibrate(self, options: dict[str, Any]) -> None:
        judge, case = _find_judge(options["name"]), find_case(options["case"])
        sample = calibration.newest_sample(case.book)
        if sample is None:
            fail(f"{case.book} has no sample. Draw one: judge_model sample {case.book_id}.")
        run = case.runs.filter(status=Run.Status.COMPLETE).order_by("-number").first()
        if run is None:
            fail(f"{case} has no complete run.")
        version = find_versions(case, [options["scorer"]] if options["scorer"] else [])[0]
        result = calibration.calibrate(judge=judge, sample=sample, run=run, version=version)
        agreement = result.agreement
        self.write(f"{judge} and people, {agreement.items:,} documents of {len(result.scored):,} sampled queries")
        self.write(f"  Agreement             {describe(agreement.agreement)}")
        self.write(f"  Always the commonest  {numbers.coefficient(agreement.commonest)}")
        self.write(f"  Alpha, ordinal        {describe(agreement.alpha['ordinal'])}")
        if result.pair is not None:
            self.write(f"  Kappa, quadratic      {numbers.coefficient(result.pair.kappa('quadratic'))}")
        if result.difference is not None:
            interval = f" ({result.interval.low:+.1f} to {result.interval.high:+.1f})" if result.interval else ""
            self.write(f"{version} on run {run.number}: the judge scores {result.difference:+.1f} points{interval}")
            self.write(f"  Kendall's tau of the queries  {numbers.coefficient(result.correlation)}")
        self.write(result.summarize())

    def _count(self, options: dict[str, Any]) -> None:
        judge, book = _find_judge(options["name"]), find_book(options["book"])
        counted = counting.let_count(judge=judge, book=book, by=find_owner(options["owner"]))
        if counted.changed:
            tasks.enqueue_book_rescore(book.pk)
        self.write(counting.describe(counted, judge))

    def _withdraw(self, options: dict[str, Any]) -> None:
        judge, book = _find_judge(options["name"]), find_book(options["book"])
        removed = counting.withdraw(judge=judge, book=book, by=find_owner(options["owner"]))
        if removed:
            tasks.enqueue_book_rescore(book.pk)
        self.write(f"{removed:,} ratings by {judge.rater} removed. Its answers stay.")


def _read_choice(options: dict[str, Any]) -> jobs.DocumentChoice:
    return jobs.DocumentChoice(**{name: options[name] for name in ("only_unrated", "repeat_failed", "repeat_former")})


def _find_judge(name: str) -> JudgeModel:
    judge = JudgeModel.objects.live().filter(name=name).first()
    if judge is None:
        names = ", ".join(JudgeModel.objects.live().values_list("name", flat=True)[:30])
        fail(f"There is no judge model {name!r}. Judge models: {names or 'none yet'}.")
    return judge


def _amount(text: str, option: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        fail(f"{option} is {text!r}. Write an amount from 0 up, such as 2.50.")
    return amount
