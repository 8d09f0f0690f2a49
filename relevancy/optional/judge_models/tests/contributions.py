"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from relevancy.models import Case, Run, User
from relevancy.optional.judge_models import judges
from relevancy.optional.judge_models.fake_judge import fake_judge
from relevancy.optional.judge_models.models import (
    AutomaticJudging,
    CalibrationSample,
    JudgeAnswer,
    JudgeJob,
    JudgeModel,
)
from tests.factories import make_attempt, make_case, make_user, run_now

CANARIES = {JudgeModel: ["name"]}
# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
judge_models           GET    see     200
judge_model_new        GET    edit    200
judge_model_new        POST   edit    422
judge_model            GET    see     200
judge_model_answers    GET    edit    200
judge_model_prompt     GET    see     200
judge_model_instructions POST edit    302
judge_model_settings   GET    see     200
judge_model_start      POST   edit    302
judge_model_trial      POST   edit    302
judge_model_stop       POST   edit    302
judge_model_count      POST   edit    302
judge_model_automatic  POST   edit    302
judge_model_calibration GET   see     200
judge_model_sample     POST   edit    302
judge_model_key        POST   own     302
judge_model_archive    POST   own     302
"""


def plant_secrets(secret: str) -> None:
    """Puts a secret where secrets are stored."""
    JudgeModel.objects.update(secrets={"key": secret})


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A judge model of the owner, shared with the teams of the case; its id by its name in addresses."""
    judge = judges.create(
        name=f"Judge of {case.pk}",
        protocol="openai",
        url="http://127.0.0.1:9/v1",
        model="m",
        by=case.owner,
        teams=case.teams.all(),
        unrestricted=True,
    )
    return {"judge_id": judge.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {
        "judge_model_new": {"name": ""},
        "judge_model_start": {},
        "judge_model_instructions": {"do": "restore"},
        "judge_model_automatic": {"is_on": "on"},
        "judge_model_count": {"do": "count"},
        "judge_model_sample": {"size": "2"},
        "judge_model_key": {"key": "another"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model. The key is one of the secrets of tests/test_admin.py."""
    machine = User.objects.create_user("judge@judge.invalid", name="Judge (AI judge)", kind=User.Kind.MACHINE)
    judge = JudgeModel.objects.create(
        name="Judge", rater=machine, owner=rater, url="https://judge.example.com", secrets={"key": "hunter2-secret"}
    )
    job = JudgeJob.objects.create(judge=judge, book=case.book, created_by=rater)
    AutomaticJudging.objects.create(judge=judge, book=case.book, created_by=rater)
    JudgeAnswer.objects.create(judge=judge, job=job, query=case.book.queries.first(), doc_id="1")
    CalibrationSample.objects.create(book=case.book, query_ids=[], seed=1, created_by=rater)


@contextmanager
def judge_guide(sandbox: Any) -> Iterator[None]:
    """A case with documents that a judge model can read; all addresses of models lead to the invented one."""
    admin = make_user("Admin", superuser=True)
    case = make_case(30, {"query 1": {"a": 3}}, owner=admin)
    Case.objects.filter(pk=case.pk).update(name="Movies")
    run_now(make_attempt(case))
    sandbox.variables["KEY"] = "sk-key"
    with fake_judge() as judge:
        for url in ("https://api.openai.com/v1", "http://127.0.0.1:11434/v1", "http://127.0.0.1:8765/v1"):
            sandbox.replaced[url] = judge.url
        yield


GUIDE_SURROUNDINGS = {"judge-models.md": judge_guide}  # tests/test_guides.py
