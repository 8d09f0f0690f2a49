"""Two explanations side by side: of two documents, or of one document in two runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy import runs
from relevancy.engines.types import FailedClause
from relevancy.models import Ranking, Run, User
from relevancy.runs.explanation_differences import FieldDifference
from relevancy.templatetags import numbers

from .access import CaseAccess

MAX_RUNS = 20  # offered for comparison
MAX_RATED = 30  # rated documents offered that are not among the results
MAX_FIELDS = 3  # named in the sentence
NEGLIGIBLE = 0.001  # of the larger score


@dataclass(frozen=True)
class FailedSide:
    """A side that does not match the query, and why. would_score: what the clauses that do match add up to."""

    name: str
    failures: Sequence[FailedClause]
    would_score: float


@dataclass(frozen=True)
class ComparedExplanation:
    """A document in the ranking of a run."""

    ranking: Ranking
    doc_id: str

    @property
    def rank(self) -> int | None:
        """Its rank; None if the run did not return it."""
        return next((rank for rank, hit in enumerate(self.ranking.hits, 1) if hit[0] == self.doc_id), None)

    @property
    def run_score(self) -> float | None:
        """Its engine score in the run; None if the run did not return it."""
        return next((hit[1] for hit in self.ranking.hits if hit[0] == self.doc_id), None)

    @property
    def rank_text(self) -> str:
        return f"rank {self.rank}" if self.rank else "not returned"

    def explain(self, *, by: User, can_request: bool) -> runs.DocumentExplanation:
        """Returns the stored explanation, or that of the engine now if none with factors is stored and `can_request` allows it.

        Raises `runs.RunNotAllowed` if there is none to be had, and what `runs.explain` raises.
        """
        stored = runs.stored_explanations(self.ranking).get(self.doc_id)
        can_explain = can_request and runs.abilities(self.ranking.run).explain
        if stored is not None and (stored.has_factors or not can_explain):
            return stored
        if not can_explain:
            raise runs.RunNotAllowed(
                f"The explanation of “{self.doc_id}” in run {self.ranking.run.number} is not stored. "
                "An editor can request it from the engine."
            )
        return runs.explain(self.ranking, self.doc_id, by=by)


@dataclass(frozen=True)
class ExplainedPair:
    """Two documents, or one document in two runs, with what makes the difference between their engine scores."""

    first: ComparedExplanation
    second: ComparedExplanation
    difference: runs.ExplanationDifference

    @classmethod
    def read(
        cls, first: ComparedExplanation, second: ComparedExplanation, *, by: User, can_request: bool
    ) -> "ExplainedPair":
        """Reads both explanations; raises what `ComparedExplanation.explain` raises."""
        explanations = [explainable.explain(by=by, can_request=can_request) for explainable in (first, second)]
        return cls(first, second, runs.compare_explanations(*explanations))

    @property
    def has_two_runs(self) -> bool:
        return self.first.ranking.run_id != self.second.ranking.run_id

    def name(self, side: ComparedExplanation) -> str:
        """Returns what tells one side from the other: its run, or its id."""
        run = side.ranking.run
        return f"run {run.number}" if self.has_two_runs else f"“{side.doc_id}”"

    @property
    def first_label(self) -> str:
        return f"{self.name(self.first)}, {self.first.rank_text}"

    @property
    def second_label(self) -> str:
        return f"{self.name(self.second)}, {self.second.rank_text}"

    @property
    def sentence(self) -> str:
        """Returns the difference and what makes it in one sentence."""
        points, least = self.difference.difference, self._least
        first, second = self.name(self.first), self.name(self.second)
        verb = "would score" if any(side.would_score for side in self.failed) else "scores"
        subject = f"“{self.second.doc_id}” {verb}" if self.has_two_runs else f"{second} {verb}"
        if abs(points) < least:
            text = (
                f"{subject} the same in {first} and {second}" if self.has_two_runs else f"{subject} the same as {first}"
            )
        else:
            than = f"in {second} than in {first}" if self.has_two_runs else f"than {first}"
            text = f"{subject} {_more_or_less(points)} {than}"
        fields = [_field_text(field) for field in self.difference.fields if abs(field.difference) >= least]
        text = f"{text}: {'; '.join(fields[:MAX_FIELDS])}." if fields else f"{text}."
        if not self.failed:
            return text
        names = " and ".join(side.name for side in self.failed)
        do = "does" if len(self.failed) == 1 else "do"
        if not any(side.would_score for side in self.failed):
            return f"No clause of the query matches {names}. {text}"
        if self.has_two_runs:
            return f"“{self.second.doc_id}” does not match in {names}. By the clauses that match, {text}"
        return f"{names} {do} not match the query. By the clauses that match, {text}"

    @property
    def failed(self) -> list[FailedSide]:
        """The sides that do not match the query, with the conditions that they do not meet."""
        sides = ((self.first, self.difference.first), (self.second, self.difference.second))
        return [
            FailedSide(self.name(side), explanation.failures, explanation.compared_score)
            for side, explanation in sides
            if not explanation.matches
        ]

    @property
    def _least(self) -> float:
        """Points of the engine score below which a difference is not worth a word."""
        return max(self.difference.first.compared_score, self.difference.second.compared_score) * NEGLIGIBLE

    @property
    def changed(self) -> list[str]:
        """Returns which sides have another engine score in the index now than in their run."""
        sides = ((self.first, self.difference.first), (self.second, self.difference.second))
        return [
            self.name(side)
            for side, explanation in sides
            if explanation.matches and explanation.differs_from(side.run_score)
        ]


def comparison_choices(
    ranking: Ranking, doc_id: str, *, by: User, access: CaseAccess
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns the other results of a ranking, the rated documents that are not among them, best first, and the other runs of its case,
    newest first, as choices of a form in groups; groups without any are left out. Two SQL statements, and one more for raters."""
    depth = ranking.run.config["depth"]
    ratings = access.read_ratings(ranking.query_id)
    results = runs.build_results(ranking, by=by, depth=depth, ratings=ratings)
    documents = [
        (f"doc:{result.doc_id}", f"{result.rank}. {result.display.title}"[:100])
        for result in results
        if result.doc_id != doc_id and not result.repeat
    ]
    unretrieved = runs.list_unretrieved(ranking, by=by, depth=depth, ratings=ratings).documents
    rated = [
        (f"doc:{document.doc_id}", f"{document.doc_id}, rated {numbers.grade_text(document.grade)}"[:100])
        for document in unretrieved
        if document.doc_id != doc_id
    ]
    others = Run.objects.finished().filter(case=ranking.run.case_id).exclude(pk=ranking.run_id)
    listed = others.select_related("attempt").defer("config").order_by("-number")[:MAX_RUNS]
    run_choices = [
        (f"run:{run.number}", f"the same document in run {run.number}, attempt {run.attempt.number}") for run in listed
    ]
    groups = [
        ("Results", documents),
        ("Rated, not among the results", rated[:MAX_RATED]),
        ("Other runs", run_choices),
    ]
    return [(label, choices) for label, choices in groups if choices]


def _field_text(field: FieldDifference) -> str:
    """Returns “title 3.20 more, of which idf of ‘rings’ 2.90”."""
    text = f"{field.field or 'functions'} {_more_or_less(field.difference)}"
    towards = [term for term in field.terms if term.difference * field.difference > 0 and term.term]
    if not towards:
        return text
    term = max(towards, key=lambda candidate: abs(candidate.difference))
    factors = [factor for factor in term.factors if factor.points * field.difference > 0]
    if factors:
        return f"{text}, of which {factors[0].name} of ‘{term.term}’ {numbers.engine_score(abs(factors[0].points))}"
    one_only = ", matched in one only," if term.first is None or term.second is None else ""
    return f"{text}, of which ‘{term.term}’{one_only} {numbers.engine_score(abs(term.difference))}"


def _more_or_less(points: float) -> str:
    return f"{numbers.engine_score(abs(points))} {'more' if points > 0 else 'less'}"
