"""`import_clicks`: what it stores and prints, and its mistakes."""

import pytest

from relevancy.models import Rating
from tests.commands.test_commands import command, refused
from tests.factories import make_case

pytestmark = pytest.mark.django_db


def test_import_clicks(tmp_path):
    case = make_case(["q1"])
    path = tmp_path / "clicks.csv"
    path.write_text(
        "query,count,docid,position,clicks\nq1,1000,a,1,400\nq1,1000,a,2,200\nq1,1000,b,1,50\nq1,1000,b,2,25\n"
    )
    printed = command("import_clicks", case.book.pk, path, "--thresholds", 0.1, 0.2, 0.3).splitlines()
    assert printed == [
        "2,000 searches; 2 documents of the book have an estimate.",
        "position 1: 100.0 % of users look",
        "position 2: 50.0 % of users look",
        "grade 0: 1 document, 0 of them rated by others",
        "grade 1 from 0.1: 0 documents, 0 of them rated by others",
        "grade 2 from 0.2: 0 documents, 0 of them rated by others",
        "grade 3 from 0.3: 1 document, 0 of them rated by others",
        "0 documents have too little evidence.",
    ]
    assert not Rating.objects.exists()
    counted = command("import_clicks", case.book.pk, path, "--thresholds", 0.1, 0.2, 0.3, "--count")
    assert "2 ratings by clicks are new, changed or removed." in counted
    assert dict(Rating.objects.values_list("doc_id", "value")) == {"a": 3, "b": 0}
    assert "each single search" in refused("import_clicks", case.book.pk, path, "--model", "cascade")
    assert "needs 3" in refused("import_clicks", case.book.pk, path, "--thresholds", 0.1)


def test_too_few_estimates_for_thresholds(tmp_path):
    case = make_case(["q1"])
    path = tmp_path / "clicks.csv"
    path.write_text("query,count,docid,position,clicks\nq1,1000,a,1,400\nq1,1000,b,1,50\n")
    words = ("import_clicks", case.book.pk, path, "--model", "coec")
    assert "too few or too much alike" in command(*words)
    assert case.book.click_logs.get().estimates.count() == 2
    case.book.click_logs.get().delete()
    assert "needs 3" in refused(*words, "--thresholds", 0.1)
    assert not case.book.click_logs.exists()
    assert "none of them counts" in refused(*words, "--count")
    assert not Rating.objects.exists()
