"""Judgments for learning to rank: `grade qid:ID feature:value … # document query text`, as RankLib and Quepid write them.

The text may also be in a comment before the judgments, `# qid:ID: text`, as in the files of the learning-to-rank plugins.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from relevancy.formats.errors import BadFile, quote
from relevancy.models import Case

from .graded_queries import graded_queries
from .ratings_file import RatingRow
from .topics import Topics, as_id
from .trec import encode_doc_id, format_grade

_LINE = re.compile(r"(\S+)\s+qid:(\S+)\s*([^#]*)#\s*(\S+)[ \t]*(.*)")
_QUERY = re.compile(r"#\s*qid:([^\s:]+)\s*:\s*(.*)")


def read_topics(lines: Iterable[str]) -> set[str]:
    """Returns the ids of the queries whose texts are not in the file."""
    texts: set[str] = set()
    without: set[str] = set()
    for line in lines:
        if query := _QUERY.match(line):
            texts.add(query[1])
        elif (judgment := _LINE.match(line)) and not judgment[5].strip():
            without.add(judgment[2])
    return without - texts


def read_ratings(lines: Iterable[str], topics: Topics) -> Iterator[RatingRow]:
    """Yields the judgments of a file. Features are left out. topics: the queries of the case, for lines without the text of a query.

    Grades below 0 are unjudged. Raises `BadFile`.
    """
    texts: dict[str, str] = {}
    for line, content in enumerate(lines, 1):
        if not content.strip():
            continue
        if content.startswith("#"):
            if query := _QUERY.match(content):
                texts[query[1]] = query[2]
            continue
        judgment = _LINE.match(content)
        if judgment is None:
            raise BadFile(
                f"this is not a judgment, 'grade qid:ID … # document query text': {quote(content.strip())}.", line=line
            )
        grade, topic, _, doc_id, text = judgment.groups()
        text = text.strip() or texts.get(topic, "")
        if not text:
            text = topics.text(topic, line)
        pk = as_id(topic)
        if pk is not None and topics.texts.get(pk) == text:
            doc_id = unquote(doc_id)  # a file of our own: document ids are encoded as in TREC files
        yield RatingRow(text, doc_id, "" if grade.startswith("-") else grade, line=line)


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the grades of a case, without features: an id of a query for all of its lines. Document ids are those of TREC files."""
    for query, grades in graded_queries(case):
        topic, text = query.pk, query.text
        yield "".join(
            f"{format_grade(grade)} qid:{topic} # {encode_doc_id(doc_id)} {text}\n" for doc_id, grade in grades.items()
        )
