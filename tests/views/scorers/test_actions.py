"""Actions on scorers and who can perform them: duplicate, share, retire, replace, rescore, delete, files, policy."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy import cases, scorers
from relevancy.models import CaseScore, Policy, QueryScore, Scorer, ScorerDefinition, ScorerVersion, Team
from tests.factories import make_attempt, make_case, run_now

from .example_scorers import SCALE, at, house_measure, house_script

GOOD = {"format": "relevancy-scorer/1", "name": "From a file", "scale": [[0, ""], [1, ""]], "measure": "P@5"}
OWNER_ACTIONS = ("retire/", "restore/", "delete/", "share/")


@pytest.fixture
def mine(people):
    return house_measure(people["owner"])


@pytest.fixture
def shared(people, team):
    return house_script(people["owner"], team)


@pytest.mark.parametrize("action", OWNER_ACTIONS)
@pytest.mark.parametrize(
    ("who", "status"), [("owner", 302), ("admin", 302), ("editor", 403), ("viewer", 403), ("stranger", 404)]
)
def test_access_to_actions_of_owners(sign_in, people, shared, team, action, who, status):
    other = Team.objects.get(name="Others")
    other.memberships.create(user=people["owner"], role=3)
    other.memberships.create(user=people["admin"], role=3)
    assert sign_in(who).post(at(shared, action), {"team": other.pk, "do": "share"}).status_code == status
    changed = not Scorer.objects.live().filter(pk=shared.pk).exists() or shared.teams.filter(pk=other.pk).exists()
    assert changed == (status == 302 and action != "restore/")


@pytest.mark.parametrize("action", ["default/", "communal/"])
@pytest.mark.parametrize(("who", "status"), [("owner", 403), ("viewer", 403), ("admin", 302)])
def test_access_to_actions_of_admins(sign_in, people, action, who, status):
    shipped = Scorer.objects.get(name="nDCG@10")
    assert sign_in(who).post(at(shipped, action)).status_code == status
    shipped.refresh_from_db()
    assert shipped.is_default == (action == "default/" and who == "admin")


@pytest.mark.parametrize("action", ["duplicate/", "retire/", "restore/", "default/", "communal/", "adopt/"])
def test_actions_need_a_post(sign_in, mine, action):
    assert sign_in("admin").get(at(mine, action)).status_code == 405


def test_duplicate_leads_to_the_copy(sign_in, people, shared):
    response = sign_in("viewer").post(at(shared, "duplicate/"))
    copy = Scorer.objects.get(name="Copy of House script")
    assert response.headers["Location"] == at(copy, "edit/")
    assert copy.owner == people["viewer"]
    assert sign_in("stranger").post(at(shared, "duplicate/")).status_code == 404


def test_duplicate_of_a_script_follows_the_policy(sign_in, shared):
    Policy.objects.create(allow_user_scripts=False)
    response = sign_in("viewer").post(at(shared, "duplicate/"), follow=True)
    assert "disabled user scripts" in response.content.decode()
    assert not Scorer.objects.filter(name__startswith="Copy").exists()


def test_share_and_unshare(sign_in, people, mine, team):
    client = sign_in("owner")
    assert "Only Owner can use it" in client.get(at(mine, "share/")).content.decode()
    client.post(at(mine, "share/"), {"team": team.pk, "do": "share"})
    assert sign_in("viewer").get(at(mine)).status_code == 200
    client = sign_in("owner")
    assert "Stop sharing" in client.get(at(mine, "share/")).content.decode()
    client.post(at(mine, "share/"), {"team": team.pk, "do": "unshare"})
    assert sign_in("viewer").get(at(mine)).status_code == 404
    others = Team.objects.get(name="Others")
    assert sign_in("owner").post(at(mine, "share/"), {"team": others.pk, "do": "share"}).status_code == 422


def test_share_of_a_scorer_of_one_case_is_refused(sign_in, people, mine, team, script):
    Scorer.objects.filter(pk=mine.pk).update(only_for=make_case(owner=people["owner"]))
    client = sign_in("owner")
    assert at(mine, "share/") not in client.get(at(mine)).content.decode()
    response = client.post(at(mine, "share/"), {"team": team.pk, "do": "share"})
    assert (response.status_code, "one case only" in response.content.decode()) == (422, True)
    assert not mine.teams.exists()


def test_retire_offers_undo(sign_in, mine):
    response = sign_in("owner").post(at(mine, "retire/"), follow=True)
    assert f'action="{at(mine, "restore/")}"' in response.content.decode()
    assert mine in Scorer.objects.exclude(retired_at=None)
    sign_in("owner").post(at(mine, "restore/"))
    assert mine in Scorer.objects.live()


def test_retire_of_one_in_use_offers_a_replacement(sign_in, people, mine, script):
    client = sign_in("owner")
    assert "still in use" not in client.post(at(mine, "retire/"), follow=True).content.decode()
    scorers.add_scorer(case=make_case(owner=people["owner"]), scorer=mine)
    text = client.get(at(mine)).content.decode()
    assert "Retired, but still in use." in text
    assert f'href="{at(mine, "replace/")}"' in text.partition("still in use")[2][:600]


def test_retire_the_default_is_refused(sign_in, people):
    default = scorers.default_scorer()
    response = sign_in("admin").post(at(default, "retire/"), follow=True)
    assert "is the default of this site" in response.content.decode().replace("&#x27;", "’")
    assert default in Scorer.objects.live()


def test_delete_asks_and_then_deletes(sign_in, mine):
    assert "Delete House nDCG?" in sign_in("owner").get(at(mine, "delete/")).content.decode()
    assert Scorer.objects.filter(pk=mine.pk).exists()
    sign_in("owner").post(at(mine, "delete/"))
    assert not Scorer.objects.filter(pk=mine.pk).exists()


def test_delete_of_one_in_use_is_refused(sign_in, people, mine, script):
    scorers.add_scorer(case=make_case(owner=people["owner"]), scorer=mine)
    assert at(mine, "replace/") in sign_in("owner").get(at(mine, "delete/")).content.decode()
    response = sign_in("owner").post(at(mine, "delete/"), follow=True)
    assert "Replace it there first" in response.content.decode()
    assert Scorer.objects.filter(pk=mine.pk).exists()


# --- cases ---


@pytest.fixture
def used(people, team, mine, script):
    """The owner's case, shared with the team and run once with the owner's scorer; and a stranger's case that also uses it."""
    scorers.share(scorer=mine, team=team)
    case = make_case(["a film"], {"a film": {"b": 3, "c": 1}}, owner=people["owner"])
    cases.share(case=case, team=team)
    foreign = make_case(["x"], owner=people["stranger"])
    for item in (case, foreign):
        scorers.add_scorer(case=item, scorer=mine)
    run_now(make_attempt(case))
    return case, foreign


def test_adopt_rescores_in_the_background(sign_in, people, mine, used):
    case, foreign = used
    version = scorers.change(
        scorer=mine, by=people["owner"], definition=ScorerDefinition(measure="P(rel=1)@2", scale=SCALE)
    )
    response = sign_in("editor").post(at(mine, "adopt/"), {"case": [case.pk, foreign.pk]}, follow=True)
    assert "1 case is being rescored" in response.content.decode()
    assert ScorerVersion.objects.used_by(case)[1] == version
    assert ScorerVersion.objects.used_by(foreign)[1].number == 1
    assert QueryScore.objects.get(version=version).score == 50
    assert CaseScore.objects.filter(version__scorer=mine).count() == 2


def test_adopt_only_where_one_may(sign_in, people, mine, used):
    scorers.change(scorer=mine, by=people["owner"], definition=ScorerDefinition(measure="P@2", scale=SCALE))
    response = sign_in("viewer").post(at(mine, "adopt/"), {"case": used[0].pk}, follow=True)
    assert "None of the cases you can edit" in response.content.decode()
    assert ScorerVersion.objects.used_by(used[0])[1].number == 1
    assert sign_in("stranger").post(at(mine, "adopt/"), {"case": used[1].pk}).status_code == 404


def test_adopt_of_nonsense_changes_nothing(sign_in, people, mine, used):
    scorers.change(scorer=mine, by=people["owner"], definition=ScorerDefinition(measure="P@2", scale=SCALE))
    sign_in("owner").post(at(mine, "adopt/"), {"case": "all"})
    assert ScorerVersion.objects.used_by(used[0])[1].number == 1
    sign_in("owner").post(at(mine, "adopt/"))
    assert ScorerVersion.objects.used_by(used[0])[1].number == 2


def test_replace_in_the_cases_one_may_change(sign_in, people, mine, used):
    case, foreign = used
    other = Scorer.objects.get(name="P@10")
    client = sign_in("owner")
    assert case.name in client.get(at(mine, "replace/")).content.decode()
    response = client.post(at(mine, "replace/"), {"replacement": other.pk, "case": [case.pk, foreign.pk]}, follow=True)
    assert "1 case is now scored with P@10" in response.content.decode()
    assert ScorerVersion.objects.used_by(case)[1].scorer == other
    assert ScorerVersion.objects.used_by(foreign)[1].scorer == mine
    assert QueryScore.objects.filter(version__scorer=other).exists()
    assert QueryScore.objects.filter(version__scorer=mine).exists()


def test_replace_without_a_tick_changes_nothing(sign_in, people, mine, used):
    other = Scorer.objects.get(name="P@10")
    response = sign_in("owner").post(at(mine, "replace/"), {"replacement": other.pk})
    assert (response.status_code, "Select at least one case" in response.content.decode()) == (422, True)
    assert ScorerVersion.objects.used_by(used[0])[1].scorer == mine


def test_replace_refuses_what_is_not_on_offer(sign_in, people, mine, used):
    retired = Scorer.objects.get(name="P@10")
    scorers.retire(scorer=retired)
    for wrong in (retired.pk, mine.pk, 999_999):
        response = sign_in("owner").post(at(mine, "replace/"), {"replacement": wrong, "case": used[0].pk})
        assert response.status_code == 422
    assert ScorerVersion.objects.used_by(used[0])[1].scorer == mine


# --- files and the policy ---


def _upload(client, content, **data):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return client.post("/scorers/import/", {"file": SimpleUploadedFile("s.json", text), **data})


def test_import_a_file(sign_in, people):
    response = _upload(sign_in("viewer"), GOOD)
    made = Scorer.objects.get(name="From a file")
    assert response.headers["Location"] == at(made)
    assert (made.owner, made.versions.get().measure) == (people["viewer"], "P@5")
    again = _upload(sign_in("viewer"), GOOD)
    assert (again.status_code, "cannot be used" in str(again.context["form"].errors["name"])) == (422, True)
    _upload(sign_in("viewer"), GOOD, name="Another")
    assert Scorer.objects.filter(name="Another").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "Line 1"),
        (b"\xff\xfe", "UTF-8"),
        ({**GOOD, "measure": "P@0"}, "measure: The cutoff"),
        (b" " * 1_000_001, "1,000,001 bytes"),
        (b"", "empty"),
    ],
    ids=["cut", "bytes", "cutoff", "large", "empty"],
)
def test_import_refuses_a_bad_file(sign_in, people, content, message):
    response = _upload(sign_in("viewer"), content)
    assert response.status_code == 422
    assert message in str(response.context["form"].errors["file"])
    assert not Scorer.objects.filter(name="From a file").exists()


def test_import_of_a_script_follows_the_policy(sign_in, people):
    Policy.objects.create(allow_user_scripts=False)
    data = {key: value for key, value in GOOD.items() if key != "measure"} | {"script": ["setScore(1);"]}
    response = _upload(sign_in("viewer"), data)
    assert (response.status_code, "disabled user scripts" in response.content.decode()) == (422, True)


def test_policy(sign_in, people):
    for who in ("owner", "viewer"):
        assert sign_in(who).get("/scorers/policy/").status_code == 403
        assert sign_in(who).post("/scorers/policy/", {"default": 1}).status_code == 403
    wanted = Scorer.objects.get(name="nDCG@10")
    client = sign_in("admin")
    assert client.get("/scorers/policy/").context["form"]["allow_user_scripts"].value() is True
    client.post("/scorers/policy/", {"default": wanted.pk})
    assert not Policy.objects.current().allow_user_scripts
    assert scorers.default_scorer() == wanted
    client.post("/scorers/policy/", {"default": wanted.pk, "allow_user_scripts": "on"})
    assert Policy.objects.current().allow_user_scripts
    assert client.post("/scorers/policy/", {"default": 999_999}).status_code == 422
