"""Tests of the reads of the home page; most are with its view."""

from relevancy import cases, queries


def test_user_without_cases(db, django_user_model):
    user = django_user_model.objects.create_user("a@example.org")
    assert cases.case_rows(cases.find_cases(user)) == []
    assert cases.recent_activity(user) == []


def test_read_queries():
    pasted = queries.parse_pasted("a \n\na\r\nb\r" + "x" * 2049)
    assert (pasted.texts, pasted.repeated) == (["a", "b"], ["a"])
    assert [number for number, _ in pasted.rejected] == [5]


def test_seal_round_trip():
    sealed = cases.seal({"password": "secret word"})
    assert "secret word" not in sealed
    assert cases.unseal(sealed) == {"password": "secret word"}
    assert cases.unseal(cases.seal({})) == {}
