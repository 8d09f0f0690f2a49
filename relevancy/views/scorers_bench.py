"""The test bench: a definition, saved or not, on typed grades or on a real query. Nothing of it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import cases, evaluation
from relevancy.evaluation import Draft, ScoringError, Tried
from relevancy.models import CaseQuery, Query, Scorer

from .forms import BenchForm, ScorerForm
from .scorers_access import newest, seen

MATCHES = 30


@dataclass
class Answer:
    """What the bench says: `tried`, or why not. `line` and `column` of a script that cannot be read; `matches`: further
    queries that fit what was looked for."""

    tried: Tried | None = None
    name: str = ""
    problems: list[str] = field(default_factory=list)
    line: int | None = None
    column: int | None = None
    other: Tried | None = None
    other_name: str = ""
    other_problem: str = ""
    matches: Sequence[Query] = ()
    query: Query | None = None

    @property
    def difference(self) -> float | None:
        """Points that the other one gives more."""
        if self.tried is None or self.other is None or self.tried.score is None or self.other.score is None:
            return None
        return self.other.score - self.tried.score


class NotTried(Exception):
    """Why the bench has nothing to score."""


@require_POST
def scorer_try(request: HttpRequest) -> HttpResponse:
    """The bench's answer: a fragment for htmx, else a page of its own. Either a scorer's newest version or what is in the form."""
    number = request.POST.get("scorer", "")
    scorer = seen(request, int(number)) if number.isdecimal() else None
    bench = BenchForm(request.user, request.POST, scorer=scorer)
    form = None if scorer else ScorerForm(request.POST)
    answer = run(request, bench, form, scorer)
    context = {"answer": answer, "bench": bench, "scorer": scorer}
    page = "scorer/_answer_swap.html" if request.htmx else "scorer/try.html"  # type: ignore[attr-defined]
    return render(request, page, context, status=422 if answer.problems else 200)


@require_POST
def scorer_queries(request: HttpRequest) -> HttpResponse:
    """The queries of a case that contain what is looked for, as choices."""
    bench = BenchForm(request.user, request.POST)
    bench.is_valid()
    case = bench.cleaned_data.get("case")
    matches = _matching(case, bench.cleaned_data.get("find", "")) if case else []
    return render(request, "scorer/_matches.html", {"matches": matches, "case": case, "chosen": None})


def run(request: HttpRequest, bench: BenchForm, form: ScorerForm | None, scorer: Scorer | None) -> Answer:
    """Try what is in the form, or a scorer as it is."""
    answer = Answer(name=scorer.name if scorer else "This draft")
    if not bench.is_valid():
        answer.problems = [str(error) for errors in bench.errors.values() for error in errors]
        return answer
    draft = Draft.of(newest(scorer)) if scorer else _unsaved(request, form, answer)
    if draft is None:
        return answer
    try:
        answer.tried = _tried(bench, draft, answer)
    except (NotTried, ScoringError) as reason:
        answer.problems = [str(reason)]
    other = bench.cleaned_data.get("compare")
    if other and answer.tried:
        answer.other_name = other.name
        _compare(answer, bench, other)
    return answer


def _unsaved(request: HttpRequest, form: ScorerForm | None, answer: Answer) -> Draft | None:
    """What is in the form, once everything in it is right; else the answer says what is wrong."""
    if form is None:
        return None
    wrong = {name: errors for name, errors in form.errors.items() if name not in {"name", "description"}}
    if wrong or form.draft is None:
        titles = {name: form.fields[name].label or name.title() for name in wrong if name in form.fields}
        answer.problems = [f"{titles.get(name, '')}: {error}" for name, errors in wrong.items() for error in errors]
        return None
    if form.draft.script and not cases.scorers.may_write_scripts(request.user):
        answer.problems = ["The admins of this site have switched scripts of one’s own off. Choose a measure."]
        return None
    try:
        return cases.scorers.check(form.draft)
    except cases.Refused as reason:
        answer.problems, answer.line, answer.column = [str(reason)], reason.line, reason.column
        return None


def _tried(bench: BenchForm, draft: Draft, answer: Answer) -> Tried:
    data = bench.cleaned_data
    if data["on"] == "typed":
        if not data["grades"].strip() and not data["known"].strip():
            raise NotTried("Type grades in rank order, such as 3 2 - 1.")
        return evaluation.try_typed(draft, grades=data["grades"], known=data["known"])
    if not data["case"]:
        raise NotTried("Choose a case.")
    run = evaluation.newest_run(data["case"])
    if run is None:
        raise NotTried(f"{data['case']} has no run yet. Run an attempt there first, or type grades.")
    answer.matches = _matching(data["case"], data["find"])
    answer.query = _chosen(bench, answer.matches)
    tried = evaluation.try_query(draft, run=run, query_id=answer.query.pk)
    if tried is None:
        raise NotTried(
            f"Run {run.number} has no results for “{answer.query}”: it was not searched, or the search failed."
        )
    return tried


def _matching(case: Any, text: str) -> list[Query]:
    entries = CaseQuery.objects.filter(case=case).present().select_related("query").order_by("position", "id")
    if text.strip():
        entries = entries.filter(query__text__icontains=text.strip())
    return [entry.query for entry in entries[:MATCHES]]


def _chosen(bench: BenchForm, matches: Sequence[Query]) -> Query:
    """The query that was picked, if it fits what is looked for; else the first that does."""
    picked = next((query for query in matches if query.pk == bench.cleaned_data["query"]), None)
    text = bench.cleaned_data["find"].strip()
    exact = next((query for query in matches if query.text == text), None)
    found = picked or exact or next(iter(matches), None)
    if found is None:
        raise NotTried(
            f"No query of {bench.cleaned_data['case']} contains “{text}”." if text else "The case has no queries yet."
        )
    return found


def _compare(answer: Answer, bench: BenchForm, other: Scorer) -> None:
    """The same ranking under another scorer; where its scale is another one, typed grades may not be on it."""
    draft = Draft.of(newest(other))
    data = bench.cleaned_data
    try:
        if data["on"] == "typed" and answer.tried:
            scale = f"{answer.tried.scale.lowest:g}:{answer.tried.scale.top:g}"
            answer.other = evaluation.try_typed(draft, grades=data["grades"], known=data["known"], scale=scale)
        elif answer.query:
            found = evaluation.newest_run(data["case"])
            answer.other = evaluation.try_query(draft, run=found, query_id=answer.query.pk) if found else None
    except ScoringError as reason:
        answer.other_problem = str(reason)
