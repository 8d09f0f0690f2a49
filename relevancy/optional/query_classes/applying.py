"""Applies the rules of a case: adds their tags to queries that match, and takes back those that they have set and that no longer match.

A tag that somebody has set by hand is never taken back, and one that somebody has removed from a query is not set again while the query
matches.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import activity, queries
from relevancy.models import Case, Query
from relevancy.models.errors import error_text
from relevancy.queries.tags import MAX_TAGS

from .conditions import build_matcher
from .models import RuleState, TaggedQuery, TagRule
from .rules import CaseQueryFacts, read_facts

APPLIED = "query.rules_applied"  # verb of the activity log
BATCH = 500


class _Superseded(Exception):
    """Rules or queries have changed meanwhile."""


@dataclass
class _Applied:
    """What has been counted of one rule."""

    matches: int = 0
    full: int = 0
    error: str = ""


@dataclass
class _Counts:
    added: int = 0
    removed: int = 0
    by_rule: dict[int, _Applied] = field(default_factory=lambda: defaultdict(_Applied))


def apply_rules(case: Case) -> bool:
    """Applies the rules of a case as it is. Returns False if rules or queries have changed meanwhile, so that it has to be repeated.

    One transaction for 20,000 queries; conditions are computed before it. Safe to run more than once, and at the same time.
    """
    state = RuleState.objects.filter(case=case).first()
    if state is None:
        return True
    counts = _Counts()
    try:
        _delete_rules(case, state.revision, counts)
        rules = list(TagRule.objects.filter(case=case))
        if rules:
            for chunk in read_facts(case, with_results=any(rule.kind == TagRule.Kind.RESULTS for rule in rules)):
                matching = {rule: _find_matching(rule, chunk, counts.by_rule[rule.pk]) for rule in rules}
                with transaction.atomic():
                    _lock(case, state.revision)
                    _apply_chunk(case, chunk, matching, counts)
        with transaction.atomic():
            _lock(case, state.revision)
            for rule in rules:
                applied = counts.by_rule[rule.pk]
                rule.full, rule.error = applied.full, applied.error
                rule.matches = rule.matches if applied.error else applied.matches
            TagRule.objects.bulk_update(rules, ["matches", "full", "error"])
            RuleState.objects.filter(pk=state.pk).update(applied_revision=state.revision, applied_at=timezone.now())
    except _Superseded:
        return False
    finally:
        if counts.added or counts.removed:
            activity.record(APPLIED, case=case, by=None, added=counts.added, removed=counts.removed)
    return True


def _lock(case: Case, revision: int) -> None:
    if RuleState.objects.select_for_update().filter(case=case, revision=revision).first() is None:
        raise _Superseded


def _find_matching(rule: TagRule, chunk: Sequence[CaseQueryFacts], applied: _Applied) -> set[int] | None:
    """Returns the ids of the queries that match; None if that cannot be said, now or of an earlier part of the case."""
    if applied.error:
        return None
    try:
        matches = build_matcher(rule.kind, rule.settings)([query.facts for query in chunk])
    except ValidationError as error:
        applied.error = error_text(error)
        return None
    found = {query.query_id for query, is_match in zip(chunk, matches, strict=True) if is_match}
    applied.matches += len(found)
    return found


def _apply_chunk(
    case: Case, chunk: Sequence[CaseQueryFacts], matching: Mapping[TagRule, set[int] | None], counts: _Counts
) -> None:
    """Sets and removes the tags of consecutive queries."""
    first, last = chunk[0].query_id, chunk[-1].query_id
    ids = {query.query_id for query in chunk}
    rows = Query.objects.filter(book=case.book_id, pk__gte=first, pk__lte=last)
    tags = {pk: {tag.casefold() for tag in present} for pk, present in rows.values_list("pk", "tags") if pk in ids}
    # Also those of other cases on the book, which have the same queries.
    pairs = TaggedQuery.objects.filter(rule__case__book=case.book_id, query_id__gte=first, query_id__lte=last)
    tagged_by: dict[int, set[int]] = defaultdict(set)
    others: dict[str, set[int]] = defaultdict(set)
    for rule_id, query_id, case_id, tag in pairs.values_list("rule_id", "query_id", "rule__case_id", "rule__tag"):
        tagged_by[rule_id].add(query_id)
        if case_id != case.pk:
            others[tag.casefold()].add(query_id)
    rules_by_tag: dict[str, list[TagRule]] = defaultdict(list)
    for rule in matching:
        rules_by_tag[rule.tag.casefold()].append(rule)
    for key, rules in rules_by_tag.items():
        former = set().union(*(tagged_by[rule.pk] for rule in rules))
        wanted = {rule: tagged_by[rule.pk] if (found := matching[rule]) is None else found for rule in rules}
        missing = {
            pk for pk in set().union(*wanted.values()) - former - others[key] if pk in tags and key not in tags[pk]
        }
        full = {pk for pk in missing if len(tags[pk]) >= MAX_TAGS}
        for rule in rules:
            counts.by_rule[rule.pk].full += len(full & wanted[rule])
        new = missing - full
        kept = {rule: (found & (former | others[key] | new) & ids) for rule, found in wanted.items()}
        gone = {pk for pk in former - others[key] - set().union(*kept.values()) if key in tags.get(pk, ())}
        _set_tags(case, rules[0].tag, new, gone, counts)
        for pk in new:
            tags[pk].add(key)
        for pk in gone:
            tags[pk].discard(key)
        for rule in rules:
            _store_tagged(rule, kept[rule] - tagged_by[rule.pk], tagged_by[rule.pk] & ids - kept[rule])


def _set_tags(case: Case, tag: str, new: Iterable[int], gone: Iterable[int], counts: _Counts) -> None:
    if new:
        counts.added += queries.tags.add(book=case.book, queries=new, tags=tag)
    if gone:
        counts.removed += queries.tags.remove(book=case.book, queries=gone, tags=tag)


def _store_tagged(rule: TagRule, new: Iterable[int], gone: Iterable[int]) -> None:
    rows = [TaggedQuery(rule=rule, query_id=pk) for pk in sorted(new)]
    TaggedQuery.objects.bulk_create(rows, batch_size=BATCH)
    for batch in batched(gone, BATCH):
        TaggedQuery.objects.filter(rule=rule, query__in=batch).delete()


def _delete_rules(case: Case, revision: int, counts: _Counts) -> None:
    """Removes the tags of rules that are being deleted, but those that another rule has set, too, and deletes the rules."""
    for rule in TagRule.objects.filter(case=case, is_deleted=True):
        with transaction.atomic():
            _lock(case, revision)
            others = TaggedQuery.objects.filter(rule__case__book=case.book_id).exclude(rule=rule)
            kept = {
                query_id
                for query_id, tag in others.values_list("query_id", "rule__tag")
                if tag.casefold() == rule.tag.casefold()
            }
            gone = set(rule.tagged.values_list("query_id", flat=True)) - kept
            _set_tags(case, rule.tag, (), gone, counts)
            rule.delete()
