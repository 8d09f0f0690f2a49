"""Creating and editing scorers with the form."""

import pytest

from relevancy import scorers
from relevancy.models import Policy, Scorer, ScorerDefinition, ScorerVersion
from tests.views.factories import make_case

from .example_scorers import SCALE, SCRIPT, at, house_measure, house_script

MEASURE = {"kind": "measure", "name": "New", "scale": "0:3", "measure": "nDCG", "cutoff": "5", "do": "save"}
PARTS = {"p_gain": "linear", "p_discount": "log2", "p_ideal": "global", "p_unrated": "zero"}
AS_SCRIPT = {
    "kind": "script",
    "name": "New",
    "scale": "0:3",
    "script": SCRIPT,
    "output_range": "100",
    "cutoff": "",
    "do": "save",
}
PREVIEW = {"on": "typed", "grades": "3 2 - 1", "known": ""}


@pytest.fixture
def mine(people):
    return house_measure(people["owner"])


@pytest.fixture
def script_scorer(people, team):
    return house_script(people["owner"], team)


def test_new_measure(sign_in, people):
    response = sign_in("rater").post(
        "/scorers/new/", {**MEASURE, **PARTS, "description": "Why", "count_unscoreable_as_zero": "on"}
    )
    made = Scorer.objects.get(name="New")
    assert response.headers["Location"] == at(made)
    version = made.versions.get()
    assert (version.measure, version.count_unscoreable_as_zero) == ("nDCG(gain='linear')@5", True)
    assert (made.owner, made.description, version.created_by) == (people["rater"], "Why", people["rater"])


def test_new_script(sign_in):
    sign_in("rater").post(
        "/scorers/new/", {**AS_SCRIPT, "scale": "0 Poor, 1 Good", "script": SCRIPT.replace("\n", "\r\n")}
    )
    version = Scorer.objects.get(name="New").versions.get()
    assert (version.script, version.cutoff, version.scale) == (SCRIPT, 5, [[0, "Poor"], [1, "Good"]])


def test_new_global_only_by_admins(sign_in):
    sign_in("rater").post("/scorers/new/", {**MEASURE, "name": "A", "is_global": "on"})
    sign_in("admin").post("/scorers/new/", {**MEASURE, "name": "B", "is_global": "on"})
    assert Scorer.objects.get(name="A").owner is not None
    assert Scorer.objects.get(name="B").owner is None


@pytest.mark.parametrize("name", sorted(["nDCG", "RBP", "AP", "Bpref", "AvgEdit", "R", "P"]))
def test_new_draws_the_form_from_the_measure(sign_in, name):
    response = sign_in("rater").get(f"/scorers/new/?measure={name}")
    form = response.context["form"]
    wanted = [f"p_{parameter.name}" for parameter in form.measure_definition.parameters]
    assert form.measure_definition.name == name
    assert form.parameters == wanted
    assert ("cutoff" in form.fields) == (form.measure_definition.cutoff != "none")
    assert "<math " in response.content.decode()


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"cutoff": "0"}, "cutoff", "whole number from 1"),
        ({"cutoff": "2.5"}, "cutoff", "whole number"),
        ({"cutoff": "ten"}, "cutoff", "whole number of results"),
        ({"p_gain": "cubic"}, "p_gain", "cubic"),
        ({"measure": "nDGC"}, "measure", "nDGC"),
        ({"measure": "RBP", "p_p": "1"}, "p_p", "1"),
        ({"measure": "P", "cutoff": ""}, "cutoff", "needs a cutoff"),
        ({"measure": "P", "p_rel": "x"}, "p_rel", "x"),
        ({"scale": "0, 0"}, "scale", "contains the grade 0 twice"),
        ({"scale": "0, 2"}, "scale", "gap"),
        ({"scale": "low, high"}, "scale", "is not a number"),
        ({"scale": ""}, "scale", "Enter the grades"),
        ({"name": " "}, "name", "Name the scorer"),
        ({"name": "ndcg@10"}, "name", "cannot be used"),
        ({"description": "x" * 5001}, "description", "5000"),
    ],
)
def test_new_refuses_at_the_field(sign_in, change, field, message):
    response = sign_in("rater").post("/scorers/new/", {**MEASURE, **change})
    assert response.status_code == 422
    assert message in str(response.context["form"].errors[field])
    assert not Scorer.objects.filter(name="New").exists()


def test_new_keeps_a_refused_script_and_points_at_its_place(sign_in):
    response = sign_in("rater").post("/scorers/new/", {**AS_SCRIPT, "script": "let a = 1;\nlet b = ;", "cutoff": "3"})
    text = response.content.decode()
    assert response.status_code == 422
    assert "Line 2, column 9: " in text
    assert 'data-error-line="2" data-error-column="9"' in text
    assert "let a = 1;\nlet b = ;</textarea>" in text


@pytest.mark.parametrize("wrong", [{"script": "  "}, {"cutoff": "0"}, {"cutoff": "1001"}, {"output_range": "7"}])
def test_new_script_refuses_at_the_field(sign_in, wrong):
    response = sign_in("rater").post("/scorers/new/", {**AS_SCRIPT, **wrong})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == list(wrong)


def test_policy_forbids_own_scripts(sign_in, script_scorer):
    Policy.objects.create(allow_user_scripts=False)
    client = sign_in("owner")
    assert client.get("/scorers/new/?kind=script").status_code == 403
    assert client.get(at(script_scorer, "edit/")).status_code == 403
    assert "User scripts are disabled" in client.get("/scorers/").content.decode()
    response = client.post("/scorers/new/", AS_SCRIPT)
    assert response.status_code == 422
    assert SCRIPT.splitlines()[0] in response.content.decode()
    assert "disabled user scripts" in str(response.context["form"].errors["script"])
    preview = client.post("/scorers/try/", {**AS_SCRIPT, **PREVIEW})
    assert (preview.status_code, "disabled user scripts" in preview.content.decode()) == (422, True)
    assert client.post("/scorers/try/", {"scorer": script_scorer.pk, **PREVIEW}).status_code == 200
    assert sign_in("admin").get("/scorers/new/?kind=script").status_code == 200


@pytest.mark.parametrize(
    ("who", "status"),
    [("owner", 200), ("editor", 200), ("admin", 200), ("rater", 403), ("viewer", 403), ("stranger", 404)],
)
def test_edit_access(sign_in, script_scorer, who, status):
    client = sign_in(who)
    assert client.get(at(script_scorer, "edit/")).status_code == status
    changed = client.post(at(script_scorer, "edit/"), {**AS_SCRIPT, "name": "Other"})
    assert changed.status_code == (302 if status == 200 else status)
    script_scorer.refresh_from_db()
    assert script_scorer.name == ("Other" if status == 200 else "House script")


def test_edit_a_shipped_scorer_is_for_admins(sign_in, people):
    shipped = Scorer.objects.get(name="nDCG@10")
    assert sign_in("owner").get(at(shipped, "edit/")).status_code == 403
    assert sign_in("admin").get(at(shipped, "edit/")).status_code == 200


def test_edit_begins_with_what_is_stored(sign_in, mine):
    scorers.change(scorer=mine, by=mine.owner, definition=ScorerDefinition(measure="RBP(p=0.5)", scale=SCALE))
    form = sign_in("owner").get(at(mine, "edit/")).context["form"]
    assert {name: form[name].value() for name in ("measure", "p_p", "cutoff", "scale")} == {
        "measure": "RBP", "p_p": 0.5, "cutoff": None, "scale": "0 Poor, 1 Fair, 2 Good, 3 Perfect",
    }  # fmt: skip


def test_edit_says_which_cases_it_touches(sign_in, people, mine):
    case = make_case(people["owner"], "Shop")
    scorers.add_scorer(case=case, scorer=mine)
    client = sign_in("owner")
    text = client.get(at(mine, "edit/")).content.decode()
    assert "In use." in text
    assert "Shop" in text
    assert "becomes version 2" in text
    client.post(at(mine, "edit/"), {**MEASURE, "name": mine.name, "cutoff": "7"})
    assert (mine.versions.count(), ScorerVersion.objects.used_by(case)[1].number) == (2, 1)
    assert "Rescore it with version 2" in client.get(at(mine)).content.decode()


def test_edit_names_the_first_of_many_cases_and_counts_the_rest(sign_in, people, mine):
    for number in range(11):
        scorers.add_scorer(case=make_case(people["owner"], f"Shop {number:02}"), scorer=mine)
    text = sign_in("owner").get(at(mine, "edit/")).content.decode()
    assert "Shop 07 <span" in text
    assert "Shop 08 <span" not in text
    assert f'href="{at(mine)}#uses">3 more</a>' in text


def test_edit_of_the_name_alone_makes_no_version(sign_in, mine):
    labels = "0 Poor, 1 Fair, 2 Good, 3 Perfect"
    sign_in("owner").post(at(mine, "edit/"), {**MEASURE, "name": "Renamed", "scale": labels})
    mine.refresh_from_db()
    assert (mine.name, mine.versions.count()) == ("Renamed", 1)


# --- without JavaScript: the same page answers ---


def test_run_stores_nothing_and_keeps_what_was_typed(sign_in, people):
    before = Scorer.objects.count()
    response = sign_in("rater").post("/scorers/new/", {**AS_SCRIPT, **PREVIEW, "name": "", "do": "run"})
    assert response.status_code == 200
    assert response.context["result"].preview.score == 66
    assert "in 5" in response.content.decode()
    assert SCRIPT.splitlines()[0] in response.content.decode()
    assert Scorer.objects.count() == before


def test_show_draws_another_measure(sign_in):
    response = sign_in("rater").post(
        "/scorers/new/", {**MEASURE, **PREVIEW, "measure": "RBP", "do": "show", "name": ""}
    )
    assert response.context["form"].parameters[0] == "p_p"
    assert response.context["description"]["definition"].name == "RBP"


def test_measure_fragment_follows_the_values(sign_in):
    client = sign_in("rater")
    whole = client.post("/scorers/measure/", {**MEASURE, "measure": "RBP"}).content.decode()
    assert 'name="p_p"' in whole
    shown = client.post("/scorers/measure/?of=shown", {**MEASURE, **PARTS}).content.decode()
    assert 'name="p_gain"' not in shown
    linear = client.post("/scorers/measure/?of=shown", {**MEASURE, **PARTS, "p_gain": "exp"}).content.decode()
    assert shown != linear
    wrong = client.post("/scorers/measure/?of=shown", {**MEASURE, "cutoff": "0"})
    assert "whole number from 1" in wrong.content.decode()
    assert "<math " not in wrong.content.decode()


def test_for_this_case_only(sign_in, people, team):
    case = make_case(people["owner"], "Shop", team=team)
    data = {**AS_SCRIPT, **PREVIEW, "do": "case", "case": case.pk, "primary": "on"}
    response = sign_in("editor").post("/scorers/new/", data)
    made = Scorer.objects.get(name="New")
    assert response.headers["Location"] == f"/cases/{case.pk}/"
    assert (made.only_for, made.owner) == (case, people["editor"])
    assert ScorerVersion.objects.used_by(case)[0].scorer == made
    refused = sign_in("viewer").post("/scorers/new/", data)
    assert (refused.status_code, "Only editors" in refused.content.decode()) == (422, True)
    assert SCRIPT.splitlines()[0] in refused.content.decode()
    no_case = sign_in("editor").post("/scorers/new/", {**data, "case": ""})
    assert (no_case.status_code, "Choose the case" in no_case.content.decode()) == (422, True)
    assert Scorer.objects.filter(name__startswith="New").count() == 1


@pytest.mark.parametrize(("kind", "cutoff"), [("script", None), ("measure", 10)])
def test_new_form_suggests_a_cutoff_for_measures_only(sign_in, kind, cutoff):
    """A cutoff that the form suggests would override the one that the script declares."""
    form = sign_in("rater").get("/scorers/new/", {"kind": kind}).context["form"]
    assert form["cutoff"].value() == cutoff


UNIT_SCRIPT = "setScore(avgRating() / max);\n"


def test_new_script_asks_what_it_gives(sign_in):
    client = sign_in("rater")
    page = client.get("/scorers/new/?kind=script").content.decode()
    assert '<option value="" selected>' in page
    response = client.post("/scorers/new/", {**AS_SCRIPT, "output_range": ""})
    assert (response.status_code, list(response.context["form"].errors)) == (422, ["output_range"])
    assert not Scorer.objects.filter(name="New").exists()


@pytest.mark.parametrize(
    ("script", "output_range", "is_wrong"),
    [(UNIT_SCRIPT, "100", True), (UNIT_SCRIPT, "1", False), (SCRIPT, "1", True), (SCRIPT, "100", False)],
)
def test_saving_a_script_warns_if_its_scores_do_not_fit_what_it_gives(sign_in, script, output_range, is_wrong):
    data = {**AS_SCRIPT, "script": script, "output_range": output_range}
    response = sign_in("rater").post("/scorers/new/", data, follow=True)
    assert Scorer.objects.get(name="New").versions.get().output_range == output_range
    levels = [message.level_tag for message in response.context["messages"]]
    assert ("warning" in levels) == is_wrong


@pytest.mark.parametrize(
    ("scale", "gain", "is_advised"),
    [
        ("0:3", "exp", False),
        ("1:10", "exp", True),
        ("1:10", "linear", True),
        ("0:10", "exp", True),
        ("0:10", "linear", False),
    ],
)
def test_measure_says_if_the_scale_does_not_suit_its_gain(sign_in, scale, gain, is_advised):
    data = {**MEASURE, **PARTS, "scale": scale, "p_gain": gain, "do": "show"}
    page = sign_in("rater").post("/scorers/new/", data).content.decode()
    assert ('id="scale-advice"' in page) == is_advised


def test_scale_advice_names_the_gains(db):
    advice = scorers.scale_advice(measure="nDCG@10", scale=[[grade, ""] for grade in range(1, 11)])
    assert "gains 1," in advice
    assert "1,023" in advice
    assert scorers.scale_advice(measure="P@10", scale=[[1, ""], [10, ""]]) == ""
