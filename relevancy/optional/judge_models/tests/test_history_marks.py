"""The history of a case says where another judge model began to answer."""

from datetime import timedelta

from relevancy.models import Rating
from relevancy.optional.judge_models import judges
from relevancy.optional.judge_models.models import JudgeAnswer, JudgeJob
from tests.factories import make_user
from tests.views.history.test_pages import at, figure
from tests.views.history.test_pages import case as case  # fixtures
from tests.views.history.test_pages import runs as runs
from tests.views.workbench.example_cases import by_id, elements, tree, words


def test_a_change_of_the_judge_is_marked(sign_in, case, runs):
    response = sign_in("viewer").get(at(case, "history"))
    assert judges_of(response) == []
    first, second = case.book.queries.order_by("pk")
    times = [run.created_at for run in case.runs.order_by("number")]
    judge_answer(case, first, "a", judge=make_judge("Ann's judge"), model="m-2026-01", at=times[0])
    other = make_judge("Other")
    judge_answer(case, second, "a", judge=other, model="", at=times[3])
    judge_answer(case, second, "y", judge=other, model="m-2026-09", at=times[3], counts=False)
    response = sign_in("viewer").get(at(case, "history"))
    assert judges_of(response) == [
        "Judge model “Ann's judge” (model m-2026-01, prompt reason-2): 1 rating counts, the first one from before run 2.",
        "Another judge from before run 5 on, “Other” (model m, prompt reason-2): 1 rating counts. "
        "Runs before and after it may differ by the judge.",
    ]
    lines = [shape["x0"] for shape in figure(response)["layout"]["shapes"]]
    assert lines == [4.5]
    JudgeAnswer.objects.update(answered_at=times[-1] + timedelta(days=1))
    response = sign_in("viewer").get(at(case, "history"))
    assert "Another judge from after the newest run on" in words(by_id(response, "marks"))
    assert "shapes" not in figure(response)["layout"]


def test_another_text_of_the_instructions_is_another_judge(sign_in, case, runs):
    first, second = case.book.queries.order_by("pk")
    times = [run.created_at for run in case.runs.order_by("number")]
    judge = make_judge("Mini")
    judge_answer(case, first, "a", judge=judge, model="m", at=times[0])
    judge_answer(case, second, "a", judge=judge, model="m", at=times[3], instructions="Be strict.")
    assert judges_of(sign_in("viewer").get(at(case, "history")))[1:] == [
        "Another judge from before run 5 on, “Mini” (model m, prompt reason-2, instructions 2): 1 rating counts. "
        "Runs before and after it may differ by the judge."
    ]


def judges_of(response):
    """What is said about judge models."""
    sentences = [words(item) for part in elements(tree(response), id="marks") for item in elements(part, _name="li")]
    return [sentence for sentence in sentences if "judge" in sentence.lower()]


def make_judge(name):
    return judges.create(name=name, protocol="openai", url="http://127.0.0.1:9/v1", model="m", by=make_user())


def judge_answer(case, query, doc_id, *, judge, model, at, counts=True, instructions=""):
    job = JudgeJob.objects.create(judge=judge, book=case.book, created_by=case.owner, instructions=instructions)
    values = {"job": job, "query": query, "doc_id": doc_id, "state": "rated", "value": 2, "model": model}
    JudgeAnswer.objects.create(judge=judge, answered_at=at, **values)
    if counts:
        Rating.objects.create(query=query, doc_id=doc_id, rater=judge.rater, value=2, created_at=at, updated_at=at)
