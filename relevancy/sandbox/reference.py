"""What a script can use, for the pages and the docs: one entry per name."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """`signature` as it is written in a script, `says` in one line, `group` as a heading."""

    signature: str
    says: str
    group: str

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]


_RESULT, _RETURNED, _RATED, _READY, _AROUND = (
    "The score",
    "Returned documents",
    "Rated documents of the query",
    "Ready-made numbers",
    "Around the query",
)

REFERENCE: tuple[Entry, ...] = (
    Entry("setScore(x)", "Gives the query its score. The first call counts; null or NaN: cannot be scored.", _RESULT),
    Entry("pass()", "The full score, 100.", _RESULT),
    Entry("fail()", "The score 0.", _RESULT),
    Entry("assert(condition)", "The score 0 unless the condition holds.", _RESULT),
    Entry("assertOrScore(condition, x)", "The score x unless the condition holds.", _RESULT),
    Entry("docs", "The returned documents in rank order: their displayed fields, each with its id.", _RETURNED),
    Entry("docAt(i)", "The document at position i, from 0; an empty object past the end.", _RETURNED),
    Entry("docExistsAt(i)", "Whether a document was returned at position i.", _RETURNED),
    Entry("hasDocRating(i)", "Whether the document at position i is rated.", _RETURNED),
    Entry("docRating(i)", "Its grade; null where it is unrated, undefined past the end.", _RETURNED),
    Entry("eachDoc(f, count)", "Calls f(document, i) for the first count documents.", _RETURNED),
    Entry("numReturned()", "How many documents were returned.", _RETURNED),
    Entry("numFound()", "How many documents the engine found.", _RETURNED),
    Entry("total", "The same number as a variable.", _RETURNED),
    Entry("bestDocs", "All rated documents {id, rating}: highest grade first, then by id.", _RATED),
    Entry("topRatings(count)", "The highest count grades; fewer where fewer are rated.", _RATED),
    Entry("eachDocWithRating(f)", "Calls f({id, rating, getRating()}, i) for every rated document.", _RATED),
    Entry("eachDocWithRatingEqualTo(grade, f)", "The same for the documents of one grade.", _RATED),
    Entry("ratedDocAt(i)", "The rated document at position i of bestDocs, with its fields where returned.", _RATED),
    Entry("ratedDocExistsAt(i)", "Whether there is one.", _RATED),
    Entry("eachRatedDoc(f, count)", "Calls f(document, i) for the first count of them.", _RATED),
    Entry("refreshRatedDocs(count)", "A promise of the rated documents; they are there already.", _RATED),
    Entry("avgRating(count)", "Mean of the grades among the first count documents; null where none is rated.", _READY),
    Entry("avgRating100(count)", "The same in per cent of the top grade, rounded down.", _READY),
    Entry("baseAvg(count)", "Another name of avgRating.", _READY),
    Entry("baseAvgRounded(count)", "avgRating, rounded down.", _READY),
    Entry(
        "editDistanceFromBest(count)",
        "Edits (Levenshtein) between the grades as returned and the best list of that length.",
        _READY,
    ),
    Entry("k", "The number of results shown; what count is where it is left out.", _AROUND),
    Entry("max", "The top grade of the scale.", _AROUND),
    Entry("scale", "All grades of the scale, ascending.", _AROUND),
    Entry("options", "The options of the query, an object.", _AROUND),
    Entry("qOption(key)", "One of them; null where it is not set.", _AROUND),
    Entry("query", "The query: text, options, ratings {id: grade}, docs, ratedDocs, numFound.", _AROUND),
    Entry("console", "console.log, info, warn, error, debug: shown on the test bench.", _AROUND),
)
