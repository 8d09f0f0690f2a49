"""What the app adds to the core: formats of files that are imported, files that are downloaded, and a link to the import."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.formats.exports import CSV, JSON, RESULTS, WHOLE, Export
from relevancy.formats.file_formats import FileFormat, FileKind, has_members
from relevancy.hooks import Link, Place, add_links, downloads, file_formats
from relevancy.models import Book, Case

from . import book, book_export, case, case_export, results_csv, snapshots

PRODUCT = "Quepid"


file_formats += [
    FileFormat(
        "quepid-case",
        FileKind.CASE,
        "a case of Quepid",
        has_members("{", {"case_name"}),
        PRODUCT,
        case.parse_case,
    ),
    FileFormat(
        "quepid-book",
        FileKind.BOOK,
        "a book of Quepid",
        has_members("{", {"query_doc_pairs"}),
        PRODUCT,
        book.read_book,
    ),
    FileFormat(
        "quepid-snapshots",
        FileKind.RUNS,
        "snapshots of Quepid, JSON",
        has_members("{", {"snapshots"}, {"name", "docs"}, without={"case_name"}),
        PRODUCT,
        snapshots.parse_snapshots,
    ),
]
downloads[Case] |= {
    "quepid": Export(
        "-quepid.json",
        JSON,
        "Case for Quepid, JSON",
        "queries, grades with their raters, the newest attempt and the name of the scorer. What Quepid's format does not hold is "
        "listed at the end of the file, as left_out.",
        lambda case, by, left_out: case_export.export_case(case=case, by=by, left_out=left_out),
        group=WHOLE,
        says_left_out=True,
    ),
    "general": Export(
        "-general.csv",
        CSV,
        "General, CSV",
        "a row for each query with its score (0–100) in the newest run, hits, information need, notes and options, in "
        "Quepid's columns",
        lambda case, by: results_csv.export_general(case=case),
        group=RESULTS,
    ),
    "detailed": Export(
        "-detailed.csv",
        CSV,
        "Detailed, CSV",
        "a row for each document of the newest run with its rank, grade and displayed fields, in Quepid's columns",
        lambda case, by: results_csv.export_detailed(case=case),
        group=RESULTS,
    ),
}
downloads[Book]["quepid"] = Export(
    "-quepid.json",
    JSON,
    "Book for Quepid, JSON",
    "queries and the judgments of every rater, as Quepid imports them",
    lambda book, by, left_out: book_export.export_book(book=book, by=by, left_out=left_out),
    says_left_out=True,
)


@add_links[Place.FIRST_CASE]
def first_case_links(shown: None) -> Iterator[Link]:
    """Yields the link to the import of a case."""
    label = "Queries, ratings, try and scorer of a case in one upload"
    yield Link(label, reverse("case_import"), "quepid-import-link", heading="Import from Quepid")
