"""One study on every engine: the same settings, rankings as of runs, equal requests once, nothing lost when the engine goes away."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines.embedded.engine import EmbeddedEngine
from relevancy.formats.documents import sample
from relevancy.models import Attempt, Case, Ranking, ScorerVersion
from relevancy.optional.studies import findings, studies
from relevancy.optional.studies.models import Study, StudyAnswer
from relevancy.optional.studies.samplers import Samplers, plan_trial
from relevancy.optional.studies.space import Space, parse_knob
from relevancy.optional.studies.tests.conftest import finish
from tests.factories import make_attempt, make_case, make_endpoint, make_user, run_now
from tests.live.conftest import elasticsearch7_server as elasticsearch7_server  # fixtures
from tests.live.conftest import elasticsearch_server as elasticsearch_server
from tests.live.conftest import opensearch_server as opensearch_server
from tests.live.conftest import solr_server as solr_server
from tests.live.indexing import make_elasticsearch_index, make_solr_core

from .line import Line

pytestmark = [pytest.mark.live, pytest.mark.django_db]
QUERIES, TRIALS = 25, 22
KNOBS = (parse_knob("title_boost=0.1:20:log"), parse_knob("tie=0:1"))
NOW = {"title_boost": 0.5, "tie": 0.3}
SEED = 7
EDISMAX = "q=#$query##&defType=edismax&qf=title^##title_boost## overview&tie=##tie##&q.op=OR"
MULTI_MATCH = """{"query": {"multi_match": {
  "query": "#$query##", "fields": ["title^##title_boost##", "overview"], "type": "best_fields", "tie_breaker": ##tie##
}}}"""
EMBEDDED = '{"query": "#$query##", "fields": {"title": ##title_boost##, "overview": 1}, "tie": ##tie##}'
HTTP_OPTIONS = {"hits": "response.docs", "rows_parameter": "rows", "method": "POST"}


@dataclass
class Subject:
    """An engine with the films of the sample.

    cut_half_way: lets it go away half way through a study like the one before. join: lets it come back.
    """

    engine: str
    url: str
    template: str
    options: dict[str, Any]
    cut_half_way: Callable[[], None]
    join: Callable[[], None]


@pytest.fixture(scope="session")
def solr_films(solr_server: Any) -> str:
    return make_solr_core(solr_server, "studied", [*sample.read_films()], {"year": "pint"})


@pytest.fixture
def subject(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Subject]:
    """The engine that the test is parametrized with, behind a line that can be cut."""
    name = request.param
    if name == "embedded":
        yield embedded_subject(request.getfixturevalue("data_dir"), monkeypatch)
        return
    if name in ("solr", "http"):
        url = request.getfixturevalue("solr_films") + ("/select" if name == "http" else "")
    else:
        url = make_elasticsearch_index(request.getfixturevalue(f"{name}_server"), "studied", sample.read_films())
    line = Line(int(url.split(":")[2].partition("/")[0]))
    template = EDISMAX if name in ("solr", "http") else MULTI_MATCH

    def cut_half_way() -> None:
        line.cut_at, line.passed = line.passed // 2, 0

    def join() -> None:
        line.cut()
        line.join()

    key = name.removesuffix("7")
    yield Subject(key, _through(url, line), template, HTTP_OPTIONS if name == "http" else {}, cut_half_way, join)
    line.cut()


def _through(url: str, line: Line) -> str:
    path = url.split(":")[2].partition("/")[2]
    return f"http://127.0.0.1:{line.port}/{path}"


def embedded_subject(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """An index whose folder is moved away while a study searches."""
    index_dir = data_dir / "embedded"
    with engines.connect(engines.Connection("embedded", "films", engines.AddressRules(), data_dir=index_dir)) as engine:
        engine.load_documents(sample.read_films())
    folder, elsewhere = index_dir / "films", data_dir / "elsewhere"
    open_index = EmbeddedEngine._open
    opened: list[int] = []
    cut_at: list[int] = []

    def count(self: EmbeddedEngine) -> Any:
        opened.append(len(opened))
        if cut_at and len(opened) == cut_at[0]:
            folder.rename(elsewhere)
        return open_index(self)

    def cut_half_way() -> None:
        cut_at.append(len(opened) // 2)
        opened.clear()

    def join() -> None:
        cut_at.clear()
        elsewhere.rename(folder)

    monkeypatch.setattr(EmbeddedEngine, "_open", count)
    return Subject("embedded", "films", EMBEDDED, {}, cut_half_way, join)


@pytest.fixture
def attempt(subject: Subject) -> Attempt:
    return make_films_attempt(subject)


def make_films_attempt(subject: Subject) -> Attempt:
    """An attempt on the first queries of the sample, rated as there."""
    texts = [row["text"] for row in json.loads((sample.FOLDER / "queries.json").read_text("utf-8"))][:QUERIES]
    ratings: dict[str, dict[str, float]] = {text: {} for text in texts}
    with (sample.FOLDER / "ratings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["query"] in ratings:
                ratings[row["query"]][row["docid"]] = float(row["rating"])
    case = make_case(texts, ratings, owner=make_user(), scale="1:10")
    endpoint = make_endpoint(case.owner, engine=subject.engine, url=subject.url, options=subject.options, parallel=4)
    fields = "title:title" if subject.engine in ("elasticsearch", "opensearch") else "id:id title:title"
    return make_attempt(case, endpoint, template=subject.template, knobs=NOW, fields=fields)


def make_study(attempt: Attempt, knobs: Sequence[Any] = KNOBS, **changes: Any) -> Study:
    case: Case = attempt.case
    version = ScorerVersion.objects.used_by(case)[0]
    settings = studies.StudySettings(knobs=list(knobs), trials=TRIALS, seed=SEED, **changes)
    return studies.create(case=case, parent=attempt, version=version, settings=settings, by=case.owner)


def rankings_of(study: Study, number: int) -> list[list[str]]:
    """The rankings of a trial, by the positions of the queries."""
    answers = {answer.pk: answer.doc_ids for answer in StudyAnswer.objects.filter(study=study)}
    return [answers[pk] for pk in study.trials.get(number=number).answer_ids.tolist()]


def rankings_of_run(study: Study, attempt: Attempt) -> list[list[str]]:
    by_query = {ranking.query_id: ranking.doc_ids for ranking in Ranking.objects.filter(run=run_now(attempt))}
    return [by_query[query_id] for query_id in study.query_ids]


def trials_of(study: Study) -> list[tuple[Any, ...]]:
    rows = study.trials.order_by("number")
    return [(row.number, row.settings, row.origin, row.fold_left_out, row.stopped, row.columns) for row in rows]


ENGINES = ("embedded", "solr", "elasticsearch", "elasticsearch7", "opensearch", "http")


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_a_study_is_the_same_on_every_engine(
    subject: Subject, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = record_searches(subject.engine, monkeypatch)
    whole = finish(make_study(attempt))
    found = findings.update_findings(whole)
    assert (whole.status, found["trials"], found["queries"], found["failed"]) == ("complete", TRIALS, QUERIES, 0)
    # The settings that no scores lead to are the same everywhere.
    samplers = Samplers(Space(KNOBS), SEED, NOW)
    expected = [samplers.propose(plan_trial(Space(KNOBS), TRIALS, number), number, []) for number in range(TRIALS)]
    assert [trial.settings for trial in whole.trials.order_by("number")] == expected
    assert len(sent) == len(set(sent)) == whole.requests
    # Trials are what runs return.
    assert rankings_of(whole, 0) == rankings_of_run(whole, attempt)
    assert sum(map(bool, rankings_of(whole, 0))) >= 15
    assert found["winner"] > 0
    adopted = studies.adopt(study=whole, trial=whole.trials.get(number=found["winner"]), by=attempt.case.owner)
    assert rankings_of(whole, found["winner"]) == rankings_of_run(whole, adopted) != rankings_of(whole, 0)
    again = finish(make_study(attempt), seconds=0.2)
    assert trials_of(again) == trials_of(whole)


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_texts_reach_every_engine(subject: Subject, attempt: Attempt) -> None:
    template = subject.template + "&mm=##mm##"
    if subject.template.startswith("{"):
        query = '"query": "#$query##"'
        template = subject.template.replace(query, f'{query}, "minimum_should_match": ##mm##')
    parent = make_attempt(
        attempt.case, attempt.endpoint, template=template, knobs={**NOW, "mm": "1%"}, fields=attempt.fields
    )
    study = finish(make_study(parent, [parse_knob("mm=1%,1,100%")]))
    found = findings.update_findings(study)
    assert (study.status, found["complete"], found["failed"]) == ("complete", 4, 0)
    assert rankings_of(study, 0) == rankings_of(study, 1) == rankings_of(study, 2) != rankings_of(study, 3)
    adopted = studies.adopt(study=study, trial=study.trials.get(number=3), by=attempt.case.owner)
    assert adopted.knobs["mm"] == "100%"
    assert rankings_of(study, 3) == rankings_of_run(study, adopted)


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_equal_requests_are_sent_once(subject: Subject, attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = record_searches(subject.engine, monkeypatch)
    study = finish(make_study(attempt, [parse_knob("title_boost=0.5,2,8"), parse_knob("tie=0.3,1")]))
    assert study.trials.count() == 7  # the parent, which is one of the grid, and all of this
    assert study.trials.get(number=1).settings == NOW
    assert len(sent) == len(set(sent)) == study.requests <= 6 * QUERIES


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_an_engine_that_goes_away_loses_nothing(subject: Subject, attempt: Attempt) -> None:
    whole = finish(make_study(attempt))
    study = make_study(attempt)
    subject.cut_half_way()
    study = finish(study)
    assert study.status == Study.Status.FAILED
    assert study.reason.startswith("16 searches in a row failed.")
    before = trials_of(study)
    assert 1 < len(before) < TRIALS
    assert before == trials_of(whole)[: len(before)]
    answered = StudyAnswer.objects.filter(study=study).count()
    subject.join()
    studies.go_on(study=study, by=attempt.case.owner)
    study = finish(study)
    assert study.status == Study.Status.COMPLETE
    assert trials_of(study) == trials_of(whole)
    of_whole = StudyAnswer.objects.filter(study=whole).count()
    assert answered < StudyAnswer.objects.filter(study=study).count() == of_whole
    names = ("gain", "low", "high", "seen", "winner", "proposed", "sentence")
    first, second = (findings.update_findings(each) for each in (whole, study))
    assert [first[name] for name in names] == [second[name] for name in names]


@pytest.mark.parametrize("subject", [name for name in ENGINES if name != "http"], indirect=True)
def test_settings_are_estimated(subject: Subject, attempt: Attempt) -> None:
    study = finish(make_study(attempt, estimates=True))
    found = findings.update_findings(study)
    assert study.estimated["refusal"] == ""
    assert study.estimated["sums"] > 0.99
    assert study.estimated["repeated"] > 0.95
    trials = study.trials.filter(origin="estimated", stopped=False)
    gains = {trial.number: found["gains"][trial.number] for trial in trials}
    first, proposals = study.estimated["first"], study.estimated["proposals"]
    errors = [abs(proposals[number - first]["gain"] - gain) for number, gain in gains.items()]
    assert errors and max(errors) < 1.0  # points
    assert max(gains.values()) >= max(gain for gain in found["gains"][:first] if gain is not None) - 0.5


def test_an_api_that_is_searched_by_http_finds_what_its_engine_finds(solr_films: str) -> None:
    """The engine http and Solr's own adapter, on the same core: the same scores of all trials."""
    columns = []
    for engine, url, options in (("solr", solr_films, {}), ("http", f"{solr_films}/select", HTTP_OPTIONS)):
        plain = Subject(engine, url, EDISMAX, options, lambda: None, lambda: None)
        columns.append(trials_of(finish(make_study(make_films_attempt(plain)))))
    assert columns[0] == columns[1]


def record_searches(key: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list to which every search of the adapter is added, as it is rendered."""
    adapter = engines.get(key)
    search_many = adapter.search_many
    sent: list[str] = []

    def record(self: engines.Engine, requests: Sequence[engines.Request], **options: Any) -> Iterator[Any]:
        sent.extend(json.dumps(self.render(request), sort_keys=True) for request in requests)
        return search_many(self, requests, **options)

    monkeypatch.setattr(adapter, "search_many", record)
    return sent
