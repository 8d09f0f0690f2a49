"""The sample that `make demo` loads: whole, consistent, and what its README says."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "relevancy" / "formats" / "documents" / "sample_data"
GENRES = {
    "Action", "Adventure", "Animation", "Comedy", "Crime", "Documentary", "Drama", "Family", "Fantasy", "History", "Horror",
    "Music", "Mystery", "Romance", "Science Fiction", "Thriller", "War", "Western",
}  # fmt: skip
STAR_TREK = {
    ("Star Trek: The Motion Picture", 1979),
    ("Star Trek II: The Wrath of Khan", 1982),
    ("Star Trek III: The Search for Spock", 1984),
    ("Star Trek IV: The Voyage Home", 1986),
    ("Star Trek V: The Final Frontier", 1989),
    ("Star Trek VI: The Undiscovered Country", 1991),
    ("Star Trek Generations", 1994),
    ("Star Trek: First Contact", 1996),
    ("Star Trek: Insurrection", 1998),
    ("Star Trek: Nemesis", 2002),
    ("Star Trek", 2009),
    ("Star Trek Into Darkness", 2013),
    ("Star Trek Beyond", 2016),
    ("Star Trek: Section 31", 2025),
}
STAR_WARS = {
    ("Star Wars", 1977),
    ("The Empire Strikes Back", 1980),
    ("Return of the Jedi", 1983),
    ("Star Wars: Episode I – The Phantom Menace", 1999),
    ("Star Wars: Episode II – Attack of the Clones", 2002),
    ("Star Wars: Episode III – Revenge of the Sith", 2005),
    ("Star Wars: The Clone Wars", 2008),
    ("Star Wars: The Force Awakens", 2015),
    ("Rogue One: A Star Wars Story", 2016),
    ("Star Wars: The Last Jedi", 2017),
    ("Solo: A Star Wars Story", 2018),
    ("Star Wars: The Rise of Skywalker", 2019),
}
UNRATED_ON_PURPOSE = {"submarine"}


def slug(title: str, year: int) -> str:
    plain = unicodedata.normalize("NFKD", title.replace("·", "-")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-") + f"-{year}"


@pytest.fixture(scope="module")
def films() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "films.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def queries() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((FOLDER / "queries.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def ratings() -> list[dict[str, str]]:
    with (FOLDER / "ratings.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        assert reader.fieldnames == ["query", "docid", "rating"]
        return list(reader)


def test_films_ids_unique_and_sorted(films: list[dict[str, Any]]) -> None:
    ids = [film["id"] for film in films]
    assert len(ids) >= 400
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)


def test_films_ids_are_slugs_of_title_and_year(films: list[dict[str, Any]]) -> None:
    assert [film["id"] for film in films] == [slug(film["title"], film["year"]) for film in films]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-\d{4}", film["id"]) for film in films)


def test_films_keys_and_types(films: list[dict[str, Any]]) -> None:
    for film in films:
        assert list(film) == ["id", "title", "year", "directors", "cast", "genres", "overview"], film["id"]
        texts = [film["title"], film["overview"], *film["directors"], *film["cast"], *film["genres"]]
        assert all(isinstance(text, str) and text and text == text.strip() for text in texts), film["id"]


def test_films_years_plausible(films: list[dict[str, Any]]) -> None:
    for film in films:
        assert type(film["year"]) is int, film["id"]
        assert 1895 <= film["year"] <= 2026, film["id"]


def test_films_people_and_genres(films: list[dict[str, Any]]) -> None:
    for film in films:
        assert 1 <= len(film["directors"]) <= 3, film["id"]
        assert 3 <= len(film["cast"]) <= 6, film["id"]
        assert 1 <= len(film["genres"]) <= 3, film["id"]
        assert set(film["genres"]) <= GENRES, film["id"]
        for names in (film["directors"], film["cast"], film["genres"]):
            assert len(set(names)) == len(names), film["id"]


def test_films_of_every_genre_and_decade(films: list[dict[str, Any]]) -> None:
    genres = Counter(genre for film in films for genre in film["genres"])
    decades = Counter(film["year"] // 10 * 10 for film in films)
    assert set(genres) == GENRES
    assert min(genres.values()) >= 10
    assert set(decades) == set(range(1920, 2030, 10))
    assert min(decades.values()) >= 7


def test_films_overviews_short_and_different(films: list[dict[str, Any]]) -> None:
    lengths = {film["id"]: len(film["overview"].split()) for film in films}
    assert {doc: length for doc, length in lengths.items() if not 20 <= length <= 45} == {}
    assert len({film["overview"] for film in films}) == len(films)


@pytest.mark.parametrize("wanted", [STAR_TREK, STAR_WARS], ids=["Star Trek", "Star Wars"])
def test_films_hold_the_whole_franchise(films: list[dict[str, Any]], wanted: set[tuple[str, int]]) -> None:
    assert wanted - {(film["title"], film["year"]) for film in films} == set()


def test_queries_form(queries: list[dict[str, Any]]) -> None:
    texts = [query["text"] for query in queries]
    assert len(texts) >= 40
    assert len({text.casefold() for text in texts}) == len(texts)
    for query in queries:
        assert list(query) == ["text", "information_need", "tags", "notes"], query["text"]
        assert query["text"] == query["text"].strip() != ""
        assert query["information_need"].endswith("."), query["text"]
        assert query["tags"], query["text"]
        assert all(isinstance(tag, str) and tag for tag in query["tags"]), query["text"]
        assert isinstance(query["notes"], str), query["text"]


def test_queries_are_of_different_kinds(queries: list[dict[str, Any]]) -> None:
    kinds = {tag for query in queries for tag in query["tags"]}
    assert kinds >= {
        "franchise",
        "actor",
        "director",
        "misspelling",
        "theme",
        "year",
        "quotation",
        "ambiguous",
        "long",
        "title",
        "genre",
    }


def test_ratings_name_known_queries_and_films(
    films: list[dict[str, Any]], queries: list[dict[str, Any]], ratings: list[dict[str, str]]
) -> None:
    assert {row["query"] for row in ratings} == {query["text"] for query in queries} - UNRATED_ON_PURPOSE
    assert {row["docid"] for row in ratings} <= {film["id"] for film in films}


def test_ratings_are_on_the_scale(ratings: list[dict[str, str]]) -> None:
    assert {row["rating"] for row in ratings} <= {str(value) for value in range(1, 11)}


def test_ratings_many_and_once_each(ratings: list[dict[str, str]]) -> None:
    assert len(ratings) >= 300
    assert [pair for pair, n in Counter((row["query"], row["docid"]) for row in ratings).items() if n > 1] == []


def test_ratings_include_a_good_document_except_where_none_exists(ratings: list[dict[str, str]]) -> None:
    best: dict[str, int] = {}
    for row in ratings:
        best[row["query"]] = max(best.get(row["query"], 0), int(row["rating"]))
    assert [query for query, value in best.items() if value < 6] == ["telenovela"]


def test_ratings_in_the_order_of_the_queries(queries: list[dict[str, Any]], ratings: list[dict[str, str]]) -> None:
    position = {query["text"]: number for number, query in enumerate(queries)}
    order = [(position[row["query"]], -int(row["rating"]), row["docid"]) for row in ratings]
    assert order == sorted(order)


def test_readme_counts_are_right(
    films: list[dict[str, Any]], queries: list[dict[str, Any]], ratings: list[dict[str, str]]
) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert (f"{len(films)} films" in text, f"{len(queries)} queries" in text, f"{len(ratings)} ratings" in text) == (
        True, True, True,
    )  # fmt: skip
