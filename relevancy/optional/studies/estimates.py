"""Settings that are estimated without the engine, where its score is made of weighted sums whose weights are the knobs.

The engine explains the scores of the documents that the trials so far have returned: under the attempt, one setting for each knob, and
a few others. The explanations say what is added up and of what the best is taken, the first settings how each part grows with
each knob, and the others verify it. What scores many settings give is then computed here; the best settings are searched on the engine
as trials like all others, and only these are chosen from.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from relevancy import engines
from relevancy.engines import KnobValue
from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray

from .choice import FOLDS, Evidence
from .samplers import STEP, Proposal
from .space import Settings, Space
from .trial_scores import TrialScorer

MAX_DOCUMENTS = 100  # of a query: so many are explained in one request
ENDS = (0.1, 0.9)  # of the settings that are explained, in scaled knobs
CHECKS = 2  # settings that verify the sum
TOLERANCE = 1e-4  # of the score of a document: engines add up in four bytes
MIN_SUMS = 0.95  # of the documents, whose scores must be made of sums
MIN_REPEATED = 0.9  # of the rankings that the engine has returned, which these scores must repeat
SPREAD = 8_192  # settings that fill the space; as many again are near the best of these
EFFORT = 1_000_000  # settings × queries at most
ROUNDS = 2  # of settings near the best ones
NEAREST = 16  # settings that others are drawn around
AT_ONCE = 40_000  # scores of documents: what is computed for them fits into the cache of a processor
LISTED = 200  # of the best settings, which a study shows

_MAX = re.compile(r"max (?:of:|plus (\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?) times others)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")


@dataclass(frozen=True)
class _Layer:
    """A group of each of some documents. documents: their positions. items: of each place in a group, [groups × 1 + knobs] of those
    groups that have an item there, which are the first ones. totals: [groups × 1 + knobs] the sums of the groups with several items.
    ties: [groups × 1 + knobs] of these, or of one if all are the same."""

    documents: IntArray
    items: Sequence[FloatArray]
    totals: FloatArray
    ties: FloatArray


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents of a query, and what their scores are made of.

    The score of a document is the sum of its groups. A group is its best item, plus a tie breaker times its other items. Items and tie
    breakers are linear: [1 + knobs] what they are whatever the knobs are, and what is added for each 1 that a knob has.

    doc_ids: in the order in which documents with equal scores are ranked. groups: [documents] the number of groups of each, above 0.
    sizes: [all groups] the number of items of each, above 0. ties: [all groups × 1 + knobs]. items: [all items × 1 + knobs].
    """

    doc_ids: Sequence[str]
    groups: IntArray
    sizes: IntArray
    ties: FloatArray
    items: FloatArray

    @cached_property
    def _layers(self) -> list[_Layer]:
        """The first group of each document, the second one of those that have one, and so on."""
        of_document = np.repeat(np.arange(len(self.groups)), self.groups)
        number = np.arange(len(self.sizes)) - np.repeat(np.cumsum(self.groups) - self.groups, self.groups)
        starts = np.cumsum(self.sizes) - self.sizes
        totals = np.add.reduceat(self.items, starts, axis=0) if len(starts) else self.items
        layers = []
        for layer in range(int(self.groups.max(initial=0))):
            at = np.flatnonzero(number == layer)
            # Sizes that fall mean that the groups with a further item are the first ones.
            at = at[np.argsort(-self.sizes[at], kind="stable")]
            sizes = self.sizes[at]
            items = [self.items[starts[at[sizes > place]] + place] for place in range(int(sizes[0]))]
            several = at[sizes > 1]
            ties = self.ties[several]
            is_same = len(several) > 0 and bool((ties == ties[0]).all())
            layers.append(_Layer(of_document[at], items, totals[several], ties[:1] if is_same else ties))
        return layers

    def scores(self, values: FloatArray) -> FloatArray:
        """Returns [documents × settings]. values: [settings × knobs]"""
        with_one = np.vstack((np.ones(len(values)), values.T))
        scores = np.zeros((len(self.doc_ids), len(values)))
        for layer in self._layers:
            best = layer.items[0] @ with_one
            for further in layer.items[1:]:
                part = best[: len(further)]
                np.maximum(part, further @ with_one, out=part)
            if len(layer.totals):
                part = best[: len(layer.totals)]
                others = layer.totals @ with_one
                others -= part
                others *= layer.ties @ with_one
                part += others
            scores[layer.documents] += best
        return scores

    def rank(self, values: FloatArray, depth: int) -> IntArray:
        """Returns [settings × at most depth] positions of the best documents. values: [settings × knobs]

        Sorting numbers that carry the positions in their last bits is four times as fast as sorting positions by the scores.
        """
        behind = self.scores(values)
        documents = np.arange(len(behind))[:, np.newaxis]
        best = behind.max(axis=0, initial=0.0)
        np.subtract(best, behind, out=behind)
        behind += documents * (1e-9 * best)
        bits = behind.view(np.int64)  # of numbers from 0 up, these have the same order
        mask = (1 << len(documents).bit_length()) - 1
        bits &= ~mask
        bits |= documents
        rows = np.ascontiguousarray(bits.T)
        if len(documents) > 2 * depth:
            rows = np.ascontiguousarray(np.partition(rows, depth - 1, axis=1)[:, :depth])
        rows.sort(axis=1)
        return np.asarray(rows[:, :depth] & mask)

    def to_bytes(self) -> bytes:
        """Returns all but the ids, which `from_bytes` reads."""
        written = io.BytesIO()
        np.savez_compressed(written, groups=self.groups, sizes=self.sizes, ties=self.ties, items=self.items)
        return written.getvalue()

    @classmethod
    def from_bytes(cls, doc_ids: Sequence[str], packed: bytes) -> Pool:
        """Returns the pool that `to_bytes` was called of."""
        read = np.load(io.BytesIO(packed), allow_pickle=False)
        return cls(doc_ids, read["groups"], read["sizes"], read["ties"], read["items"])


def list_probes(space: Space, parent: Settings, seed: int) -> list[dict[str, KnobValue]]:
    """Returns the settings that the documents are scored under: the parent, one for each knob, which has another value there, and
    `CHECKS` others.

    None is at the very end of a range: Lucene leaves out a part that is 0, and explains a tie breaker of 1 in another way than others.
    """
    chance = np.random.Generator(np.random.PCG64([seed, len(space.knobs)]))
    inner, low, high = dict(parent), *ENDS
    for knob in space.knobs:
        if not low <= knob.position(parent[knob.name]) <= high:
            inner[knob.name] = knob.value(min(max(knob.position(parent[knob.name]), low), high))
    probes = [inner]
    for knob in space.knobs:
        far = low if knob.position(inner[knob.name]) > 0.5 else high
        probes.append({**inner, knob.name: knob.value(far)})
    drawn = chance.uniform(*ENDS, size=(CHECKS, len(space.knobs)))
    return probes + [{**inner, **space.settings(point)} for point in drawn.tolist()]


@dataclass(frozen=True)
class Group:
    """What is added to a score, under each probe. ties: [probes] tie breakers. items: [items][probes]"""

    ties: Sequence[float]
    items: Sequence[Sequence[float]]


def find_groups(trees: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Returns the groups that the score of a document is the sum of. trees: its explanation under each probe.

    A node is taken apart where its value is, under all probes, the sum of its details, or the best of them plus a tie breaker times the
    others, as Lucene words it. Any other node is one item.
    """
    values = [_value_of(tree) for tree in trees]
    details = _align(trees)
    if details:
        columns = [[_value_of(node) for node in detail] for detail in details]
        sums = [sum(column[probe] for column in columns) for probe in range(len(trees))]
        if _are_close(values, sums):
            return [group for detail in details for group in find_groups(detail)]
        ties = [_read_tie(tree) for tree in trees]
        if None not in ties:
            best = [max(column[probe] for column in columns) for probe in range(len(trees))]
            scores = [top + (tie or 0.0) * (total - top) for top, tie, total in zip(best, ties, sums, strict=True)]
            if _are_close(values, scores):
                return [Group([tie or 0.0 for tie in ties], columns)]
    return [Group([0.0] * len(trees), [values])]


def _align(trees: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Returns the details of nodes, those that mean the same together; empty if they differ in more than numbers."""
    lists = [_list_details(tree) for tree in trees]
    # Lucene explains the fields of a disjunction in an order that may change with their boosts.
    named = [sorted((_name(node), at) for at, node in enumerate(nodes)) for nodes in lists]
    if any([name for name, _ in names] != [name for name, _ in named[0]] for names in named):
        return []
    return [
        [nodes[names[place][1]] for nodes, names in zip(lists, named, strict=True)] for place in range(len(named[0]))
    ]


def _name(tree: Mapping[str, Any]) -> str:
    """Returns what a node is about, without its numbers: of a combination, what is combined."""
    description = str(tree.get("description"))
    if description == "sum of:" or _MAX.match(description):
        return f"({' '.join(sorted(map(_name, tree.get('details') or ())))})"
    return _NUMBER.sub("#", description)


def _list_details(tree: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Returns the details of a node. Of a disjunction, the embedded engine explains what each part adds, the best one first: the tie
    breaker is taken out again."""
    details: Sequence[Mapping[str, Any]] = tree.get("details") or ()
    tie = _read_tie(tree)
    if not tie or not _are_close([_value_of(tree)], [sum(map(_value_of, details))]):
        return details
    return [*details[:1], *({**node, "value": _value_of(node) / tie} for node in details[1:])]


def _value_of(tree: Mapping[str, Any]) -> float:
    return float(tree.get("value") or 0.0)


def _read_tie(tree: Mapping[str, Any]) -> float | None:
    """Returns the tie breaker of a disjunction; None for anything else."""
    match = _MAX.match(str(tree.get("description")))
    return float(match[1] or 0) if match else None


def _are_close(values: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(one - other) <= TOLERANCE * abs(one) for one, other in zip(values, others, strict=True))


def fit(values: FloatArray, rows: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Returns [rows × 1 + knobs] the linear functions of the knobs that rows follow, and [rows] whether they do.

    values: [probes × knobs] as `list_probes` returns them. rows: [rows × probes].
    """
    knobs = values.shape[1]
    steps = np.diagonal(values[1 : knobs + 1] - values[0])
    slopes = (rows[:, 1 : knobs + 1] - rows[:, :1]) / steps
    linear = np.column_stack((rows[:, 0] - slopes @ values[0], slopes))
    error = np.abs(linear[:, :1] + slopes @ values.T - rows).max(axis=1, initial=0.0)
    return linear, error <= TOLERANCE * np.abs(rows).max(axis=1, initial=0.0)


def build_pool(values: FloatArray, groups: Mapping[str, Sequence[Group]]) -> Pool:
    """Returns the pool of those documents whose groups are linear. groups: by the id of the document."""
    pairs = [(doc_id, group) for doc_id, of_document in groups.items() for group in of_document]
    ties, ties_fit = fit(values, np.array([group.ties for _, group in pairs], np.float64).reshape(-1, len(values)))
    rows = np.array([item for _, group in pairs for item in group.items], np.float64).reshape(-1, len(values))
    items, items_fit = fit(values, rows)
    sizes = np.array([len(group.items) for _, group in pairs], np.int64)
    starts = np.cumsum(sizes) - sizes
    is_linear = ties_fit & (np.logical_and.reduceat(items_fit, starts) if len(starts) else ties_fit)
    bad = {doc_id for (doc_id, _), good in zip(pairs, is_linear.tolist(), strict=True) if not good}
    kept: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    for (doc_id, _), tie, start, size in zip(pairs, ties, starts.tolist(), sizes.tolist(), strict=True):
        if doc_id not in bad:
            kept.setdefault(doc_id, []).append((tie, items[start : start + size]))
    merged = [_merge_single(of_document) for of_document in kept.values()]
    flat = [group for of_document in merged for group in of_document]
    width = 1 + values.shape[1]
    return Pool(
        list(kept),
        np.array([len(of_document) for of_document in merged], np.int64),
        np.array([len(own) for _, own in flat], np.int64),
        np.array([tie for tie, _ in flat], np.float64).reshape(-1, width),
        np.concatenate([own for _, own in flat]) if flat else np.zeros((0, width)),
    )


def _merge_single(groups: Sequence[tuple[FloatArray, FloatArray]]) -> list[tuple[FloatArray, FloatArray]]:
    """Returns groups with the same sum: all of one item become one, because a sum of linear functions is one."""
    single = [items for _, items in groups if len(items) == 1]
    several = [(tie, items) for tie, items in groups if len(items) > 1]
    return [*several, (np.zeros_like(single[0][0]), np.sum(single, axis=0))] if single else several


def read_pool(
    engine: engines.Engine,
    requests: Sequence[engines.Request],
    values: FloatArray,
    doc_ids: Sequence[str],
) -> Pool:
    """Returns the documents whose scores are made of weighted sums. requests: of a query under each probe. Raises `EngineError`."""
    explained = [engine.explain_many(request, doc_ids) for request in requests]
    groups = {
        doc_id: find_groups([trees[doc_id] for trees in explained])
        for doc_id in doc_ids
        if all(doc_id in trees for trees in explained)
    }
    return build_pool(values, groups)


@dataclass(frozen=True, eq=False)
class Estimator:
    """Estimates the scores of settings. pools: one for each query of the study; None for a query that is not used.

    depth: the number of results that the scorer considers.
    _points: of rows of grades, by position and by the random sum of a row, see `_score`.
    """

    space: Space
    scorer: TrialScorer
    pools: Sequence[Pool | None]
    depth: int
    _points: dict[int, dict[float, float]] = field(default_factory=dict)

    @cached_property
    def _weights(self) -> FloatArray:
        return np.random.Generator(np.random.PCG64(0)).normal(size=self.depth)

    def values(self, settings: Sequence[Settings]) -> FloatArray:
        """Returns [settings × knobs]."""
        names = [knob.name for knob in self.space.knobs]
        return np.array([[each[name] for name in names] for each in settings], np.float64).reshape(-1, len(names))

    def points(self, settings: Sequence[Settings], beat: Callable[[], object] = lambda: None) -> FloatArray:
        """Returns [settings × queries] points; NaN for queries without a pool. beat: is called now and then."""
        values = self.values(settings)
        found = np.full((len(values), len(self.pools)), np.nan)
        for position, pool in enumerate(self.pools):
            beat()
            if pool is None:
                continue
            known = self.scorer.grades[position]
            grades = np.array([known.get(doc_id, np.nan) for doc_id in pool.doc_ids], np.float64)
            step = max(1, AT_ONCE // len(grades))
            for start in range(0, len(values), step):
                ranked = pool.rank(values[start : start + step], self.depth)
                found[start : start + step, position] = self._score(position, grades, ranked)
        return found

    def _score(self, position: int, grades: FloatArray, ranked: IntArray) -> FloatArray:
        """Returns the points of rankings. grades: of the documents of the pool. ranked: as `Pool.rank` returns it.

        Most settings lead to the same few rows of grades, whose points are kept. A row is told from others by a random sum.
        """
        sums = np.where(np.isnan(grades), -1.5, grades)[ranked] @ self._weights[: ranked.shape[1]]
        rows, first, row_of = np.unique(sums, return_index=True, return_inverse=True)
        points = self._points.setdefault(position, {})
        new = [place for place, row in enumerate(rows.tolist()) if row not in points]
        if new:
            scored = self.scorer.score_grades(position, grades[ranked[first[new]]])
            points.update(zip(rows[new].tolist(), scored.tolist(), strict=True))
        return np.array([points[row] for row in rows.tolist()])[row_of]

    def count_repeated(self, settings: Settings, rankings: Mapping[int, Sequence[str]]) -> int:
        """Returns how many rankings are repeated. rankings: what the engine has returned under the settings, by position."""
        values, repeated = self.values([settings]), 0
        for position, doc_ids in rankings.items():
            pool = self.pools[position]
            if pool is not None:
                ranked = [pool.doc_ids[at] for at in pool.rank(values, self.depth)[0]]
                repeated += ranked == list(doc_ids[: self.depth])
        return repeated


def refusal(sums: float, repeated: float) -> str:
    """Returns why nothing can be estimated, in a sentence; empty if it can. sums, repeated: as `pools.estimate` returns them."""
    if sums < MIN_SUMS:
        return (
            f"Only {sums:.0%} of the documents have scores that are explained as sums with the knobs as weights. Knobs that change "
            "which documents match, and functions that are not linear, do not give such scores."
        )
    if repeated < MIN_REPEATED:
        return f"Re-ranking repeats only {repeated:.0%} of the rankings that the engine has returned."
    return ""


def describe_estimates(estimated: Mapping[str, Any]) -> str:
    """Returns what came of estimating settings, in sentences. estimated: as `pools.estimate` returns it."""
    if estimated["refusal"]:
        return (
            f"No settings were estimated. {estimated['refusal']} Small steps around the best ones were tried instead."
        )
    searched = sum(proposal is not None for proposal in estimated["proposals"])
    return (
        f"{estimated['settings']:,} settings were estimated, and the best {searched} searched; the others are part of no result. "
        f"Re-ranking repeats {estimated['repeated']:.1%} of the {estimated['rankings']:,} rankings that the engine had returned."
    )


def propose(
    estimator: Estimator,
    build: Callable[[FloatArray], Evidence],
    parent: Settings,
    tried: Sequence[Settings],
    proposals: Sequence[Proposal],
    seed: int,
    beat: Callable[[], object],
) -> tuple[list[dict[str, Any] | None], list[dict[str, Any]], int]:
    """Returns the settings that are searched next, `{settings, gain}` with the points that they seem to gain; the `LISTED` best of all;
    and how many were estimated. None for a proposal for which no more settings are left.

    build: returns the evidence of scores, [settings × queries], the first of which are those of the parent. tried: settings that need
    not be proposed again. proposals: whose scores are hidden from each. The settings that fill the space follow from the seed alone;
    those near the best ones, and the best ones themselves, from the scores outside the fold.
    """
    queries = sum(pool is not None for pool in estimator.pools)
    spread = max(NEAREST, min(SPREAD, EFFORT // (2 * max(1, queries))))
    chance = np.random.Generator(np.random.PCG64([seed, spread]))
    knobs = len(estimator.space.knobs)
    points = chance.uniform(size=(spread, knobs))
    settings = [dict(parent), *map(estimator.space.settings, points.tolist())]
    scores = estimator.points(settings, beat)
    folds = sorted({proposal.fold_left_out for proposal in proposals})
    chances = {fold: np.random.Generator(np.random.PCG64([seed, spread, 1 + fold])) for fold in folds}
    settings_of, scores_of = dict.fromkeys(folds, settings), dict.fromkeys(folds, scores)
    for _ in range(ROUNDS):
        near_of: dict[int, list[dict[str, KnobValue]]] = {}
        for fold in folds:
            evidence = build(scores_of[fold])
            order = _best_first(evidence, evidence.folds[0] != fold)[:NEAREST]
            centres = np.array([estimator.space.positions(settings_of[fold][at]) for at in order.tolist()])
            drawn = centres[chances[fold].integers(len(centres), size=spread // (ROUNDS * FOLDS))]
            near = chances[fold].normal(drawn, STEP)
            near_of[fold] = list(map(estimator.space.settings, near.tolist()))
        # Together, because many settings at a time take less than a few.
        found_near = estimator.points([each for fold in folds for each in near_of[fold]], beat)
        for fold, of_fold in zip(folds, np.split(found_near, len(folds)), strict=True):
            settings_of[fold] = [*settings_of[fold], *near_of[fold]]
            scores_of[fold] = np.vstack((scores_of[fold], of_fold))
    best_of_fold: dict[int, list[dict[str, Any]]] = {}
    for fold in folds:
        wanted = sum(proposal.fold_left_out == fold for proposal in proposals)
        evidence = build(scores_of[fold])
        best_of_fold[fold] = _choose(evidence, evidence.folds[0] != fold, settings_of[fold], tried, wanted)
    all_settings = [*settings, *(each for fold in folds for each in settings_of[fold][len(settings) :])]
    all_scores = [scores, *(scores_of[fold][len(settings) :] for fold in folds)]
    found = [best.pop(0) if (best := best_of_fold[proposal.fold_left_out]) else None for proposal in proposals]
    evidence = build(np.vstack(all_scores))
    everything = np.ones(len(evidence.unit_weights), np.bool_)
    return found, _choose(evidence, everything, all_settings, tried, LISTED), len(all_settings)


def _best_first(evidence: Evidence, is_used: BoolArray) -> IntArray:
    means = np.where(evidence.eligible(is_used, None), evidence.means(is_used), -np.inf)
    return np.argsort(-means, kind="stable")


def _choose(
    evidence: Evidence,
    is_used: BoolArray,
    settings: Sequence[dict[str, KnobValue]],
    tried: Sequence[Settings],
    wanted: int,
) -> list[dict[str, Any]]:
    """Returns the settings with the best means over some units, which differ from those tried, and from each other in a score there."""
    shares = evidence.unit_weights / evidence.unit_weights.sum()
    seen = {tuple(sorted(each.items())) for each in tried}
    rows: set[bytes] = set()
    chosen: list[dict[str, Any]] = []
    for at in _best_first(evidence, is_used).tolist():
        key, row = tuple(sorted(settings[at].items())), evidence.unit_scores[at, is_used].tobytes()
        if key in seen or row in rows:
            continue
        rows.add(row)
        gain = float((evidence.unit_scores[at] - evidence.unit_scores[0]) @ shares)
        chosen.append({"settings": settings[at], "gain": gain})
        if len(chosen) == wanted:
            break
    return chosen
