"""Checks the clauses of an explanation against a ranking, by counting independently. An unknown clause is an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from relevancy.scoring import Measure, Scale, parse_measure

NUMBER_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
GROUP = (
    r"the (?:(?P<single>first|only) result(?: returned| counted)?"
    r"|first (?P<k>\w+) results(?: counted)?|(?P<n>\w+) results (?:returned|counted))"
)
SUBJECT = rf"(?:(?:only )?(?P<count>all|both|none|neither|\w+) of )?{GROUP}"
VERB = r"(?:, not counting repeats,)? (?P<verb>is not|does not have|is|are|has|have) "
HERE = rf"(?:returned|at rank 1|among {GROUP})"
IS_HERE = rf"(?:is|are|was|were)(?P<not> not)? {HERE}"
AT_RANK = rf"is at rank (?P<rank>\d+)(?: of the results counted)?(?:, below {GROUP})?"
BEST = r"best (?:(?P<known>known) documents?|documents? returned)"
KNOWN_RELEVANT = r"known relevant documents?"


def number(word: str) -> int:
    return NUMBER_WORDS.index(word) if word in NUMBER_WORDS else int(word)


class World:
    """One ranking, counted from its documents: `first` and `below` hold the grades of the first k results and of the
    others, None for unrated documents and repeats."""

    def __init__(self, measure: Measure, ranking: list[str], known: dict[str, float], scale: Scale, depth: int) -> None:
        self.k = measure.cutoff or depth
        self.skips_unrated = measure.parameters.get("unrated") == "skip"
        rel = measure.parameters.get("rel")
        self.rel = scale.relevant_from if rel is None else rel
        self.known, self.scale = sorted(known.values(), reverse=True), scale
        slots = [
            (doc, doc in ranking[:index], None if doc in ranking[:index] else known.get(doc))
            for index, doc in enumerate(ranking)
        ]
        self.displayed = slots[: self.k]
        counted = [slot for slot in slots if not self.skips_unrated or slot[1] or slot[2] is not None]
        self.repeats = sum(is_repeat for _, is_repeat, _ in counted[: self.k])
        grades = [grade for _, _, grade in counted]
        self.first, self.below = grades[: self.k], grades[self.k :]
        self.unrated = sum(grade is None and not is_repeat for _, is_repeat, grade in self.displayed)

    def count(self, test: Callable[[float], bool]) -> int:
        return sum(grade is not None and test(grade) for grade in self.first)

    def check(self, clause: str) -> None:
        """AssertionError if the clause is false or unknown."""
        for pattern, judge in CLAUSES:
            if match := re.fullmatch(pattern, clause):
                assert judge(self, match), f"false: {clause}"
                return
        raise AssertionError(f"unknown clause: {clause}")

    def is_group(self, match: re.Match[str], size: int | None = None) -> bool:
        """Whether the clause names the results correctly, of which there are `size`, by default those counted."""
        size = len(self.first) if size is None else size
        if match["single"]:
            return size == 1 and (match["single"] == "first") == (self.k == 1)
        if match["k"]:
            return number(match["k"]) == self.k <= size and self.k > 1
        return not match["n"] or number(match["n"]) == size < self.k

    def is_here(self, match: re.Match[str]) -> bool:
        """Whether "returned", "at rank 1" or "among the first ten results" is the right way to name the first k."""
        if match[0].endswith(" returned") and not match["n"] and not match["single"]:
            return len(self.first) < self.k
        if match[0].endswith(" at rank 1"):
            return self.k == 1
        return len(self.first) == self.k > 1 and self.is_group(match)

    def is_count(self, match: re.Match[str], expected: int, size: int | None = None) -> bool:
        size = len(self.first) if size is None else size
        if match["single"]:
            assert match["count"] is None
            return self.is_group(match, size) and expected == (0 if " not" in match["verb"] else 1)
        counts = {"all": size, "both": 2, "none": 0, "neither": 0}
        assert match["count"] not in ("both", "neither") or size == 2
        count = counts[match["count"]] if match["count"] in counts else number(match["count"])
        return count == expected and self.is_group(match, size)

    def is_first_rank(self, rank: int, is_wanted: Callable[[float], bool]) -> bool:
        grades = [*self.first, *self.below]
        return [grade is not None and is_wanted(grade) for grade in grades].index(True) + 1 == rank

    def count_missing(self, grades: list[float]) -> int:
        here = Counter(grade for grade in self.first if grade is not None)
        return sum((Counter(grades) - here).values())


def _check_quality(world: World, match: re.Match[str]) -> bool:
    quality = match["quality"]
    if quality.startswith("unrated"):
        return world.is_count(match, world.unrated, len(world.displayed))
    if quality.startswith(("a repeat", "repeats")):
        return world.is_count(match, world.repeats)
    if quality == "rated":
        return world.is_count(match, world.count(lambda grade: True))
    if quality.endswith("relevant"):
        assert world.skips_unrated or (quality == "rated relevant") == (world.unrated > 0)
        return world.is_count(match, world.count(lambda grade: grade >= world.rel))
    if quality.startswith("the top grade"):
        return world.is_count(match, world.count(lambda grade: grade == world.scale.top))
    assert quality == "ranked above a better one"
    best_below = [
        max([grade for grade in world.first[index:] if grade is not None], default=-1)
        for index in range(len(world.first))
    ]
    pairs = zip(world.first, best_below, strict=True)
    return world.is_count(match, sum(grade is not None and grade < best for grade, best in pairs))


def _pool(world: World, match: re.Match[str]) -> list[float]:
    """The grades of the known documents, or of those returned, best first."""
    if match["known"]:
        return world.known
    return sorted((grade for grade in [*world.first, *world.below] if grade is not None), reverse=True)


def _check_best_rank(world: World, match: re.Match[str]) -> bool:
    pool = _pool(world, match)
    assert pool.count(pool[0]) == (number(match["same"]) if match["same"] else 1)
    is_below = "below" in match[0]
    assert is_below == (int(match["rank"]) > len(world.first))
    return world.is_first_rank(int(match["rank"]), lambda grade: grade == pool[0]) and world.is_group(match)


def _check_best_missing(world: World, match: re.Match[str]) -> bool:
    assert world.is_here(match)
    pool = [grade for grade in _pool(world, match) if grade > 0]
    if not match["count"]:  # the best document
        assert match["not"]
        return pool[0] not in world.first and pool.count(pool[0]) == 1
    total = number(match["total"])
    expected = pool if total > world.k else pool[: world.k]
    missing = world.count_missing(expected)
    is_none = match["count"] in ("none", "neither")
    assert is_none != bool(match["not"])
    if is_none:
        assert (match["count"] == "neither") == (total == 2)
        are_the_best = total == pool.count(pool[0]) and pool[0] not in world.first
        return are_the_best or total == len(expected) == missing
    if match["including"]:
        same = 1 if match["including"] == "best one" else number(match["including"].split()[0])
        assert pool.count(pool[0]) == same and pool[0] not in world.first and same < missing
    return (number(match["count"]), total) == (missing, len(expected))


def _check_best_grade_rank(world: World, match: re.Match[str]) -> bool:
    best = max(grade for grade in world.first if grade is not None)
    return world.is_first_rank(int(match["rank"]), lambda grade: grade == best) and world.is_group(match)


def _check_relevant_missing(world: World, match: re.Match[str]) -> bool:
    assert world.is_here(match)
    known = sum(grade >= world.rel for grade in world.known)
    missing = known - world.count(lambda grade: grade >= world.rel)
    is_none = match["count"] in ("none", "neither")
    assert is_none != bool(match["not"])
    if match["only"]:
        return known == missing == 1
    if is_none:
        assert not match["total"] or number(match["total"]) == known
        assert match["count"] == ("neither" if match["total"] == "two" else "none")
        return known == missing > 1
    return (number(match["count"]), number(match["total"])) == (missing, known)


def _check_first_relevant(world: World, match: re.Match[str]) -> bool:
    assert ("below" in match[0]) == (int(match["rank"]) > len(world.first))
    return world.is_first_rank(int(match["rank"]), lambda grade: grade >= world.rel) and world.is_group(match)


def _check_nonrelevant_above(world: World, match: re.Match[str]) -> bool:
    lowest = 0 if match["judged"] else -1
    last = max(index for index, grade in enumerate(world.first) if grade is not None and grade >= world.rel)
    above = [grade for grade in world.first[:last] if grade is not None]
    return number(match["count"]) == sum(lowest <= grade < world.rel for grade in above)


def _check_all_found(world: World, match: re.Match[str]) -> bool:
    known = sum(grade >= world.rel for grade in world.known)
    assert known == (1 if match["only"] else 2 if match["both"] else number(match["total"]))
    ranks = [rank for rank, grade in enumerate(world.first, 1) if grade is not None and grade >= world.rel]
    if match["last"]:
        assert ranks == list(range(1, int(match["last"]) + 1))
    elif "at rank" in match[0]:
        assert ranks == list(range(1, known + 1)) and known <= 2
    else:
        assert world.is_here(match)
    return len(ranks) == known


def _check_fewer(world: World, match: re.Match[str]) -> bool:
    assert world.skips_unrated == ("skipped" in match[0])
    return number(match["count"]) == len(world.first) < world.k


CLAUSES: list[tuple[str, Callable[[World, re.Match[str]], bool]]] = [
    (rf"{SUBJECT}{VERB}(?P<quality>unrated(?: and (?:was|were) skipped)?|(?:rated )?relevant|rated"
     r"|a repeat(?: and has no gain)?|repeats(?: and have no gain)?"
     r"|the top grade \(\d+\)|ranked above a better one)", _check_quality),
    (rf"the (?:first of the (?P<same>\w+) )?{BEST} {AT_RANK}", _check_best_rank),
    (rf"(?:the|(?P<count>\w+) of the (?P<total>\w+)) {BEST}(?:, including the (?P<including>best one|\w+ best),)? {IS_HERE}",
     _check_best_missing),
    (rf"the best grade in {GROUP} first appears at rank (?P<rank>\d+)", _check_best_grade_rank),
    (rf"the first relevant result {AT_RANK}", _check_first_relevant),
    (r"(?P<count>\w+) (?:non-relevant results?|results? (?P<judged>judged) non-relevant) (?:is|are) ranked above a relevant one",
     _check_nonrelevant_above),
    (rf"(?:the (?P<only>only)|(?P<both>both)|all (?P<total>\w+)) {KNOWN_RELEVANT} (?:is|are|was|were) (?:returned|among {GROUP}"
     r"|at rank(?:s 1 to (?P<last>\d+)|s 1 and 2| 1)(?: of the results counted)?)", _check_all_found),
    (rf"(?:the (?P<only>only)|(?P<count>\w+) of the(?: (?P<total>\w+))?) {KNOWN_RELEVANT} {IS_HERE}", _check_relevant_missing),
    (r"only (?P<count>\w+) results? (?:(?:was|were) returned|remained after unrated ones were skipped)", _check_fewer),
    (r"no rated results were returned", lambda w, m: not w.first and w.skips_unrated),
    (r"no results were returned", lambda w, m: not w.displayed),
    (r"no results were returned, although (?P<count>\w+) relevant documents? (?:is|are) known",
     lambda w, m: not w.displayed and number(m["count"]) == sum(grade >= w.rel for grade in w.known)),
    (r"no results were returned, although (?P<count>\w+) documents? with a grade above 0 (?:is|are) known",
     lambda w, m: not w.displayed and number(m["count"]) == sum(grade > 0 for grade in w.known)),
    (r"no result judged non-relevant is ranked above a relevant one",
     lambda w, m: not any(g is not None and g < w.rel and any(h is not None and h >= w.rel for h in w.first[index:])
                          for index, g in enumerate(w.first))),
    (r"the result at rank 1 is relevant", lambda w, m: w.first[0] is not None and w.first[0] >= w.rel),
    (rf"{GROUP} are in order from best to worst",
     lambda w, m: w.is_group(m) and w.first == sorted(w.first, reverse=True)),
    (r"no document has been rated for this query", lambda w, m: not w.known),
    (r"no relevant document \(grade [\d.]+ or higher\) is known",
     lambda w, m: not any(grade >= w.rel for grade in w.known)),
    (r"no document with a grade above 0 is known", lambda w, m: not any(grade > 0 for grade in w.known)),
    (r"no results were returned and no document with a grade above 0 is known",
     lambda w, m: not w.displayed and not any(grade > 0 for grade in w.known)),
    # The numbers of these are checked in test_explanation.py.
    (r"the rated results have an average grade of [−\d.]+ out of \d+|the only rated result has grade [−\d.]+ out of \d+",
     lambda w, m: (w.count(lambda grade: True) == 1) == ("only" in m[0])),
    (rf"{GROUP} (?:(?:is|are) \w+ edits? away from|match(?:es)?) the ideal list", lambda w, m: w.is_group(m)),
    (rf"{GROUP} (?:gains|together gain) as much as the ideal list", lambda w, m: w.is_group(m)),
    (r"ERR never reaches 100, because no grade is certain to satisfy the user",
     lambda w, m: w.count(lambda grade: grade == w.scale.top) == len(w.first)),
    (r"RBP reaches 100 only for an infinitely long list of relevant documents",
     lambda w, m: w.count(lambda grade: grade >= w.rel) > 0),
]  # fmt: skip


def build_world(text: str, ranking: list[str], known: dict[str, float], scale: Scale, depth: int) -> World:
    return World(parse_measure(text), ranking, known, scale, depth)
