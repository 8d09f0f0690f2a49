"""Files of logged features."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import queries
from relevancy.models import Case
from relevancy.optional.features import files
from relevancy.optional.features.dataset import FOLDS, Dataset, number_units, read_dataset
from relevancy.optional.features.files import FILES, build_manifest
from relevancy.optional.features.models import FeatureLog
from relevancy.scoring import Scale


def make_dataset(values: list[list[float]], grades: list[float], sizes: list[int], **changes: object) -> Dataset:
    """Documents d0, d1 … of queries of these sizes."""
    count = len(sizes)
    ids = [f"d{number}" for number in range(len(values))]
    starts = np.cumsum([0, *sizes])
    known = [
        {ids[at]: grades[at] for at in range(starts[q], starts[q + 1]) if not np.isnan(grades[at])}
        for q in range(count)
    ]
    return Dataset(
        **{
            "names": [f"f{number}" for number in range(len(values[0]))],
            "values": np.array(values, np.float64),
            "grades": np.array(grades, np.float64),
            "doc_ids": ids,
            "starts": starts,
            "query_ids": list(range(1, count + 1)),
            "texts": [f"query {number}" for number in range(count)],
            "weights": np.ones(count),
            "units": np.arange(count),
            "tags": {},
            "known": known,
            "scale": Scale((0.0, 1.0, 2.0, 3.0)),
        }
        | changes  # type: ignore[arg-type]
    )


NAN = float("nan")


def test_ranklib_lines() -> None:
    dataset = make_dataset(
        [[1.5, NAN], [0.0, 0.1], [2.0, 3.0], [7.0, 7.0]], [3, 0, 1.6, NAN], [2, 2], texts=["star\n wars", "x"]
    )
    assert "".join(files.write_ranklib(FeatureLog(), dataset)) == (
        "3 qid:1 1:1.5 2:0.0 # d0 star wars\n0 qid:1 1:0.0 2:0.1 # d1 star wars\n2 qid:2 1:2.0 2:3.0 # d2 x\n"
    )


def test_csv_keeps_missing_apart_from_zero() -> None:
    dataset = make_dataset([[-1.5, NAN], [0.0, np.float32(0.1)]], [3, NAN], [2])
    rows = list(csv.DictReader(io.StringIO("".join(files.write_csv(FeatureLog(), dataset)))))
    assert [(row["doc_id"], row["grade"], row["f0"], row["f1"]) for row in rows] == [
        ("d0", "3.0", "-1.5", ""),
        ("d1", "", "0.0", "0.1"),
    ]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_the_same_four_bytes(value: float) -> None:
    assert np.float32(files._number(value)) == np.float32(value)


@given(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=1, max_size=40), st.integers(0, 2**32))
def test_folds_keep_linked_queries_together(links: list[int | None], seed: int) -> None:
    units = number_units(links)
    dataset = make_dataset([[1.0]] * len(links), [1.0] * len(links), [1] * len(links), units=units)
    folds = dataset.folds(seed)
    assert set(folds.tolist()) <= set(range(FOLDS))
    for unit in set(units.tolist()):
        assert len(set(folds[units == unit].tolist())) == 1
    for link in set(links) - {None}:
        assert len({units[at] for at, other in enumerate(links) if other == link}) == 1
    sizes = np.bincount([folds[units == unit][0] for unit in set(units.tolist())], minlength=FOLDS)
    assert sizes.max() - sizes.min() <= 1
    assert (dataset.folds(seed) == folds).all()


@pytest.mark.django_db
def test_manifest(log: FeatureLog, case: Case) -> None:
    queries.link(queries=list(case.book.queries.all()))
    manifest = build_manifest(log, read_dataset(log))
    assert json.loads("".join(FILES["manifest"].write(log, read_dataset(log)))) == manifest
    assert [feature["name"] for feature in manifest["features"]] == ["title_score", "overview_score", "votes"]
    assert (manifest["engine"], manifest["scale"], manifest["ratings_rule"]) == ("embedded", [0, 1, 2, 3], "latest")
    assert (manifest["documents"], manifest["rated"], manifest["not_in_the_index"]) == (4, 4, 1)
    assert {row["unit"] for row in manifest["folds"]} == {1}
    assert len({row["fold"] for row in manifest["folds"]}) == 1
