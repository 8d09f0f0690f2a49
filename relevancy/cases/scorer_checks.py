"""What is wrong with a scorer, before it is stored."""

import re
from itertools import pairwise

from relevancy import evaluation
from relevancy.evaluation import Draft
from relevancy.models import Scorer, ScorerVersion

from .errors import Refused

MAX_NAME = 120
MAX_DESCRIPTION = 5_000
MAX_LABEL = 200
DEEPEST = 1_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # what no database takes as text


def check(draft: Draft) -> Draft:
    """What is wrong with a definition, before it is stored. Raises `Refused` naming the field, a script's line and column."""
    grades = [grade for grade, _ in draft.scale]
    if any(later - earlier != 1 for earlier, later in pairwise(grades)):
        shown = ", ".join(f"{grade:g}" for grade in grades)
        raise Refused(
            f"The scale has a gap: {shown}. Its grades are whole numbers one apart, such as 0 1 2 3.", field="scale"
        )
    for grade, label in draft.scale:
        if len(label) > MAX_LABEL:
            raise Refused(
                f"The label of grade {grade:g} has {len(label)} characters; {MAX_LABEL} are possible.", field="scale"
            )
        _check_storable(label, "scale")
    _check_storable(draft.script, "script")
    if draft.depth is not None and not 1 <= draft.depth <= DEEPEST:
        raise Refused(f"A script cannot look at {draft.depth} results: choose 1 to {DEEPEST:,}.", field="depth")
    if draft.gives not in ScorerVersion.Gives.values:
        raise Refused(f"{draft.gives!r} is not what a script can give: choose 0–100 or 0–1.", field="gives")
    if bool(draft.measure) == bool(draft.script.strip()):
        raise Refused("A scorer is either a measure or a script.", field="measure")
    try:
        return evaluation.check(draft)
    except evaluation.ScriptError as error:
        raise Refused(str(error), field="script", line=error.line, column=error.column) from None
    except evaluation.SandboxError as error:
        raise Refused(str(error), field="script") from None
    except evaluation.ScoringError as error:
        raise Refused(str(error), field="measure") from None


def checked_name(name: str) -> str:
    """The name with single blanks. Raises `Refused`."""
    name = " ".join(name.split())
    _check_storable(name, "name")
    if not 0 < len(name) <= MAX_NAME:
        raise Refused(f"A scorer needs a name of 1 to {MAX_NAME} characters; this one has {len(name)}.", field="name")
    return name


def checked_description(text: str) -> str:
    """The description with one kind of line ends. Raises `Refused`."""
    text = text.replace("\r\n", "\n").strip()
    _check_storable(text, "description")
    if len(text) > MAX_DESCRIPTION:
        raise Refused(
            f"The description has {len(text):,} characters; {MAX_DESCRIPTION:,} are possible.", field="description"
        )
    return text


def check_free(name: str, besides: Scorer | None = None) -> None:
    """Raises `Refused` where another scorer has the name, in whatever case."""
    same = Scorer.objects.filter(name__iexact=name)
    if besides is not None:
        same = same.exclude(pk=besides.pk)
    if taken := same.first():
        retired = " (it is retired)" if taken.retired_at else ""
        raise Refused(f"There is a scorer called {taken.name} already{retired}. Choose another name.", field="name")


def _check_storable(text: str, field: str) -> None:
    if found := _UNSTORABLE.search(text):
        raise Refused(
            f"The {field} contains the character U+{ord(found[0]):04X}, which cannot be stored. Take it out.",
            field=field,
        )
