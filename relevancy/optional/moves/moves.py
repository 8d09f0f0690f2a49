"""Ratings of documents whose ids have changed in the index: found by the title or URL that runs stored, and moved."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.db import transaction

from relevancy import activity, runs, scores
from relevancy.books.book_locks import lock_book
from relevancy.books.previews import find_cases, try_change
from relevancy.models import Book, Case, Ranking, Rating, Run, User
from relevancy.models.write_queue import write_turn
from relevancy.ratings.changes import REMOVAL, Change
from relevancy.ratings.ratings import change_raters

SOURCE = "move"  # of the changes in the log of ratings
MOVED = "rating.moved"  # a verb of the activity log
OLD_RUNS = 10  # of each case, in which the titles of documents that are no longer returned are looked up
BATCH = 200
TITLE, URL = "title", "URL"

type Identity = tuple[str, str]
"""`TITLE` or `URL`, and the normalized text."""


@dataclass(frozen=True)
class MovedDocument:
    """A document whose ratings belong to another id.

    found_by: `TITLE` or `URL`, which both have. ratings: the number of ratings in the book; queries: of how many queries.
    """

    old_id: str
    new_id: str
    title: str
    found_by: str
    ratings: int
    queries: int


@dataclass(frozen=True)
class OrphanedRatings:
    """The rated documents of a book that the newest runs do not return for any query.

    moved: those that are returned under another id. unclear: how many have the title or URL of several returned documents, or share
    one of them with other documents that are gone. unknown: how many nothing is known about; most of them may still be in the
    index, but are no longer among the results.
    """

    moved: Sequence[MovedDocument] = field(default_factory=list)
    unclear: int = 0
    unknown: int = 0


def find_orphaned_ratings(*, book: Book) -> OrphanedRatings:
    """Looks for the rated documents of a book that the newest complete runs of its cases return under another id.

    Reads the hits of these runs, and of the last `OLD_RUNS` runs for the queries concerned: some seconds for 10,000 queries. Two
    documents are the same if they have the same URL in any displayed field, or else the same displayed title, ignoring case and
    spaces; and if that holds for no third one.
    """
    complete = Run.objects.filter(status=Run.Status.COMPLETE)
    cases = Case.objects.live().filter(book=book).order_by("pk")
    newest = [run for case in cases if (run := complete.newest_for(case).first())]
    present = _Documents()
    for run in newest:
        present.add(run, Ranking.objects.filter(run=run, error_kind=""))
    rated: Counter[str] = Counter()
    queries: dict[str, set[int]] = defaultdict(set)
    for query_id, doc_id in Rating.objects.filter(query__book=book).order_by().values_list("query_id", "doc_id"):
        rated[doc_id] += 1
        queries[doc_id].add(query_id)
    gone = {doc_id for doc_id in rated if doc_id not in present.titles}
    if not newest or not gone:
        return OrphanedRatings()
    former = _read_former(newest, gone, set().union(*(queries[doc_id] for doc_id in gone)))
    matches = {doc_id: _match(former.identities.get(doc_id, ()), present) for doc_id in gone}
    claimed = Counter(new_id for ids, _ in matches.values() if len(ids) == 1 for new_id in ids)
    moved = [
        MovedDocument(doc_id, new_id, present.titles[new_id], kind, rated[doc_id], len(queries[doc_id]))
        for doc_id, (ids, kind) in matches.items()
        if len(ids) == 1
        for new_id in ids
        if claimed[new_id] == 1
    ]
    matched = sum(bool(ids) for ids, _ in matches.values())
    return OrphanedRatings(
        moved=sorted(moved, key=lambda document: (-document.ratings, document.old_id)),
        unclear=matched - len(moved),
        unknown=len(gone) - matched,
    )


@dataclass
class _Documents:
    """Documents by what identifies them. titles: the displayed title by document id."""

    titles: dict[str, str] = field(default_factory=dict)
    identities: dict[str, set[Identity]] = field(default_factory=lambda: defaultdict(set))
    ids: dict[Identity, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, run: Run, rankings: Any, only: Iterable[str] | None = None) -> None:
        """Adds the hits of rankings of a run; those with ids in `only` if it is given."""
        spec = runs.field_spec(run.config)
        wanted = None if only is None else set(only)
        pictures = {picture.name for picture in (spec.thumb, spec.image) if picture}
        for ranking in rankings.iterate(BATCH):
            for doc_id, _, fields, *_ in ranking.hits:
                if doc_id in self.titles or (wanted is not None and doc_id not in wanted):
                    continue
                title = str(fields.get(spec.title) or "")
                self.titles[doc_id] = title or doc_id
                texts = [str(value).strip() for name, value in fields.items() if name not in pictures | {spec.id}]
                identities = {(URL, text) for text in texts if text.startswith(("http://", "https://"))}
                if title and spec.title != spec.id:
                    identities.add((TITLE, " ".join(unicodedata.normalize("NFKC", title).casefold().split())))
                self.identities[doc_id] |= identities
                for identity in identities:
                    self.ids[identity].add(doc_id)


def _match(identities: Iterable[Identity], present: _Documents) -> tuple[set[str], str]:
    """Returns the ids of returned documents with the same URL, or else with the same title, and which of them it is."""
    for kind in (URL, TITLE):
        ids = set().union(*(present.ids.get(identity, set()) for identity in identities if identity[0] == kind))
        if ids:
            return ids, kind
    return set(), ""


def _read_former(newest: Sequence[Run], gone: set[str], query_ids: set[int]) -> _Documents:
    """Returns the documents that are gone as earlier runs stored them, the newest of these runs first."""
    former = _Documents()
    for run in newest:
        earlier = Run.objects.newest_for(run.case_id).finished().filter(number__lt=run.number, fields_dropped_at=None)
        for old in earlier[:OLD_RUNS]:
            if not gone - former.titles.keys():
                return former
            for batch in batched(sorted(query_ids), BATCH):
                rankings = Ranking.objects.filter(run=old, query__in=batch, error_kind="")
                former.add(old, rankings, gone - former.titles.keys())
    return former


def move_ratings(*, book: Book, ids: Mapping[str, str], by: User) -> int:
    """Moves all ratings of documents of a book to other document ids: `{id: new id}`.

    Rater, value, note and time stay. If a rater has rated the new id as well, the newer rating counts; the same holds for
    adjudications. The log has a removal and a rating for each. Returns the number of ratings that were moved. All scores of the
    queries concerned are stale.
    """
    with write_turn(), transaction.atomic():
        moved = _move(book, ids, by)
        if moved:
            activity.record_for_book(MOVED, book=book, by=by, count=moved)
    return moved


def preview_move(*, book: Book, ids: Mapping[str, str], by: User) -> list[scores.CaseScorePreview]:
    """Returns the scores of the cases that the user can see, before and after `move_ratings`, which is done and taken back."""
    cases, _ = find_cases(book, by=by)
    _, case_scores = try_change(lambda: _move(book, ids, by), cases=cases, book=book)
    return case_scores


def _move(book: Book, ids: Mapping[str, str], by: User) -> int:
    lock_book(book)
    rated = Rating.objects.filter(query__book=book)
    query_ids: set[int] = set()
    for batch in batched(ids, BATCH):
        query_ids.update(rated.filter(doc_id__in=batch).values_list("query_id", flat=True))
    # `{rater id: {query id: {document id: change}}}`. What loses goes first, so that no document ever has two adjudications.
    leaving: dict[int, dict[int, dict[str, Change]]] = defaultdict(lambda: defaultdict(dict))
    arriving: dict[int, dict[int, dict[str, Change]]] = defaultdict(lambda: defaultdict(dict))
    moved = 0
    for query_id in sorted(query_ids):
        by_document = scores.QueryRatings.read(query_id).by_document
        for old_id in by_document.keys() & ids.keys():
            new_id = ids[old_id]
            present = {record.rater_id: record for record in by_document.get(new_id, ())}
            decision = next((record for record in present.values() if record.is_adjudication), None)
            for record in by_document[old_id]:
                leaving[record.rater_id][query_id][old_id] = REMOVAL
                same = present.get(record.rater_id)
                is_adjudication = record.is_adjudication
                if is_adjudication and decision is not None and decision.rater_id != record.rater_id:
                    is_adjudication = _is_newer(record, decision)
                    if is_adjudication:
                        kept = Change.copying(decision, is_adjudication=False)
                        leaving[decision.rater_id][query_id][new_id] = kept
                if same is None or _is_newer(record, same):
                    is_adjudication |= same is not None and same.is_adjudication
                    change = Change.copying(record, is_adjudication=is_adjudication)
                    arriving[record.rater_id][query_id][new_id] = change
                moved += 1
    raters = User.objects.in_bulk({*leaving, *arriving})
    changes = [(raters[rater_id], chosen) for step in (leaving, arriving) for rater_id, chosen in step.items()]
    change_raters(query_ids=query_ids, choose=lambda: changes, by=by, source=SOURCE)
    return moved


def _is_newer(record: scores.RatingRecord, other: scores.RatingRecord) -> bool:
    return (record.updated_at, record.pk) > (other.updated_at, other.pk)
