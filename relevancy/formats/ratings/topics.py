"""What files call the queries of a case: their ids, as our own TREC files do, or their texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from relevancy import queries
from relevancy.formats.errors import BadFile, quote

MAX_ID_DIGITS = 18


@dataclass(frozen=True)
class Topics:
    """The queries of a case. texts: by id, in their order. by_id: whether topics are ids. adds: whether other texts are new queries."""

    texts: Mapping[int, str]
    by_id: bool
    adds: bool = False

    @cached_property
    def _ids(self) -> Mapping[str, int]:
        return {text: pk for pk, text in self.texts.items()}

    def find(self, topic: str) -> int | None:
        """Returns the id of a query; None if the case has none with this id or text."""
        if self.by_id:
            pk = as_id(topic)
            return pk if pk in self.texts else None
        return self._ids.get(queries.normalize(topic))

    def text(self, topic: str, line: int) -> str:
        """Returns the text of a query. Raises `BadFile` if the case does not have it, and it cannot be added."""
        pk = self.find(topic)
        if pk is None and self.adds and as_id(topic) is None:
            return topic
        if pk is None:
            kind = "id" if self.by_id else "id or text"
            raise BadFile(
                f"the case has no query with the {kind} {quote(topic)}. Add the queries to the case first.", line=line
            )
        return self.texts[pk]

    def doc_id(self, text: str) -> str:
        """Returns a document id. Those of our own files, whose topics are ids, are percent-encoded where necessary."""
        return unquote(text) if self.by_id else text


def match_topics(texts: Mapping[int, str], topics: Iterable[str], *, adds: bool = False) -> Topics:
    """Returns how a file names the queries of a case: by id or by text, whatever finds more of them; by id if it is the same.

    texts: as `CaseQueryQuerySet.texts` returns them. adds: as in `Topics`.
    """
    query_texts, names = set(texts.values()), set(topics)
    ids = sum(as_id(name) in texts for name in names)
    matching = sum(queries.normalize(name) in query_texts for name in names)
    return Topics(texts, by_id=ids >= matching and ids > 0, adds=adds)


def as_id(topic: str) -> int | None:
    """Returns the number that a topic is; None if it is not one."""
    return int(topic) if topic.isascii() and topic.isdecimal() and len(topic) <= MAX_ID_DIGITS else None
