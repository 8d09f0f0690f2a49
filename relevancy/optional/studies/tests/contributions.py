"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from relevancy.management.commands import demo
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.models.ranking import pack_doc_ids
from relevancy.optional.studies.models import (
    SealedOpening,
    SealedTag,
    Study,
    StudyAnswer,
    StudyAttempt,
    StudyPool,
    StudyTrial,
)
from relevancy.optional.studies.space import parse_knob
from tests.factories import make_attempt

# tests/views/test_access_matrix.py
PAGES = """
address         method role  status
studies         GET    see   200
study_new       GET    edit  200
study_new       POST   edit  422
study_plan      POST   edit  200
study           GET    see   200
study_stop      POST   edit  302
study_continue  POST   edit  302
study_delete    GET    edit  200
study_delete    POST   edit  302
study_adopt     POST   edit  302
study_open_sealed POST edit  302
sealed_queries  GET    see   200
sealed_queries  POST   edit  302
"""


OPERATIONS = """
operation      role scope  status
list_studies   see  read   200
plan_study     see  read   422
start_study    edit write  422
read_study     see  read   200
list_trials    see  read   200
list_estimates see  read   200
stop_study     edit write  200
continue_study edit write  200
adopt_trial    edit write  200
open_sealed    edit write  422
read_sealed_queries see read 200
seal_queries   edit write  200
delete_study   edit write  204
"""
OPERATION_BODIES: dict[str, dict[str, Any]] = {
    **{key: {"attempt": 1, "knobs": ["boost=1:5"]} for key in ("plan_study", "start_study")},
    "continue_study": {"more_trials": 2},
    "adopt_trial": {"trial": 1},
    "open_sealed": {},
    "seal_queries": {"tag": ""},
}


@contextmanager
def sample(sandbox: object) -> Iterator[None]:
    """The sample, which the guide's command tunes."""
    demo.load_demo()
    yield


GUIDE_SURROUNDINGS = {"studies.md": sample}  # tests/test_guides.py


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A study that has ended, of an attempt with a knob, with the parent and another trial."""
    parent = make_attempt(
        case, run.attempt.endpoint, template='{"query": "#$query##", "boost": ##boost##}', knobs={"boost": 2.0}
    )
    query_ids = list(case.case_queries.values_list("query_id", flat=True))
    study = Study.objects.create(
        case=case,
        number=1,
        parent=parent,
        version=ScorerVersion.objects.used_by(case)[0],
        config={**run.config, "knobs": {"boost": 2.0}},
        rows=run.rows,
        space=[parse_knob("boost=1:5").to_json()],
        trials_wanted=2,
        seed=7,
        query_ids=query_ids,
        weights=[1] * len(query_ids),
        units=None,
        status=Study.Status.COMPLETE,
        created_by=case.owner,
    )
    nothing: dict[str, Any] = {
        "answers": np.zeros(len(query_ids), "<i8").tobytes(),
        "columns": np.full((4, len(query_ids)), np.nan, "<f8").tobytes(),
    }
    for number, origin in ((0, "parent"), (1, "sobol")):
        StudyTrial.objects.create(
            study=study, number=number, settings={"boost": 2.0 + number}, origin=origin, **nothing
        )
    return {"study_number": study.number, "study_id": study.pk}


def bodies(world: Any) -> dict[str, dict[str, object]]:
    """What is posted."""
    return {"study_adopt": {"trial": "1"}, "sealed_queries": {"tag": ""}}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model that the administration shows."""
    study = Study.objects.get(pk=make_objects(case, run, run)["study_id"])
    StudyAttempt.objects.create(study=study, attempt=run.attempt, trial=1, created_by=case.owner)
    StudyAnswer.objects.create(study=study, position=0, digest=b"digest", packed=pack_doc_ids(["a"]))
    SealedTag.objects.create(case=case, tag="final")
    SealedOpening.objects.create(
        case=case, study=study, study_number=1, tag="final", trial=1, settings={"boost": 3.0}, opened_by=case.owner
    )
    StudyPool.objects.create(study=study, position=0, documents=1, packed=pack_doc_ids([]), parts=b"")
