"""What the user of a request may do with a judge model on a book, and whether it judges what the same model has ranked.

A model prefers what it has ranked itself: see docs/decisions/0097.
"""

import json
import re

from django.db.models import OuterRef, Subquery
from django.shortcuts import get_object_or_404
from django.urls import reverse

from relevancy.models import Book, Case, Role, Run, User
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

from .models import JudgeModel

MIN_LENGTH = 3  # of the name of a model that is looked for


def get_book(request: HtmxRequest, book_id: int, *, needs: Role = Role.VIEWER) -> Book:
    """Returns a book on which the user has at least the role `needs`, with `role`; see `get_or_403`."""
    return get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=needs)


def get_judge(request: HtmxRequest, book: Book, judge_id: int) -> JudgeModel:
    """Returns a judge model that the user may see, or that has answered for the book, with `role`. Raises `Http404`."""
    judges = JudgeModel.objects.of_book(book, request.user).select_related("rater", "owner")
    return get_object_or_404(judges, pk=judge_id)


def page_context(request: HtmxRequest, book: Book, judge: JudgeModel) -> dict[str, object]:
    """Returns what every page of a judge model shows: its sections, each with its label, address and whether it is the present one, and
    the warning about the same model. Answers are for editors of the book: they would lead raters."""
    names = {"judge_model": "Judge", "judge_model_answers": "Answers", "judge_model_calibration": "Calibration"}
    names |= {"judge_model_prompt": "Prompt", "judge_model_settings": "Settings"}
    if not book.is_editable:
        del names["judge_model_answers"]
    here = request.resolver_match.url_name if request.resolver_match else ""
    args = [book.pk, judge.pk]
    return {
        "book": book,
        "judge": judge,
        "sections": [(label, reverse(name, args=args), name == here) for name, label in names.items()],
        "same_model": same_model_text(judge, book, request.user),
    }


def same_model_text(judge: JudgeModel, book: Book, user: User) -> str:
    """Returns the warning that the model judges what it has ranked itself; empty if no case of the book names it."""
    ranked = find_cases_ranked_by(judge, book)
    if not ranked:
        return ""
    visible = set(Case.objects.visible_to(user).filter(book=book).values_list("pk", flat=True))
    names = [f"“{case}”" if case.pk in visible else "a case that you cannot see" for case in ranked]
    return (
        f"The search of {', '.join(dict.fromkeys(names))} names the model {judge.model}, too. A model tends to prefer what it has "
        "ranked itself: compare it with people, or let another model judge."
    )


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
