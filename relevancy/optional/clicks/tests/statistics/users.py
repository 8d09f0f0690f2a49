"""Simulated users, whose documents have a known relevance."""

from dataclasses import dataclass

import numpy as np

from relevancy.optional.clicks.statistics import ClickCounts

GAMMAS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.15])


@dataclass
class Shop:
    """Queries with documents. relevance: [queries, documents]. rankings: [searches of a query, documents] for each query: numbers of
    documents, better ones more often at the top, as in search engines that people have tuned."""

    relevance: np.ndarray
    rankings: list[np.ndarray]

    @classmethod
    def build(cls, *, queries: int, searches: int, seed: int, noise: float = 0.3) -> "Shop":
        generator = np.random.Generator(np.random.PCG64(seed))
        relevance = generator.beta(1.2, 3, (queries, len(GAMMAS)))
        rankings = [
            np.argsort(generator.normal(0, noise, (searches, len(GAMMAS))) - relevance[query], axis=1)
            for query in range(queries)
        ]
        return cls(relevance, rankings)

    @property
    def alphas(self) -> np.ndarray:
        """[P] the relevance of the pairs."""
        return self.relevance.ravel()


def click_by_position(shop: Shop, seed: int) -> ClickCounts:
    """Users who look at position r with the probability γ_r, whatever else they do, and click what attracts them."""
    generator = np.random.Generator(np.random.PCG64(seed))
    documents = shop.relevance.shape[1]
    shown, clicks = np.zeros((2, shop.relevance.size, documents))
    for query, ranking in enumerate(shop.rankings):
        alphas = shop.relevance[query][ranking]
        clicked = generator.random(alphas.shape) < alphas * GAMMAS
        rows = query * documents + ranking
        positions = np.broadcast_to(np.arange(documents), ranking.shape)
        np.add.at(shown, (rows, positions), 1)
        np.add.at(clicks, (rows, positions), clicked)
    return counts_of(shown, clicks)


def counts_of(shown: np.ndarray, clicks: np.ndarray) -> ClickCounts:
    pairs, positions = np.nonzero(shown)
    return ClickCounts.build(
        pairs=pairs, positions=positions + 1, shown=shown[pairs, positions], clicks=clicks[pairs, positions]
    )


def click_downwards(shop: Shop, satisfaction: float, seed: int) -> tuple[ClickCounts, np.ndarray]:
    """Users who read down, click what attracts them, and stop when a click satisfies them; the others read on to the end."""
    generator = np.random.Generator(np.random.PCG64(seed))
    documents = shop.relevance.shape[1]
    examined, clicks, last = np.zeros((3, shop.relevance.size, documents))
    for query, ranking in enumerate(shop.rankings):
        attracted = generator.random(ranking.shape) < shop.relevance[query][ranking]
        satisfied = attracted & (generator.random(ranking.shape) < satisfaction)
        ends = np.where(satisfied.any(axis=1), satisfied.argmax(axis=1), documents - 1)
        positions = np.broadcast_to(np.arange(documents), ranking.shape)
        clicked = attracted & (positions <= ends[:, None])
        last_click = np.where(clicked.any(axis=1), documents - 1 - clicked[:, ::-1].argmax(axis=1), documents - 1)
        rows = query * documents + ranking
        np.add.at(examined, (rows, positions), positions <= last_click[:, None])
        np.add.at(clicks, (rows, positions), clicked)
        np.add.at(last, (rows, positions), clicked & (positions == last_click[:, None]))
    pairs, positions = np.nonzero(examined)
    return counts_of(examined, clicks), last[pairs, positions]
