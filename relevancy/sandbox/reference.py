"""What a script can use, for the pages and the docs: one entry per name."""

from __future__ import annotations

from typing import NamedTuple


class ReferenceEntry(NamedTuple):
    """`signature` as written in a script; `description` in one line; `group` as a heading."""

    signature: str
    description: str
    group: str

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]


_SCORE, _RETURNED, _RATED, _AVERAGES, _CONTEXT = (
    "Setting the score",
    "Returned documents",
    "Rated documents of the query",
    "Averages and edits",
    "The query and its settings",
)

REFERENCE: tuple[ReferenceEntry, ...] = (
    ReferenceEntry("setScore(x)", "Sets the score. The first call counts; null or NaN means not scoreable.", _SCORE),
    ReferenceEntry("pass()", "Sets the score to 100.", _SCORE),
    ReferenceEntry("fail()", "Sets the score to 0.", _SCORE),
    ReferenceEntry("assert(condition)", "Sets the score to 0 if the condition is false.", _SCORE),
    ReferenceEntry("assertOrScore(condition, x)", "Sets the score to x if the condition is false.", _SCORE),
    ReferenceEntry(
        "docs", "The returned documents in rank order: their displayed fields, each with its id.", _RETURNED
    ),
    ReferenceEntry("docAt(i)", "The document at position i, counted from 0; an empty object past the end.", _RETURNED),
    ReferenceEntry("docExistsAt(i)", "Whether there is a document at position i.", _RETURNED),
    ReferenceEntry("hasDocRating(i)", "Whether the document at position i is rated.", _RETURNED),
    ReferenceEntry("docRating(i)", "Its grade; null if it is unrated, undefined past the end.", _RETURNED),
    ReferenceEntry("eachDoc(f, count)", "Calls f(document, i) for the first count documents.", _RETURNED),
    ReferenceEntry("numReturned()", "The number of documents returned.", _RETURNED),
    ReferenceEntry("numFound()", "The number of documents that the engine found.", _RETURNED),
    ReferenceEntry("total", "The same number as a variable.", _RETURNED),
    ReferenceEntry("bestDocs", "All rated documents {id, rating}: highest grade first, then by id.", _RATED),
    ReferenceEntry("topRatings(count)", "The highest count grades; fewer if fewer documents are rated.", _RATED),
    ReferenceEntry("eachDocWithRating(f)", "Calls f({id, rating, getRating()}, i) for every rated document.", _RATED),
    ReferenceEntry("eachDocWithRatingEqualTo(grade, f)", "The same for the documents with this grade.", _RATED),
    ReferenceEntry(
        "ratedDocAt(i)", "The document at position i of bestDocs, with its fields if it was returned.", _RATED
    ),
    ReferenceEntry("ratedDocExistsAt(i)", "Whether bestDocs has a document at position i.", _RATED),
    ReferenceEntry("eachRatedDoc(f, count)", "Calls f(document, i) for the first count of bestDocs.", _RATED),
    ReferenceEntry("refreshRatedDocs(count)", "A promise of the rated documents, which are always loaded.", _RATED),
    ReferenceEntry(
        "avgRating(count)", "The mean grade of the first count documents; null if none of them is rated.", _AVERAGES
    ),
    ReferenceEntry("avgRating100(count)", "The same as a percentage of the top grade, rounded down.", _AVERAGES),
    ReferenceEntry("baseAvg(count)", "Another name for avgRating.", _AVERAGES),
    ReferenceEntry("baseAvgRounded(count)", "avgRating, rounded down.", _AVERAGES),
    ReferenceEntry(
        "editDistanceFromBest(count)",
        "The edit distance (Levenshtein) between the grades of the first count documents and the ideal list.",
        _AVERAGES,
    ),
    ReferenceEntry("k", "The number of results displayed; the default of every count.", _CONTEXT),
    ReferenceEntry("max", "The top grade of the scale.", _CONTEXT),
    ReferenceEntry("scale", "All grades of the scale, ascending.", _CONTEXT),
    ReferenceEntry("options", "The options of the query, an object.", _CONTEXT),
    ReferenceEntry("qOption(key)", "One option; null if it is not set.", _CONTEXT),
    ReferenceEntry("query", "The query: text, options, ratings {id: grade}, docs, ratedDocs, numFound.", _CONTEXT),
    ReferenceEntry("console", "console.log, info, warn, error, debug: shown in the preview.", _CONTEXT),
)
