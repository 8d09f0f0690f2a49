"""Rankings made elsewhere, as runs of a case: TREC runs, CSV with query, docid and position, and formats of optional apps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import unquote

from django.core.exceptions import ValidationError

from relevancy import endpoints, ratings, runs
from relevancy.engines.errors import EngineError
from relevancy.engines.static.rankings_file import TREC_RUN, Rankings
from relevancy.engines.types import Hit
from relevancy.formats.archives import open_json
from relevancy.formats.cells import MAX_BYTES, decode
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.file_formats import FileKind, choose
from relevancy.formats.ratings.topics import Topics, match_topics
from relevancy.formats.ratings.trec import RUN_TAG
from relevancy.models import Case, Run, User
from relevancy.models.errors import error_text
from relevancy.slow_requests import READING_TOO_LONG, is_late
from relevancy.wording import counted

MAX_RUNS = 20  # in one file
MAX_NAME = 120
MAX_FIELDS = 2000
MAX_NAMED = 5  # queries that are named in a message
_NOT_IN_A_FIELD_NAME = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class RunsPlan:
    """What an import makes of a file.

    rankings: those of each run, in the order of the file.
    unknown: texts or topics of the file that the case does not have; they are left out.
    without_results: texts of the case's queries that at least one of the snapshots does not contain.
    not_ranked: number of rows that are left out, because they are marked as documents that are only rated.
    """

    rankings: Sequence[runs.ImportedRankings]
    unknown: Sequence[str]
    without_results: Sequence[str]
    not_ranked: int = 0

    @property
    def remarks(self) -> list[str]:
        """Sentences about what of the file and of the case is not part of the runs."""
        sentences = []
        if self.unknown:
            sentences.append(f"Left out, because the case does not have them: {_list_queries(self.unknown)}.")
        if self.without_results:
            sentences.append(f"Not in the file, so counted as without results: {_list_queries(self.without_results)}.")
        if self.not_ranked:
            rows = "row" if self.not_ranked == 1 else "rows"
            sentences.append(
                f"Left out, because the search did not return them (rated_only): {self.not_ranked:,} {rows}."
            )
        return sentences


@dataclass(frozen=True)
class ImportedRuns:
    """The runs that were stored; not scored yet. plan: what of the file and of the case was not part of them."""

    runs: Sequence[Run]
    plan: RunsPlan


def read_file(*, file: IO[bytes], name: str = "") -> list[Rankings]:
    """Returns what a user's file of rankings contains. name: of the file. JSON may be in a ZIP file.

    Raises `BadFile`; for a file of another kind it says what that is instead.
    """
    chosen = choose(file, FileKind.RUNS, name=name)
    with open_json(file) as opened:
        text = decode(opened.read(MAX_BYTES + 1))
    assert chosen.read is not None
    try:
        snapshots: list[Rankings] = chosen.read(text)
    except EngineError as error:
        raise BadFile(str(error)) from None
    if len(snapshots) > MAX_RUNS:
        raise BadFile(f"The file contains {len(snapshots):,} snapshots; at most {MAX_RUNS} can be imported at once.")
    return snapshots


def plan_runs(*, case: Case, snapshots: Sequence[Rankings], name: str = "") -> RunsPlan:
    """Returns what `import_runs` would store. Writes nothing. One SQL statement. Raises `BadFile`."""
    texts = case.case_queries.texts()
    unknown: dict[str, None] = {}
    missing: set[int] = set()
    rankings = []
    for snapshot in snapshots:
        hits_by_query, others = _match_queries(snapshot, texts)
        unknown |= dict.fromkeys(others)
        missing |= texts.keys() - hits_by_query.keys()
        if not hits_by_query:
            raise BadFile(_nothing_found(snapshot, case))
        rankings.append(_read_rankings(snapshot, hits_by_query, _choose_name(snapshot, name, len(snapshots))))
    without_results = [query for pk, query in texts.items() if pk in missing]
    return RunsPlan(rankings, list(unknown), without_results, sum(snapshot.not_ranked for snapshot in snapshots))


def import_runs(*, case: Case, snapshots: Sequence[Rankings], by: User, name: str = "") -> ImportedRuns:
    """Stores a run for each snapshot of a file; with a TREC run, for each tag.

    name: of the runs; by default that in the file. If there are several, each gets its own after it.

    The queries are found by their texts or, in a TREC run, by the ids that `trec.export_run` writes. Raises `BadFile` if the file
    has no query of the case, and `RunNotAllowed`; then nothing is stored.
    """
    plan = plan_runs(case=case, snapshots=snapshots, name=name)
    try:
        return ImportedRuns(runs.import_rankings(case=case, rankings=plan.rankings, by=by), plan)
    except ValidationError as error:  # names and notes are all that is validated
        raise BadFile(f"A run cannot have the name in the file: {error_text(error)}") from None


def describe_import(imported: ImportedRuns) -> str:
    """Returns what was imported, and what of the file and of the case was not part of it."""
    numbers = ", ".join(run.label for run in imported.runs)
    sentences = [
        f"{numbers} imported." if len(imported.runs) == 1 else f"{len(imported.runs)} runs imported: {numbers}."
    ]
    return " ".join([*sentences, *imported.plan.remarks])


def _list_queries(texts: Sequence[str]) -> str:
    count = counted(len(texts), "query", "queries")
    more = ", …" if len(texts) > MAX_NAMED else ""
    return f"{count} ({', '.join(quote(text) for text in texts[:MAX_NAMED])}{more})"


def _match_queries(snapshot: Rankings, texts: Mapping[int, str]) -> tuple[dict[int, list[Hit]], list[str]]:
    """Returns the hits by query id, and the texts or topics that the case does not have. Topics of a TREC run may be ids."""
    hits_by_query = snapshot.hits_by_query
    is_trec = snapshot.format == TREC_RUN
    topics = match_topics(texts, hits_by_query) if is_trec else Topics(texts, by_id=False)
    hits_by_id: dict[int, list[Hit]] = {}
    unknown = []
    for topic, hits in hits_by_query.items():
        pk = topics.find(topic)
        if pk is None:
            unknown.append(topic)
        elif pk in hits_by_id:
            raise BadFile(f"The file contains the query {quote(texts[pk])} twice, once as {quote(topic)}.")
        else:
            hits_by_id[pk] = hits
    return hits_by_id, unknown


def _nothing_found(snapshot: Rankings, case: Case) -> str:
    topics = list(snapshot.hits_by_query)
    where = f"“{snapshot.name}” in the file" if snapshot.name else "The file"
    if not topics:
        return f"{where} contains no query."
    kind = "text or id" if snapshot.format == TREC_RUN else "text"
    return (
        f"{where} contains no query of the case “{case}”; its first one is {quote(topics[0])}. Queries are found by their {kind}. "
        "Add the queries to the case first."
    )


def _choose_name(snapshot: Rankings, name: str, snapshots: int) -> str:
    own = " ".join(snapshot.name.split())
    if name and snapshots > 1:
        own = f"{name}: {own or snapshot.time}"
    return (own if snapshots > 1 else name or own)[:MAX_NAME].strip()


def _read_rankings(snapshot: Rankings, hits_by_query: Mapping[int, Sequence[Hit]], name: str) -> runs.ImportedRankings:
    is_own_trec = snapshot.name.startswith(RUN_TAG) and snapshot.format == TREC_RUN
    column_names = {column: _NOT_IN_A_FIELD_NAME.sub("_", column) for column in snapshot.fields}
    column_names = {column: field for column, field in column_names.items() if field != "id"}
    hits: dict[int, list[tuple[str, float | None, dict[str, Any]]]] = {}
    for pk, ranked in hits_by_query.items():
        if is_late():
            raise BadFile(READING_TOO_LONG)
        hits[pk] = []
        for hit in ranked:
            try:
                doc_id = ratings.clean_doc_id(unquote(hit.id) if is_own_trec else hit.id)
            except ValidationError as error:
                raise BadFile(f"Document id: {error_text(error)}") from None
            fields = {column_names[column]: value for column, value in hit.fields.items() if column in column_names}
            hits[pk].append((doc_id, hit.score, fields))
    taken = f" of {snapshot.time}" if snapshot.time else ""
    return runs.ImportedRankings(
        name=name,
        note=f"Imported: {snapshot.format}{taken}",
        fields=_choose_fields(list(dict.fromkeys(column_names.values()))),
        hits=hits,
    )


def _choose_fields(names: Sequence[str]) -> str:
    """Returns a specification that displays all fields, as far as it may be long."""
    suggested = endpoints.suggestions.suggest_fields(engine="static", names=["id", *names])
    spec = suggested.spec
    for name in names:
        if name not in (suggested.title, suggested.thumb, *suggested.more) and len(spec) + 1 + len(name) <= MAX_FIELDS:
            spec += f" {name}"
    return spec
