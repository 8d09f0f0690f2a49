"""Judging the documents of a query as a list: which query comes next, and its documents, claimed for the rater.

See docs/decisions/0090.
"""

import random

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from relevancy.models import JudgingPair, JudgingQueue, Query, Rating, User
from relevancy.models.write_queue import write_turn

from .judging import CLAIM, JUDGED, is_free, locked, postponed_by
from .judging_positions import unjudged_pairs

MAX_LISTED = 100


def next_query(*, queue: JudgingQueue, by: User, after: int = 0) -> Query | None:
    """Returns the query of the pair that a rater judges next, other than that with the id `after`; None if nothing is left.

    Claims nothing. First queries with a pair that the rater has not seen, then those with one put off with "later".
    """
    now = timezone.now()
    is_open = is_free(now) | Q(claimed_by=by)
    unjudged = unjudged_pairs(queue=queue, by=by).filter(is_open).exclude(query=after)
    pair = unjudged.in_order().select_related("query").first()
    if pair is None:
        free = queue.pairs.open().filter(is_open).exclude(query=after)
        own = postponed_by(by).filter(Exists(free.filter(pk=OuterRef("pair"))), pair_queue=queue)
        pair = own.select_related("query").first()
    return pair.query if pair is not None else None


def claim_query(*, queue: JudgingQueue, query: Query, by: User) -> list[JudgingPair]:
    """Returns the documents of a query for a rater: those that can be judged, claimed for `CLAIM`, and those that the rater has judged.

    Documents that other raters have on their pages, or that have enough ratings, are left out. At most `MAX_LISTED`, shuffled, so that
    the order says nothing about ranks; the same for each call. Frees everything else that the rater had claimed.
    """
    now = timezone.now()
    own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=by, verdict__in=JUDGED)
    query_pairs = queue.pairs.filter(query=query)
    with write_turn(), transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(pk=by.pk).values_list("pk").first()  # two requests at once
        held = set(locked(queue.pairs.filter(claimed_by=by)).values_list("pk", flat=True))
        free = query_pairs.open().filter(is_free(now) | Q(claimed_by=by)).without_judgment_by(by, JUDGED)
        pairs = list(locked(free).in_order()[:MAX_LISTED])
        kept = {pair.pk for pair in pairs}
        queue.pairs.filter(pk__in=held - kept).release()
        JudgingPair.objects.filter(pk__in=kept).update(claimed_by=by, claimed_until=now + CLAIM)
    pairs += query_pairs.filter(Exists(own)).order_by("pk")[: MAX_LISTED - len(pairs)]
    pairs.sort(key=lambda pair: pair.pk)
    random.Random(f"{by.pk}-{query.pk}").shuffle(pairs)
    return pairs


def keep_claims(*, query: Query, by: User) -> None:
    """Claims the documents of a query that a rater has on the page for longer. One SQL statement."""
    held = JudgingPair.objects.filter(query=query, claimed_by=by)
    held.update(claimed_until=timezone.now() + CLAIM)


def count_held_by_others(*, queue: JudgingQueue, query: Query, by: User) -> int:
    """Returns how many documents of a query can be judged, but are on the pages of other raters."""
    held = queue.pairs.open().filter(query=query, claimed_until__gt=timezone.now()).exclude(claimed_by=by)
    return int(held.count())
