"""Where a rater is in the order of a judging queue, so that what the rater has judged is not looked through again for each document.

A rater who is ahead of the others in a book that wants several ratings of each document has judged many pairs that are still open.
They come first in the order, and finding the next pair meant skipping all of them. The position is that of the first open pair that
the rater has not judged, claimed or not. New ratings close pairs or move them towards the end, so nothing comes before it;
whatever else happens increments `JudgingQueue.revision`, after which the position is looked for again.

See docs/decisions/0090.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache

from relevancy.models import JudgingQueue, User
from relevancy.models.judging import JudgingPairQuerySet

SECONDS = 600  # how long a position is used at most
END = (2**15 - 1, 0.0, 0)  # behind all pairs


@dataclass(frozen=True)
class Position:
    """Where a rater is in the order of a queue: everything before it that is open has been judged by the rater.

    revision, built_at: of the queue, read before the position was looked for.
    """

    revision: int
    built_at: datetime
    sort_key: tuple[int, float, int]


def unjudged_pairs(*, queue: JudgingQueue, by: User) -> JudgingPairQuerySet:
    """Returns the open pairs that the rater has not judged, in no order, and reads `queue.revision` and `queue.built_at` again.

    One SQL statement, and another one that may take long for the first document and after a change of the order.
    """
    queue.refresh_from_db(fields=["revision", "built_at"])
    unjudged: JudgingPairQuerySet = queue.pairs.open().without_judgment_by(by)
    if queue.built_at is None:  # other settings: until the pairs are chosen again, a rating may open a pair
        return unjudged
    key = f"judging-position-{queue.pk}-{queue.seed}-{by.pk}"
    position: Position | None = cache.get(key)
    if position is None or (position.revision, position.built_at) != (queue.revision, queue.built_at):
        first: Any = unjudged.in_order().values_list("level", "key", "pk").first()
        position = Position(queue.revision, queue.built_at, first or END)
        cache.set(key, position, SECONDS)
    return unjudged.from_position(*position.sort_key)
