"""The rules of a case: created, changed, deleted, previewed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max

from relevancy import activity
from relevancy.models import Case, Ranking, Run, User
from relevancy.models.saving import clean_and_save

from .conditions import NOT_LATIN, QueryFacts, build_matcher, describe
from .models import RuleState, TagRule

CREATED, CHANGED, DELETED = (
    "query.rule_created",
    "query.rule_changed",
    "query.rule_deleted",
)  # verbs of the activity log
MAX_RULES = 50  # of a case
MAX_PREVIEWED = 50_000  # queries
LISTED = 50  # queries of a preview
CHUNK = 20_000  # queries that are read at once
Kind = TagRule.Kind

PRESETS: Sequence[tuple[str, str, Mapping[str, Any]]] = (
    ("short", Kind.WORD_COUNT, {"minimum": None, "maximum": 1}),
    ("long", Kind.WORD_COUNT, {"minimum": 5, "maximum": None}),
    ("digits", Kind.DIGIT, {}),
    ("non-Latin", Kind.SCRIPT, {"script": NOT_LATIN}),
    ("no results", Kind.RESULTS, {"minimum": None, "maximum": 0}),
)


@dataclass(frozen=True)
class CaseQueryFacts:
    """A query of a case as conditions see it, with its tags."""

    query_id: int
    tags: Sequence[str]
    facts: QueryFacts


@dataclass(frozen=True)
class RulePreview:
    """Which queries of a case a condition matches.

    queries: how many were looked at. matches: how many of them match. tagged: how many of these have the tag already.
    listed: text of the first ones, and whether it has the tag. is_partial: whether the case has more queries.
    """

    queries: int
    matches: int
    tagged: int
    listed: Sequence[tuple[str, bool]]
    is_partial: bool


def list_rules(case: Case) -> list[TagRule]:
    """Returns the rules of a case without those that are being deleted. One SQL statement."""
    return list(TagRule.objects.filter(case=case, is_deleted=False).select_related("created_by"))


def read_state(case: Case) -> RuleState | None:
    """Returns the state of the rules of a case; None if it never had any. One SQL statement."""
    return RuleState.objects.filter(case=case).first()


def create(*, case: Case, tag: str, kind: str, settings: Mapping[str, Any], by: User) -> TagRule:
    """Creates a rule. The queries that match get the tag when a worker applies it. Raises `ValidationError`."""
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        rules = TagRule.objects.filter(case=case)
        if rules.count() >= MAX_RULES:
            raise ValidationError(f"The case has {MAX_RULES} rules, which is the maximum. Delete one of them first.")
        last = rules.aggregate(last=Max("position"))["last"] or 0
        rule = TagRule(case=case, tag=tag, kind=kind, settings=dict(settings), position=last + 1, created_by=by)
        clean_and_save(rule)
        _record(CREATED, rule, by)
        mark_outdated([case.pk])
    return rule


def create_presets(*, case: Case, by: User) -> list[TagRule]:
    """Creates the usual rules, but those whose tag a rule of the case has already. Raises `ValidationError`."""
    present = {rule.tag.casefold() for rule in list_rules(case)}
    with transaction.atomic():
        return [
            create(case=case, tag=tag, kind=kind, settings=settings, by=by)
            for tag, kind, settings in PRESETS
            if tag.casefold() not in present
        ]


def change(*, rule: TagRule, tag: str, settings: Mapping[str, Any], by: User) -> TagRule:
    """Changes a rule and returns it. With another tag it is another rule, and the former one takes its tags back.

    Raises `ValidationError`.
    """
    with transaction.atomic():
        if tag.casefold() != rule.tag.casefold():
            new = TagRule(
                case=rule.case, tag=tag, kind=rule.kind, settings=dict(settings), position=rule.position, created_by=by
            )
            clean_and_save(new)
            TagRule.objects.filter(pk=rule.pk).update(is_deleted=True)
            rule = new
        else:
            clean_and_save(rule, settings=dict(settings), error="")
        _record(CHANGED, rule, by)
        mark_outdated([rule.case_id])
    return rule


def delete(*, rule: TagRule, with_tags: bool, by: User | None) -> None:
    """Deletes a rule. with_tags: whether a worker also removes the tags that the rule has set; others stay."""
    with transaction.atomic():
        _record(DELETED, rule, by)
        if with_tags:
            TagRule.objects.filter(pk=rule.pk).update(is_deleted=True)
        else:
            TagRule.objects.filter(pk=rule.pk).delete()
        mark_outdated([rule.case_id])


def _record(verb: str, rule: TagRule, by: User | None) -> None:
    condition = describe(rule.kind, rule.settings)
    activity.record(verb, case=rule.case, by=by, subject=rule.tag, object_id=rule.pk, condition=condition)


def mark_outdated(case_ids: Sequence[int]) -> None:
    """Lets the rules of cases be applied. Two SQL statements, and one for each case that has no state yet."""
    for case_id in set(case_ids) - set(RuleState.objects.filter(case__in=case_ids).values_list("case_id", flat=True)):
        RuleState.objects.get_or_create(case_id=case_id, defaults={"revision": 0})
    RuleState.objects.filter(case__in=case_ids).update(revision=F("revision") + 1)


def queries_changed(book_id: int) -> None:
    """Lets the rules of the cases of a book be applied, whose queries have changed. One SQL statement."""
    RuleState.objects.filter(case__book=book_id, case__tag_rules__isnull=False).update(revision=F("revision") + 1)


def results_changed(case_id: int) -> bool:
    """Lets the rules of a case be applied if one of them looks at results. Returns whether it does."""
    has_rule = TagRule.objects.filter(case=case_id, kind=Kind.RESULTS, is_deleted=False).exists()
    if has_rule:
        mark_outdated([case_id])
    return has_rule


def read_facts(case: Case, *, with_results: bool) -> Iterator[list[CaseQueryFacts]]:
    """Yields the queries of a case, 20,000 at a time, in the order of their ids. A SQL statement for each list, and one for results.

    with_results: whether the numbers of results are needed.
    """
    run = Run.objects.newest_for(case).filter(status=Run.Status.COMPLETE).first() if with_results else None
    rows = case.case_queries.present().order_by("query_id")
    after = 0
    while chunk := list(
        rows.filter(query_id__gt=after).values_list("query_id", "query__tags", "query__text", "options")[:CHUNK]
    ):
        last = chunk[-1][0]
        searched = Ranking.objects.filter(run=run, query_id__gt=after, query_id__lte=last, error_kind="")
        totals = dict(searched.values_list("query_id", "total")) if run else {}
        yield [CaseQueryFacts(pk, tags, QueryFacts(text, options, totals.get(pk))) for pk, tags, text, options in chunk]
        after = last


def preview(*, case: Case, tag: str, kind: str, settings: Mapping[str, Any]) -> RulePreview:
    """Returns which of the first 50,000 queries of a case match. Writes nothing. Raises `ValidationError`."""
    matches = build_matcher(kind, settings)
    queries_read = matching = tagged = 0
    listed: list[tuple[str, bool]] = []
    is_partial = False
    for chunk in read_facts(case, with_results=kind == Kind.RESULTS):
        if is_partial := queries_read + len(chunk) > MAX_PREVIEWED:
            chunk = chunk[: MAX_PREVIEWED - queries_read]
        queries_read += len(chunk)
        for query, is_match in zip(chunk, matches([query.facts for query in chunk]), strict=True):
            if is_match:
                has_tag = tag.casefold() in [present.casefold() for present in query.tags]
                matching, tagged = matching + 1, tagged + has_tag
                if len(listed) < LISTED:
                    listed.append((query.facts.text, has_tag))
        if is_partial:
            break
    return RulePreview(queries_read, matching, tagged, listed, is_partial)
