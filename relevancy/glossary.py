"""The words and figures that pages show, each with a sentence and the section of a guide that explains it.

`{% term "p" %}` shows a word as a link to that section; pages never explain a figure in other words. An optional app adds its own words
in its module `additions`: `glossary.terms["alpha"] = Term(…)`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """word: as pages show it. meaning: a sentence. guide: the name of its file without `.md`. section: the id of a heading of it."""

    word: str
    meaning: str
    guide: str
    section: str


terms: dict[str, Term] = {
    # scores
    "score": Term(
        "Score",
        "How good the results are, from 0 to 100: the mean of the scores of the queries.",
        "scorers",
        "five-terms",
    ),
    "range": Term(
        "Range",
        "The lowest and the highest score that are possible once the unrated results are rated.",
        "scorers",
        "the-range-of-a-score",
    ),
    "scored": Term(
        "Scored",
        "Queries with a score. A query without rated results has none, which is not the same as 0.",
        "scorers",
        "-is-not-0",
    ),
    "scorer": Term(
        "Scorer",
        "What turns the grades of a result list into a score: a measure or a script.",
        "scorers",
        "choosing-a-scorer",
    ),
    "grade": Term("Grade", "How good a document is for a query, on the scale of the book.", "scorers", "five-terms"),
    "depth": Term(
        "Depth",
        "How many results of each query count for the score, such as the first ten.",
        "scorers",
        "five-terms",
    ),
    "version": Term(
        "Version",
        "A scorer keeps its earlier versions: scores of two versions are never compared.",
        "scorers",
        "versions",
    ),
    "was": Term(
        "was",
        "The score before ratings, the scale, the rule or the scorer changed; the results are the same.",
        "workbench",
        "differences-between-runs",
    ),
    "weight": Term(
        "Weight", "How much a query counts in the mean, for example how often it is searched.", "files", "queries"
    ),
    "linked": Term(
        "Linked queries",
        "Variants of one query. They count once in tests and intervals, because they gain and lose together.",
        "workbench",
        "linked-queries",
    ),
    "attempt": Term(
        "Attempt",
        "A version of the query template with its settings. Running it makes a run.",
        "workbench",
        "editing-the-attempt",
    ),
    "knob": Term("Knob", "A number of the template that has a slider, or a text.", "workbench", "editing-the-attempt"),
    "annotation": Term("Annotation", "A note on a run, with a flag in the chart.", "workbench", "history"),
    # what is rated
    "rated": Term(
        "Rated", "The share of rated documents among those that count for the score.", "statistics", "coverage"
    ),
    "unrated": Term("Unrated", "Results without a grade that count for the score.", "scorers", "the-range-of-a-score"),
    "to-judge": Term(
        "To judge",
        "Documents among the first results of the newest runs that need more ratings, without those that you have rated.",
        "judging",
        "what-is-judged",
    ),
    "results-per-query": Term(
        "Results per query",
        "How many results of each query raters judge; more results mean more documents to judge.",
        "judging",
        "what-is-judged",
    ),
    "ratings-per-document": Term(
        "Ratings per document", "How many raters judge each document.", "judging", "what-is-judged"
    ),
    "order": Term("Order", "Which documents raters judge first.", "judging", "what-is-judged"),
    "rule": Term(
        "Rule", "How several ratings of a document become its grade, such as their median.", "judging", "scale-and-rule"
    ),
    "scale": Term("Scale", "The grades that raters can give.", "judging", "scale-and-rule"),
    "decided": Term(
        "Decided",
        "An adjudicator has set the grade, which counts instead of all ratings of the document.",
        "judging",
        "conflicts",
    ),
    "conflict": Term("Conflict", "A document whose ratings differ.", "judging", "conflicts"),
    "pace": Term(
        "Pace",
        "Documents an hour, by the median time between two judgments of this sitting.",
        "judging",
        "judging-one-document-at-a-time",
    ),
    "repeats": Term(
        "Documents that come again",
        "Some documents come a second time, which shows how far raters agree with themselves.",
        "judging",
        "judging-one-document-at-a-time",
    ),
    "preference": Term(
        "Which list is better?",
        "Raters see the result lists of two runs side by side, without their names, and choose the better one.",
        "judging",
        "which-list-is-better",
    ),
    # comparisons, by the keys of the figures
    "difference": Term(
        "Difference",
        "The mean of the differences of the queries that are scored in both runs.",
        "statistics",
        "difference",
    ),
    "verdict": Term("Verdict", "What the difference, its interval and p allow to say.", "statistics", "verdict"),
    "interval": Term(
        "95 % interval",
        "The true difference is probably in this range; it can be lopsided if a few queries changed a lot.",
        "statistics",
        "interval",
    ),
    "p": Term(
        "p",
        "How often chance alone would make a difference at least as large; below .05 it is called significant.",
        "statistics",
        "p",
    ),
    "p-holm": Term(
        "p, corrected",
        "p after a correction for the number of comparisons, because one of many looks significant by chance.",
        "statistics",
        "p",
    ),
    "counts": Term(
        "Better · same · worse",
        "Numbers of queries; a query differs by at least 0.05 points.",
        "statistics",
        "difference",
    ),
    "equal": Term(
        "Practically equal",
        "The interval is within ±1 point, and unrated results or queries that are not compared cannot change that.",
        "statistics",
        "verdict",
    ),
    "too-few": Term(
        "Too few queries to tell",
        "With so few queries, p cannot be below .05, whatever they show.",
        "statistics",
        "verdict",
    ),
    "too-little": Term(
        "Too little is rated to say",
        "Unrated results, or queries that are not compared, could still change the verdict.",
        "statistics",
        "verdict",
    ),
    "effect": Term(
        "Effect size",
        "The difference divided by the standard deviation of the differences of the queries.",
        "statistics",
        "effect-size",
    ),
    "detectable": Term(
        "Detectable from",
        "The smallest true difference, in points, that so many queries find four times in five.",
        "statistics",
        "detectable-difference",
    ),
    "carriers": Term(
        "80 % carried by", "The fewest queries that make up 80 % of the difference.", "statistics", "who-carries-it"
    ),
    "jaccard": Term(
        "Jaccard",
        "Documents that both lists have, divided by those that either has: 1 for the same documents.",
        "statistics",
        "result-lists",
    ),
    "rbo": Term(
        "Rank-biased overlap",
        "How far two lists agree in their order, from 0 to 1; first ranks count most.",
        "statistics",
        "result-lists",
    ),
    "changed": Term(
        "Results changed", "Queries whose first results differ, in documents or order.", "statistics", "result-lists"
    ),
    "coverage": Term(
        "Rated", "The share of rated documents among those that count for the score.", "statistics", "coverage"
    ),
    "bounds": Term(
        "Once all is rated",
        "The difference will be in this range, in points, whatever grades the unrated documents get.",
        "statistics",
        "bounds-of-the-difference",
    ),
    "pool": Term(
        "Documents only this run returned",
        "How each score changes without the ratings of documents that no other run returned.",
        "statistics",
        "pool-bias",
    ),
    "gain": Term(
        "Could gain",
        "Points between the score and that of the best order of the rated documents.",
        "comparing",
        "the-best-order",
    ),
    "not-compared": Term(
        "Not compared", "Queries that have no score in one of the runs, or the weight 0.", "statistics", "difference"
    ),
    "rate-next": Term(
        "What to rate next",
        "The unrated documents whose grades can change the difference most.",
        "statistics",
        "what-to-rate-next",
    ),
    "attempts-tried": Term(
        "Attempts tried",
        "Attempts that were compared with the same baseline: the more there are, the easier one looks better by chance.",
        "statistics",
        "attempts-tried",
    ),
    "outcomes": Term(
        "Online outcomes",
        "What users did when both versions were shown to them, in an interleaving or A/B test.",
        "statistics",
        "online-outcomes",
    ),
    "pinned": Term(
        "Pinned", "The results of a pinned run are kept, and never searched again.", "comparing", "pinned-runs"
    ),
}
