"""What the app adds to the core: links on the page of a book and on that of a rater."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.glossary import Term, terms
from relevancy.hooks import BookFigure, BookRater, Link, Panel, Place, add_links, add_panel, book_figures, help_pages
from relevancy.models import Book
from relevancy.templatetags import numbers

from . import agreement
from .sentences import rate_alpha

terms |= {
    "agreement": Term(
        "Agreement", "The share of pairs of ratings of one document that are equal.", "agreement", "figures"
    ),
    "alpha": Term(
        "Krippendorff’s alpha",
        "How far all raters agree, corrected for chance: reliable above .80, careful conclusions above .67.",
        "agreement",
        "figures",
    ),
    "kappa": Term("Cohen’s kappa", "How far two raters agree, corrected for chance.", "agreement", "figures"),
    "fleiss": Term("Fleiss’ kappa", "How far several raters agree, corrected for chance.", "agreement", "figures"),
    "commonest": Term(
        "Commonest", "The agreement of a rater who always gives the commonest grade.", "agreement", "figures"
    ),
    "bias": Term(
        "Bias", "How many grades the rater is above or below the others on the same documents.", "agreement", "figures"
    ),
    "with-themselves": Term(
        "With themselves",
        "How far the first and second ratings of documents that came again agree.",
        "agreement",
        "figures",
    ),
    "confusion": Term(
        "Confusion matrix",
        "How often one rater gave the grade of the row and the other that of the column.",
        "agreement",
        "agreement-of-raters",
    ),
}
help_pages["books/<int:book_id>/agreement/"] = "agreement"


@add_links[Place.BOOK_QUALITY]
def book_links(book: Book) -> Iterator[Link]:
    """Yields the link to the figures of a book."""
    yield Link("Agreement", reverse("book_agreement", args=[book.pk]), "agreement-link")


@book_figures.add
def agreement_figure(book: Book) -> BookFigure | None:
    """Returns what alpha says of the ratings of a book; None if no document has two."""
    url = reverse("book_agreement", args=[book.pk])
    alpha = agreement.measure_alpha(book)
    if alpha is None:
        return BookFigure("Agreement", "many ratings", url, "agreement-figure")
    word = rate_alpha(alpha)
    if not word:
        return None
    step = "" if word in ("reliable", "tentative") else f"alpha {numbers.coefficient(alpha.value)}: {word}"
    return BookFigure("Agreement", word, url, "agreement-figure", step)


@add_panel[Place.RATER]
def rater_panel(shown: BookRater) -> Panel:
    """Returns the link to the scores by the ratings of one rater."""
    return Panel("agreement/_rater_panel.html", {"book": shown.book, "rater": shown.rater})
