"""How much two result lists have in common. No ratings needed."""

from __future__ import annotations

from collections.abc import Sequence

PERSISTENCE = 0.9  # 86 % of the weight is on the first ten results


def jaccard(a: Sequence[str], b: Sequence[str], k: int | None = None) -> float:
    """Returns the share of documents of the first k that both lists have: |A ∩ B| / |A ∪ B|; 1 if both are empty."""
    first, second = set(a[:k]), set(b[:k])
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def rbo(a: Sequence[str], b: Sequence[str], p: float = PERSISTENCE) -> float:
    """Returns the extrapolated rank-biased overlap RBO_ext of two lists, which may have different lengths; 1 if both are empty.

    Source: Webber, Moffat & Zobel, "A similarity measure for indefinite rankings", TOIS 28(4), 2010, equation 32.
    Example: abcde and edcba, p = .9: .737775.
    """
    short, long = sorted((list(dict.fromkeys(a)), list(dict.fromkeys(b))), key=len)
    s, n = len(short), len(long)
    if not n:
        return 1.0
    if not s:
        return 0.0
    overlaps = _count_overlaps(short, long)
    agreement = sum(overlaps[depth] / depth * p**depth for depth in range(1, n + 1))
    # Below the end of the shorter list its agreement is assumed to go on.
    extrapolated = sum(overlaps[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, n + 1))
    tail = ((overlaps[n] - overlaps[s]) / n + overlaps[s] / s) * p**n
    return (1.0 - p) / p * (agreement + extrapolated) + tail


def _count_overlaps(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """Returns how many documents the first d of both lists have in common, for d = 0 … length of the longer one."""
    seen_short: set[str] = set()
    seen_long: set[str] = set()
    counts = [0]
    for depth, document in enumerate(long):
        gained = 0
        other = short[depth] if depth < len(short) else None
        if other is not None:
            seen_short.add(other)
            gained += other in seen_long
        seen_long.add(document)
        gained += document in seen_short
        counts.append(counts[-1] + gained)
    return counts
