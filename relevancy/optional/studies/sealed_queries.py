"""Sealed queries of a case: no study searches them. For each study they are opened once, for its parent and one of its trials.

An opening keeps the rankings, so that ratings made later change its result without the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from relevancy import activity, comparison
from relevancy.models import Case, CaseQuery, User
from relevancy.scoring.arrays import IntArray
from relevancy.statistics import Differences, PairedComparison, Verdict, compare_paired
from relevancy.wording import counted

from .models import SealedOpening, SealedTag, Study, StudyAnswer
from .trial_scores import SCORE, UNRATED, TrialScorer, considered_depth

SEALED, UNSEALED = "study.sealed", "study.unsealed"


def read_tag(case: Case) -> str:
    """Returns the tag of the sealed queries of a case; empty if none are sealed."""
    return SealedTag.objects.filter(case=case).values_list("tag", flat=True).first() or ""


def set_tag(*, case: Case, tag: str, by: User) -> None:
    """Seals the queries of a case with a tag, instead of those that were sealed before; an empty one seals none.

    Studies that have started stay as they are. Raises `ValidationError` if no query of the case has the tag.
    """
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        former = read_tag(case)
        if tag == former:
            return
        if tag and not case.case_queries.present().tagged(tag).exists():
            raise ValidationError({"tag": f"No query of the case has the tag “{tag}”. Tag the queries first."})
        if tag:
            seal(case=case, tag=tag, by=by)
        else:
            SealedTag.objects.filter(case=case).delete()
            activity.record(UNSEALED, case=case, by=by, subject=former)


def seal(*, case: Case, tag: str, by: User) -> None:
    """Seals the queries of a case with a tag, even if no query has it any more."""
    SealedTag.objects.update_or_create(case=case, defaults={"tag": tag})
    activity.record(SEALED, case=case, by=by, subject=tag)


def find_sealed(case: Case) -> set[int]:
    """Returns the ids of the sealed queries of a case: those with the tag, and those that are linked with one of them, because variants
    of a query gain and lose together."""
    tag = read_tag(case)
    if not tag:
        return set()
    present = case.case_queries.present()
    rows = list(present.tagged(tag).values_list("query_id", "query__link"))
    links = {link for _, link in rows if link is not None}
    linked = present.filter(query__link__in=links).values_list("query_id", flat=True) if links else ()
    return {*(query_id for query_id, _ in rows), *linked}


def split(case: Case, case_queries: list[CaseQuery]) -> tuple[list[CaseQuery], list[CaseQuery]]:
    """Returns the queries that studies may search, and the sealed ones, in their order."""
    sealed = find_sealed(case)
    return (
        [case_query for case_query in case_queries if case_query.query_id not in sealed],
        [case_query for case_query in case_queries if case_query.query_id in sealed],
    )


def build_opening(study: Study, trial: int, by: User) -> SealedOpening:
    """Returns an unsaved opening of the sealed queries of a study for a trial, with what has become of them since it started."""
    sealed = set(study.sealed_query_ids)
    others = Study.objects.filter(case=study.case_id).exclude(pk=study.pk).order_by("number")
    return SealedOpening(
        case_id=study.case_id,
        study=study,
        study_number=study.number,
        tag=study.sealed_tag,
        trial=trial,
        settings=study.trials.values_list("settings", flat=True).get(number=trial),
        searched_by=[
            number
            for number, query_ids in others.values_list("number", "query_ids").iterator(chunk_size=20)
            if sealed.intersection(query_ids)
        ],
        unsealed=len(sealed - find_sealed(study.case)),
        opened_by=by,
    )


def finish_opening(opening: SealedOpening, answer_ids: IntArray) -> None:
    """Stores the answers of an opening with their result. answer_ids: [2 × queries], see `SealedOpening.answers`."""
    opening.answers = answer_ids.astype("<i8").tobytes()
    opening.result = _score(opening)
    opening.finished_at = timezone.now()
    opening.save(update_fields=["answers", "result", "finished_at"])


def update_result(study: Study) -> None:
    """Scores the opening of a study, if it has one, with the ratings of now."""
    opening = SealedOpening.objects.filter(study=study, finished_at__isnull=False).first()
    if opening is not None:
        opening.study = study
        opening.result = _score(opening)
        opening.save(update_fields=["result"])


def _score(opening: SealedOpening) -> dict[str, Any]:
    """Returns the difference of the trial from the parent as JSON, in points: on the queries of the case that both have a score of.

    left_out: other sealed queries. low, high: the 95 % interval, as that of a comparison. unrated: the parts of the results that the
    scorer considers, of the parent and of the trial.
    """
    study = opening.study
    assert study is not None
    scorer = TrialScorer.read(study, study.sealed_query_ids)
    first = len(study.query_ids)
    answers = StudyAnswer.objects.filter(pk__among=opening.answer_ids.ravel().tolist())
    scorer.add([(answer.pk, answer.position - first, answer.doc_ids) for answer in answers])
    parent, trial = (scorer.columns(answer_ids) for answer_ids in opening.answer_ids)
    is_used = np.isfinite(parent[SCORE]) & np.isfinite(trial[SCORE]) & scorer.is_present
    weights = np.array(study.sealed_weights, np.float64)[is_used]
    units = None
    if study.sealed_units is not None:
        _, units = np.unique(np.array(study.sealed_units)[is_used], return_inverse=True)
    paired = compare_paired(Differences.build((trial - parent)[SCORE][is_used], weights).merged(units))
    has_queries = bool(is_used.any())
    considered = considered_depth(study)
    found: dict[str, Any] = {
        "queries": int(is_used.sum()),
        "units": len(paired.differences),
        "left_out": int((~is_used).sum()),
        "parent_score": float(np.average(parent[SCORE][is_used], weights=weights)) if has_queries else None,
        "trial_score": float(np.average(trial[SCORE][is_used], weights=weights)) if has_queries else None,
        "difference": paired.differences.mean if has_queries else None,
        "low": None if paired.interval is None else paired.interval.low,
        "high": None if paired.interval is None else paired.interval.high,
        "p": paired.p,
        "verdict": str(paired.decide()),
        "unrated": [
            float(of_setting[UNRATED][is_used].mean()) / considered if has_queries else None
            for of_setting in (parent, trial)
        ],
    }
    return {**found, "sentence": _describe(opening, study, paired, found["queries"])}


def _describe(opening: SealedOpening, study: Study, paired: PairedComparison, queries: int) -> str:
    trial, parent = f"trial {opening.trial}", f"attempt {study.parent.number}"
    on_queries = f"on {counted(queries, 'sealed query', 'sealed queries')}"
    if not queries:
        return f"None of the sealed queries has a score with {parent} and with {trial}."
    difference = comparison.describe_difference(paired.differences.mean, paired.interval, paired.p)
    match paired.decide():
        case Verdict.BETTER | Verdict.WORSE as verdict:
            return f"{trial.capitalize()} is {verdict} than {parent} {on_queries}: {difference}."
        case Verdict.EQUAL:
            return f"{trial.capitalize()} and {parent} are practically equal {on_queries}: {difference}."
        case Verdict.SAME:
            return f"{trial.capitalize()} and {parent} score the same {on_queries}."
        case Verdict.TOO_FEW:
            return f"Too few sealed queries to tell whether {trial} is better than {parent}: {difference} {on_queries}."
        case _:
            return f"No difference between {trial} and {parent} shown {on_queries}: {difference}."


def count_openings(case: Case) -> dict[str, int]:
    """Returns how often the sealed queries of a case have been opened, by their tag."""
    counts = SealedOpening.objects.filter(case=case).order_by("tag").values_list("tag").annotate(Count("pk"))
    return dict(counts)


def describe_openings(case: Case) -> list[str]:
    """Returns how often the sealed queries of a case have been opened, a sentence for each tag."""
    return [
        f"The sealed queries tagged “{tag}” were opened {'once' if count == 1 else f'{count:,} times'}; each opening makes them a "
        "little less independent."
        for tag, count in count_openings(case).items()
    ]


def describe_changes(opening: SealedOpening) -> list[str]:
    """Returns what makes the sealed queries of an opening less than they seem, in sentences."""
    found = []
    if opening.searched_by:
        numbers = ", ".join(map(str, opening.searched_by))
        studies = "Study" if len(opening.searched_by) == 1 else "Studies"
        found.append(f"{studies} {numbers} searched some of these queries when they were not sealed.")
    if opening.unsealed:
        found.append(
            f"{counted(opening.unsealed, 'query', 'queries')} that {'was' if opening.unsealed == 1 else 'were'} sealed when the study "
            f"started {'was' if opening.unsealed == 1 else 'were'} no longer sealed, or not in the case any more, at the opening."
        )
    if left_out := opening.result.get("left_out"):
        found.append(
            f"{counted(left_out, 'query is', 'queries are')} left out: removed from the case, without a score, or the search failed."
        )
    return found
