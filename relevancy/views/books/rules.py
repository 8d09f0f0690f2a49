"""How several ratings of a document become one grade, in words."""

from relevancy.models import Book

RULE_TEXTS = {
    Book.Rule.LATEST: "the latest rating counts",
    Book.Rule.MEAN: "the mean of all ratings counts",
    Book.Rule.MEDIAN: "the median of all ratings counts",
    Book.Rule.MAJORITY: "the grade that most raters gave counts",
    Book.Rule.LOWEST_OF_THREE: "the lowest of the three highest ratings counts",
    Book.Rule.QUEPID: "of one or two ratings the mean counts, of more the lowest of the three highest",
}
