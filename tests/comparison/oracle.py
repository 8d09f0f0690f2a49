"""What a comparison says, computed again from result lists and ratings by the definitions of docs/statistics.md and docs/scorers.md.

No function of the product is used. Random numbers are drawn from the same seed and in the same order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from statistics import mean

import numpy as np
from scipy.stats import t as student

SEED = 20261122
TOP = 3  # of the scale 0–3

type Grades = Mapping[str, float]


# --- scores ---


def ndcg(k):
    """nDCG@k with exponential gains and the ideal of all known grades."""

    def score(documents: Sequence[str], grades: Grades) -> float | None:
        def dcg(values):
            return sum((2**value - 1) / math.log2(rank + 1) for rank, value in enumerate(values[:k], 1))

        ideal = dcg(sorted(grades.values(), reverse=True))
        return 100 * dcg([grades.get(document, 0) for document in documents]) / ideal if ideal else None

    return score


def precision(k):
    """P@k, relevant from 1."""

    def score(documents: Sequence[str], grades: Grades) -> float | None:
        return 100 * sum(grades.get(document, 0) >= 1 for document in documents[:k]) / k if grades else None

    return score


# --- lists ---


def jaccard(a, b):
    return len({*a} & {*b}) / len({*a} | {*b})


def rbo(a, b, p=0.9):
    """Equation 32 of Webber, Moffat & Zobel (2010)."""
    short, long = sorted((a, b), key=len)
    s, n = len(short), len(long)

    def common(depth):
        return len({*short[:depth]} & {*long[:depth]})

    seen = sum(common(d) / d * p**d for d in range(1, n + 1))
    missing = sum(common(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * (seen + missing) + ((common(n) - common(s)) / n + common(s) / s) * p**n


# --- statistics ---


def weighted_mean(values, weights):
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def standard_error(values, weights):
    """Of a weighted mean, as that of a ratio."""
    n, centre, total = len(values), weighted_mean(values, weights), sum(weights)
    return math.sqrt(n / (n - 1) * sum((w / total * (v - centre)) ** 2 for w, v in zip(weights, values, strict=True)))


def sign_patterns(n):
    """All patterns for up to 14 values, otherwise the 10,000 that the seed draws: eight values share a byte."""
    if n <= 14:
        return np.array(list(itertools.product((1, -1), repeat=n)))
    bytes_each = -(-n // 8)
    drawn = np.frombuffer(np.random.Generator(np.random.PCG64(SEED)).bytes(10_000 * bytes_each), dtype=np.uint8)
    bits = np.unpackbits(drawn.reshape(10_000, bytes_each), axis=1, bitorder="little")[:, :n]
    return 1.0 - 2.0 * bits


def p_of_signs(values, weights):
    observed = abs(weighted_mean(values, weights)) - 1e-9
    hits = np.abs(sign_patterns(len(values)) @ (np.array(values) * weights)) / sum(weights) >= observed
    return float(hits.mean()) if len(values) <= 14 else (1 + int(hits.sum())) / 10_001


def interval(values, weights, alpha=0.05):
    """[low, high]; None for fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    centre, p = weighted_mean(values, weights), p_of_signs(values, weights)
    low = high = test_low = test_high = centre
    if max(values) - min(values) > 1e-9:
        u = np.array(weights) / sum(weights) * (np.array(values) - centre)
        skewness = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
        t, error = float(student.ppf(1 - alpha / 2, n - 1)), standard_error(values, weights)
        low = centre - error * (t + max(0, -skewness) * (1 + 2 * t**2))
        high = centre + error * (t + max(0, skewness) * (1 + 2 * t**2))
        lowers, uppers = [], []
        for pattern in sign_patterns(n):
            sides = [pattern > 0, pattern < 0]
            means = [np.average(np.array(values)[s], weights=np.array(weights)[s]) for s in sides if s.any()]
            lowers.append(min(means) if len(means) == 2 else -math.inf)
            uppers.append(max(means) if len(means) == 2 else math.inf)
        k = math.ceil(alpha * 2**n) if n <= 14 else math.ceil(alpha * 10_001) - 1
        test_low, test_high = sorted(lowers)[k - 1], sorted(uppers)[-k]
    low = max(min(low, test_low) if math.isfinite(test_low) else low, -100.0)
    high = min(max(high, test_high) if math.isfinite(test_high) else high, 100.0)
    if p >= alpha:
        return [min(low, 0.0), max(high, 0.0)]
    if low <= 0 <= high:
        return [test_low, high] if centre > 0 else [low, test_high]
    return [low, high]


def too_few(counts):
    """Whether each of several tests stays at .05 or above, corrected, even if all of them have the smallest p there can be."""
    smallest = [min(1, 2 ** (1 - n)) if n <= 14 else 1 / 10_001 for n in counts]
    tested = iter(holm([p for p in smallest if p < 0.05]))
    return [p >= 0.05 or next(tested) >= 0.05 for p in smallest]


def holm(p_values):
    corrected, largest = {}, 0.0
    for rank, (p, position) in enumerate(sorted((p, position) for position, p in enumerate(p_values))):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        corrected[position] = largest
    return [corrected[position] for position in range(len(p_values))]


def hsd(scores, weights):
    """p of each pair of the runs of [queries][runs] scores, by 10,000 arrangements that the seed draws."""
    shares = np.array(weights) / sum(weights)
    orders = list(itertools.permutations(range(len(scores[0]))))
    drawn = np.random.Generator(np.random.PCG64(SEED)).integers(len(orders), size=(10_000, len(scores)))
    table = np.array([[[row[i] for i in order] for order in orders] for row in scores]) * shares[:, None, None]
    ranges = np.ptp(table[np.arange(len(scores)), drawn].sum(axis=1), axis=1)
    means = [weighted_mean(column, weights) for column in zip(*scores, strict=True)]
    return {
        (a, b): (1 + int((ranges >= abs(means[a] - means[b]) - 1e-9).sum())) / 10_001
        for a, b in itertools.combinations(range(len(means)), 2)
    }


def carriers(values, weights):
    """How many of the largest contributions in the direction of the mean make up 80 % of its total."""
    contributions = [v * w for v, w in zip(values, weights, strict=True)]
    total = sum(contributions)
    if abs(total) <= 1e-9:
        return 0
    directed = sorted((c * math.copysign(1, total) for c in contributions), reverse=True)
    return next(k for k in range(1, len(directed) + 1) if sum(directed[:k]) >= 0.8 * abs(total) - 1e-9)


# --- a comparison ---


@dataclass
class World:
    """lists: {run: {query: documents, None for a failed search}}. grades: {query: {document: grade}}, by the rule of the book.
    links: sets of linked queries."""

    queries: list[str]
    lists: dict[str, dict[str, str | None]]
    grades: dict[str, Grades]
    weights: dict[str, float]
    tags: dict[str, list[str]] = field(default_factory=dict)
    links: list[set[str]] = field(default_factory=list)

    def unit_of(self, query):
        return next((min(link) for link in self.links if query in link), query)


class Oracle:
    """The figures of `runs`, the first of which is the baseline.

    measure: a function of documents and grades. k: the results that it considers.
    """

    def __init__(self, world: World, runs: Sequence[str], measure, k: int) -> None:
        self.world, self.runs, self.measure, self.k = world, runs, measure, k

    def score(self, run, query, grades=None):
        documents = self.world.lists[run][query]
        return None if documents is None else self.measure(documents, grades or self.world.grades[query])

    @property
    def compared(self):
        return [
            query
            for query in self.world.queries
            if self.world.weights[query] > 0 and all(self.score(run, query) is not None for run in self.runs)
        ]

    def weights(self, queries):
        return [self.world.weights[query] for query in queries]

    def mean(self, run, queries=None):
        queries = queries or self.compared
        return weighted_mean([self.score(run, query) for query in queries], self.weights(queries))

    def gain(self, run, queries):
        """What the run can gain with the best order of the rated documents: the weighted mean of the points."""
        gains = [self.best(query) - self.score(run, query) for query in queries]
        return weighted_mean(gains, self.weights(queries))

    def best(self, query):
        """The score of all rated documents, those with the best grades first."""
        grades = self.world.grades[query]
        return self.measure(sorted(grades, key=grades.get, reverse=True), grades)

    def units(self, queries):
        """Linked queries together, in the order of their first ones."""
        queries_by_unit: dict[str, list[str]] = {}
        for query in queries:
            queries_by_unit.setdefault(self.world.unit_of(query), []).append(query)
        return list(queries_by_unit.values())

    def difference(self, a, b, query):
        return self.score(b, query) - self.score(a, query)

    def independent(self, a, b, queries):
        """Differences of units and their weights."""
        units = self.units(queries)
        values = [weighted_mean([self.difference(a, b, q) for q in unit], self.weights(unit)) for unit in units]
        return values, [sum(self.weights(unit)) for unit in units]

    def pair(self, a, b):
        """The members of a pair in the JSON, but for corrected p."""
        values, weights = self.independent(a, b, self.compared)
        by_query = [self.difference(a, b, query) for query in self.compared]
        error = standard_error(values, weights)
        center, total = weighted_mean(values, weights), sum(weights)
        spread = sum(weight / total * (value - center) ** 2 for value, weight in zip(values, weights, strict=True))
        deviation = (spread / (1 - sum((weight / total) ** 2 for weight in weights))) ** 0.5
        result = interval(values, weights)
        degrees = len(values) - 1
        searched = self.searched(a, b)
        lists = [(self.world.lists[a][query], self.world.lists[b][query]) for query in searched]
        return {
            "difference": self.mean(b) - self.mean(a),
            "interval": result,
            "interval_kind": "t and sign-flip",
            "reliable": sum(weights) ** 2 / sum(weight**2 for weight in weights) >= 20,
            "effect": center / deviation,
            "p_randomisation": p_of_signs(values, weights),
            "p_t": float(2 * student.sf(abs(weighted_mean(values, weights)) / error, degrees)),
            "wins": sum(d > 0.05 - 1e-9 for d in by_query),
            "ties": sum(abs(d) <= 0.05 - 1e-9 for d in by_query),
            "losses": sum(d < -0.05 + 1e-9 for d in by_query),
            "carried_by": carriers(values, weights),
            "detectable": float(student.ppf(0.975, degrees) + student.ppf(0.8, degrees)) * error,
            "bounds": self.bounds(a, b),
            "jaccard": mean(jaccard(*pair) for pair in lists),
            "rbo": mean(rbo(*pair) for pair in lists),
            "changed": mean(first != second for first, second in lists),
        }

    def searched(self, a, b):
        return [q for q in self.world.queries if None not in (self.world.lists[a][q], self.world.lists[b][q])]

    def bounds(self, a, b):
        """By every way to grade the unrated documents among the first k of any run."""
        lows, highs = [], []
        for query in self.compared:
            first, second = self.world.lists[a][query], self.world.lists[b][query]
            documents = {d for run in self.runs for d in self.world.lists[run][query][: self.k]}
            unrated = sorted(documents - self.world.grades[query].keys())
            scored = []
            for grades in itertools.product(range(TOP + 1), repeat=len(unrated)):
                known = {**self.world.grades[query], **dict(zip(unrated, grades, strict=True))}
                scored.append((self.measure(first, known), self.measure(second, known)))
            scored.append((self.score(a, query), self.score(b, query)))
            of_a, of_b = zip(*scored, strict=True)
            same = first == second
            lows.append(0 if same else min(of_b) - max(of_a))
            highs.append(0 if same else max(of_b) - min(of_a))
        weights = self.weights(self.compared)
        return [weighted_mean(lows, weights), weighted_mean(highs, weights)]

    def tag_queries(self):
        tags = sorted({tag for query in self.compared for tag in self.world.tags.get(query, [])})
        return {tag: [q for q in self.compared if tag in self.world.tags.get(q, [])] for tag in tags}

    def tags(self):
        """`{(tag, run): members of the tag in the JSON}`."""
        keys = [(tag, run) for run in self.runs[1:] for tag in self.tag_queries()]
        independent = {key: self.independent(self.runs[0], key[1], self.tag_queries()[key[0]]) for key in keys}
        few = dict(zip(keys, too_few([len(values) for values, _ in independent.values()]), strict=True))
        figures_by_tag = {}
        for tag, run in keys:
            queries, (values, weights) = self.tag_queries()[tag], independent[tag, run]
            by_query = [self.difference(self.runs[0], run, query) for query in queries]
            is_tested = not few[tag, run]
            figures_by_tag[tag, run] = {
                "queries": len(queries),
                "difference": weighted_mean(by_query, self.weights(queries)),
                "interval": interval(values, weights) if is_tested else None,
                "p_randomisation": p_of_signs(values, weights) if is_tested else None,
                "p_holm": None,
                "reason": None if is_tested else "too few queries to tell",
                "wins": sum(d > 0.05 - 1e-9 for d in by_query),
                "losses": sum(d < -0.05 + 1e-9 for d in by_query),
                "gain": self.gain(run, queries),
            }
        tested = [item for item in figures_by_tag.values() if item["p_randomisation"] is not None]
        for item, p in zip(tested, holm([item["p_randomisation"] for item in tested]), strict=True):
            item["p_holm"] = p
        return figures_by_tag

    def run(self, run):
        """The members of a run in the JSON. Documents of no other run of the world are its own."""
        searched = [query for query in self.world.queries if self.world.lists[run][query] is not None]
        first = {query: self.world.lists[run][query][: self.k] for query in searched}
        rated = {query: [d for d in documents if d in self.world.grades[query]] for query, documents in first.items()}
        own = {
            query: [
                d
                for d in documents
                if not any(d in (lists[query] or "")[: self.k] for r, lists in self.world.lists.items() if r != run)
            ]
            for query, documents in rated.items()
        }
        without = {}
        for query in self.compared:
            grades = {d: grade for d, grade in self.world.grades[query].items() if d not in own[query]}
            score = self.measure(self.world.lists[run][query], grades)
            if score is not None:
                without[query] = score
        weights = self.weights(without)
        return {
            "score": self.mean(run),
            "ideal": weighted_mean([self.best(query) for query in self.compared], self.weights(self.compared)),
            "gain": self.gain(run, self.compared),
            "gain_queries": len(self.compared),
            "at_best": sum(self.best(query) - self.score(run, query) < 0.05 - 1e-9 for query in self.compared),
            "k": self.k,
            "documents": sum(map(len, first.values())),
            "rated": sum(map(len, rated.values())),
            "own_rated": sum(len(own[query]) for query in self.compared),
            "own_queries": len(without),
            "score_with_own": weighted_mean([self.score(run, query) for query in without], weights),
            "score_without_own": weighted_mean(list(without.values()), weights),
        }


# --- as it is printed ---


def rounded(value, places=1, *, signed=False, zero=True):
    """Half up, with U+2212 for minus; "–" for nothing."""
    if value is None:
        return "–"
    number = Decimal(repr(round(float(value), 9))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{abs(number)}" if zero else f"{abs(number)}".removeprefix("0")
    return ("−" if number < 0 else "+" if signed and number > 0 else "") + text


def printed_p(p):
    return "–" if p is None else "< .001" if p < 0.001 else rounded(p, 3, zero=False)
