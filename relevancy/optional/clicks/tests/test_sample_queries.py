"""`sample_queries`: what it adds and prints, and its mistakes."""

import pytest

from tests.commands.test_commands import command, refused
from tests.factories import make_case

pytestmark = pytest.mark.django_db


def test_sample_queries(tmp_path):
    case = make_case(1)
    path = tmp_path / "log.csv"
    path.write_text("query,count\nalien,60\nstar wars,20\njaws,20\n,9\n")
    printed = command("sample_queries", case.pk, path, "--size", 2, "--dry-run").splitlines()
    assert printed[0] == "60\t1\t1.2\talien"
    assert printed[1].split("\t")[:3] == ["20", "0.5", "0.8"]
    assert printed[2:] == [
        "9 searches left out: their text cannot be a query.",
        "The case has another query with a weight. As long as that counts, its score does not estimate the mean over all searches "
        "of the log.",
    ]
    assert case.case_queries.count() == 1
    output = command("sample_queries", case.pk, path, "--size", 2, "--only-these")
    assert "2 queries added and 0 weights changed, with the seed 1." in output
    assert "without bias" in output
    assert sorted(case.case_queries.values_list("weight", flat=True)) == [0, 0.8, 1.2]
    assert "--size 0" in refused("sample_queries", case.pk, path, "--size", 0)
    path.write_text("query,count\nalien,?\n")
    assert refused("sample_queries", case.pk, path).startswith("Line 2: column count: '?'")


def test_a_log_comes_from_a_file_or_an_endpoint(tmp_path):
    case = make_case(1)
    assert "either a file or --endpoint" in refused("sample_queries", case.pk)
    assert "either a file or --endpoint" in refused("sample_queries", case.pk, "log.csv", "--endpoint", "shop")
    assert "--days 3 has to be" in refused("sample_queries", case.pk, "log.csv", "--days", 3)
    assert "shop" in refused("sample_queries", case.pk, "--endpoint", "shop")
