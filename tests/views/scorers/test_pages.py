"""The library of scorers and the page of each: who sees what."""

import pytest

from relevancy import scorers
from relevancy.models import Scorer, ScorerDefinition
from relevancy.views.scorers.descriptions import history
from tests.markup import compact
from tests.views.factories import make_case

from .example_scorers import SCALE, SCRIPT, at, house_measure, house_script


@pytest.fixture
def mine(people):
    return house_measure(people["owner"])


@pytest.fixture
def script_scorer(people, team):
    return house_script(people["owner"], team)


def test_library_lists_what_one_sees(sign_in, mine, script_scorer, team):
    text = sign_in("owner").get("/scorers/").content.decode()
    assert "nDCG(ideal=&#x27;local&#x27;)@10" in text
    assert text.count(f'href="{at(mine)}"') == 1  # not in a list beside the table, too
    assert text.count('href="/scorers/new/') == 1
    assert 'aria-current="page"><span' in compact(sign_in("owner").get(at(mine)).content.decode())
    viewer = sign_in("viewer").get("/scorers/").content.decode()
    assert "House nDCG" not in viewer
    assert "House script" in viewer
    assert f">{team}<span" in compact(viewer)
    assert "House script" not in sign_in("stranger").get("/scorers/").content.decode()


@pytest.mark.parametrize(("find", "expected"), [("HOUSE n", True), ("ndcg@5", True), ("rbp", False), ("zzz", False)])
def test_library_finds_by_name_measure_and_description(sign_in, mine, find, expected):
    response = sign_in("owner").get("/scorers/", {"find": find})
    result = [entry["scorer"].name for entry, _ in response.context["rows"]]
    assert ("House nDCG" in result) is expected
    assert ("contains “zzz”" in response.content.decode()) is (find == "zzz")


@pytest.mark.parametrize(
    ("who", "status"), [("owner", 200), ("editor", 200), ("rater", 200), ("viewer", 200), ("stranger", 404)]
)
def test_scorer_of_one_case_is_read_only_for_its_members(sign_in, people, team, who, status, script):
    case = make_case(people["owner"], "Shop", team=team)
    made = scorers.create_for_case(
        case=case, name="Here", definition=ScorerDefinition(script=SCRIPT, scale=SCALE), by=people["owner"]
    )
    client = sign_in(who)
    page = client.get(at(made))
    assert page.status_code == status
    assert client.get(at(made, "export/")).status_code == status
    wanted = {"owner": 200, "stranger": 404}.get(who, 403)
    assert client.get(at(made, "edit/")).status_code == wanted
    for action in ("retire/", "delete/"):
        assert client.post(at(made, action)).status_code == (302 if who == "owner" else wanted)
    if status == 200 and who != "owner":
        text = page.content.decode()
        assert "one case only" in text
        assert at(made, "edit/") not in text
        assert at(made, "retire/") not in text
    if who not in {"owner", "stranger"}:
        assert not Scorer.objects.offered(people[who]).filter(pk=made.pk).exists()
        assert Scorer.objects.offered(people[who], case).filter(pk=made.pk).exists()


def test_library_folds_the_retired(sign_in, mine):
    scorers.retire(scorer=mine)
    response = sign_in("owner").get("/scorers/")
    assert [entry["scorer"] for entry in response.context["menu"]["retired"]] == [mine]
    assert mine not in [entry["scorer"] for entry, _ in response.context["rows"]]
    assert f'href="{at(mine)}"' in response.content.decode()


def test_library_asks_the_database_seldom(sign_in, script_scorer, django_assert_max_num_queries):
    client = sign_in("owner")
    with django_assert_max_num_queries(9):
        client.get("/scorers/")


@pytest.mark.parametrize(("who", "status"), [("owner", 200), ("admin", 200), ("viewer", 404), ("stranger", 404)])
def test_scorer_is_seen_by_those_who_may(sign_in, mine, who, status):
    assert sign_in(who).get(at(mine)).status_code == status


@pytest.mark.parametrize(
    "name", sorted(["AvgEdit", "nDCG@10", "nDCG@10 rated only", "P@10", "RBP@10", "Judged@10", "AP"])
)
def test_scorer_page_of_a_shipped_measure(sign_in, people, name):
    scorer = Scorer.objects.get(name=name)
    text = sign_in("viewer").get(at(scorer)).content.decode()
    assert "<math " in text
    assert "Worked example" in text
    assert "When it misleads" in text
    assert "Copy as CSV" in text
    assert at(scorer, "edit/") not in text


def test_scorer_page_of_a_script(sign_in, script_scorer):
    text = sign_in("viewer").get(at(script_scorer)).content.decode()
    assert "console.log(&#x27;in&#x27;, k);" in text
    assert "<math " not in text
    assert at(script_scorer, "edit/") not in text
    assert at(script_scorer, "edit/") in sign_in("editor").get(at(script_scorer)).content.decode()


def test_scorer_page_of_a_measure_that_is_gone(sign_in, mine):
    mine.versions.update(measure="Gone@5")
    response = sign_in("owner").get(at(mine))
    assert "not installed" in response.content.decode()
    assert sign_in("owner").get(at(mine, "edit/")).status_code == 200


def test_scorer_page_names_only_cases_one_sees(sign_in, people, script_scorer, team):
    for name, owner, shared in (("Seen", "owner", team), ("Hidden", "owner", None), ("Other", "stranger", None)):
        scorers.add_scorer(case=make_case(people[owner], name, team=shared), scorer=script_scorer)
    text = sign_in("viewer").get(at(script_scorer)).content.decode()
    assert "Seen" in text
    assert "Hidden" not in text
    assert "Other" not in text
    assert "And 2 cases that you cannot see." in " ".join(text.split())


def test_scorer_page_tells_versions_apart_and_offers_to_rescore(sign_in, people, mine):
    case = make_case(people["owner"])
    scorers.add_scorer(case=case, scorer=mine)
    assert "Rescore" not in sign_in("owner").get(at(mine)).content.decode()
    definition = ScorerDefinition(measure="nDCG@6", scale=[[0, ""], [1, ""]], count_unscoreable_as_zero=True)
    scorers.change(scorer=mine, by=people["owner"], definition=definition)
    response = sign_in("owner").get(at(mine))
    changed = ["nDCG@5 → nDCG@6", "scale 0 Poor, 1 Fair, 2 Good, 3 Perfect → 0:1", "unscoreable queries count as 0"]
    assert response.context["versions"][0][1] == changed
    assert "Rescore it with version 2" in response.content.decode()


def test_history_of_a_script_counts_lines(people, script_scorer):
    definition = ScorerDefinition(
        script=SCRIPT.replace("avgRating100", "avgRating") + "// end\n", scale=SCALE, output_range="1", cutoff=7
    )
    scorers.change(scorer=script_scorer, by=people["owner"], definition=definition)
    assert history(list(script_scorer.versions.all()))[0][1] == [
        "script: 2 lines added, 1 removed",
        "score range 0–1",
        "cutoff 7",
    ]
