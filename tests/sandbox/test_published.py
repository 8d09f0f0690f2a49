"""Scripts that work like the published ones, compared with the built-in measures on random rankings."""

from collections.abc import Sequence

import pytest

from relevancy import scoring
from tests.scoring.ranking_scores import batch_from_grades

from .script_queries import Grades, assert_same_scores, build_query, random_rankings, run, run_one

DEFAULT = """
var found = avgRating100(10);
var edits = editDistanceFromBest(10);
if (found !== null) {
  found -= edits;
}
setScore(found);
"""

NAMESPACE = """
/* One object with private functions, as people paste them from their projects. */
var NDCG = (function () {
  let log = function (text, value) { console.log(text + ': ' + value); };
  let gain = function (grade) { return Math.pow(2, grade) - 1; };
  let discount = (rank) => Math.log(rank + 1) / Math.LN2;

  function gradesOf(api, depth = 10) {
    let grades = [];
    for (let i = 0; i < depth && i < api.docs.length; i++) {
      let grade = api.hasDocRating(i) ? api.docRating(i) : 0;
      log('grade ' + i, grade);
      grades.push(grade);
    }
    return grades;
  }
  function dcg(grades) {
    let sum = 0;
    grades.forEach(function (grade, i) { sum += gain(grade) / discount(i + 1); });
    log('dcg', sum);
    return sum;
  }
  return {
    ndcg: function (api, depth = 10, idealDepth = depth) {
      let ideal = api.bestDocs.slice(0, idealDepth).map(function (doc) { return doc.rating; });
      let best = dcg(ideal);
      return dcg(gradesOf(api, depth)) / best;
    }
  };
})();

let api = {
  docs: docs,
  bestDocs: bestDocs,
  hasDocRating: function (i) { return hasDocRating(i); },
  docRating: function (i) { return docRating(i); }
};
setScore(NDCG.ndcg(api, 10, 10) * 100);
"""

PRECISION = """
const k = 10;
let hits = 0, seen = 0;
eachDoc(function (doc, i) { seen++; if (hasDocRating(i) && docRating(i) > 0) hits++; }, k);
setScore(seen ? hits / seen : 0.0);
"""
AVERAGE_PRECISION = """
const k = Math.min(10, docs.length);
let hits = 0, sum = 0, relevant = 0;
for (let i = 0; i < k; i++) {
  if (hasDocRating(i) && docRating(i) > 0) { hits = hits + 1; sum += hits / (i + 1); }
}
eachDocWithRating(function (doc) { if (doc.rating > 0) relevant++; });
setScore(sum / relevant);
"""
RECIPROCAL_RANK = """
var rank = 0;
for (var i = 0; i < 10 && docExistsAt(i) && !rank; i++) if (docRating(i) > 0) rank = i + 1;
setScore(rank ? 1 / rank : 0);
"""
EXPECTED_RANK = """
const k = 10;
const end = Math.min(k, numReturned());
let trust = 1, score = 0;
for (let i = 0; i < end; i++) {
  const chance = hasDocRating(i) ? (Math.pow(2, docRating(i)) - 1) / Math.pow(2, max) : 0;
  score += trust * chance / (i + 1);
  trust *= 1 - chance;
}
setScore(score);
"""
SUM = "var sum = 0; eachDoc(function (doc, i) { if (docRating(i)) sum += docRating(i); }, 10); setScore(sum / (10 * max));"
GAINS = "(sum, grade, i) => sum + (Math.pow(2, grade) - 1) / Math.log2(i + 2)"
DCG = f"""
const topK = 10, add = {GAINS};
const found = [];
eachDoc((doc, i) => found.push(docRating(i)), topK);
setScore(found.reduce(add, 0) / Array(topK).fill(max).reduce(add, 0));
"""
NDCG_CUT = f"""
const k = 10, add = {GAINS};
const found = [];
eachDoc((doc, i) => {{ found[i] = hasDocRating(i) ? docRating(i) : 0; }}, k);
const ideal = topRatings(k).reduce(add, 0);
setScore(ideal ? found.reduce(add, 0) / ideal : null);
"""
NDCG_UNCUT = NDCG_CUT.replace("topRatings(k)", "topRatings(bestDocs.length)")


def expected(measure: str, rankings: Sequence[tuple[Grades, list[float]]], scale: str) -> list[float | None]:
    """The scores of the built-in measure; None where it is not scoreable."""
    grades, unretrieved = zip(*rankings, strict=True)
    batch = batch_from_grades(grades, scoring.Scale.parse(scale), unretrieved)
    scores = scoring.score(scoring.parse_measure(measure), batch, 10).score.tolist()
    return [None if score != score else score for score in scores]


@pytest.mark.parametrize(
    ("script", "measure", "output_range", "top", "zero"),
    [
        (DEFAULT, "AvgEdit@10", "100", 3, False),
        (DEFAULT, "AvgEdit@10", "100", 10, False),
        (NAMESPACE, "nDCG@10", "100", 3, False),
        (PRECISION, "P(denominator='returned')@10", "1", 1, True),
        (AVERAGE_PRECISION, "AP@10", "1", 1, False),
        (RECIPROCAL_RANK, "RR@10", "1", 1, True),
        (EXPECTED_RANK, "ERR@10", "1", 3, True),
        (SUM, "CG(gain='linear')@10", "1", 3, True),
        (DCG, "DCG@10", "1", 3, True),
        (NDCG_CUT, "nDCG@10", "1", 3, False),
        (NDCG_UNCUT, "nDCG(ideal='uncut')@10", "1", 3, False),
    ],
)  # fmt: skip
def test_published_script_agrees_with_the_measure(
    script: str, measure: str, output_range: str, top: int, zero: bool
) -> None:
    """`zero`: the script sets 0 where the measure is not scoreable."""
    rankings = [*random_rankings(seed=top, count=300, top=top), ([0, 0], []), ([None, None], []), ([top], [top])]
    queries = [build_query(*ranking) for ranking in rankings]
    outcomes = run(script, queries, scale=range(top + 1), output_range=output_range)
    scores = expected(measure, rankings, f"0:{top}")
    assert sum(score is not None and score > 0 for score in scores) > 200
    assert_same_scores(outcomes, [0.0 if score is None and zero else score for score in scores])


def test_published_default_example() -> None:
    grades = (10, 8, 9, None, 5, 1, 4, None, None, None)
    assert run_one(DEFAULT, grades, (), scale=range(1, 11)).score == 57


def test_published_default_without_ratings() -> None:
    outcome = run_one(DEFAULT, (None, None), (3,))
    assert (outcome.score, outcome.error) == (None, "")


def test_published_namespace_writes_to_the_console() -> None:
    console = run_one(NAMESPACE, (3, None), (2,), console=True).console
    assert console[1:3] == ("grade 0: 3", "grade 1: 0")
    assert len(console) == 4
