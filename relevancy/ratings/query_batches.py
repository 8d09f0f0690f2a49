"""Queries in parts, so that only so many of their ratings are in memory or locked at once."""

from collections.abc import Iterable, Iterator, Mapping


def split_by_ratings(
    query_ids: Iterable[int], sizes: Mapping[int, int], *, most_ratings: int, most_queries: int
) -> Iterator[list[int]]:
    """Yields the ids of queries, in their order, in lists that have at most so many ratings together, or of a single query, and at most
    so many queries. sizes: the numbers of their ratings; 0 for those that are missing."""
    batch: list[int] = []
    ratings = 0
    for query_id in query_ids:
        size = sizes.get(query_id, 0)
        if batch and (ratings + size > most_ratings or len(batch) == most_queries):
            yield batch
            batch, ratings = [], 0
        batch.append(query_id)
        ratings += size
    if batch:
        yield batch
