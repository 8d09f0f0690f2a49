"""The rows of the home page, beside what its own tests say."""

from relevancy import cases


def test_cases_for_nobody_and_lately_of_nothing(db, django_user_model):
    user = django_user_model.objects.create_user("a@example.org")
    assert cases.cases_for(user) == []
    assert cases.lately([]) == []


def test_read_queries():
    found = cases.making.read_queries(["a ", "", "a", "b", "x" * 2049])
    assert (found.texts, found.again) == (["a", "b"], ["a"])
    assert [number for number, _ in found.refused] == [5]


def test_seal_round_trip():
    sealed = cases.making.seal({"password": "secret word"})
    assert "secret word" not in sealed
    assert cases.making.unseal(sealed) == {"password": "secret word"}
    assert cases.making.unseal(cases.making.seal({})) == {}
