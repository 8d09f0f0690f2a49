"""Changes of one rater's ratings, stored together with their log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any

from django.utils import timezone

from relevancy import scores
from relevancy.models import JudgingPair, Rating, RatingChange, RatingSpread, User, Verdict

BATCH = 500


@dataclass(frozen=True)
class Change:
    """The new rating of a document. An empty `verdict` removes the rating; `note` None keeps the present note.

    rated_at: when the rating was given; now unless an earlier one is restored.
    is_adjudication: whether it counts instead of all other ratings of the document; None keeps that as it is.
    undoes: the change that this one takes back.
    rating_id: the id that a rating had as another rater's, and keeps; it decides between ratings of the same moment.
    """

    value: float | None = None
    verdict: str = Verdict.RATED
    note: str | None = None
    rated_at: datetime | None = None
    undoes: RatingChange | None = None
    is_adjudication: bool | None = None
    rating_id: int | None = None

    @classmethod
    def restoring(cls, undone: RatingChange) -> "Change":
        """Returns the change that restores what was there before `undone`."""
        if not undone.old_verdict:
            return cls(verdict="", undoes=undone)
        old = undone.old_is_adjudication
        return cls(undone.old_value, undone.old_verdict, undone.old_note, undone.old_rated_at, undone, old)

    @classmethod
    def keeping(cls, present: Rating | None, undone: RatingChange) -> "Change":
        """Returns the change that leaves a rating as it is, and logs that `undone` was taken back as far as that is possible."""
        if present is None:
            return cls(verdict="", undoes=undone)
        return cls.copying(present, undoes=undone)

    @classmethod
    def copying(cls, rating: scores.RatingRecord | Rating, **others: Any) -> "Change":
        """Returns the change that makes a rating like a present one, with its note and its time. others: further attributes."""
        return cls(rating.value, rating.verdict, rating.note, rating.updated_at, **others)


REMOVAL = Change(verdict="")


def store_changes(
    changes: Mapping[int, Mapping[str, Change]], *, rater: User, by: User, source: str
) -> list[RatingChange]:
    """Stores changes of one rater's ratings, `{query id: {document id: change}}`, with their log, which is returned. Those that change
    nothing are left out. Call it in a transaction that has locked the queries."""
    now = timezone.now()
    present: dict[tuple[int, str], Rating] = {}
    for query_ids in batched(changes, BATCH):
        for rating in Rating.objects.filter(query_id__in=query_ids, rater=rater):
            present[rating.query_id, rating.doc_id] = rating
    log: list[RatingChange] = []
    stored: list[Rating] = []
    removed: list[int] = []
    for query_id, doc_id, change in [(pk, *item) for pk, documents in changes.items() for item in documents.items()]:
        unrated = Rating(query_id=query_id, doc_id=doc_id, rater_id=rater.pk, verdict="")
        old = present.get((query_id, doc_id), unrated)
        note = old.note if change.note is None else change.note
        is_adjudication = old.is_adjudication if change.is_adjudication is None else change.is_adjudication
        new = change.verdict, change.value, note, is_adjudication
        if change.undoes is None and new == (old.verdict, old.value, old.note, old.is_adjudication):
            continue
        is_adjudication = is_adjudication and change.verdict == Verdict.RATED
        log.append(
            RatingChange.of(
                old,
                by=by,
                source=source,
                new_verdict=change.verdict,
                new_value=change.value,
                new_is_adjudication=is_adjudication,
                undoes=change.undoes,
                at=now,
            )
        )
        if change.verdict:
            stored.append(
                Rating(
                    pk=change.rating_id,
                    query_id=query_id,
                    doc_id=doc_id,
                    rater_id=rater.pk,
                    verdict=change.verdict,
                    value=change.value,
                    note=note,
                    is_adjudication=is_adjudication,
                    created_at=now,  # of new ratings; others keep theirs
                    updated_at=change.rated_at or now,
                )
            )
        elif old.pk is not None:
            removed.append(old.pk)
    for pks in batched(removed, BATCH):
        Rating.objects.filter(pk__in=pks).delete()
    Rating.objects.bulk_create(
        stored,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("query", "doc_id", "rater"),
        update_fields=("verdict", "value", "note", "is_adjudication", "updated_at"),
    )
    RatingChange.objects.bulk_create(log, batch_size=BATCH)
    # After a loss a document has fewer grades or judgments than before, so that raters may get it again.
    losses = [
        logged
        for logged in log
        if logged.old_verdict not in ("", logged.new_verdict) and logged.new_verdict != Verdict.RATED
    ]
    doc_ids = {logged.doc_id for logged in log} if len(log) <= BATCH else None
    for query_ids in batched(sorted({logged.query_id for logged in log}), BATCH):
        JudgingPair.objects.update_levels(query_ids, doc_ids, has_only_new_ratings=not losses)
        RatingSpread.objects.refresh(query_ids, doc_ids, has_only_new_ratings=not losses)
    return log
