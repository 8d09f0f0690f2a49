"""The sample case through `evaluate --scorer`: every shipped scorer, pasted scripts and the measure of an installed package,
each query's score compared with other software or with arithmetic written out here."""

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import invalidate_caches
from itertools import accumulate
from math import floor, log2
from pathlib import Path
from typing import Any

import ir_measures as im
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.test import Client, override_settings

from relevancy import scorers, scoring
from relevancy.management.commands import demo
from relevancy.models import Case, Scorer, ScorerDefinition
from tests.factories import Scripted, make_attempt, make_case, make_user, run_now
from tests.oracles import evaluate_by_ir_measures
from tests.sandbox.test_published import DEFAULT, NAMESPACE

pytestmark = pytest.mark.django_db
EXAMPLE = settings.BASE_DIR / "examples" / "relevancy-own-measure"
TOP, RELEVANT, SHOWN = 10, 6, 10  # the sample's scale is 1–10, and it shows ten results
SCRIPTS = {"pasted default": DEFAULT, "pasted NDCG": NAMESPACE}
PERFECT = "Perfect@10"


@dataclass(frozen=True)
class Seen:
    """One query: its grades in rank order (None: unrated), and every grade known of it."""

    returned: list[float | None]
    known: list[float]

    @property
    def best(self) -> list[float]:
        return sorted(self.known, reverse=True)

    @property
    def first(self) -> list[float]:
        return [grade or 0 for grade in self.returned[:SHOWN]]


@dataclass(frozen=True)
class Evaluated:
    """What `evaluate --json` said of each scorer, and the exported files it must follow from."""

    scores: dict[str, dict[str, float | None]]
    means: dict[str, float]
    ids: dict[str, str]
    seen: dict[str, Seen]
    qrels: list[Any]
    run: list[Any]
    shipped: frozenset[str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The example package with a measure, as an installer would leave it on the path."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(EXAMPLE / "relevancy_own_measure.py", folder)
    metadata = folder / "relevancy_own_measure-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: relevancy-own-measure\nVersion: 1.0\n", "utf-8")
    entry_points = "[relevancy.measures]\nPerfect = relevancy_own_measure:PERFECT\n"
    (metadata / "entry_points.txt").write_text(entry_points, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        _forget_measures()
        yield
    sys.modules.pop("relevancy_own_measure", None)
    _forget_measures()


def _forget_measures() -> None:
    invalidate_caches()
    scoring.get_definitions.cache_clear()
    scoring.parse_measure.cache_clear()


@pytest.fixture(scope="module")
def evaluated(
    django_db_setup: None, django_db_blocker: Any, installed: None, tmp_path_factory: pytest.TempPathFactory
) -> Evaluated:
    """One run of the sample's second attempt under all scorers; the database is left as it was."""
    folder = tmp_path_factory.mktemp("data")
    with django_db_blocker.unblock(), override_settings(DATA_DIR=folder), transaction.atomic():
        case = demo.load_demo()
        shipped = frozenset(Scorer.objects.values_list("name", flat=True))
        for name, script in SCRIPTS.items():
            _make(case, name, script=script, scale=case.book.scale)
        _make(case, PERFECT, measure=PERFECT)
        result = _evaluate(case, [*sorted(shipped), *SCRIPTS, PERFECT], folder, shipped)
        transaction.set_rollback(True)
    return result


def _make(case: Case, name: str, **definition: Any) -> None:
    scorers.create(name=name, definition=ScorerDefinition(**definition), by=case.owner)


def _evaluate(case: Case, names: list[str], folder: Path, shipped: frozenset[str]) -> Evaluated:
    wanted = [word for name in names for word in ("--scorer", name)]
    output = _command("evaluate", str(case.pk), "--attempt", "2", *wanted, "--json", "-")
    report = json.loads(output)
    qrels = _command("export_ratings", str(case.pk), "--format", "trec")
    run = _command("export_run", str(report["run"]), "--format", "trec")
    grades: dict[str, dict[str, float]] = {}
    for line in qrels.splitlines():
        topic, _, doc_id, grade = line.split()
        grades.setdefault(topic, {})[doc_id] = float(grade)
    ranked: dict[str, list[str]] = {}
    for line in run.splitlines():
        topic, _, doc_id, *_ = line.split()
        ranked.setdefault(topic, []).append(doc_id)
    topics = {
        case_query.query.text: str(case_query.query_id)
        for case_query in case.case_queries.present().select_related("query")
    }
    return Evaluated(
        scores={row["name"]: {text: item["score"] for text, item in row["per_query"].items()} for row in report["scorers"]},
        means={row["name"]: row["score"] for row in report["scorers"]},
        ids=topics,
        seen={
            text: Seen(
                [grades.get(topic, {}).get(doc_id) for doc_id in ranked.get(topic, [])],
                list(grades.get(topic, {}).values()),
            )
            for text, topic in topics.items()
        },
        qrels=[im.Qrel(topic, doc_id, int(grade)) for topic, of in grades.items() for doc_id, grade in of.items()],
        run=[im.ScoredDoc(topic, doc_id, -rank) for topic, ids in ranked.items() for rank, doc_id in enumerate(ids)],
        shipped=shipped,
    )  # fmt: skip


def _command(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


# --- arithmetic, written out: values from 0 to 1, None where a query cannot be scored ---


def exponential(grade: float) -> float:
    return 2.0**grade - 1


def dcg(grades: list[float], gain: Callable[[float], float] = exponential) -> float:
    return sum(gain(grade) / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def against(ideal: Callable[[Seen], list[float]]) -> Callable[[Seen], float | None]:
    def ndcg(seen: Seen) -> float | None:
        best = dcg(ideal(seen))
        return (dcg(seen.first) / best if best else 0.0) if any(seen.known) else None

    return ndcg


def err(seen: Seen) -> float:
    stops = [exponential(grade) / 2**TOP for grade in seen.first]
    reading = accumulate(stops, lambda left, stop: left * (1 - stop), initial=1.0)
    return sum(left * stop / rank for rank, (left, stop) in enumerate(zip(reading, stops, strict=False), 1))


def rbp(seen: Seen) -> float:
    return 0.2 * sum(0.8**position for position, grade in enumerate(seen.first) if grade >= RELEVANT)


def edits(one: list[float], other: list[float]) -> int:
    row = list(range(len(other) + 1))
    for position, grade in enumerate(one, 1):
        before, row = row, [position]
        for at, wanted in enumerate(other):
            row.append(min(before[at + 1] + 1, row[at] + 1, before[at] + (grade != wanted)))
    return row[-1]


def avg_edit(seen: Seen) -> float | None:
    rated = [grade for grade in seen.returned[:SHOWN] if grade is not None]
    if not seen.returned:
        return 0.0 if any(seen.known) else None
    if not rated:
        return None
    best = [*seen.best, *[0.0] * SHOWN][: len(seen.first)]
    return max(0, floor(sum(rated) / len(rated) * 100 / TOP + 1e-9) - edits(seen.first, best)) / 100


def perfect(seen: Seen) -> float:
    return sum(grade == TOP for grade in seen.first) / SHOWN


WRITTEN_OUT: dict[str, Callable[[Seen], float | None]] = {
    "AvgEdit": avg_edit,
    "CG@10": lambda seen: sum(seen.first) / (SHOWN * TOP),
    "DCG@10": lambda seen: dcg(seen.first) / dcg([TOP] * SHOWN),
    "ERR@10": err,
    "RBP@10": rbp,
    "nDCG@10 local": against(lambda seen: sorted(seen.first, reverse=True)),
    "nDCG@10 max": lambda seen: dcg(seen.first) / dcg([TOP] * SHOWN),
    "nDCG@10 recall": against(lambda seen: sorted((grade or 0 for grade in seen.returned), reverse=True)[:SHOWN]),
    "nDCG@10 uncut": against(lambda seen: seen.best),
    PERFECT: perfect,
}
GAINS = {grade: int(exponential(grade)) for grade in range(TOP + 1)}
IR_MEASURES = {
    "AP": im.AP(rel=RELEVANT) @ SHOWN,
    "AP@10": im.AP(rel=RELEVANT) @ 10,
    "Judged@10": im.Judged @ 10,
    "P@10": im.P(rel=RELEVANT) @ 10,
    "RR@10": im.RR(rel=RELEVANT) @ 10,
    "nDCG@10": im.nDCG(gains=GAINS) @ 10,
    "nDCG@10 linear": im.nDCG @ 10,
    "nDCG@10 linear, rated only": im.nDCG(judged_only=True) @ 10,
    "nDCG@10 rated only": im.nDCG(gains=GAINS, judged_only=True) @ 10,
}
NEEDS_A_RELEVANT_ONE = {"AP", "AP@10", "RR@10"}


def test_evaluate_every_shipped_scorer_is_checked(evaluated: Evaluated) -> None:
    assert evaluated.shipped == (WRITTEN_OUT.keys() | IR_MEASURES.keys()) - {PERFECT}
    assert not WRITTEN_OUT.keys() & IR_MEASURES.keys()
    assert evaluated.scores.keys() == evaluated.shipped | SCRIPTS.keys() | {PERFECT}


@pytest.mark.parametrize("name", sorted(WRITTEN_OUT))
def test_evaluate_equals_the_arithmetic_of_this_file(evaluated: Evaluated, name: str) -> None:
    wanted = {
        text: value if seen.known and (value := WRITTEN_OUT[name](seen)) is not None else None
        for text, seen in evaluated.seen.items()
    }
    _alike(evaluated.scores[name], {text: None if value is None else 100 * value for text, value in wanted.items()})


@pytest.mark.parametrize("name", sorted(IR_MEASURES))
def test_evaluate_equals_ir_measures(evaluated: Evaluated, name: str) -> None:
    measure = IR_MEASURES[name]
    theirs = {
        reference.query_id: reference.value
        for reference in evaluate_by_ir_measures([measure], evaluated.qrels, evaluated.run)
    }
    least = RELEVANT if name in NEEDS_A_RELEVANT_ONE else 1
    wanted: dict[str, float | None] = {}
    for text, seen in evaluated.seen.items():
        scoreable = (
            any(grade >= least for grade in seen.known) or name == "Judged@10" or (name == "P@10" and seen.known)
        )
        wanted[text] = 100 * theirs.get(evaluated.ids[text], 0.0) if scoreable else None
    _alike(evaluated.scores[name], wanted)


def _alike(computed: dict[str, float | None], wanted: dict[str, float | None]) -> None:
    assert computed == {
        text: None if value is None else pytest.approx(value, abs=1e-9) for text, value in wanted.items()
    }
    assert len({value for value in computed.values() if value}) > 1


def test_evaluate_a_pasted_script_equals_its_built_in(evaluated: Evaluated) -> None:
    for script, built_in in (("pasted NDCG", "nDCG@10"), ("pasted default", "AvgEdit")):
        ours = dict(evaluated.scores[script])
        wanted = dict(evaluated.scores[built_in])
        for text, seen in evaluated.seen.items():
            if not seen.returned and script == "pasted default":  # docs/scorers.md: it says "–" where AvgEdit says 0
                assert (ours.pop(text), wanted.pop(text)) == (None, 0)
        _alike(ours, wanted)


def test_evaluate_the_mean_is_that_of_the_scoreable_queries(evaluated: Evaluated) -> None:
    for name, scores in evaluated.scores.items():
        values = [value for value in scores.values() if value is not None]
        assert evaluated.means[name] == pytest.approx(sum(values) / len(values))


def test_pages_offer_the_installed_measure_and_score_with_it(
    installed: None, client: Client, script: dict[str, Scripted], data_dir: Path
) -> None:
    owner = make_user()
    case = make_case(["q"], {"q": {"a": 3, "b": 1}}, owner=owner)
    run_now(make_attempt(case))
    client.force_login(owner)
    form = client.get("/scorers/new/?measure=Perfect").content.decode()
    assert "The share of the first k results that have the top grade." in form
    assert "<math " in form
    made = {"kind": "measure", "name": "Perfect two", "scale": "0:3", "measure": "Perfect", "cutoff": "2", "do": "save"}
    client.post("/scorers/new/", made)
    scorer = Scorer.objects.get(name="Perfect two")
    client.post(f"/cases/{case.pk}/scorer/", {"scorer": scorer.pk})
    page = client.get(f"/cases/{case.pk}/")
    assert page.context["panel"].primary.measure == "Perfect@2"
    assert [row.case_query.score for row in page.context["rows"]] == [50]
    assert page.context["panel"].score.score == 50
