"""The warning that the same model ranks and judges."""

import pytest

from relevancy.models import Run
from relevancy.optional.judge_models import access
from relevancy.optional.judge_models.models import JudgeModel
from tests.factories import make_attempt, make_case, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.mark.parametrize(
    ("model", "template", "options", "is_found"),
    [
        ("gpt-4.1-mini", '{"rerank": {"model": "gpt-4.1-mini"}}', {}, True),
        ("openai/GPT-4.1-mini", '{"rerank": "gpt-4.1-mini"}', {}, True),
        ("qwen3:8b", "{}", {"model": "qwen3"}, True),
        ("qwen3:8b", "{}", {"model_id": "lib/qwen3:8b"}, True),
        ("gpt-4.1", '{"rerank": "gpt-4.1-mini"}', {}, False),
        ("mini", '{"rerank": "gpt-4.1-mini"}', {}, False),
        ("m", '{"m": 1}', {}, False),
        ("gpt-4.1-mini", '{"query": "#$query##"}', {}, False),
    ],
)
def test_find_cases_ranked_by(model: str, template: str, options: dict[str, str], is_found: bool) -> None:
    case = make_case(1)
    run = run_now(make_attempt(case))
    Run.objects.filter(pk=run.pk).update(config={**run.config, "template": template, "options": options})
    result = access.find_cases_ranked_by(JudgeModel(model=model), case.book)
    assert result == ([case] if is_found else [])
