"""Makes a case of what a file contains: first a preview, then everything or nothing."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import accounts, books, cases, endpoints, engines, hooks, queries, runs, scorers, scores
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Attempt, Case, Endpoint, Query, Scorer, ScorerDefinition, User
from relevancy.models.errors import error_text
from relevancy.models.saving import clean_and_save

from .case_attempts import free_endpoint_name, store_history
from .case_content import (
    AttemptContent,
    CaseContent,
    EndpointContent,
    RatingStream,
    Scale,
    ScorerContent,
)

MAX_TOP = 100
MAX_NAME = 120
SOURCE = "import"


@dataclass(frozen=True)
class ScorerPlan:
    """A scorer that the case will have. existing: one of this site that is used as it is; None if it will be created."""

    name: str
    definition: ScorerDefinition
    description: str = ""
    existing: Scorer | None = None


@dataclass(frozen=True)
class CasePlan:
    """What an import will make.

    scorers: the primary one first; empty if one has to be chosen.
    scale: of the new book; None until a scorer is chosen.
    known_raters, new_raters: names in the file, of people who have an account, and of those who become raters that cannot sign in.
    endpoint: of the newest attempt; None if the file has no attempt.
    remarks: what is changed or left out, and why.
    """

    content: CaseContent
    scorers: Sequence[ScorerPlan]
    scale: Scale | None
    known_raters: Sequence[str]
    new_raters: Sequence[str]
    remarks: Sequence[str]

    @property
    def endpoint(self) -> EndpointContent | None:
        return self.content.endpoint


def plan_case(*, content: CaseContent, by: User, scorer: Scorer | None = None) -> CasePlan:
    """Returns what `import_case` would make. Writes nothing. scorer: used instead of those of the file.

    Raises `BadFile` for ratings that no scale can have.
    """
    book, remarks = content.book, [*content.book.remarks, *content.remarks]
    plans = [_use(scorer)] if scorer else list(_plan_scorers(content.scorers, by, remarks))
    scale = book.scale
    if scale is None and plans:
        scale = [list(step) for step in plans[0].definition.scale]
    if scale is not None and not content.is_complete:
        scale = _widened(scale, book.ratings, remarks)
    names = book.ratings.names
    known_names = accounts.known_raters(names, by=by)
    return CasePlan(
        content=content,
        scorers=plans,
        scale=scale,
        known_raters=[name for name in names if name in known_names],
        new_raters=[name for name in names if name not in known_names],
        remarks=remarks,
    )


def import_case(
    *,
    plan: CasePlan,
    by: User,
    endpoint: Endpoint | None,
    name: str = "",
    unrestricted: bool = False,
) -> Case:
    """Creates the case with book, scorers, raters, ratings and attempts, all or nothing. Starts no run.

    endpoint: which the attempts search; one of `build_endpoint` is created with the case. None leaves the attempts out or, of a
    complete file, imports them as attempts that cannot be searched.
    unrestricted: for commands on the server; `by` does not need the right to create endpoints.
    Raises `ValidationError` or `BadFile`; then nothing is created.
    """
    content, book = plan.content, plan.content.book
    if not plan.scorers or plan.scale is None:
        raise ValidationError({"scorer": "The file does not say how the case is scored. Choose a scorer."})
    if endpoint is not None and endpoint.pk is None and not unrestricted and not endpoints.may_create(by):
        raise ValidationError({"endpoint": endpoints.CREATE_DENIED})
    with transaction.atomic():
        chosen = [_ensure_scorer(scorer, by) for scorer in plan.scorers]
        case = cases.create(name=name or content.name, owner=by, scorers=chosen, scale=plan.scale)
        if content.options:
            clean_and_save(case, options=dict(content.options))
        if content.knob_ranges:
            cases.set_knob_ranges(case=case, ranges=content.knob_ranges)
        if content.is_complete:
            names = ("name", "relevant_from", "rule", "guidelines", "raters_are_blind")
            clean_and_save(case.book, **{name: getattr(book, name) for name in names})
        _add_queries(case, content, by)
        ids: dict[str, int] = dict(Query.objects.filter(book=case.book).values_list("text", "pk"))
        queries.create_links(book=case.book, links=[[ids[text] for text in texts] for texts in book.links])
        raters = accounts.ensure_raters(book.ratings.names, by=by)
        rows = book.ratings.rows(ids, {name: rater.pk for name, rater in raters.items()})
        books.store_ratings(ratings=rows, by=by, source=SOURCE)
        if endpoint is not None and endpoint.pk is None:
            endpoints.save_new(endpoint)
        if content.is_complete:
            store_history(case=case, content=content, endpoint=endpoint, by=by)
        elif endpoint is not None:
            for attempt in content.attempts:
                _save_attempt(case, attempt, endpoint, by)
        for name, part in content.parts.items():
            hooks.case_parts[name].store(case, part, by)
    return case


def build_endpoint(*, content: EndpointContent, by: User) -> Endpoint:
    """Returns the endpoint of a file, not saved, under a name that is free. It is not contacted.

    May look up the name of its host: never call it in a transaction. Raises `ValidationError`.
    """
    if content.problem:
        raise ValidationError({"endpoint": content.problem})
    try:
        return endpoints.build_endpoint(
            name=free_endpoint_name(content.name),
            engine=content.engine,
            url=content.url,
            by=by,
            options=content.options,
            credentials=content.credentials,
            headers=content.headers,
            per_minute=content.per_minute,
        )
    except ValidationError as error:
        message = f"The endpoint of the file cannot be created. {error_text(error)}"
        raise ValidationError({"endpoint": message}) from None


def check_attempts(content: CaseContent) -> str:
    """Returns why the attempts cannot be searched whatever endpoint is chosen; empty if they can, or if their engine is unknown."""
    for attempt in content.attempts:
        adapter = engines.find(attempt.endpoint.engine)
        if adapter is None:
            continue
        try:
            engines.parse_template(attempt.template, adapter.syntax)
            engines.parse_fields(attempt.fields, adapter.default_id_field)
        except engines.TemplateError as error:
            return f"Attempt {attempt.number}: {error}"
    return ""


def _plan_scorers(contents: Sequence[ScorerContent], by: User, remarks: list[str]) -> Iterator[ScorerPlan]:
    for content in contents:
        plan = _plan_scorer(content, by, remarks)
        if plan is not None:
            yield plan


def _plan_scorer(content: ScorerContent, by: User, remarks: list[str]) -> ScorerPlan | None:
    offered = Scorer.objects.offered(by).prefetch_related("versions")
    if content.definition is None:
        same_name = offered.filter(name__iexact=content.name).exclude(versions=None).first()
        if same_name is None:
            remarks.append(
                f"The file names the scorer “{content.name}” but does not contain its script. Create it here first, or "
                "choose another one."
            )
            return None
        remarks.append(f"The file names the scorer “{content.name}”: the one of this name here is used.")
        return _use(same_name)
    definition = content.definition
    if definition.script and not definition.measure and not scorers.may_write_scripts(by):
        remarks.append(
            f"The scorer “{content.name}” is a script, and only an admin of this site may add scripts. Choose another one."
        )
        return None
    try:
        definition = scorers.check(definition)
        is_guessed = bool(definition.script) and not content.is_exact
        if is_guessed:  # the file does not have its range: it is tried on a few rankings
            definition = replace(definition, output_range=scores.suggest_output_range(definition) or "100")
    except ValidationError as error:
        remarks.append(f"The scorer “{content.name}” cannot be used: {error_text(error)}")
        return None
    if is_guessed:
        limit = "1" if definition.output_range == "1" else "100"
        remarks.append(
            f"The script “{content.name}” is taken to give scores from 0 to {limit}: check that in its settings."
        )
    elif content.remark:
        remarks.append(content.remark)
    for scorer in sorted(offered, key=lambda scorer: scorer.name != content.name):
        if scorer.versions.all() and ScorerDefinition.of(scorers.newest_version(scorer)) == definition:
            return ScorerPlan(scorer.name, definition, existing=scorer)
    return ScorerPlan(content.name[:MAX_NAME], definition, content.description)


def _use(scorer: Scorer) -> ScorerPlan:
    return ScorerPlan(scorer.name, ScorerDefinition.of(scorers.newest_version(scorer)), existing=scorer)


def _ensure_scorer(plan: ScorerPlan, by: User) -> Scorer:
    if plan.existing is not None:
        return plan.existing
    return scorers.create(
        name=scorers.free_name(plan.name), definition=plan.definition, description=plan.description, by=by
    )


def _widened(scale: Scale, ratings: RatingStream, remarks: list[str]) -> Scale:
    """Returns the scale with more grades where ratings are off it: elsewhere, a case can change its scorer after it was rated."""
    rated = [(rating.value, rating.doc_id, text) for text, rating in ratings.read() if rating.value is not None]
    if not rated:
        return scale
    (lowest, *_), (top, doc_id, text) = min(rated), max(rated)
    if lowest >= scale[0][0] and top <= scale[-1][0]:
        return scale
    if top > MAX_TOP:
        raise BadFile(
            f"The document {quote(doc_id)} of the query {quote(text)} is rated {top:g}. Ratings must be from 0 to {MAX_TOP}; "
            "correct it and export again."
        )
    labels = {float(grade): label for grade, label in scale}
    grades = range(math.floor(min(lowest, scale[0][0])), math.ceil(max(top, scale[-1][0])) + 1)
    remarks.append(
        f"There are ratings from {lowest:g} to {top:g}, more than the scale {scale[0][0]:g}–{scale[-1][0]:g} of the scorer: "
        f"the book gets the scale {grades[0]}–{grades[-1]}."
    )
    return [[grade, labels.get(float(grade), "")] for grade in grades]


def _add_queries(case: Case, content: CaseContent, by: User) -> None:
    details = content.book.details
    in_case = [text for text in details if text not in content.outside]
    queries.add(case=case, texts=queries.PastedQueries(texts=in_case), by=by)
    queries.set_details(case=case, details=details)
    outside = {text: detail for text, detail in details.items() if text in content.outside}  # in the order of the file
    queries.ensure(book=case.book, texts=list(outside))
    queries.describe_all(book=case.book, details=outside)


def _save_attempt(case: Case, content: AttemptContent, endpoint: Endpoint, by: User) -> Attempt:
    try:
        return runs.attempts.save(
            case=case,
            endpoint=endpoint,
            template=content.template,
            fields=content.fields,
            knobs=content.knobs,
            depth=content.depth,
            escape=content.escape,
            by=by,
            name=content.name,
        )
    except ValidationError as error:
        raise ValidationError({"endpoint": f"Attempt {content.number}: {error_text(error)}"}) from None
