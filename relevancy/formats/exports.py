"""What can be downloaded, on pages, by commands and by the API: each file has a name, which addresses contain."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from django.db.models import F, Model, Q, Sum
from django.utils.text import slugify

from relevancy import activity, hooks
from relevancy.formats.progress import reported_to
from relevancy.formats.queries import queries_csv
from relevancy.formats.rankings import run_csv
from relevancy.formats.ratings import book_ratings_csv, judgement_lists, ltr, ratings_csv, ratings_json, rre, trec
from relevancy.formats.relevancy import writer
from relevancy.models import Activity, Book, Case, Query, Rating, Run, User

MEMORY = 4 * 1024 * 1024  # bytes of a file that are kept in memory; larger ones are written to disk
MAX_ROWS = 500_000  # ratings, results or queries that a page writes: five to ten seconds; see benchmarks/transfer.py
WHOLE, RATINGS, QUERIES, RESULTS = "Whole case", "Ratings", "Queries", "Scores and results"
GROUPS = ("", WHOLE, RATINGS, QUERIES, RESULTS)
CSV, TEXT, JSON = "text/csv", "text/plain", "application/json"


def count_steps(row: Model) -> int:
    """Returns how many queries a file of a case or book has, or of how many queries a file of a run has results."""
    if isinstance(row, Run):
        return row.done - row.failed
    queries = row.case_queries.present() if isinstance(row, Case) else Query.objects.live().filter(book=row.pk)
    return int(queries.count())


def _count_pinned(case: Case) -> int:
    pinned = case.runs.filter(pinned_at__isnull=False)
    return int(pinned.aggregate(steps=Sum(F("done") - F("failed")))["steps"] or 0)


@dataclass(frozen=True)
class Export[M]:
    """One kind of file.

    suffix: the end of its name. label, hint: what it is, for people. group: the heading under which a page lists it.
    write: returns the parts of the text, for the user.
    says_left_out: `write` also takes a list, which gets sentences about what the format does not hold.
    steps: counts what `progress.count_read` is called for: queries, or rankings of runs.
    """

    suffix: str
    content_type: str
    label: str
    hint: str
    write: Callable[..., Iterable[str]]
    group: str = ""
    says_left_out: bool = False
    steps: Callable[[M], int] = count_steps  # type: ignore[assignment]

    def is_large(self, row: M) -> bool:
        """Returns whether a worker has to make the file, which has more than `MAX_ROWS` ratings and results or, of queries alone,
        queries. Two SQL statements at most."""
        if isinstance(row, Run):
            return row.done * row.rows > MAX_ROWS
        if not isinstance(row, Case | Book):
            return False
        if self.group == QUERIES:
            return self.steps(row) > MAX_ROWS
        rows = 0
        if isinstance(row, Case) and self.group in (WHOLE, RESULTS):
            newest = Run.objects.finished().newest_for(row).values("pk")[:1]
            written = row.runs.filter(Q(pinned_at__isnull=False) | Q(pk__in=newest))
            rows = int(written.aggregate(rows=Sum(F("done") * F("rows")))["rows"] or 0)
        book: Any = row.book_id if isinstance(row, Case) else row
        left = MAX_ROWS - rows
        return left < 0 or Rating.objects.filter(query__book=book).order_by()[: left + 1].count() > left

    def file_name(self, row: M) -> str:
        """Returns the name of the file, made from that of what it contains."""
        name = f"{row.case.name} run {row.number}" if isinstance(row, Run) else str(row)
        return f"{slugify(name) or 'export'}{self.suffix}"

    @property
    def full_content_type(self) -> str:
        """The content type with the encoding, which JSON does not have."""
        return self.content_type if self.content_type == JSON else f"{self.content_type}; charset=utf-8"

    def open(
        self,
        row: M,
        by: User,
        left_out: list[str] | None = None,
        report: Callable[[int], None] = lambda done: None,
    ) -> IO[bytes]:
        """Returns the file, positioned at its start; see `save`. It deletes itself when it is closed."""
        file = tempfile.SpooledTemporaryFile(max_size=MEMORY)  # noqa: SIM115 (the response closes it)
        try:
            self.save(row, by, file, left_out, report)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file

    def save(
        self,
        row: M,
        by: User,
        file: IO[bytes],
        left_out: list[str] | None = None,
        report: Callable[[int], None] = lambda done: None,
    ) -> None:
        """Writes the text in UTF-8, and adds the file to the activity log.

        left_out: see `says_left_out`. report: called again and again with how many of `steps` are done.
        """
        more = [[] if left_out is None else left_out] if self.says_left_out else []
        with reported_to(report):
            for part in self.write(row, by, *more):
                file.write(part.encode())
        verb = Activity.Verb.FILE_EXPORTED
        if isinstance(row, Book):
            activity.record_for_book(verb, book=row, by=by, subject=f"the book “{row}”", file=self.label)
        elif isinstance(row, Run):
            activity.record(verb, case=row.case_id, by=by, subject=f"run {row.number}", file=self.label)
        elif isinstance(row, Case):
            activity.record(verb, case=row, by=by, subject="the case", file=self.label)


type Formats = Mapping[str, Export[Any]]


_OF_CASE: Mapping[str, Export[Case]] = {
    "case": Export(
        ".json",
        JSON,
        "Whole case, JSON",
        "queries, ratings of every rater, attempts, scorers and pinned runs, one rating per line; no addresses and credentials. "
        "Can be imported again, and the command evaluate can check it without a server.",
        lambda case, by: writer.export_case(case=case, by=by),
        group=WHOLE,
        steps=lambda case: 2 * count_steps(case) + _count_pinned(case),
    ),
    "ratings": Export(
        "-ratings.csv",
        CSV,
        "Ratings, CSV",
        "query, docid, rating: the grades that scores are computed from. Can be imported again.",
        lambda case, by: ratings_csv.export_ratings(case=case),
        group=RATINGS,
    ),
    "qrels": Export(
        "-qrels.txt",
        TEXT,
        "Qrels, TREC",
        "the grades for trec_eval; without the scale and the grade from which documents are relevant",
        lambda case, by: trec.export_qrels(case=case),
        group=RATINGS,
    ),
    "ltr": Export(
        "-ratings.ltr",
        TEXT,
        "Judgments, RankLib",
        "the grades for learning to rank, as RankLib and Quepid write them, without features",
        lambda case, by: ltr.export_ratings(case=case),
        group=RATINGS,
    ),
    "rre": Export(
        "-ratings-rre.json",
        JSON,
        "Ratings for RRE, JSON",
        "the grades for the Rated Ranking Evaluator",
        lambda case, by: rre.export_ratings(case=case),
        group=RATINGS,
    ),
    "json": Export(
        "-ratings.json",
        JSON,
        "Ratings, JSON",
        "the grades by query, as Quepid exports them",
        lambda case, by: ratings_json.export_ratings(case=case),
        group=RATINGS,
    ),
    "rankquest": Export(
        "-rankquest.json",
        JSON,
        "Rated searches, JSON",
        "the grades for Rankquest, rounded to whole numbers",
        lambda case, by: judgement_lists.export_rankquest(case=case),
        group=RATINGS,
    ),
    "queries": Export(
        "-queries.csv",
        CSV,
        "Queries, CSV",
        "texts, information needs, notes, tags, options and weights; can be edited and imported again",
        lambda case, by: queries_csv.export_queries(case=case),
        group=QUERIES,
    ),
    "information-needs": Export(
        "-information-needs.csv",
        CSV,
        "Information needs, CSV",
        "query, information_need, as Quepid exports and imports them",
        lambda case, by: queries_csv.export_queries(case=case, columns=queries_csv.INFORMATION_NEEDS),
        group=QUERIES,
    ),
    "snapshots": Export(
        "-snapshots.csv",
        CSV,
        "Pinned runs, CSV",
        "the results of all pinned runs in one file, as Quepid's snapshots; can be imported again",
        lambda case, by: run_csv.export_pinned(case=case),
        group=RESULTS,
        steps=_count_pinned,
    ),
}
_OF_RUN: Mapping[str, Export[Run]] = {
    "csv": Export(
        ".csv",
        CSV,
        "CSV",
        "the results with their fields, as Quepid's snapshots",
        lambda run, by: run_csv.export_run(run=run),
    ),
    "trec": Export(".txt", TEXT, "TREC", "the results for trec_eval", lambda run, by: trec.export_run(run=run)),
}
_OF_BOOK: Mapping[str, Export[Book]] = {
    "ratings": Export(
        "-ratings.csv",
        CSV,
        "Ratings, CSV",
        "the ratings of every rater, with the grade that scorers see",
        lambda book, by: book_ratings_csv.export_book_ratings(book=book),
    ),
    "book": Export(
        ".json",
        JSON,
        "Whole book, JSON",
        "settings, queries and the ratings of every rater; can be imported again",
        lambda book, by: writer.export_book(book=book, by=by),
        steps=lambda book: 2 * count_steps(book),
    ),
}
_OF: Mapping[type[Model], Formats] = {Case: _OF_CASE, Run: _OF_RUN, Book: _OF_BOOK}


def files_of[M: Model](model: type[M]) -> Mapping[str, Export[M]]:
    """Returns what can be downloaded of a case, a run or a book, by name; by group, what optional apps add last."""
    files = {**_OF[model], **hooks.downloads[model]}
    return dict(sorted(files.items(), key=lambda item: GROUPS.index(item[1].group)))
