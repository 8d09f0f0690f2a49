"""Finds search configurations that name the model that judges their results: a model prefers what it has ranked itself.

See docs/decisions/0097.
"""

import json
import re

from django.db.models import OuterRef, Subquery

from relevancy.models import Book, Case, Run

from .models import JudgeModel

MIN_LENGTH = 3  # of a name that is looked for


def find_cases_ranked_by(judge: JudgeModel, book: Book) -> list[Case]:
    """Returns the cases of a book whose newest complete run names the judge's model in its template or options, by name.

    `openai/gpt-4.1-mini` is also found as `gpt-4.1-mini`, and `qwen3:8b` as `qwen3`; upper and lower case are the same. A search
    engine that ranks with the model without naming it is not found. Two SQL statements.
    """
    complete = Run.objects.filter(case=OuterRef("pk"), status=Run.Status.COMPLETE).order_by("-number")
    cases = Case.objects.live().filter(book=book).annotate(newest_run=Subquery(complete.values("pk")[:1]))
    by_run = {vars(case)["newest_run"]: case for case in cases.order_by("name", "pk")}
    configs = dict(Run.objects.filter(pk__in=by_run).values_list("pk", "config"))
    names = "|".join(map(re.escape, _names(judge.model)))
    is_named = re.compile(rf"(?<![\w.-])({names})(?![\w.-])").search if names else None
    texts = {
        pk: f"{config.get('template', '')}\n{json.dumps(config.get('options', {}), ensure_ascii=False)}".casefold()
        for pk, config in configs.items()
    }
    return [case for pk, case in by_run.items() if is_named and pk in texts and is_named(texts[pk])]


def _names(model: str) -> list[str]:
    name = model.casefold().strip()
    last = name.rpartition("/")[2]
    return [
        name_part for name_part in dict.fromkeys((name, last, last.partition(":")[0])) if len(name_part) >= MIN_LENGTH
    ]
