"""Studies of a case: planned, started, stopped, gone on with, deleted, and made an attempt of."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F
from django.db.models.expressions import Combinable
from django.utils import timezone

from relevancy import activity, endpoints, engines, runs, scores, scoring
from relevancy.models import Activity, Attempt, Case, CaseQuery, Endpoint, Run, ScorerVersion, UnreadableSecret, User
from relevancy.scoring.arrays import IntArray
from relevancy.scoring.rounding import format_rounded
from relevancy.statistics import SEED, detectable_difference
from relevancy.wording import counted

from . import sealed_queries
from .estimates import list_probes
from .models import SealedOpening, Study, StudyAttempt, StudyTrial
from .samplers import Origin, count_trials, plan_trial
from .searching import CHUNK_SECONDS, MIN_QUERIES, LeaseLost, StudyEnded, StudyWork, digest_of
from .space import Knob, Space, SpaceError, write_choices
from .trial_scores import score_best

MAX_TRIALS = 2_000
MAX_QUERIES = 5_000  # more are not searched again and again: a study of 200 trials would take a million requests
TYPICAL_DEVIATION = 20.0  # points: of the differences of two settings, by query, on judged collections
TRIED_QUERIES = 3  # whose requests show which knobs change nothing
DEFAULT_MS = 50.0  # a search, where no run on the endpoint says
CREATED, STOPPED, CONTINUED, DELETED = "study.created", "study.stopped", "study.continued", "study.deleted"
FINISHED, FAILED, ADOPTED, OPENED = "study.finished", "study.failed", "study.adopted", "study.opened"
DATABASE_ERRORS = (OperationalError, InterfaceError)  # a connection that was lost, a lock that was not free: they pass
log = logging.getLogger("relevancy.studies")


@dataclass(frozen=True)
class StudySettings:
    """What a study searches, and how much. The fields are those of `Study`."""

    knobs: Sequence[Knob]
    trials: int = 100
    max_requests: int | None = None
    max_minutes: int | None = None
    seed: int = SEED
    guards: Sequence[Mapping[str, Any]] = ()
    max_ms: int | None = None
    estimates: bool = False
    name: str = ""


@dataclass(frozen=True)
class StudyPlan:
    """What a study would do, before it starts.

    queries, units: that would be searched and, of these, independent ones; unscored: others of the case; sealed: that are left out.
    trials: the parent included. unchanging: names of knobs that change no request of a few queries.
    detectable: points that so many queries find four times in five, if differences vary as they usually do.
    ms: a search takes, from the last run on the endpoint; `DEFAULT_MS` if there is none, and is_measured is False.
    probes: settings under which the engine explains the scores of each query.
    """

    case_queries: Sequence[CaseQuery]
    units: IntArray | None
    unscored: int
    sealed: Sequence[CaseQuery]
    trials: int
    unchanging: Sequence[str]
    ms: float
    is_measured: bool
    parallel: int
    per_minute: int | None
    probes: int

    @property
    def queries(self) -> int:
        return len(self.case_queries)

    @property
    def independent(self) -> int:
        return self.queries if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def requests(self) -> int:
        """At most: equal requests are sent once, and trials that cannot win are given up."""
        return (self.trials + self.probes) * self.queries

    @property
    def minutes(self) -> float:
        """At most, with searches that take `ms` and within the limits of the endpoint."""
        seconds = self.requests * self.ms / 1000 / max(1, self.parallel)
        return max(seconds / 60, self.requests / self.per_minute if self.per_minute else 0.0)

    @cached_property
    def detectable(self) -> float | None:
        return detectable_difference(TYPICAL_DEVIATION, self.independent) if self.independent > 1 else None


def plan_study(*, case: Case, parent: Attempt, version: ScorerVersion, settings: StudySettings) -> StudyPlan:
    """Returns what a study would do. Renders a few requests; sends none.

    Raises `ValidationError`, by field, if it could not be started.
    """
    space = _check_space(settings, parent)
    _check_scorer(case, version)
    if not 2 <= settings.trials <= MAX_TRIALS:
        raise ValidationError({"trials": f"A study makes 2 to {MAX_TRIALS:,} trials, not {settings.trials:,}."})
    adapter = engines.find(parent.endpoint.engine)
    if settings.estimates and (texts := [knob.name for knob in space.knobs if knob.is_text]):
        raise ValidationError(
            {
                "estimates": f"Settings cannot be estimated: knob {texts[0]} chooses between texts, which are no weights of a sum. "
                "Leave it out, or search without estimates."
            }
        )
    if settings.estimates and adapter is not None and not adapter.abilities.explain_many:
        raise ValidationError(
            {
                "estimates": f"{adapter.label} does not explain scores, so settings cannot be estimated without searching."
            }
        )
    present = list(case.case_queries.present().filter(weight__gt=0).select_related("query").order_by("position", "pk"))
    free, sealed = sealed_queries.split(case, present)
    _check_guards(free, settings.guards)
    case_queries = _choose_scoreable(case, version, parent.depth, free)
    units = _number_units(case_queries)
    endpoint, trials = parent.endpoint, count_trials(space, settings.trials)
    last = plan_trial(space, settings.trials, trials - 1, estimates=settings.estimates)
    measured_ms = _measured_ms(parent)
    plan = StudyPlan(
        case_queries=case_queries,
        units=units,
        unscored=len(free) - len(case_queries),
        sealed=sealed,
        trials=trials,
        unchanging=_find_unchanging(parent, space, case_queries[:TRIED_QUERIES]),
        ms=DEFAULT_MS if measured_ms is None else measured_ms,
        is_measured=measured_ms is not None,
        parallel=min(endpoint.parallel, runs.max_requests(endpoint)),
        per_minute=endpoint.per_minute,
        probes=len(list_probes(space, parent.knobs, settings.seed)) if last.origin == Origin.ESTIMATED else 0,
    )
    if plan.independent < MIN_QUERIES:
        linked = " independent" if plan.independent < plan.queries else ""
        besides = f", besides {len(plan.sealed):,} sealed ones" if plan.sealed else ""
        raise ValidationError(
            f"{plan.independent}{linked} queries of the case have ratings that {version.scorer} can score{besides}"
            + f"; a study needs {MIN_QUERIES}. With fewer, the best of many settings is best by luck. Rate more queries first."
        )
    if plan.queries > MAX_QUERIES:
        raise ValidationError(
            f"A study searches at most {MAX_QUERIES:,} queries, and {plan.queries:,} of the case can be scored. Make a case of a "
            "sample of them."
        )
    if len(plan.sealed) > MAX_QUERIES:
        raise ValidationError(
            f"{len(plan.sealed):,} queries are sealed; at most {MAX_QUERIES:,} can be opened. Seal fewer of them."
        )
    return plan


def create(*, case: Case, parent: Attempt, version: ScorerVersion, settings: StudySettings, by: User) -> Study:
    """Stores a study, which waits for a worker. Enqueue `tasks.study_chunk` then. Raises `ValidationError`."""
    if reason := runs.why_not_usable(case=case, endpoint=parent.endpoint, by=by):
        raise ValidationError(reason)
    plan = plan_study(case=case, parent=parent, version=version, settings=settings)
    if len(plan.unchanging) == len(settings.knobs):
        raise ValidationError({"knobs": describe_unchanging(plan.unchanging)})
    study = Study(
        case=case,
        name=settings.name,
        parent=parent,
        version=version,
        config=config_of(parent),
        rows=runs.depth_of(case, parent.depth),
        space=Space(tuple(settings.knobs)).to_json(),
        trials_wanted=settings.trials,
        max_requests=settings.max_requests,
        max_minutes=settings.max_minutes,
        seed=settings.seed,
        guards=[dict(guard) for guard in settings.guards],
        max_ms=settings.max_ms,
        estimates=settings.estimates,
        query_ids=[case_query.query_id for case_query in plan.case_queries],
        weights=[case_query.weight for case_query in plan.case_queries],
        units=None if plan.units is None else plan.units.tolist(),
        sealed_tag=sealed_queries.read_tag(case) if plan.sealed else "",
        sealed_query_ids=[case_query.query_id for case_query in plan.sealed],
        sealed_weights=[case_query.weight for case_query in plan.sealed],
        sealed_units=None if (units := _number_units(plan.sealed)) is None else units.tolist(),
        created_by=by,
    )
    entered = {"name", "seed", "max_requests", "max_minutes", "max_ms"}
    study.clean_fields(exclude={item.name for item in Study._meta.fields} - entered)
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        study.number = _next_number(case)
        study.save()
        record(study, CREATED, by)
    return study


def _next_number(case: Case) -> int:
    """Returns a number that no study of a case has had: attempts and openings name deleted ones. case: is locked.

    The log of the case has a line for each study that was started, and is never pruned.
    """
    started = Activity.objects.filter(case=case, verb=CREATED).count()
    return max(started + 1, runs.attempts.next_number(case.studies))


def stop(*, study: Study, by: User) -> None:
    """Lets a study end; what it has found stays. A worker ends it within seconds."""
    if Study.objects.active().filter(pk=study.pk, stop_requested=False).update(stop_requested=True):
        record(study, STOPPED, by)


def go_on(*, study: Study, by: User, more_trials: int = 0) -> None:
    """Lets a study that has ended go on, with its former trials. Enqueue `tasks.study_chunk` then.

    more_trials: that it makes beyond its budget. If that of requests or minutes is used, it no longer limits the study, and these
    are beyond the trials that have been made; of a grid, all that are left. Raises `ValidationError`, also if there is nothing to do.
    """
    if reason := runs.why_not_usable(case=study.case, endpoint=study.parent.endpoint, by=by):
        raise ValidationError(reason)
    if not more_trials and (reason := why_not_gone_on(study)):
        raise ValidationError({"more_trials": reason})
    ended = Study.objects.exclude(status__in=Study.ACTIVE_STATUSES).filter(pk=study.pk)
    changes = {"status": Study.Status.WAITING, "stop_requested": False, "reason": "", "finished_at": None}
    if not ended.update(**changes, **_extend(study, more_trials), worker_restarts=0, created_by=by):
        raise ValidationError(f"{study} is {study.status} already.")
    record(study, CONTINUED, by)


def _extend(study: Study, more_trials: int) -> dict[str, int | None]:
    """Returns the budget of a study with more trials. Raises `ValidationError`."""
    if more_trials == 0:
        return {}
    made, total, size = study.trials.count(), count_trials(study.knobs, study.trials_wanted), study.knobs.grid_size
    budget: dict[str, int | None] = {"max_requests": None, "max_minutes": None} if study.used_budget else {}
    if total - 1 == size:
        if made >= total:
            raise ValidationError("All settings of this study have been tried.")
        return budget
    wanted = (made if study.used_budget else study.trials_wanted) + more_trials
    if more_trials < 0 or wanted > MAX_TRIALS:
        raise ValidationError(f"A study makes at most {MAX_TRIALS:,} trials.")
    if count_trials(study.knobs, wanted) < wanted:
        raise ValidationError(
            f"There are only {size:,} settings. Start a study of {wanted:,} trials, which tries all of them."
        )
    return budget | {"trials_wanted": wanted}


def why_not_gone_on(study: Study) -> str:
    """Returns why a study that has ended would do nothing if it went on without more trials; an empty string if it would."""
    if SealedOpening.objects.filter(study=study, finished_at=None).exists():
        return ""
    trials = study.trials.count()
    if study.used_budget and trials > 1:
        return f"{study.used_budget} Say how many more trials {study} makes."
    if trials >= count_trials(study.knobs, study.trials_wanted) and not study.trials.filter(stopped=True).exists():
        return f"{study} has made all of its {counted(trials, 'trial')}. Say how many more it makes."
    return ""


def choose_opened(study: Study) -> int:
    """Returns the number of the trial that the sealed queries are opened for unless another one is named: the choice of the study, or
    the best; 0 if none is better than the parent."""
    return int(study.findings.get("choice") or study.findings.get("winner") or 0)


def why_not_opened(study: Study) -> str:
    """Returns why the sealed queries of a study cannot be opened; an empty string if they can."""
    if not study.sealed_query_ids:
        return f"No queries were sealed when {study} started."
    if study.status != Study.Status.COMPLETE:
        return f"{study} is {study.status}. Its sealed queries can be opened once it is complete."
    if not choose_opened(study):
        return "No setting is better than the attempt, so there is nothing to open the sealed queries for."
    return ""


def open_sealed(*, study: Study, by: User, trial: int | None = None) -> SealedOpening:
    """Opens the sealed queries of a complete study for the chosen or the best trial. Returns the present opening if there is one: it
    is never searched again. Enqueue `tasks.study_chunk` then.

    Raises `ValidationError`, for another trial and if `by` may not use the endpoint.
    """
    present = SealedOpening.objects.filter(study=study).first()
    if present is not None:
        return present
    if reason := runs.why_not_usable(case=study.case, endpoint=study.parent.endpoint, by=by):
        raise ValidationError(reason)
    if reason := why_not_opened(study):
        raise ValidationError(reason)
    number = choose_opened(study) if trial is None else trial
    possible = {study.findings["choice"], study.findings["winner"]} - {0}
    if number not in possible:
        chosen = " or ".join(f"trial {other}" for other in sorted(possible))
        raise ValidationError({"trial": f"The sealed queries can be opened for {chosen}, not for trial {number}."})
    opening = sealed_queries.build_opening(study, number, by)
    with transaction.atomic():
        complete = Study.objects.filter(pk=study.pk, status=Study.Status.COMPLETE)
        changes = {"status": Study.Status.WAITING, "stop_requested": False, "finished_at": None}
        if not complete.update(**changes, worker_restarts=0, created_by=by):
            raise ValidationError(f"{study} has been continued or opened by another user. Reload its page.")
        opening.save()
        record(study, OPENED, by)
    return opening


def delete(*, study: Study, by: User) -> None:
    """Deletes a study with its trials. Attempts that were made of it stay, and that its sealed queries were opened.

    Raises `ValidationError` while it is active.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.is_active:
            raise ValidationError(f"{study} is {locked.status}. Stop it first.")
        record(study, DELETED, by)
        locked.delete()


def adopt(*, study: Study, trial: StudyTrial, by: User) -> Attempt:
    """Makes an attempt of a trial, a child of the study's parent, with the evidence of now. Returns the present one if there is one.

    Raises `ValidationError`, for a trial that failed and if `by` may not use the endpoint.
    """
    if trial.error or trial.stopped or trial.number == 0:
        raise ValidationError(
            f"{trial} cannot be made an attempt: it has not been searched for all queries, or is the parent."
        )
    present = study.made_attempts.filter(trial=trial.number).select_related("attempt").first()
    if present is not None:
        return present.attempt
    with transaction.atomic():
        # A copy, because an attempt that has never been run would be changed itself.
        attempt = runs.attempts.save(
            case=study.case,
            endpoint=study.parent.endpoint,
            template=study.parent.template,
            by=by,
            parent=runs.attempts.duplicate(attempt=study.parent, by=by),
            fields=study.parent.fields,
            knobs={**study.parent.knobs, **trial.settings},
            depth=study.parent.depth,
            escape=study.parent.escape,
            name=f"{study}, trial {trial.number}",
        )
        sentence = str(study.findings.get("sentence", ""))
        trials = study.trials.count()
        StudyAttempt.objects.update_or_create(
            attempt=attempt,
            defaults={
                "study": study,
                "trial": trial.number,
                "tried": trials - 1,
                "sentence": sentence,
                "created_by": by,
            },
        )
        opening = SealedOpening.objects.filter(study=study, trial=trial.number).first()
        sentences = [sentence, *([opening.result.get("sentence", "")] if opening else [])]
        note = f"From study {study.number}, trial {trial.number} of {trials}, seed {study.seed}. {' '.join(sentences)}"
        runs.attempts.describe(attempt=attempt, note=note[:2000], by=by)
        record(study, ADOPTED, by, subject=f"attempt {attempt.number} of study {study.number}")
    return attempt


def count_settings_tried(attempt_ids: Collection[int]) -> int:
    """Returns how many settings studies have tried to find attempts, besides these attempts. One SQL statement.

    Trials of one study count once, unless it was deleted: then its attempts are not known to belong together.
    """
    tried: dict[object, list[int]] = {}
    made = StudyAttempt.objects.filter(attempt__in=attempt_ids).order_by()
    for attempt_id, study_id, count in made.values_list("attempt", "study", "tried"):
        tried.setdefault(study_id or ("attempt", attempt_id), []).append(count)
    return sum(max(0, max(counts) - len(counts)) for counts in tried.values())


# --- workers ---


def continue_study(study_id: int, *, seconds: float = CHUNK_SECONDS) -> bool:
    """Works on a study for some seconds. Returns whether it is to be gone on with at once.

    Does nothing if it has ended, if another worker works on it, or while all requests of the endpoint are in use.

    An error of the database is raised, and another worker tries again, until `runs.MAX_WORKER_RESTARTS` in a row have had one. With any
    other unexpected error the study fails at once: it would only happen again.
    """
    study = _claim(study_id)
    if study is None:
        return False
    restarts: int | Combinable = 0
    try:
        StudyWork(study, seconds=seconds).work()
    except StudyEnded as ended:
        _end(study, ended.status, ended.reason)
        return False
    except LeaseLost:
        return False
    except UnreadableSecret as error:
        _end(study, Study.Status.FAILED, str(error))
        return False
    except DATABASE_ERRORS:
        restarts = F("worker_restarts") + 1
        raise
    except Exception as error:
        log.exception("Study %s ended with an unexpected error.", study_id)
        _end(study, Study.Status.FAILED, describe_unexpected(error))
        return False
    finally:
        leased = Study.objects.filter(pk=study.pk, claimed_by=study.claimed_by)
        leased.update(claimed_by="", slots=0, worker_restarts=restarts)
    return True


def describe_unexpected(error: Exception) -> str:
    """Returns what has become of a study that an unexpected error ended, in sentences."""
    return (
        f"An unexpected error ({type(error).__name__}) has ended the study; the log of the worker has the details. Its trials are "
        "kept. “Continue” tries again from there."
    )


def _claim(study_id: int) -> Study | None:
    endpoint = Endpoint.objects.filter(attempts__studies=study_id).only("engine", "parallel")
    active = Study.objects.active().filter(pk=study_id)
    if not runs.take_lease(active, endpoint, holder(study_id), status=Study.Status.RUNNING):
        return None
    related = ("case__book", "case__owner", "parent__endpoint__owner", "parent__case", "version__scorer", "created_by")
    study: Study = Study.objects.select_related(*related).get(pk=study_id)
    return study


def holder(study_id: int) -> str:
    """Returns the name under which a study holds requests of an endpoint."""
    return f"study {study_id}"


def held_requests(endpoint: Endpoint) -> Mapping[str, int]:
    """Returns how many requests at a time studies send to an endpoint."""
    at_work = Study.objects.filter(parent__endpoint=endpoint).exclude(runs.is_idle())
    return {holder(pk): slots for pk, slots in at_work.values_list("pk", "slots")}


def _end(study: Study, status: Study.Status, reason: str) -> None:
    ended = Study.objects.active().filter(pk=study.pk, claimed_by=study.claimed_by)
    if ended.update(status=status, reason=reason, finished_at=timezone.now(), stop_requested=False):
        record(study, FAILED if status == Study.Status.FAILED else FINISHED, None, reason=reason)


def release_dead() -> None:
    """Takes studies from workers that have sent no heartbeat for too long. One at which too many workers in a row have died, or have
    lost the database, fails."""
    for study in runs.release_dead(Study.objects.active(), slots=0):
        reason = (
            f"{runs.MAX_WORKER_RESTARTS} workers in a row stopped unexpectedly during this study, or could not reach the database. Its "
            "trials are kept. Check the log of the worker, then continue the study."
        )
        _end(study, Study.Status.FAILED, reason)


def waiting_studies() -> list[int]:
    """Returns the ids of the studies that a worker should go on with."""
    return list(Study.objects.active().filter(runs.is_idle()).order_by("pk").values_list("pk", flat=True))


def record(study: Study, verb: str, by: User | None, *, subject: str = "", reason: str = "") -> None:
    activity.record(
        verb, case=study.case_id, by=by, subject=subject or f"study {study.number}", object_id=study.pk, reason=reason
    )


# --- what is searched ---


def _number_units(case_queries: Sequence[CaseQuery]) -> IntArray | None:
    """Returns [queries] the number of each query's unit, linked ones together; None if no queries are linked."""
    numbers: dict[object, int] = {}
    units = [
        numbers.setdefault(
            ("single", place) if case_query.query.link_id is None else case_query.query.link_id, len(numbers)
        )
        for place, case_query in enumerate(case_queries)
    ]
    return np.array(units, np.int64) if len(numbers) < len(units) else None


def _check_space(settings: StudySettings, parent: Attempt) -> Space:
    try:
        space = Space(tuple(settings.knobs))
    except SpaceError as error:
        raise ValidationError({"knobs": str(error)}) from None
    if unknown := [knob.name for knob in space.knobs if knob.name not in parent.knobs]:
        known = ", ".join(parent.knobs) or "none"
        raise ValidationError(
            {
                "knobs": f"Attempt {parent.number} has no knob {unknown[0]}. Its knobs are: {known}. Write ##name## into its template."
            }
        )
    for knob in space.knobs:
        _check_texts(knob, parent)
    return space


def _check_texts(knob: Knob, parent: Attempt) -> None:
    """Refuses texts that no attempt can have, and a knob that is or becomes a text without its present value among its values: what is
    chosen from includes the parent."""
    now = parent.knobs[knob.name]
    for value in knob.choices:
        runs.attempts.clean_knob(knob.name, value)
    if (knob.is_text or isinstance(now, str)) and now not in knob.values:
        values = write_choices((now, *knob.choices))
        raise ValidationError(
            {
                "knobs": f"Knob {knob.name} is {engines.knob_text(now)} in attempt {parent.number}. Give single values, and this among "
                f"them: {knob.name}={values}{'' if knob.choices else ',…'}"
            }
        )


def _check_scorer(case: Case, version: ScorerVersion) -> None:
    if version.script:
        raise ValidationError(
            {
                "scorer": f"{version.scorer} is a script. A study needs a measure, which scores thousands of rankings within seconds."
            }
        )
    try:
        scoring.parse_measure(version.measure)
    except scoring.MeasureError as error:
        raise ValidationError({"scorer": str(error)}) from None


def _check_guards(case_queries: Sequence[CaseQuery], guards: Sequence[Mapping[str, Any]]) -> None:
    for guard in guards:
        fall = guard.get("max_fall")
        if not isinstance(fall, int | float) or isinstance(fall, bool) or not 0 <= fall <= 100:
            raise ValidationError({"guards": f"A guard allows a fall of 0 to 100 points, not {fall!r}."})
        tag = guard.get("tag", "")
        if tag and not any(tag in (case_query.query.tags or ()) for case_query in case_queries):
            raise ValidationError({"guards": f"No query that the study may search has the tag “{tag}”."})


def _choose_scoreable(case: Case, version: ScorerVersion, depth: int, case_queries: list[CaseQuery]) -> list[CaseQuery]:
    """Returns the queries that can be scored."""
    if version.count_unscoreable_as_zero or not case_queries:
        return case_queries
    grades = scores.known_grades(case.book, [case_query.query_id for case_query in case_queries])
    known = [grades[case_query.query_id] for case_query in case_queries]
    measure, scale = scoring.parse_measure(version.measure), scores.scale_of(case.book)
    is_scoreable = score_best(measure, version, depth, scale, known).is_scoreable
    return [case_query for case_query, scoreable in zip(case_queries, is_scoreable, strict=True) if scoreable]


def config_of(parent: Attempt) -> dict[str, Any]:
    """Returns the `config` of a study: that of a run of the parent, which displays nothing but ids."""
    config = runs.snapshot_config(parent)
    return {**config, "fields": f"id:{runs.field_spec(config).id}"}


def _find_unchanging(parent: Attempt, space: Space, case_queries: Sequence[CaseQuery]) -> list[str]:
    """Returns the names of the knobs whose lowest and highest values lead to the same requests."""
    config = config_of(parent)
    try:
        with endpoints.connect(parent.endpoint) as engine:

            def digests(name: str, value: engines.KnobValue) -> list[bytes]:
                builder = runs.RequestBuilder({**config, "knobs": {**config["knobs"], name: value}}, parent.depth)
                return [digest_of(engine, request) for request in builder.requests(case_queries)]

            return [
                knob.name
                for knob in space.knobs
                if case_queries and digests(knob.name, knob.value(0.0)) == digests(knob.name, knob.value(1.0))
            ]
    except engines.EngineError as error:
        raise ValidationError(str(error)) from None


def describe_plan(plan: StudyPlan) -> list[str]:
    """Returns what a study would do and could find, in sentences."""
    linked = f", {plan.independent:,} of them independent" if plan.independent < plan.queries else ""
    rate = (
        "at the rate of the last run"
        if plan.is_measured
        else f"if a search takes {plan.ms:g} ms, which no run has measured yet"
    )
    left_out = f" {counted(plan.unscored, 'query', 'queries')} of the case cannot be scored." if plan.unscored else ""
    minutes = "less than a minute" if plan.minutes < 1 else counted(math.ceil(plan.minutes), "minute")
    detectable = format_rounded(plan.detectable or 0.0, 0)
    unchanging = describe_unchanging(plan.unchanging)
    probes = f", {plan.probes * plan.queries:,} of them for explanations of scores" if plan.probes else ""
    return [
        f"{plan.trials:,} trials of {counted(plan.queries, 'query', 'queries')}{linked}: at most {plan.requests:,} requests{probes}, "
        f"{minutes} {rate}.{left_out}",
        f"{plan.independent:,} queries find a difference of about {detectable} points or more; tuning on them will look better than "
        "it is.",
        *([describe_sealed(len(plan.sealed))] if plan.sealed else []),
        *([unchanging] if unchanging else []),
    ]


def describe_sealed(count: int) -> str:
    """Returns what becomes of the sealed queries of a study, in a sentence."""
    is_one = count == 1
    return (
        f"{counted(count, 'query is', 'queries are')} sealed and left out. {'It' if is_one else 'They'} can be opened once, when the "
        "study is complete."
    )


def describe_unchanging(names: Sequence[str]) -> str:
    """Returns which knobs change no request, in a sentence; empty for none."""
    if not names:
        return ""
    knobs = f"Knob {names[0]} changes" if len(names) == 1 else f"Knobs {', '.join(names)} change"
    return f"{knobs} no request: the engine is asked the same with the lowest and the highest value. Leave out what changes nothing."


def _measured_ms(parent: Attempt) -> float | None:
    """Returns how long a search takes, by the last complete run on the endpoint, in milliseconds; None if there is none."""
    last = Run.objects.filter(attempt__endpoint=parent.endpoint, status=Run.Status.COMPLETE, done__gt=0, seconds__gt=0)
    run = last.order_by("-pk").only("seconds", "done", "done_before").first()
    if run is None:
        return None
    parallel = min(parent.endpoint.parallel, runs.max_requests(parent.endpoint))
    return 1000 * run.seconds * parallel / max(1, run.done)
