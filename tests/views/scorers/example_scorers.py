"""Scorers of one person, as the tests of their pages need them."""

from relevancy import scorers
from relevancy.models import ScorerDefinition

SCALE = [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]
SCRIPT = "const k = 5;\nconsole.log('in', k);\nsetScore(avgRating100(k));\n"


def house_measure(owner):
    """A measure that is not shared."""
    return scorers.create(name="House nDCG", definition=ScorerDefinition(measure="nDCG@5", scale=SCALE), by=owner)


def house_script(owner, team):
    """A script, shared with a team."""
    scorer = scorers.create(name="House script", definition=ScorerDefinition(script=SCRIPT, scale=SCALE), by=owner)
    scorers.share(scorer=scorer, team=team)
    return scorer


def at(scorer, action=""):
    """The address of its page, or of an action."""
    return f"/scorers/{scorer.pk}/{action}"
