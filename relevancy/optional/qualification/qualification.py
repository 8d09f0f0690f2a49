"""The qualification set of a book: a new rater judges documents with known grades before the rater's ratings count.

Answers stand apart from ratings, as those of judge models do, so that they can affect no score. They become ratings when enough of
them agree with the key, or when an editor accepts the rater.

See docs/decisions/0110.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from relevancy import activity, judging, ratings, scores
from relevancy.judging import JudgedDocument, JudgingProgress
from relevancy.models import Book, JudgingPair, Query, Rating, Role, User, Verdict, compiled
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_turn
from relevancy.ratings import InvalidRating
from relevancy.ratings.changes import Change
from relevancy.ratings.ratings import change_book, check_scale
from relevancy.wording import counted

from .models import Qualification, QualificationAnswer, QualificationPair, QualificationRule

MIN_PAIRS, MAX_PAIRS = 5, 200
SOURCE = "qualification"
RULE_CHANGED, SET_CHANGED = (
    "rating.qualification_changed",
    "rating.qualification_set_changed",
)  # verbs of the activity log
RATER_QUALIFIED, RATER_ACCEPTED = "rating.rater_qualified", "rating.rater_accepted"
CARD_OFFSET = 10**12  # added to the ids of pairs of the set, so that no pair of the judging queue has the same
State = Qualification.State


@dataclass(frozen=True)
class QualifyingRater:
    """How far a rater of a book has come. answered: documents of the present round. total: those of the set."""

    qualification: Qualification
    answered: int
    total: int

    @property
    def state_text(self) -> str:
        """The state in words, such as "passed: 5 of 6 agree (83 %)"."""
        stored = self.qualification
        if stored.state == State.JUDGING:
            text = f"{self.answered} of {self.total} judged"
        elif stored.state == State.ACCEPTED:
            text = f"accepted by {stored.decided_by}"
        else:
            share = 100 * stored.agreed / max(1, stored.answered)
            text = f"{stored.get_state_display()}: {stored.agreed} of {stored.answered} agree ({share:.0f} %)"
        return text + (f", round {stored.round}" if stored.round > 1 else "")


def set_rule(*, book: Book, share: int | None, distance: float, by: User) -> None:
    """Changes how far new raters have to agree with the key; with `share` None their ratings count at once.

    share: in per cent. distance: how far a grade may be from the key to agree with it.
    Users who have rated in the book before it is switched on are accepted. When it is switched off, the answers of all raters become
    ratings. Raises `ValidationError` if the set is too small.
    """
    size = active_pairs(book).count()
    if share is not None and size < MIN_PAIRS:
        raise ValidationError(
            {"share": f"The set has {counted(size, 'document')}. Add at least {MIN_PAIRS - size} more first."}
        )
    changed = "off" if share is None else f"{share} per cent have to agree with the key, by {distance:g} at most"
    with transaction.atomic():
        rule, _ = QualificationRule.objects.get_or_create(book=book)
        former = (rule.share, rule.distance)
        clean_and_save(rule, share=share, distance=distance)
        if former != (share, distance):
            activity.record_for_book(RULE_CHANGED, book=book, by=by, changed=changed)
    if share is not None and former[0] is None:
        ratings = Rating.objects.filter(query__book=book, rater__kind=User.Kind.PERSON).order_by()
        for rater_id in ratings.values_list("rater_id", flat=True).distinct():
            Qualification.objects.get_or_create(
                book=book,
                rater_id=rater_id,
                defaults={"state": State.ACCEPTED, "decided_by": by, "decided_at": timezone.now()},
            )
    if share is None and former[0] is not None:
        for qualification in Qualification.objects.filter(book=book, state__in=(State.JUDGING, State.FAILED)):
            _accept(qualification, by, State.ACCEPTED)


def find_rule(book: Book) -> QualificationRule:
    """Returns whether new raters of a book have to qualify; not stored before it was switched on."""
    return QualificationRule.objects.filter(book=book).first() or QualificationRule(book=book)


def is_qualified(book: Book, user: User) -> bool:
    """Returns whether the user's ratings of a book count: always in a book without qualification, and for editors of the book.

    One or two SQL statements.
    """
    return not _unmet_rules(book.pk, user.pk) or Book.objects.editable_by(user).filter(pk=book.pk).exists()


@compiled
def _unmet_rules(book_id: int, user_id: int) -> QuerySet[QualificationRule]:
    met = Qualification.objects.counting().filter(rater=user_id).values("book")
    return QualificationRule.objects.filter(book=book_id, share__isnull=False).exclude(book__in=met)


def books_to_qualify(user: User) -> QuerySet[Book]:
    """Returns the books that the user may rate once qualified, by name."""
    counting = Qualification.objects.counting().filter(rater=user)
    rules = QualificationRule.objects.filter(share__isnull=False).exclude(book__in=counting.values("book"))
    rateable: QuerySet[Any] = Book.objects.rateable_by(user).select_related("owner")
    return rateable.filter(role=Role.RATER, pk__in=rules.values("book")).order_by("name", "pk")


def active_pairs(book: Book) -> QuerySet[QualificationPair]:
    """Returns the documents of the set of a book."""
    return QualificationPair.objects.filter(query__book=book, query__retired_at=None, removed_at=None)


def draw_pairs(*, book: Book, count: int, seed: int, by: User) -> int:
    """Adds documents with a grade to the set, drawn at random from the judging queue, as evenly over the grades as possible.

    Documents with a decision of an adjudicator, or on which all of several raters agree, come first. The key is the grade by the rule
    of the book, of people's ratings. Returns how many were added. Raises `ValidationError` if the set becomes too large.
    """
    present = active_pairs(book).count()
    if not 1 <= count <= MAX_PAIRS - present:
        raise ValidationError({"count": f"The set can have {MAX_PAIRS} documents; {MAX_PAIRS - present} can be added."})
    if judging.judging_queue(book).built_at is None:
        judging.build_judging_queue(book=book)
    candidates = _candidates(book)
    generator = random.Random(seed)
    by_grade: dict[float, list[tuple[JudgingPair, float]]] = defaultdict(list)
    generator.shuffle(candidates)
    for pair, grade, _ in sorted(candidates, key=lambda candidate: not candidate[2]):
        by_grade[grade].append((pair, grade))
    chosen: list[tuple[JudgingPair, float]] = []
    while len(chosen) < count and any(by_grade.values()):
        for grade in sorted(by_grade):
            if by_grade[grade] and len(chosen) < count:
                chosen.append(by_grade[grade].pop(0))
    with transaction.atomic():
        for pair, grade in chosen:
            QualificationPair.objects.update_or_create(
                query_id=pair.query_id,
                doc_id=pair.doc_id,
                defaults={"run_id": pair.run_id, "value": grade, "removed_at": None},
            )
        if chosen:
            _record_set(book, f"{counted(len(chosen), 'document')} added", by)
    return len(chosen)


def set_key(*, pair: QualificationPair, value: float, by: User) -> bool:
    """Changes the grade that is right. Raters who have been decided about stay as they are. Returns whether it was another one. Raises
    `InvalidRating`."""
    book = pair.query.book
    if value not in book.grades:
        raise InvalidRating(f"{value:g} is not a grade of the book {book}.")
    if value == pair.value:
        return False
    former, pair.value = pair.value, value
    with transaction.atomic():
        pair.save(update_fields=["value"])
        _record_set(book, f"key of {pair.doc_id} for “{pair.query}” {former:g} → {value:g}", by)
    return True


def remove_pair(*, pair: QualificationPair, by: User) -> None:
    """Takes a document out of the set; answers that were given are kept. Raises `ValidationError` if the set becomes too small."""
    book = pair.query.book
    if find_rule(book).share is not None and active_pairs(book).count() <= MIN_PAIRS:
        raise ValidationError(
            f"The set needs {MIN_PAIRS} documents. Add others first, or switch the qualification off."
        )
    pair.removed_at = timezone.now()
    with transaction.atomic():
        pair.save(update_fields=["removed_at"])
        _record_set(book, f"{pair.doc_id} for “{pair.query}” removed", by)


def find_qualification(book: Book, rater: User) -> Qualification:
    """Returns how far a rater has come; not stored before the first answer."""
    return Qualification.objects.filter(book=book, rater=rater).first() or Qualification(book=book, rater=rater)


def next_documents(*, book: Book, by: User, count: int) -> list[JudgedDocument]:
    """Returns the documents of the set that a rater judges next, without ratings. Empty once the round has ended."""
    qualification = find_qualification(book, by)
    if qualification.state != State.JUDGING:
        return []
    pairs = sorted(_open_pairs(qualification), key=lambda pair: random.Random(f"{by.pk}:{pair.pk}").random())
    return _documents(book, pairs[:count], by)


def read_set(*, book: Book, by: User) -> list[tuple[QualificationPair, JudgedDocument]]:
    """Returns the documents of the set, those with the lowest keys first, with what the run stored of them."""
    pairs = list(active_pairs(book).order_by("value", "pk"))
    return list(zip(pairs, _documents(book, pairs, by), strict=True))


def read_document(*, book: Book, card_id: int, by: User) -> JudgedDocument | None:
    """Returns a document of the set by the id of its card, without ratings."""
    pair = active_pairs(book).filter(pk=card_id - CARD_OFFSET).first()
    return _documents(book, [pair], by)[0] if pair else None


def measure_progress(*, book: Book, by: User) -> JudgingProgress:
    """Returns how many documents of the set a rater has not judged."""
    qualification = find_qualification(book, by)
    left = len(_open_pairs(qualification)) if qualification.state == State.JUDGING else 0
    return JudgingProgress(active_pairs(book).count(), left, 0)


def answer(
    *,
    query: Query,
    doc_id: str,
    by: User,
    verdict: str = Verdict.RATED,
    value: float | None = None,
    note: str | None = None,
    expected_scale: str = "",
) -> Qualification:
    """Stores the judgment of a document of the set. With the last one it is decided whether the rater's ratings count.

    "Later" is not stored: the document comes again. Raises `InvalidRating`, in which case nothing has been stored.
    """
    book = query.book
    check_scale(book, expected_scale)
    if value is not None and value not in book.grades:
        raise InvalidRating(f"{value:g} is not a grade of the book {book}. Choose one of its grades.")
    pair = active_pairs(book).filter(query=query, doc_id=ratings.clean_doc_id(doc_id)).first()
    if pair is None:
        raise InvalidRating("The document is no longer in the qualification set. Reload the page.")
    with write_turn(), transaction.atomic():
        Qualification.objects.get_or_create(book=book, rater=by)
        qualification: Qualification = Qualification.objects.select_for_update(no_key=True).get(book=book, rater=by)
        if qualification.state != State.JUDGING:
            raise InvalidRating("Your qualification has ended, so this grade was not saved. Reload the page.")
        if value is None and verdict == Verdict.LATER:
            return qualification
        QualificationAnswer.objects.update_or_create(
            pair=pair,
            rater=by,
            round=qualification.round,
            defaults={
                "verdict": Verdict.RATED if value is not None else Verdict(verdict),
                "value": value,
                "note": note or "",
                "at": timezone.now(),
            },
        )
        if not _open_pairs(qualification):
            _decide(qualification, book)
    return qualification


def accept_rater(*, book: Book, rater: User, by: User) -> int:
    """Lets a rater's ratings count whatever the key says; the answers become ratings. Returns how many."""
    with write_turn(), transaction.atomic():
        qualification, _ = Qualification.objects.get_or_create(book=book, rater=rater)
        activity.record_for_book(RATER_ACCEPTED, book=book, by=by, person=rater)
        return _accept(qualification, by, State.ACCEPTED)


def let_try_again(*, book: Book, rater: User) -> None:
    """Begins another round for a rater who has not passed. Former answers are kept, and count only if the rater passes later."""
    failed = Qualification.objects.filter(book=book, rater=rater, state=State.FAILED)
    for qualification in failed:
        qualification.state, qualification.round = State.JUDGING, qualification.round + 1
        qualification.agreed = qualification.answered = 0
        qualification.save()


def list_raters(book: Book) -> list[QualifyingRater]:
    """Returns the raters with a qualification in a book: those who have not passed first, then by name."""
    total = active_pairs(book).count()
    qualifications = Qualification.objects.filter(book=book).select_related("rater", "decided_by")
    answers = QualificationAnswer.objects.filter(pair__query__book=book, pair__removed_at=None).order_by()
    counts = {
        (rater_id, number): count
        for rater_id, number, count in answers.values_list("rater_id", "round").annotate(count=Count("pk"))
    }
    rows = [QualifyingRater(stored, counts.get((stored.rater_id, stored.round), 0), total) for stored in qualifications]
    return sorted(
        rows, key=lambda row: (row.qualification.counts, str(row.qualification.rater), row.qualification.rater_id)
    )


def _candidates(book: Book) -> list[tuple[JudgingPair, float, bool]]:
    """Returns the pairs of the queue with a grade of people that is on the scale, each with the grade and whether it is agreed."""
    taken = set(active_pairs(book).values_list("query_id", "doc_id"))
    pairs = judging.judging_queue(book).pairs.filter(query__retired_at=None).order_by("pk")
    by_query: dict[int, list[JudgingPair]] = defaultdict(list)
    for pair in pairs:
        if (pair.query_id, pair.doc_id) not in taken:
            by_query[pair.query_id].append(pair)
    ratings = Rating.objects.filter(query__book=book, verdict=Verdict.RATED).exclude(rater__kind=User.Kind.MACHINE)
    columns = ("query_id", "doc_id", "rater_id", "is_adjudication", "value", "updated_at", "pk")
    rows: list[Any] = list(ratings.values_list(*columns))
    given_by_pair: dict[tuple[int, str], list[scores.RatingRow]] = defaultdict(list)
    for row in rows:
        given_by_pair[row[:2]].append(row)
    candidates = []
    for query_id, grades in scores.combine_grades(book, rows).items():
        for pair in by_query[query_id]:
            grade = grades.get(pair.doc_id)
            if grade is None or grade not in book.grades:
                continue
            given = given_by_pair[query_id, pair.doc_id]
            is_agreed = any(row[3] for row in given) or (len(given) > 1 and len({row[4] for row in given}) == 1)
            candidates.append((pair, grade, is_agreed))
    return candidates


def _open_pairs(qualification: Qualification) -> list[QualificationPair]:
    answered = QualificationAnswer.objects.filter(rater=qualification.rater, round=qualification.round)
    return list(active_pairs(qualification.book).exclude(pk__in=answered.values("pair")))


def _documents(book: Book, pairs: Sequence[QualificationPair], by: User) -> list[JudgedDocument]:
    """Returns documents with cards of their own, as if they were unrated."""
    queue = judging.judging_queue(book)
    cards = [
        JudgingPair(
            pk=CARD_OFFSET + pair.pk, queue=queue, query_id=pair.query_id, doc_id=pair.doc_id, run_id=pair.run_id or 0
        )
        for pair in pairs
    ]
    return [
        JudgedDocument(document.pair, document.query, document.result)
        for document in judging.read_documents(cards, by=by)
    ]


def _decide(qualification: Qualification, book: Book) -> None:
    """Compares the answers of a round with the key. "Cannot judge" does not agree with it."""
    answers = QualificationAnswer.objects.filter(
        pair__in=active_pairs(book), rater=qualification.rater, round=qualification.round
    ).select_related("pair")
    rule = find_rule(book)
    distances = [None if answer.value is None else abs(answer.value - answer.pair.value) for answer in answers]
    agreed = sum(distance is not None and distance <= rule.distance for distance in distances)
    qualification.agreed, qualification.answered = agreed, len(distances)
    if 100 * agreed >= (rule.share or 0) * len(distances):
        activity.record_for_book(
            RATER_QUALIFIED, book=book, by=qualification.rater, agreed=agreed, answered=len(distances)
        )
        _accept(qualification, None, State.PASSED)
        return
    qualification.state, qualification.decided_at = State.FAILED, timezone.now()
    qualification.save()


def _record_set(book: Book, changed: str, by: User) -> None:
    activity.record_for_book(SET_CHANGED, book=book, by=by, changed=changed)


def _accept(qualification: Qualification, by: User | None, state: str) -> int:
    """Lets a rater's ratings count, and makes ratings of the answers; of several rounds, of the last one."""
    qualification.state, qualification.decided_by, qualification.decided_at = state, by, timezone.now()
    qualification.save()
    rater, book = qualification.rater, qualification.book
    answers: dict[int, dict[str, QualificationAnswer]] = defaultdict(dict)
    given = QualificationAnswer.objects.filter(pair__query__book=book, rater=rater).select_related("pair")
    for answer in given.order_by("round"):
        answers[answer.pair.query_id][answer.pair.doc_id] = answer

    def choose() -> Mapping[int, Mapping[str, Change]]:
        book.refresh_settings()
        rated = set(Rating.objects.filter(query__book=book, rater=rater).values_list("query_id", "doc_id"))
        return {
            query_id: {
                doc_id: Change(answer.value, answer.verdict, answer.note, answer.at)
                for doc_id, answer in documents.items()
                if (query_id, doc_id) not in rated and (answer.value is None or answer.value in book.grades)
            }
            for query_id, documents in answers.items()
        }

    return change_book(query_ids=answers, choose=choose, rater=rater, by=by or rater, source=SOURCE)
