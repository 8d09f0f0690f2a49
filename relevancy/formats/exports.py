"""What can be downloaded, on pages, by commands and by the API: each file has a name, which addresses contain."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from django.db.models import Model

from relevancy import activity, hooks
from relevancy.formats.queries import queries_csv
from relevancy.formats.rankings import run_csv
from relevancy.formats.ratings import book_ratings_csv, judgement_lists, ltr, ratings_csv, ratings_json, rre, trec
from relevancy.formats.relevancy import writer
from relevancy.models import Activity, Book, Case, Run, User

MEMORY = 4 * 1024 * 1024  # bytes of a file that are kept in memory; larger ones are written to disk
WHOLE, RATINGS, QUERIES, RESULTS = "Whole case", "Ratings", "Queries", "Scores and results"
GROUPS = ("", WHOLE, RATINGS, QUERIES, RESULTS)
CSV, TEXT, JSON = "text/csv", "text/plain", "application/json"


@dataclass(frozen=True)
class Export[M]:
    """One kind of file.

    suffix: the end of its name. label, hint: what it is, for people. group: the heading under which a page lists it.
    write: returns the parts of the text, for the user.
    says_left_out: `write` also takes a list, which gets sentences about what the format does not hold.
    """

    suffix: str
    content_type: str
    label: str
    hint: str
    write: Callable[..., Iterable[str]]
    group: str = ""
    says_left_out: bool = False

    def open(self, row: M, by: User, left_out: list[str] | None = None) -> IO[bytes]:
        """Returns the file, positioned at its start, and adds it to the activity log. It deletes itself when it is closed.

        left_out: see `says_left_out`.
        """
        more = [[] if left_out is None else left_out] if self.says_left_out else []
        file = spool(self.write(row, by, *more))
        if isinstance(row, Book):
            activity.record_for_book(
                Activity.Verb.FILE_EXPORTED, book=row, by=by, subject=f"the book “{row}”", file=self.label
            )
        elif isinstance(row, Run):
            activity.record(
                Activity.Verb.FILE_EXPORTED, case=row.case_id, by=by, subject=f"run {row.number}", file=self.label
            )
        elif isinstance(row, Case):
            activity.record(Activity.Verb.FILE_EXPORTED, case=row, by=by, subject="the case", file=self.label)
        return file


type Formats = Mapping[str, Export[Any]]


def spool(parts: Iterable[str]) -> IO[bytes]:
    """Returns a text as a file in UTF-8, positioned at its start, which deletes itself when it is closed."""
    file = tempfile.SpooledTemporaryFile(max_size=MEMORY)  # noqa: SIM115 (the response closes it)
    try:
        for part in parts:
            file.write(part.encode())
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


_OF_CASE: Mapping[str, Export[Case]] = {
    "case": Export(
        ".json",
        JSON,
        "Whole case, JSON",
        "queries, ratings of every rater, attempts, scorers and pinned runs, one rating per line; no addresses and credentials. "
        "Can be imported again, and the command evaluate can check it without a server.",
        lambda case, by: writer.export_case(case=case, by=by),
        group=WHOLE,
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
    ),
}
_OF: Mapping[type[Model], Formats] = {Case: _OF_CASE, Run: _OF_RUN, Book: _OF_BOOK}


def files_of[M: Model](model: type[M]) -> Mapping[str, Export[M]]:
    """Returns what can be downloaded of a case, a run or a book, by name; by group, what optional apps add last."""
    files = {**_OF[model], **hooks.downloads[model]}
    return dict(sorted(files.items(), key=lambda item: GROUPS.index(item[1].group)))
