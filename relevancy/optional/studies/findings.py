"""What a study has found, from the scores of its trials: everything that its page, the API and the command say.

Definitions: docs/studies.md. Nothing here asks the engine, so that ratings made later change the findings within seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from relevancy import comparison
from relevancy.engines import KnobValue
from relevancy.models import Run
from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray
from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.statistics import TIE, Differences, compare_cross_fitted, find_interval
from relevancy.wording import counted

from . import sealed_queries
from .choice import Evidence
from .models import SealedOpening, Study, StudyAnswer, StudyTrial
from .samplers import count_trials
from .space import Knob, Settings
from .trial_scores import (
    SCORE,
    UNRATED,
    TrialScorer,
    build_evidence,
    considered_depth,
    positions_by_tag,
    read_scored,
    used_queries,
)

CLEARLY_DIFFERENT = 8.0  # standard errors: no interval reaches so far, so it is not computed
RESPONSE_BINS = 8
MAX_CARRIERS = 5
MAX_TO_SCORE = 5
OF_ESTIMATES = ("first", "proposals", "best")  # members of `Study.estimated` that `list_estimates` reads
ONLY_CHARTS = ("seen_curve", "cross_fitted_curve", "gains", "response", "plateau")


def update_findings(study: Study) -> dict[str, Any]:
    """Computes the findings and the result of an opening with the ratings of now, and stores them. Returns the findings."""
    found = store_findings(study, *read_scored(study))
    sealed_queries.update_result(study)
    return found


def store_findings(study: Study, scorer: TrialScorer, trials: Sequence[StudyTrial]) -> dict[str, Any]:
    """Stores and returns what trials show that have been scored with the ratings of now."""
    study.findings = build_findings(study, scorer, trials)
    Study.objects.filter(pk=study.pk).update(findings=study.findings)
    return study.findings


def build_findings(study: Study, scorer: TrialScorer, trials: Sequence[StudyTrial]) -> dict[str, Any]:
    """Returns the findings as JSON: points with all their digits, positions of trials by number. Empty before there is a parent.

    seen, gain, luck: of the choice on the queries that made it, what choosing like this gains on queries that did not, and the
    difference of both. low, high: the 95 % interval of the gain. proposed: the choice; the parent if no improvement is shown.
    winner: the trial with the best mean. plateau: all that cannot be told from it.
    unscored: trials that cannot be chosen, see `_find_unscored`. warnings: what is missing, in sentences.
    tags: see `_tag_gains`; seen: what the shown trial gains on their queries. tag_sentence: which of them gain and which lose.
    """
    if not trials:
        return {}
    is_used = used_queries(trials, scorer)
    if not is_used.any():
        return {}
    tags = positions_by_tag(study)
    evidence = build_evidence(study, trials, scorer, tags)
    choice, winner = int(evidence.seen_choices[-1]), evidence.best_trial()
    cross_fitted, interval = evidence.cross_fitted(), evidence.gain_interval()
    seen, gain = evidence.differences(choice).mean, cross_fitted.mean
    is_improvement = choice > 0 and interval is not None and interval.low > 0
    proposed = choice if is_improvement else 0
    estimated = _estimated_gains(evidence)
    tag_gains = _tag_gains(evidence, tags, is_used)
    findings: dict[str, Any] = {
        "trials": len(trials),
        "complete": int(evidence.is_complete.sum()),
        "stopped": sum(trial.stopped for trial in trials),
        "failed": sum(bool(trial.error) for trial in trials[1:]),
        "queries": int(is_used.sum()),
        "units": len(evidence.unit_weights),
        "seen": seen,
        "gain": gain,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "luck": seen - gain,
        "is_improvement": is_improvement,
        "winner": winner,
        "proposed": proposed,
        "plateau": _find_plateau(evidence, winner),
        "draws": len(evidence.folds),
        "parent_score": float(np.average(evidence.scores[0], weights=evidence.weights)),
        "choice": choice,
        "carriers": _name_carriers(study, cross_fitted, evidence, is_used),
        "seen_curve": evidence.seen_curve(),
        "cross_fitted_curve": evidence.cross_fitted_curve(),
        "gains": [None if np.isnan(gain) else gain for gain in estimated.tolist()],
        "response": _responses(study, trials, estimated),
        "importance": _importance(study, trials, estimated),
        "tags": [{**asdict(figures), "seen": _seen_gain(evidence, choice or winner, at)} for figures, at in tag_gains],
        "tag_sentence": comparison.describe_tags([figures for figures, _ in tag_gains]),
        "could_return": sum(
            trial.stopped and evidence.can_still_win(trial.values[SCORE][is_used], scorer.ceilings[is_used])
            for trial in trials
        ),
        **_find_unrated(study, scorer, trials, choice or winner, is_used, evidence),
        **_find_unscored(study, trials, estimated, is_used),
    }
    return {**findings, "sentence": describe(findings, study), "warnings": list(_warnings(findings, trials))}


def describe(findings: Mapping[str, Any], study: Study) -> str:
    """Returns what a study has found, in a sentence."""
    parent = f"attempt {study.parent.number}"
    settings = findings["trials"] - 1
    comparable = settings - findings["failed"] - len(findings["unscored"])
    if settings and not comparable:
        return f"None of {counted(settings, 'setting')} can be compared with {parent}."
    if findings["complete"] < 2:
        return "No other setting has been searched for all queries yet."
    if findings["choice"] == 0:
        return f"No improvement shown: none of {counted(comparable, 'setting')} stands out from {parent}."
    points = format_signed(findings["gain"], 1)
    ends = (
        f" ({format_signed(findings['low'], 1)} to {format_signed(findings['high'], 1)})"
        if findings["low"] is not None
        else ""
    )
    seen, luck = format_signed(findings["seen"], 1), format_rounded(abs(findings["luck"]), 1)
    if findings["luck"] >= TIE:
        of_it = f"{luck} of it is luck" if findings["gain"] >= TIE else "all of it is luck"
    elif findings["luck"] <= -TIE:
        of_it = f"{luck} less than on the others, which is chance"
    else:
        of_it = "none of it is luck"
    start = f"Better than {parent}" if findings["is_improvement"] else "No improvement shown"
    return (
        f"{start}: {points} points{ends} on queries that did not choose the setting; {seen} on those that did: {of_it}."
    )


def _warnings(findings: Mapping[str, Any], trials: Sequence[StudyTrial]) -> Iterator[str]:
    """Yields why settings cannot be chosen that were tried: searches failed, or nothing is rated of what they returned."""
    settings = len(trials) - 1
    if findings["failed"]:
        first = next(trial for trial in trials[1:] if trial.error)
        yield f"{findings['failed']:,} of {counted(settings, 'setting')} failed. Trial {first.number}: {first.error}"
    gains, unscored = findings["gains"], findings["unscored"]
    if unscored and gains[unscored[0]] is not None and gains[unscored[0]] > (gains[findings["winner"]] or 0.0) + TIE:
        yield (
            f"{counted(len(unscored), 'setting')} cannot be chosen, because nothing that {'it' if len(unscored) == 1 else 'they'} "
            f"returned for some query is rated. The best of them, trial {unscored[0]}, gains "
            f"{format_signed(gains[unscored[0]], 1)} points on the other queries."
        )


def _find_unscored(
    study: Study, trials: Sequence[StudyTrial], gains: FloatArray, is_used: BoolArray
) -> dict[str, list[Any]]:
    """Returns the trials that were searched and have no score of a query, the best on the other queries first, and for that one which
    documents to rate: the first that it returned for each such query, at most `MAX_TO_SCORE`."""
    missing = {
        trial.number: np.flatnonzero(is_used & ~np.isfinite(trial.values[SCORE]))
        for trial in trials
        if not trial.stopped and not trial.error
    }
    unscored = sorted(
        (number for number, positions in missing.items() if len(positions)),
        key=lambda number: -np.nan_to_num(gains[number], nan=-np.inf),
    )
    if not unscored:
        return {"unscored": [], "to_score": []}
    best, positions = unscored[0], missing[unscored[0]].tolist()
    (lists,) = _read_lists(study, [trials[best]], positions)
    first = {query_id: result.doc_ids[0] for query_id, result in lists.items() if result.doc_ids}
    texts = dict(study.case.case_queries.filter(query__in=first).values_list("query_id", "query__text"))
    to_score = [
        {"query_id": query_id, "query": texts[query_id], "doc_id": doc_id}
        for query_id, doc_id in first.items()
        if query_id in texts
    ]
    return {"unscored": unscored, "to_score": to_score[:MAX_TO_SCORE]}


def _find_plateau(evidence: Evidence, winner: int) -> list[int]:
    """Returns the trials that cannot be told from the winner: the interval of their difference contains 0."""
    everything = np.ones(len(evidence.unit_weights), np.bool_)
    found = []
    for trial in np.flatnonzero(evidence.eligible(everything, None)).tolist():
        differences = Differences(evidence.unit_scores[winner] - evidence.unit_scores[trial], evidence.unit_weights)
        error = differences.standard_error or 0.0
        if trial == winner or differences.are_zero:
            found.append(trial)
        elif error and abs(differences.mean) < CLEARLY_DIFFERENT * error:
            interval = find_interval(differences)
            if interval is None or interval.low <= 0 <= interval.high:
                found.append(trial)
    return found


def _name_carriers(
    study: Study, differences: Differences, evidence: Evidence, is_used: BoolArray
) -> list[dict[str, Any]]:
    """Returns the queries that make up most of the gain, largest first, at most `MAX_CARRIERS`."""
    used = np.array(study.query_ids)[is_used]
    first = [
        int(used[np.flatnonzero(evidence.unit_of_query == unit)[0]])
        for unit in differences.list_carriers()[:MAX_CARRIERS]
    ]
    texts = dict(study.case.case_queries.filter(query__in=first).values_list("query_id", "query__text"))
    return [{"query_id": query_id, "query": texts[query_id]} for query_id in first if query_id in texts]


def _estimated_gains(evidence: Evidence) -> FloatArray:
    """Returns [trials] by how much each differs from the parent on the queries that it was searched for; NaN for none."""
    differences = evidence.scores - evidence.scores[0]
    known = np.isfinite(differences)
    weights = known * evidence.weights
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, differences, 0.0) @ evidence.weights / np.where(total > 0, total, np.nan))


def _responses(study: Study, trials: Sequence[StudyTrial], gains: FloatArray) -> dict[str, list[dict[str, Any]]]:
    """Returns, for each knob, means of the trials with neighbouring values, or the same text, with their 95 % bands."""
    found: dict[str, list[dict[str, Any]]] = {}
    for knob in study.knobs.knobs:
        values = _numbers_of(knob, trials)
        rows = []
        for group in _bins(knob, values, gains):
            mean, error = float(gains[group].mean()), float(gains[group].std(ddof=1)) / len(group) ** 0.5
            rows.append(
                {
                    "value": knob.values[int(values[group[0]])] if knob.is_text else float(np.median(values[group])),
                    "mean": mean,
                    "low": mean - 1.96 * error,
                    "high": mean + 1.96 * error,
                }
            )
        found[knob.name] = rows
    return found


def _importance(study: Study, trials: Sequence[StudyTrial], gains: FloatArray) -> dict[str, float]:
    """Returns, for each knob, the part of the variance of the trials that its values explain alone: the correlation ratio η², less what
    so many groups explain by chance (ε², Kelley 1935)."""
    found = {}
    known = gains[np.isfinite(gains)]
    total = float(((known - known.mean()) ** 2).sum()) if len(known) else 0.0
    for knob in study.knobs.knobs:
        groups = _bins(knob, _numbers_of(knob, trials), gains)
        used = np.concatenate(groups) if groups else np.array([], np.int64)
        within = sum(float(((gains[group] - gains[group].mean()) ** 2).sum()) for group in groups)
        freedom = len(used) - len(groups)
        if freedom < 1 or total <= 0 or len(groups) < 2:
            found[knob.name] = 0.0
            continue
        found[knob.name] = max(0.0, 1.0 - within / freedom * (len(used) - 1) / total)
    return found


def _numbers_of(knob: Knob, trials: Sequence[StudyTrial]) -> FloatArray:
    """Returns [trials] the values of a knob; of texts their places."""
    values = [trial.settings[knob.name] for trial in trials]
    return np.array([knob.place(value) for value in values] if knob.is_text else values, np.float64)


def _bins(knob: Knob, values: FloatArray, gains: FloatArray) -> list[Any]:
    """Returns positions of trials with neighbouring values, or the same text, at least two in each group."""
    known = np.flatnonzero(np.isfinite(gains))
    distinct = np.unique(values[known])
    if knob.is_text or len(distinct) <= RESPONSE_BINS:
        groups = [known[values[known] == value] for value in distinct]
    else:
        groups = np.array_split(known[np.argsort(values[known], kind="stable")], RESPONSE_BINS)
    return [group for group in groups if len(group) > 1]


def _tag_gains(
    evidence: Evidence, tags: Mapping[str, Sequence[int]], is_used: BoolArray
) -> list[tuple[comparison.TagDifference, IntArray]]:
    """Returns what choosing gains on the queries with each tag that have not chosen, the surest first, with their positions in the
    evidence: of the tags that most queries have. p is corrected for all of them. A query with several tags counts for each."""
    place = np.cumsum(is_used) - 1
    positions = {tag: place[[position for position in at if is_used[position]]] for tag, at in tags.items()}
    chosen = sorted((tag for tag in positions if len(positions[tag])), key=lambda tag: (-len(positions[tag]), tag))
    del chosen[comparison.MAX_TAGS :]
    gains = compare_cross_fitted([evidence.draws_of(positions[tag]) for tag in chosen])
    rows = [
        comparison.TagDifference(tag, len(positions[tag]), gain.gain, gain.interval, gain.p, gain.p_holm)
        for tag, gain in zip(chosen, gains, strict=True)
    ]
    return [(figures, positions[figures.tag]) for figures in sorted(rows, key=lambda figures: figures.order)]


def _seen_gain(evidence: Evidence, trial: int, at: IntArray) -> float:
    """Returns by how much a trial is better than the parent on some queries, which may have chosen it."""
    return float(np.average(evidence.scores[trial][at] - evidence.scores[0][at], weights=evidence.weights[at]))


def _find_unrated(
    study: Study,
    scorer: TrialScorer,
    trials: Sequence[StudyTrial],
    trial: int,
    is_used: BoolArray,
    evidence: Evidence,
) -> dict[str, Any]:
    """Returns how much of the results is unrated, from where to where the difference of a trial can move once everything is rated, and
    which documents to rate first."""
    considered = considered_depth(study)
    shares = [
        float(item.values[UNRATED][is_used].mean()) / considered if considered else 0.0
        for item in (trials[0], trials[trial])
    ]
    found: dict[str, Any] = {"unrated": {"parent": shares[0], "trial": shares[1], "number": trial}, "to_rate": []}
    if trial == 0 or not comparison.has_exact_range(study.version):
        return found
    run = Run(case=study.case, attempt=study.parent, config=study.config, rows=study.rows)
    run_scorer = comparison.RunScorer.build([run, run], study.version)
    positions = np.flatnonzero(is_used).tolist()
    lists = _read_lists(study, [trials[0], trials[trial]], positions)
    query_ids = [study.query_ids[position] for position in positions]
    grades = [scorer.grades[position] for position in positions]
    low, high = comparison.score_ranges(
        run_scorer, [[of_trial[query_id].doc_ids for query_id in query_ids] for of_trial in lists], grades
    )
    lowest, highest = low[:, 1] - high[:, 0], high[:, 1] - low[:, 0]
    same = np.array([lists[0][query_id].doc_ids == lists[1][query_id].doc_ids for query_id in query_ids])
    lowest, highest = np.where(same, 0.0, lowest), np.where(same, 0.0, highest)
    weights = dict(zip(query_ids, evidence.weights.tolist(), strict=True))
    found["bounds"] = [float(np.average(ends, weights=evidence.weights)) for ends in (lowest, highest)]
    planner = comparison.RatingPlanner(lambda ids: lists, run_scorer, weights)
    plan = planner.plan(dict(zip(query_ids, (highest - lowest).tolist(), strict=True)))
    texts = dict(
        study.case.case_queries.filter(query__in={document.query_id for document in plan.documents}).values_list(
            "query_id", "query__text"
        )
    )
    found["to_rate"] = [
        {
            "query_id": document.query_id,
            "query": texts.get(document.query_id, ""),
            "doc_id": document.doc_id,
            "rank_parent": document.rank_a,
            "rank_trial": document.rank_b,
            "change": document.change,
        }
        for document in plan.documents
    ]
    found["width"], found["width_after"] = plan.width, plan.width_after
    return found


def _read_lists(
    study: Study, trials: Sequence[StudyTrial], positions: Sequence[int]
) -> list[dict[int, comparison.ResultList]]:
    """Returns the rankings of trials, `{query id: result list}` each."""
    wanted = {int(trial.answer_ids[position]) for trial in trials for position in positions}
    answers = {answer.pk: answer for answer in StudyAnswer.objects.filter(study=study, pk__in=wanted)}
    return [
        {
            study.query_ids[position]: comparison.ResultList(
                answers[int(trial.answer_ids[position])].doc_ids, answers[int(trial.answer_ids[position])].took_ms
            )
            for position in positions
        }
        for trial in trials
    ]


def summarize(study: Study) -> dict[str, Any]:
    """Returns a study and what it has found as JSON, without what only draws its charts."""
    found = {name: value for name, value in study.findings.items() if name not in ONLY_CHARTS}
    settings = dict(study.trials.values_list("number", "settings"))
    return {
        "id": study.pk,
        "number": study.number,
        "name": study.name,
        "case_id": study.case_id,
        "attempt": study.parent.number,
        "scorer": str(study.version.scorer),
        "knobs": [str(knob) for knob in study.knobs.knobs],
        "seed": study.seed,
        "status": str(study.status),
        "reason": study.reason,
        "trials_wanted": count_trials(study.knobs, study.trials_wanted),
        "trials_done": len(settings),
        "requests": study.requests,
        "seconds": round(study.seconds, 3),
        "sentence": found.pop("sentence", ""),
        "is_improvement": found.pop("is_improvement", False),
        "parent_settings": study.parent_settings,
        "best_settings": settings.get(found.get("winner", -1)),
        "proposed_settings": settings.get(found.get("proposed", -1)),
        "sealed": len(study.sealed_query_ids),
        "opening": summarize_opening(SealedOpening.objects.filter(study=study).select_related("opened_by").first()),
        "estimates": study.estimates,
        "estimated": {name: value for name, value in study.estimated.items() if name not in OF_ESTIMATES},
        "findings": found,
    }


def list_estimates(study: Study) -> list[dict[str, Any]]:
    """Returns the best settings that were estimated, `{settings, gain, trial}`: the points that they seemed to gain with the ratings of
    then, and the number of the trial that searched them; None for most. Empty without estimates."""
    first = study.estimated.get("first", 0)
    searched = {
        _key(proposal["settings"]): first + place
        for place, proposal in enumerate(study.estimated.get("proposals", ()))
        if proposal
    }
    return [{**row, "trial": searched.get(_key(row["settings"]))} for row in study.estimated.get("best", ())]


def _key(settings: Settings) -> tuple[tuple[str, KnobValue], ...]:
    return tuple(sorted(settings.items()))


def summarize_opening(opening: SealedOpening | None) -> dict[str, Any] | None:
    """Returns an opening of sealed queries and its result as JSON; None for none."""
    if opening is None:
        return None
    return {
        "study": opening.study_number,
        "tag": opening.tag,
        "trial": opening.trial,
        "settings": opening.settings,
        "opened_by": str(opening.opened_by),
        "opened_at": opening.opened_at.isoformat(),
        "is_finished": opening.finished_at is not None,
        "searched_by": opening.searched_by,
        "unsealed": opening.unsealed,
        "sentence": "",
        **opening.result,
    }
