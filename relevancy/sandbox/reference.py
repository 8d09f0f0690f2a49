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


_REFERENCE = {
    "Setting the score": {
        "setScore(x)": "Sets the score. The first call counts; null or NaN means not scoreable.",
        "pass()": "Sets the score to 100.",
        "fail()": "Sets the score to 0.",
        "assert(condition)": "Sets the score to 0 if the condition is false.",
        "assertOrScore(condition, x)": "Sets the score to x if the condition is false.",
    },
    "Returned documents": {
        "docs": "The returned documents in rank order: their displayed fields, each with its id.",
        "docAt(i)": "The document at position i, counted from 0; an empty object past the end.",
        "docExistsAt(i)": "Whether there is a document at position i.",
        "hasDocRating(i)": "Whether the document at position i is rated.",
        "docRating(i)": "Its grade; null if it is unrated, undefined past the end.",
        "eachDoc(f, count)": "Calls f(document, i) for the first count documents.",
        "numReturned()": "The number of documents returned.",
        "numFound()": "The number of documents that the engine found.",
        "total": "The same number as a variable.",
    },
    "Rated documents of the query": {
        "bestDocs": "All rated documents {id, rating}: highest grade first, then by id.",
        "topRatings(count)": "The highest count grades; fewer if fewer documents are rated.",
        "eachDocWithRating(f)": "Calls f({id, rating, getRating()}, i) for every rated document.",
        "eachDocWithRatingEqualTo(grade, f)": "The same for the documents with this grade.",
        "ratedDocAt(i)": "The document at position i of bestDocs, with its fields if it was returned.",
        "ratedDocExistsAt(i)": "Whether bestDocs has a document at position i.",
        "eachRatedDoc(f, count)": "Calls f(document, i) for the first count of bestDocs.",
        "refreshRatedDocs(count)": "A promise of the rated documents, which are always loaded.",
    },
    "Averages and edits": {
        "avgRating(count)": "The mean grade of the first count documents; null if none of them is rated.",
        "avgRating100(count)": "The same as a percentage of the top grade, rounded down.",
        "baseAvg(count)": "Another name for avgRating.",
        "baseAvgRounded(count)": "avgRating, rounded down.",
        "editDistanceFromBest(count)": "The edit distance (Levenshtein) between the grades of the first count documents and the "
        "ideal list.",
    },
    "The query and its settings": {
        "k": "The number of results displayed; the default of every count.",
        "max": "The top grade of the scale.",
        "scale": "All grades of the scale, ascending.",
        "options": "The options of the query, an object.",
        "qOption(key)": "One option; null if it is not set.",
        "query": "The query: text, options, ratings {id: grade}, docs, ratedDocs, numFound.",
        "console": "console.log, info, warn, error, debug: shown in the preview.",
    },
}

REFERENCE: tuple[ReferenceEntry, ...] = tuple(
    ReferenceEntry(signature, description, group)
    for group, entries in _REFERENCE.items()
    for signature, description in entries.items()
)
