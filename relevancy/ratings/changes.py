"""Changes of one rater's ratings, stored together with their log."""

from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any

from django.utils import timezone

from relevancy import scores
from relevancy.models import JudgingPair, Rating, RatingChange, User, Verdict

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
    def keeping(cls, present: scores.RatingRecord | None, undone: RatingChange) -> "Change":
        """Returns the change that leaves a rating as it is, and logs that `undone` was taken back as far as that is possible."""
        if present is None:
            return cls(verdict="", undoes=undone)
        return cls.copying(present, undoes=undone)

    @classmethod
    def copying(cls, rating: scores.RatingRecord | Rating, **others: Any) -> "Change":
        """Returns the change that makes a rating like a present one, with its note and its time. others: further attributes."""
        return cls(rating.value, rating.verdict, rating.note, rating.updated_at, **others)


REMOVAL = Change(verdict="")


class RatingEditor:
    """Collects changes of one rater's ratings and stores them with the log. Ratings that stay the same are left out."""

    def __init__(self, rater: User, by: User, source: str) -> None:
        self.rater = rater
        self.by = by
        self.source = source
        self.now: datetime = timezone.now()
        self.log: list[RatingChange] = []
        self._stored: list[Rating] = []
        self._removed: list[int] = []

    @property
    def query_ids(self) -> list[int]:
        """The ids of all queries with changes, ascending."""
        return sorted({change.query_id for change in self.log})

    def change(self, query_id: int, doc_id: str, present: scores.RatingRecord | None, change: Change) -> None:
        """Collects one change; `present` is the present rating."""
        if change.undoes is None and not _differs(present, change):
            return
        was_adjudication = present is not None and present.is_adjudication
        is_adjudication = was_adjudication if change.is_adjudication is None else change.is_adjudication
        is_adjudication = is_adjudication and change.verdict == Verdict.RATED
        self.log.append(
            RatingChange(
                query_id=query_id,
                doc_id=doc_id,
                rater=self.rater,
                by=self.by,
                source=self.source,
                old_verdict=present.verdict if present else "",
                old_value=present.value if present else None,
                new_verdict=change.verdict,
                new_value=change.value,
                old_note=present.note if present else "",
                old_rated_at=present.updated_at if present else None,
                undoes=change.undoes,
                at=self.now,
                old_is_adjudication=was_adjudication,
                new_is_adjudication=is_adjudication,
            )
        )
        if change.verdict:
            note = change.note if change.note is not None else (present.note if present else "")
            self._stored.append(
                Rating(
                    pk=change.rating_id,
                    query_id=query_id,
                    doc_id=doc_id,
                    rater=self.rater,
                    verdict=change.verdict,
                    value=change.value,
                    note=note,
                    is_adjudication=is_adjudication,
                    created_at=self.now,  # of new ratings; others keep theirs
                    updated_at=change.rated_at or self.now,
                )
            )
        elif present is not None:
            self._removed.append(present.pk)

    def save(self) -> None:
        """Stores what was collected. Call it in a transaction that has locked the queries."""
        for pks in batched(self._removed, BATCH):
            Rating.objects.filter(pk__in=pks).delete()
        if self._stored:
            Rating.objects.bulk_create(
                self._stored,
                batch_size=BATCH,
                update_conflicts=True,
                unique_fields=("query", "doc_id", "rater"),
                update_fields=("verdict", "value", "note", "is_adjudication", "updated_at"),
            )
        if self.log:
            RatingChange.objects.bulk_create(self.log, batch_size=BATCH)
        # After a loss a document has fewer grades or judgments than before, so that raters may get it again.
        has_loss = any(
            logged.old_verdict not in ("", logged.new_verdict) and logged.new_verdict != Verdict.RATED
            for logged in self.log
        )
        for query_ids in batched(self.query_ids, BATCH):
            doc_ids = {change.doc_id for change in self.log} if len(self.log) <= BATCH else None
            JudgingPair.objects.update_levels(query_ids, doc_ids, has_only_new_ratings=not has_loss)


def _differs(present: scores.RatingRecord | None, change: Change) -> bool:
    if present is None:
        return bool(change.verdict)
    is_new_note = change.note is not None and change.note != present.note
    is_other_kind = change.is_adjudication is not None and change.is_adjudication != present.is_adjudication
    return (present.verdict, present.value) != (change.verdict, change.value) or is_new_note or is_other_kind
