"""Checks the clauses of an explanation against a ranking, by counting anew. A clause that is not understood is an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from relevancy.scoring import Scale, parse_measure
from relevancy.scoring.measure import Measure

WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
GROUP = r"the (?:first (?P<k>\w+?)(?: counted)?|(?P<n>\w+) (?:returned|counted))"
SUBJECT = rf"(?:(?:only )?(?P<count>all|both|none|neither|\w+) of {GROUP}|the (?P<single>first|only) document(?: returned| counted)?)"
VERB = r"(?:, repeats aside,)? (?P<verb>is not|does not have|is|are|has|have|stands|stand) "
HERE = rf"(?:returned|at rank 1|among {GROUP})"
NOT_HERE, ARE_HERE = f"(?:is|are|was|were) not {HERE}", f"(?:is|are|was|were) {HERE}"
NO_ONE = r"(?:none|neither) of the(?: \w+)?"


def number(word: str) -> int:
    return WORDS.index(word) if word in WORDS else int(word)


class World:
    """One ranking, counted by hand: `first` and `below` hold grades, None for unrated documents and repeats."""

    def __init__(self, measure: Measure, ranking: list[str], known: dict[str, float], scale: Scale, shown: int) -> None:
        self.depth = measure.depth(shown)
        self.skipping = measure.parameters.get("unrated") == "skip"
        rel = measure.parameters.get("rel")
        self.rel = scale.relevant_from if rel is None else rel
        self.known, self.scale = sorted(known.values(), reverse=True), scale
        slots = [
            (doc, doc in ranking[:at], None if doc in ranking[:at] else known.get(doc))
            for at, doc in enumerate(ranking)
        ]
        self.shown = slots[: self.depth]
        counted = [slot for slot in slots if not self.skipping or slot[1] or slot[2] is not None]
        self.repeats = sum(repeat for _, repeat, _ in counted[: self.depth])
        grades = [grade for _, _, grade in counted]
        self.first, self.below = grades[: self.depth], grades[self.depth :]
        self.unrated = sum(grade is None and not repeat for _, repeat, grade in self.shown)

    def having(self, test: Callable[[float], bool]) -> int:
        return sum(grade is not None and test(grade) for grade in self.first)

    def check(self, clause: str) -> None:
        """AssertionError where the clause is false or unknown."""
        for pattern, judge in CLAUSES:
            if found := re.fullmatch(pattern, clause):
                assert judge(self, found), f"false: {clause}"
                return
        raise AssertionError(f"not understood: {clause}")

    def group(self, found: re.Match[str], size: int | None = None) -> bool:
        """Whether the group that the clause speaks of is the one that there is."""
        size = len(self.first) if size is None else size
        if re.search(r"(?:was|were)(?: not)? returned$", found[0]):
            return size < self.depth
        if found["k"]:
            return number(found["k"]) == self.depth <= size
        return not found["n"] or number(found["n"]) == size < self.depth

    def counts(self, found: re.Match[str], expected: int, size: int | None = None) -> bool:
        size = len(self.first) if size is None else size
        if found["single"]:
            assert (found["single"] == "first") == (self.depth == 1) and size == 1
            return expected == (0 if " not" in found["verb"] else 1)
        said = {"all": size, "both": 2, "none": 0, "neither": 0}.get(found["count"])
        assert found["count"] not in ("both", "neither") or size == 2
        return (number(found["count"]) if said is None else said) == expected and self.group(found, size)

    def ranked(self, rank: int, wanted: Callable[[float], bool]) -> bool:
        grades = [*self.first, *self.below]
        return [grade is not None and wanted(grade) for grade in grades].index(True) + 1 == rank

    def missing(self, grades: list[float]) -> int:
        here = Counter(grade for grade in self.first if grade is not None)
        return sum((Counter(grades) - here).values())


def _quality(world: World, found: re.Match[str]) -> bool:
    quality = found["quality"]
    if quality.startswith("unrated"):
        return world.counts(found, world.unrated, len(world.shown))
    if quality.startswith(("a repeat", "repeats")):
        return world.counts(found, world.repeats)
    if quality == "rated":
        return world.counts(found, world.having(lambda grade: True))
    if quality.endswith("relevant"):
        assert world.skipping or (quality == "rated relevant") == (world.unrated > 0)
        return world.counts(found, world.having(lambda grade: grade >= world.rel))
    if quality.startswith("the top grade"):
        return world.counts(found, world.having(lambda grade: grade == world.scale.top))
    assert quality == "above a better one"
    better = [max([g for g in world.first[at:] if g is not None], default=-1) for at in range(len(world.first))]
    rated = zip(world.first, better, strict=True)
    return world.counts(found, sum(grade is not None and grade < most for grade, most in rated))


def _pool(world: World, kind: str) -> list[float]:
    """Known, returned, or of the first k."""
    if kind == "known":
        return world.known
    grades = world.first if kind.startswith("of") else [*world.first, *world.below]
    return sorted((grade for grade in grades if grade is not None), reverse=True)


def _rank(world: World, found: re.Match[str]) -> bool:
    pool = _pool(world, found["kind"])
    same = pool.count(pool[0])
    assert same == (number(found["same"]) if found["same"] else 1)
    return world.ranked(int(found["rank"]), lambda grade: grade == pool[0]) and world.group(found)


def _best_absent(world: World, found: re.Match[str]) -> bool:
    pool = [grade for grade in _pool(world, found["kind"]) if grade > 0]
    cut = pool if found["total"] and number(found["total"]) > world.depth else pool[: world.depth]
    if not found["count"]:  # the best document
        return pool[0] not in world.first and world.group(found)
    total = number(found["total"])
    if found["count"] in ("none", "neither"):
        the_best = total == pool.count(pool[0]) and pool[0] not in world.first
        return (the_best or (total == len(cut) == world.missing(cut))) and world.group(found)
    return total == len(cut) and number(found["count"]) == world.missing(cut) and world.group(found)


def _relevant_absent(world: World, found: re.Match[str]) -> bool:
    known = sum(grade >= world.rel for grade in world.known)
    missing = known - world.having(lambda grade: grade >= world.rel)
    said = {"the only": 1, "neither of the two": 2, "none of the": known}.get(found["count"])
    if said is None:
        count, total = re.fullmatch(r"(\w+) of the (\w+)", found["count"]).groups()
        if count == "none":
            return number(total) == known == missing and world.group(found)
        return (number(count), number(total)) == (missing, known) and world.group(found)
    return said == known == missing and world.group(found)


def _above(world: World, found: re.Match[str]) -> bool:
    lowest = 0 if found["judged"] else -1
    last = max(at for at, grade in enumerate(world.first) if grade is not None and grade >= world.rel)
    return number(found["count"]) == sum(
        grade is not None and lowest <= grade < world.rel for grade in world.first[:last]
    )


def _all_found(world: World, found: re.Match[str]) -> bool:
    known = sum(grade >= world.rel for grade in world.known)
    assert known == (1 if found["only"] else 2 if found["both"] else number(found["total"]))
    ranks = [at + 1 for at, grade in enumerate(world.first) if grade is not None and grade >= world.rel]
    return (
        len(ranks) == known
        and world.group(found)
        and (not found["last"] or ranks == list(range(1, int(found["last"]) + 1)))
    )


CLAUSES: list[tuple[str, Callable[[World, re.Match[str]], bool]]] = [
    (rf"{SUBJECT}{VERB}(?P<quality>unrated(?: and (?:was|were) left out)?|(?:rated )?relevant|rated"
     r"|a repeat(?: and gains nothing)?|repeats(?: and gain nothing)?"
     r"|the top grade \(\d+\)|above a better one)", _quality),
    (rf"the (?:first of the (?P<same>\w+) best documents|best document) (?P<kind>known|returned|of the .+?) is at rank (?P<rank>\d+)"
     rf"(?: of those counted)?(?:, below {GROUP})?", _rank),
    (rf"(?:the best document|(?P<count>(?!none|neither)\w+) of the (?P<total>\w+) best documents) (?P<kind>known|returned) "
     rf"{NOT_HERE}", _best_absent),
    (rf"(?P<count>none|neither) of the (?P<total>\w+) best documents (?P<kind>known|returned) {ARE_HERE}", _best_absent),
    (rf"the first known relevant document is at rank (?P<rank>\d+)(?: of those counted)?(?:, below {GROUP})?",
     lambda w, f: w.ranked(int(f["rank"]), lambda grade: grade >= w.rel) and w.group(f)),
    (rf"(?P<count>the only|(?!none|neither)\w+ of the \w+) known relevant documents? {NOT_HERE}", _relevant_absent),
    (rf"(?P<count>{NO_ONE}) known relevant documents {ARE_HERE}", _relevant_absent),
    (r"(?P<count>\w+) documents? (?:that is|that are|(?P<judged>judged)) not relevant stands? above a relevant one", _above),
    (rf"(?:the (?P<only>only)|(?P<both>both)|all (?P<total>\w+)) known relevant documents? "
     rf"(?:is|are|was|were) (?:returned|among {GROUP}"
     r"|at ranks 1 to (?P<last>\d+)(?: of those counted)?|at rank 1(?: of those counted)?)", _all_found),
    (r"only (?P<count>\w+) documents? (?:was|were) (?:returned|left to count)",
     lambda w, f: number(f["count"]) == len(w.first) < w.depth),
    (r"no document was left to count", lambda w, f: not w.first and w.skipping),
    (r"nothing was returned", lambda w, f: not w.shown),
    (r"nothing was returned although (?P<count>\w+) relevant documents? (?:is|are) known",
     lambda w, f: not w.shown and number(f["count"]) == sum(grade >= w.rel for grade in w.known)),
    (r"nothing was returned although (?P<count>\w+) documents? with a grade above 0 (?:is|are) known",
     lambda w, f: not w.shown and number(f["count"]) == sum(grade > 0 for grade in w.known)),
    (r"no document judged not relevant stands above a relevant one",
     lambda w, f: not any(g is not None and g < w.rel and any(h is not None and h >= w.rel for h in w.first[at:])
                          for at, g in enumerate(w.first))),
    (r"the document at rank 1 is relevant", lambda w, f: w.first[0] is not None and w.first[0] >= w.rel),
    (rf"{GROUP} stand from best to worst", lambda w, f: w.group(f) and w.first == sorted(w.first, reverse=True)),
    (r"nobody has rated anything for this query", lambda w, f: not w.known),
    (r"no relevant document is known, none with a grade of at least [\d.]+",
     lambda w, f: not any(grade >= w.rel for grade in w.known)),
    (r"no document with a grade above 0 is known", lambda w, f: not any(grade > 0 for grade in w.known)),
    (r"nothing was returned and no document with a grade above 0 is known",
     lambda w, f: not w.shown and not any(grade > 0 for grade in w.known)),
    (r"the rated documents average [−\d.]+ of \d+|the only rated document has [−\d.]+ of \d+", lambda w, f: True),  # below
    (rf"(?:{GROUP} are|the list is) (?:\w+ edits? away from|equal to) the best list", lambda w, f: w.group(f)),  # below
    (rf"{GROUP} together are worth as much as the ideal list|the (?:first|only) document(?: returned| counted)? is worth "
     r"as much as the ideal list", lambda w, f: w.group(f)),  # below
    (r"ERR stays below 100 even so, since it takes no grade for certain to satisfy",
     lambda w, f: w.having(lambda grade: grade == w.scale.top) == len(w.first)),
    (r"only an endless list of relevant documents reaches 100", lambda w, f: w.having(lambda grade: grade >= w.rel) > 0),
]  # fmt: skip


def world(text: str, ranking: list[str], known: dict[str, float], scale: Scale, shown: int) -> World:
    return World(parse_measure(text), ranking, known, scale, shown)
