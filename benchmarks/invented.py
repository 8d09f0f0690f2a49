"""Invented documents, queries, rankings and ratings, the same in every run."""

import random
from collections.abc import Iterator

_VOCABULARY = """
adapter battery black cable camera card case charger compact copier desktop display drive duplex external fast ink kit
laptop laser lens light memory mobile monitor mouse network notebook optical paper phone portable printer projector rack
router scanner screen server slim speaker storage switch tablet toner tower wireless yellow
"""
WORDS = _VOCABULARY.split()
PLACES = 10
DOCUMENTS = 20_000


def document(number: int) -> dict[str, str]:
    """A product of about 300 characters."""
    chance = random.Random(number)
    return {
        "id": f"doc-{number:06d}",
        "title": " ".join(chance.choices(WORDS, k=9)),
        "short_description": " ".join(chance.choices(WORDS, k=30)),
        "supplier": chance.choice(WORDS).title(),
    }


def query_texts(count: int) -> list[str]:
    """Distinct texts of two words and a number."""
    chance = random.Random(20)
    return [f"{chance.choice(WORDS)} {chance.choice(WORDS)} {number}" for number in range(count)]


def rankings(texts: list[str], seed: int) -> Iterator[tuple[str, list[int]]]:
    """Ten documents for each query; another seed swaps some of them and their order."""
    for index, text in enumerate(texts):
        numbers = random.Random(index).sample(range(DOCUMENTS), PLACES)
        random.Random(index * 1000 + seed).shuffle(numbers)
        yield text, numbers


def query_grades(texts: list[str]) -> dict[str, dict[str, float]]:
    """For each query grades 0–3 of six of its ten documents and of four that are not returned."""
    grades: dict[str, dict[str, float]] = {}
    for index, text in enumerate(texts):
        chance = random.Random(index)
        shown = chance.sample(range(DOCUMENTS), PLACES)
        rated = [*shown[:6], *chance.sample(range(DOCUMENTS), 4)]
        grades[text] = {f"doc-{number:06d}": float(chance.choice((0, 1, 2, 3))) for number in rated}
    return grades
