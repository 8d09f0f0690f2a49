"""Scorers of one person, as the tests of their pages need them."""

from relevancy import cases
from relevancy.evaluation import Draft

SCALE = [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]
SCRIPT = "const k = 5;\nconsole.log('in', k);\nsetScore(avgRating100(k));\n"


def house_measure(owner):
    """A measure, shared with nobody."""
    return cases.scorers.create(name="House nDCG", draft=Draft(measure="nDCG@5", scale=SCALE), by=owner)


def house_script(owner, team):
    """A script, shared with a team."""
    scorer = cases.scorers.create(name="House script", draft=Draft(script=SCRIPT, scale=SCALE), by=owner)
    cases.scorers.share(scorer=scorer, team=team)
    return scorer


def at(scorer, deed=""):
    """The address of its page, or of a deed."""
    return f"/scorers/{scorer.pk}/{deed}"
