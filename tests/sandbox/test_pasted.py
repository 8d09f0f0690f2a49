"""Complete scorers in the styles of many years, compared with the built-in measure on random rankings."""

import pytest

from .script_queries import Grades, assert_same_scores, build_query, random_rankings, run, run_one
from .test_published import expected

PROMISE = """
// the rated documents first, then the score
refreshRatedDocs(10).then(function (ratedDocs) {
  var gains = 0, best = 0;
  eachRatedDoc(function (doc, i) {
    best += (Math.pow(2, doc.rating) - 1) / (Math.log(i + 2) / Math.log(2));
  }, 10);
  return best;
}).then(function (best) {
  var gains = 0;
  eachDoc(function (doc, i) {
    if (hasDocRating(i)) gains += (Math.pow(2, docRating(i)) - 1) / (Math.log(i + 2) / Math.log(2));
  }, 10);
  setScore(best > 0 ? 100 * gains / best : null);
}).catch(function (error) {
  console.error(error);
  fail();
});
"""

OLD = """
score = 0;   // implicit globals, a function used before it stands there, a loop variable shared by both loops
depth = Math.min(10, numReturned())
for (i = 0; i < depth; i++) {
  name = 'rank' + (i + 1)
  score += gainAt(i)
}
for (i = 0, ideal = 0; i < 10; i++) ideal += (i < bestDocs.length ? toGain(bestDocs[i].rating) : 0) / discountAt(i);
result = score / ideal * 100
setScore(result);

function gainAt(i) {
  return toGain(docRating(i)) / discountAt(i);
}
function toGain(grade) { return grade == null ? 0 : Math.pow(2, grade) - 1 }
function discountAt(i) { return Math.log(i + 2) / Math.LN2 }
"""

CLASSES = """
'use strict';
class Discount {
  static #cache = new Map();
  static at(rank) {
    if (!Discount.#cache.has(rank)) Discount.#cache.set(rank, Math.log2(rank + 1));
    return Discount.#cache.get(rank);
  }
}
class Gains extends Array {
  get sum() { return this.reduce((total, gain, i) => total + gain / Discount.at(i + 1), 0); }
}
class Ndcg {
  constructor({ depth = 10, gain = grade => 2 ** grade - 1 } = {}) { Object.assign(this, { depth, gain }); }
  toString() { return `nDCG@${this.depth}`; }
  get found() { return Gains.from(docs.slice(0, this.depth), (_, i) => this.gain(hasDocRating(i) ? docRating(i) : 0)); }
  get ideal() { return Gains.from(topRatings(this.depth), this.gain); }
  get value() { return this.found.sum / this.ideal.sum; }
}
const ndcg = new Ndcg();
console.log(`${ndcg}: ${ndcg.value?.toFixed(3)}`);
setScore(100 * ndcg.value);
"""

ASYNC = """
const log2 = x => Math.log(x) / Math.LN2;
async function main() {
  await refreshRatedDocs(k);
  const sum = grades => [...grades.entries()].reduce((all, [i, grade]) => all + (2 ** grade - 1) / log2(i + 2), 0);
  const found = docs.slice(0, 10).map((_, i) => docRating(i) ?? 0);
  const best = sum(topRatings(10));
  if (!best) return setScore(null);
  setScore(100 * sum(found) / best);
}
main();
"""

CALLBACKS = """
var self = this, state = { gains: [], ideals: [], toString: function () { return 'state' } };
var add = function (list) {
  return function (doc, i) { list.push({ rank: i + 1, grade: list === state.gains ? docRating(i) : doc.getRating() }); };
};
eachDoc(add(state.gains), 10);
eachDocWithRating(add(state.ideals));
state.ideals.length = Math.min(state.ideals.length, 10);
var total = 0;
for (var key in state) {
  if (!state.hasOwnProperty(key) || typeof state[key] === 'function') continue;
  state[key].values = state[key].map(function (each) { return ((1 << (each.grade || 0)) - 1) / Math.log2(each.rank + 1); });
  state[key].total = state[key].values.reduce(function (a, b) { return a + b; }, 0);
}
if (!state.ideals.total) { setScore(null); return; }
setScore(state.gains.total / state.ideals.total * 100);
"""


@pytest.mark.parametrize("script", [PROMISE, OLD, CLASSES, ASYNC, CALLBACKS], ids=range(5))
def test_pasted_script_agrees_with_ndcg(script: str) -> None:
    rankings: list[tuple[Grades, list[float]]] = [
        *random_rankings(seed=11, count=60, top=3),
        ([0], []),
        ([None], []),
        ([], [3]),
    ]
    outcomes = run(script, [build_query(*ranking) for ranking in rankings])
    assert_same_scores(outcomes, expected("nDCG@10", rankings, "0:3"))


@pytest.mark.parametrize(
    ("script", "line"),
    [(PROMISE.replace("best += ", "best.x.y += ").split("}).catch")[0] + "});", 6), (OLD.replace("null ? 0", "null ? no"), 15),
     (CLASSES.replace("topRatings(", "topRating("), 17), (CALLBACKS.replace("each.rank", "each.rank.of.it"), 12)],
)  # fmt: skip
def test_error_in_a_pasted_script_has_its_line(script: str, line: int) -> None:
    outcome = run_one(script, (3, None, 2))
    assert (outcome.line, outcome.score) == (line, None), outcome
    assert outcome.error.startswith(f"Line {line}: ")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\u2028"])
def test_line_numbers_count_every_line_ending(ending: str) -> None:
    lines = ["/* a comment", "of two lines */", "\tvar a = `x", "y`;", "[1].forEach(function () {", "\tnope() })"]
    assert run_one(ending.join(lines)).error == "Line 6: nope is not defined"


def test_array_can_have_properties_named_like_its_methods() -> None:
    script = "var a = []; a.values = [4, 5]; a.keys = 2; a.find = 1; a.sort = 3; setScore(a.values[1] + a.keys + a.find + a.sort)"
    assert run_one(script).score == 11


@pytest.mark.parametrize("call", ["Array.prototype.sum = f;\n[1].sum()", "Math.sum = f;\nMath.sum()"])
def test_function_added_to_a_builtin_object_is_explained(call: str) -> None:
    error = run_one(f"var f = function () {{}}; {call}").error
    assert error.startswith("Line 2: ")
    assert error.endswith("Functions cannot be added to built-in objects. Write a separate function")
    assert run_one("var sum = 1;\nsum.sum = 2; docs.sum()").error == "Line 2: docs.sum is not a function"


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("refreshRatedDocs().then(d => d.length).then(n => {\n nope(n) })", "Line 2: nope is not defined"),
        ("refreshRatedDocs().finally(() => {\n nope() })", "Line 2: nope is not defined"),
        (
            "(async () => { nope() })()",
            "The script ended without calling setScore(…). Errors in async functions are not",
        ),
        ("throw { message: 'my own', code: 3 }", "The script threw an object: my own"),
        ("throw { message: 7 }", "The script threw an object"),
    ],
)
def test_error_of_a_promise_is_reported(script: str, error: str) -> None:
    assert run_one(script).error.startswith(error)


def test_options_do_not_include_inherited_properties() -> None:
    assert run_one("setScore(qOption('toString') === null && qOption('__proto__') === null ? 1 : 2)").score == 1
