"""The overview of a book: its figures, what to do next, and the first steps of a new one."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from relevancy import books, hooks, judging
from relevancy.books import BookJudgments, GradeCount
from relevancy.hooks import BookFigure, Link
from relevancy.models import Book, Case, JudgingQueue, RatingImport
from relevancy.views.requests import HtmxRequest
from relevancy.views.ticks import Tick, ticks_to_show
from relevancy.wording import counted

from .conflicts import conflicts_seen_by

BEING_CHOSEN = "being chosen"


def build_overview(
    request: HtmxRequest, book: Book, queue: JudgingQueue, cases: Sequence[Case], *, is_coming: bool
) -> dict[str, Any]:
    """Returns the variables of the page, besides the book and its queue. cases: that use it and that the user can see.

    is_coming: leaves out what all ratings are read for, and has the page ask for it.
    """
    levels = books.count_pairs_by_level(book)
    to_judge = sum(count for level, count in levels if level is not None)
    judgments = None if is_coming else books.count_judgments(book)
    conflicts = conflicts_seen_by(request.user, book, difference=1).count()
    of_apps = [figure for figure in hooks.book_figures(book) if figure is not None]
    documents, raters = (f"{judgments.documents:,}", f"{len(judgments.raters):,}") if judgments else ("…", "…")
    figures = [
        BookFigure("Documents rated", documents, reverse("book_queries", args=[book.pk]), "rated-figure"),
        BookFigure(
            "To judge",
            f"{to_judge:,}" if queue.built_at else BEING_CHOSEN,
            reverse("book_queries", args=[book.pk], query={"state": "to-judge"}),
            "to-judge-figure",
        ),
        BookFigure("Conflicts", f"{conflicts:,}", reverse("book_conflicts", args=[book.pk]), "conflicts-figure"),
        BookFigure("Raters", raters, reverse("book_raters", args=[book.pk]), "raters-figure"),
        *of_apps,
    ]
    return {
        "figures": figures,
        "steps": _find_steps(book, cases, conflicts, to_judge, of_apps),
        "ticks": _find_ticks(request, book, queue, judgments) if book.is_editable else (),
        "ticks_key": f"book-{book.pk}",
        "levels": levels,
        "pairs": sum(count for _, count in levels),
        "judged": sum(count for level, count in levels if level is None),
        "to_judge": to_judge,
        "judgments": judgments,
        "grades": judgments.grades if judgments else [GradeCount(value, label, 0, 0) for value, label in book.scale],
        "cases": cases,
        "decided": judging.count_adjudications(book),
        "rating_import": RatingImport.objects.last_of(book.pk),
    }


def _find_steps(
    book: Book, cases: Sequence[Case], conflicts: int, to_judge: int, figures: Sequence[BookFigure]
) -> list[Link]:
    """Returns what the line “Next” says, the most useful step first."""
    steps = []
    if book.is_editable:
        if conflicts:
            text = f"{counted(conflicts, 'conflict')} to decide"
            steps.append(Link(text, reverse("book_conflicts", args=[book.pk]), "next-conflicts"))
        if not book.guidelines:
            steps.append(
                Link("write guidelines", f"{reverse('book_judging', args=[book.pk])}#guidelines", "next-guidelines")
            )
        if not cases:
            steps.append(Link("make a case with this book", reverse("new_case"), "next-case"))
    steps += [Link(figure.step, figure.url, f"next-{figure.id}") for figure in figures if figure.step]
    if book.is_rateable and to_judge:
        steps.append(Link(f"{counted(to_judge, 'document')} to judge", reverse("judge", args=[book.pk]), "next-judge"))
    return steps


def _find_ticks(
    request: HtmxRequest, book: Book, queue: JudgingQueue, judgments: BookJudgments | None
) -> Sequence[Tick]:
    settings = reverse("book_judging", args=[book.pk])
    has_two = judging.find_conflicts(book=book, difference=0, state="").exists()
    has_raters = has_two or (judgments is not None and len(judgments.raters) > 1)
    has_rule = queue.ratings_per_pair > 1 or book.rule != Book.Rule.LATEST
    ticks = [
        Tick("Guidelines: what each grade means", f"{settings}#guidelines", bool(book.guidelines)),
        Tick("Rule: how many rate a document, and what counts", settings, has_rule),
        Tick("Raters: two people have rated", reverse("teams"), has_raters),
        Tick("Agreement: two ratings of a document", reverse("book_conflicts", args=[book.pk]), has_two),
    ]
    return ticks_to_show(request, f"book-{book.pk}", ticks)
