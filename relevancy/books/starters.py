"""Guidelines and phrases for grades to start from, for the scales that most books have."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Starter:
    """What raters may read about the grades of a scale. name: of the scale. phrases: of the grades; others have none."""

    name: str
    phrases: Sequence[tuple[float, str]]
    guidelines: str

    def fits(self, grades: Sequence[float]) -> bool:
        """Whether a scale has the lowest, the highest and as many grades as the one that this is written for."""
        lowest, top = (float(grade) for grade in self.name.split("–"))
        return (grades[0], grades[-1], len(grades)) == (lowest, top, top - lowest + 1)


_BEGINNING = """\
Read the query and what the user needs before you look at the document. Judge the document for that need, not for how well it is made,
and each document on its own: a second one that says the same gets the same grade.
"""
_END = """\
If you cannot say what the user wants, or the document shows too little, choose “Cannot judge” rather than a grade in the middle.
"""

STARTERS: Sequence[Starter] = (
    Starter(
        "0–1",
        ((0, "Not relevant"), (1, "Relevant")),
        f"""\
{_BEGINNING}
- **1 Relevant**: a user with this need would be glad to have found it, even if it answers only a part.
- **0 Not relevant**: it does not help, even if it contains the words of the query.

{_END}""",
    ),
    Starter(
        "0–3",
        ((0, "Not relevant"), (1, "Hardly relevant"), (2, "Relevant"), (3, "Perfect")),
        f"""\
{_BEGINNING}
- **3 Perfect**: exactly what the user is looking for. Nothing more is needed.
- **2 Relevant**: it helps, but a part is missing, or something else would be better.
- **1 Hardly relevant**: on the subject, yet it hardly helps.
- **0 Not relevant**: it does not help, even if it contains the words of the query.

{_END}""",
    ),
    Starter(
        "1–10",
        ((1, "Not relevant"), (4, "Hardly relevant"), (7, "Relevant"), (10, "Perfect")),
        f"""\
{_BEGINNING}
- **9 and 10**: exactly what the user is looking for. Nothing more is needed.
- **6 to 8**: it helps, but a part is missing, or something else would be better.
- **3 to 5**: on the subject, yet it hardly helps.
- **1 and 2**: it does not help, even if it contains the words of the query.

{_END}""",
    ),
)
