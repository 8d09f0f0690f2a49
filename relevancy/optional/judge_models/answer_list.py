"""The answers of a judge model on a book beside the grades of people, the worst disagreement first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from relevancy.judging.judging_documents import JudgedDocument, read_documents
from relevancy.models import Book, JudgingPair

from .calibration import people_grades
from .judges import build_instructions
from .models import JudgeAnswer, JudgeJob, JudgeModel

State = JudgeAnswer.State
DIFFERS = "differs"
STATES = {
    DIFFERS: "Differs from people",
    str(State.UNREADABLE): "Not understood",
    str(State.FAILED): "Failed",
    str(State.CANNOT): "Cannot judge",
    str(State.RATED): "Rated",
}
"""What the list can be filtered by, with labels."""
_ORDER = (State.UNREADABLE, State.FAILED, State.CANNOT, State.RATED)


@dataclass(frozen=True)
class ComparedAnswer:
    """An answer and the grade of people, by the rule of the book and without ratings by judge models; None if there is none.

    Only on a page of the list there are the stored `answer` with its query and job, the `document`, and `is_former`: whether it was
    given with other instructions than the present ones.
    """

    pk: int
    query_id: int
    doc_id: str
    state: str
    value: float | None
    people: float | None = None
    answer: JudgeAnswer | None = None
    document: JudgedDocument | None = None
    is_former: bool = False

    @property
    def difference(self) -> float:
        """How many grades it is away from people; 0 if one of them has none."""
        return 0.0 if self.value is None or self.people is None else abs(self.value - self.people)

    def matches(self, state: str) -> bool:
        """Whether it is one of those that a key of `STATES` names; an empty one names all."""
        return state in ("", self.state) or (state == DIFFERS and self.difference > 0)


def read_answers(*, judge: JudgeModel, book: Book, text: str = "", job: JudgeJob | None = None) -> list[ComparedAnswer]:
    """Returns the answers, of a job or of all, for queries that contain the text: by difference, the largest first, then those that say
    nothing, then the others. One SQL statement, and one per 500 queries with a grade."""
    stored = JudgeAnswer.objects.filter(judge=judge, query__book=book).exclude(state=State.OPEN)
    if job is not None:
        stored = stored.filter(job=job)
    if text:
        stored = stored.filter(query__text__icontains=text)
    answers = [
        ComparedAnswer(*row)
        for row in stored.order_by("query_id", "pk").values_list("pk", "query_id", "doc_id", "state", "value")
    ]
    grades = people_grades(book, {answer.query_id for answer in answers}).values
    answers = [replace(answer, people=grades[answer.query_id].get(answer.doc_id)) for answer in answers]
    return sorted(answers, key=lambda answer: (-answer.difference, _ORDER.index(State(answer.state))))


def count_states(answers: Sequence[ComparedAnswer]) -> list[tuple[str, str, int]]:
    """Returns key, label and number of answers of the filters that have any."""
    counts = Counter(answer.state for answer in answers)
    counts[DIFFERS] = sum(answer.difference > 0 for answer in answers)
    return [(key, label, counts[key]) for key, label in STATES.items() if counts[key]]


def read_page(judge: JudgeModel, book: Book, answers: Sequence[ComparedAnswer]) -> list[ComparedAnswer]:
    """Returns answers with their documents. Four SQL statements, and one per query."""
    stored = JudgeAnswer.objects.select_related("query", "job").in_bulk([answer.pk for answer in answers])
    present = build_instructions(judge, book)
    rows = [stored[answer.pk] for answer in answers if answer.pk in stored]
    pairs = [JudgingPair(query_id=row.query_id, doc_id=row.doc_id, run_id=row.run_id or 0) for row in rows]
    documents = {
        (document.pair.query_id, document.pair.doc_id): document for document in read_documents(pairs, by=judge.rater)
    }
    return [
        replace(
            answer,
            answer=stored[answer.pk],
            document=documents[answer.query_id, answer.doc_id],
            is_former=stored[answer.pk].job.instructions != present,
        )
        for answer in answers
        if answer.pk in stored
    ]
