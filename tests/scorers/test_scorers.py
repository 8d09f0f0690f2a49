"""Actions on scorers: create, change, duplicate, share, retire, replace; where scorers are used."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, scorers
from relevancy.models import Policy, QueryScore, Role, Scorer, ScorerDefinition, ScorerVersion
from relevancy.models.errors import error_fields, error_location
from relevancy.scorers import newest_version
from tests.factories import make_attempt, make_case, make_scorer, make_team, make_user, run_now

pytestmark = pytest.mark.django_db
SCALE = [[0, "Poor"], [1, ""], [2, ""], [3, "Perfect"]]
NDCG = ScorerDefinition(measure="nDCG@5", scale=SCALE)
SCRIPT = ScorerDefinition(script="const k = 4;\nsetScore(avgRating100(k));", scale=SCALE)


@pytest.fixture
def user():
    return make_user("Ann")


@pytest.fixture
def admin():
    return make_user("Root", superuser=True)


def refusal(action, **arguments):
    """The message of a refused action."""
    with pytest.raises(ValidationError) as caught:
        action(**arguments)
    return caught.value


# --- create ---


def test_create_stores_the_definition(user):
    scorer = scorers.create(name="  My   scorer ", definition=NDCG, by=user, description=" why\r\n")
    version = scorer.versions.get()
    assert (scorer.name, scorer.description, scorer.owner, scorer.only_for) == ("My scorer", "why", user, None)
    assert (version.number, version.measure, version.script, version.created_by) == (1, "nDCG@5", "", user)
    assert version.scale == SCALE


def test_create_writes_a_measure_in_its_shortest_notation(user):
    definition = ScorerDefinition(measure="nDCG( gain='exp', ideal=\"max\" ) @5", scale=SCALE)
    assert scorers.create(name="x", definition=definition, by=user).versions.get().measure == "nDCG(ideal='max')@5"


def test_create_takes_the_depth_a_script_declares(user):
    assert scorers.create(name="x", definition=SCRIPT, by=user).versions.get().cutoff == 4
    given = ScorerDefinition(script=SCRIPT.script, scale=SCALE, cutoff=7)
    assert scorers.create(name="y", definition=given, by=user).versions.get().cutoff == 7


def test_create_global_is_for_admins(user, admin):
    assert scorers.create(name="x", definition=NDCG, by=admin, is_global=True).owner is None
    assert "Only an admin" in str(refusal(scorers.create, name="y", definition=NDCG, by=user, is_global=True))
    assert not Scorer.objects.filter(name="y").exists()


@pytest.mark.parametrize(
    ("definition", "field", "message"),
    [
        (ScorerDefinition(measure="nDCG@0", scale=SCALE), "measure", "whole number from 1"),
        (ScorerDefinition(measure="nDGC@5", scale=SCALE), "measure", "Did you mean nDCG?"),
        (ScorerDefinition(measure="P(beta=2)@5", scale=SCALE), "measure", "beta"),
        (ScorerDefinition(measure="nDCG@5", scale=[[0, ""], [2, ""]]), "scale", "The scale 0, 2 has a gap"),
        (
            ScorerDefinition(measure="nDCG@5", script="setScore(1)", scale=SCALE),
            "measure",
            "either a measure or a script",
        ),
        (ScorerDefinition(scale=SCALE), "measure", "either a measure or a script"),
        (
            ScorerDefinition(script="setScore(1)", scale=SCALE, output_range="10"),
            "output_range",
            "'10' is not a range of scores",
        ),
        (ScorerDefinition(script="setScore(1)", scale=SCALE, cutoff=0), "cutoff", "cannot consider 0 results"),
        (ScorerDefinition(script="setScore(1)", scale=SCALE, cutoff=1001), "cutoff", "Choose 1 to 1,000"),
        (ScorerDefinition(script="setScore(1) // \x00", scale=SCALE), "script", "U+0000"),
        (ScorerDefinition(measure="nDCG@5", scale=[[0, "a\x00"], [1, ""]]), "scale", "U+0000"),
        (ScorerDefinition(measure="nDCG@5", scale=[[0, "a" * 201], [1, ""]]), "scale", "grade 0 has 201 characters"),
    ],
)
def test_create_refuses_a_bad_definition(user, definition, field, message):
    reason = refusal(scorers.create, name="x", definition=definition, by=user)
    assert error_fields(reason) == [field]
    assert message in str(reason)
    assert not Scorer.objects.filter(name="x").exists()


def test_create_names_line_and_column_of_a_syntax_error(user):
    reason = refusal(
        scorers.create, name="x", definition=ScorerDefinition(script="let a = 1;\nlet b = ;", scale=SCALE), by=user
    )
    assert error_fields(reason) == ["script"]
    assert error_location(reason) == (2, 9)


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "a\x00b", "a\ud800b"])
def test_create_refuses_a_bad_name(user, name):
    assert error_fields(refusal(scorers.create, name=name, definition=NDCG, by=user)) == ["name"]


def test_create_refuses_a_name_that_is_taken(user):
    first = scorers.create(name="Mine", definition=NDCG, by=user)
    assert "cannot be used" in str(refusal(scorers.create, name="mINE", definition=NDCG, by=user))
    scorers.retire(scorer=first)
    assert "cannot be used" in str(refusal(scorers.create, name="Mine", definition=NDCG, by=user))


def test_create_refuses_a_long_description(user):
    assert error_fields(refusal(scorers.create, name="x", definition=NDCG, by=user, description="\x00")) == [
        "description"
    ]
    reason = refusal(scorers.create, name="x", definition=NDCG, by=user, description="x" * 5001)
    assert error_fields(reason) == ["description"]
    assert "5001" in str(reason)


def test_create_follows_the_policy(user, admin):
    scorers.set_user_scripts_allowed(allowed=False, by=admin)
    assert not scorers.may_write_scripts(user)
    assert scorers.may_write_scripts(admin)
    assert error_fields(refusal(scorers.create, name="x", definition=SCRIPT, by=user)) == ["script"]
    scorers.create(name="x", definition=NDCG, by=user)
    scorers.create(name="y", definition=SCRIPT, by=admin)
    scorers.set_user_scripts_allowed(allowed=True, by=admin)
    scorers.create(name="z", definition=SCRIPT, by=user)
    assert Policy.objects.count() == 1


def test_allow_user_scripts_is_for_admins(user):
    assert "Only an admin" in str(refusal(scorers.set_user_scripts_allowed, allowed=False, by=user))
    assert Policy.objects.current().allow_user_scripts


def test_create_for_case_joins_the_case(user):
    case = make_case(owner=user)
    made = scorers.create_for_case(case=case, name="Here", definition=SCRIPT, by=user)
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == ["nDCG@10", "Here"]
    assert made.only_for == case
    again = scorers.create_for_case(case=case, name="Here", definition=NDCG, by=user, primary=True)
    assert again.name == "Here 2"
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == ["Here 2", "nDCG@10", "Here"]
    assert made in Scorer.objects.offered(user, case)
    assert made not in Scorer.objects.offered(user)
    assert made not in Scorer.objects.offered(user, make_case(owner=user))


def test_create_for_case_that_is_full_leaves_nothing(user):
    measures = [f"P@{k}" for k in range(1, 11)]
    case = make_case(owner=user, measures=measures)
    assert "at most 10" in str(
        refusal(scorers.create_for_case, case=case, name="x", definition=NDCG, by=user, primary=True)
    )
    assert not Scorer.objects.filter(name="x").exists()
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == measures


# --- change and duplicate ---


def test_change_makes_a_version_only_of_another_definition(user):
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    same = scorers.change(
        scorer=scorer, by=user, definition=ScorerDefinition(measure="nDCG()@5", scale=SCALE), name="y", description="d"
    )
    assert (same.number, scorer.name, scorer.description) == (1, "y", "d")
    other = scorers.change(scorer=scorer, by=user, definition=ScorerDefinition(measure="nDCG@6", scale=SCALE))
    assert (other.number, other.measure, scorer.name) == (2, "nDCG@6", "y")
    zero = ScorerDefinition(measure="nDCG@6", scale=SCALE, count_unscoreable_as_zero=True)
    assert scorers.change(scorer=scorer, by=user, definition=zero).number == 3
    assert [version.measure for version in scorer.versions.order_by("number")] == ["nDCG@5", "nDCG@6", "nDCG@6"]


def test_change_that_is_refused_changes_nothing(user):
    make_scorer("P@5", "taken")
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    assert error_fields(refusal(scorers.change, scorer=scorer, by=user, definition=NDCG, name="Taken")) == ["name"]
    bad = ScorerDefinition(script="let x = ;", scale=SCALE)
    assert error_fields(refusal(scorers.change, scorer=scorer, by=user, definition=bad, name="z")) == ["script"]
    scorer.refresh_from_db()
    assert (scorer.name, scorer.versions.count()) == ("x", 1)


def test_change_leaves_the_cases_at_their_version(user):
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    case = make_case(owner=user)
    scorers.add_scorer(case=case, scorer=scorer)
    scorers.change(scorer=scorer, by=user, definition=ScorerDefinition(measure="nDCG@6", scale=SCALE))
    assert ScorerVersion.objects.used_by(case)[1].number == 1


def test_clone_belongs_to_the_user_and_has_a_free_name(user):
    shipped = Scorer.objects.get(name="nDCG@10")
    copies = [scorers.clone(scorer=shipped, by=user) for _ in range(3)]
    assert [copy.name for copy in copies] == ["Copy of nDCG@10", "Copy of nDCG@10 2", "Copy of nDCG@10 3"]
    assert {copy.owner for copy in copies} == {user}
    assert ScorerDefinition.of(copies[0].versions.get()) == ScorerDefinition.of(scorers.newest_version(shipped))
    assert copies[0].description == shipped.description
    assert scorers.clone(scorer=shipped, by=user, name="Mine").name == "Mine"


def test_clone_of_a_long_name_fits(user):
    scorer = scorers.create(name="x" * 120, definition=NDCG, by=user)
    assert len(scorers.clone(scorer=scorer, by=user).name) <= 120


# --- share and retire ---


def test_share_and_unshare_decide_who_sees_it(user):
    team = make_team("Search", Bob=Role.VIEWER, Eve=Role.EDITOR)
    bob, eve = (team.memberships.get(user__name=name).user for name in ("Bob", "Eve"))
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    assert scorer not in Scorer.objects.visible_to(bob)
    scorers.share(scorer=scorer, team=team)
    assert scorer in Scorer.objects.visible_to(bob)
    assert scorer not in Scorer.objects.editable_by(bob)
    assert scorer in Scorer.objects.editable_by(eve)
    assert scorer not in Scorer.objects.owned_by(eve)
    scorers.unshare(scorer=scorer, team=team)
    assert scorer not in Scorer.objects.visible_to(eve)


def test_retired_scorers_are_not_offered_until_they_are_restored(user):
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    scorers.retire(scorer=scorer)
    assert scorer not in Scorer.objects.offered(user)
    scorers.restore(scorer=scorer)
    assert scorer in Scorer.objects.offered(user)


def test_default_can_be_neither_retired_nor_deleted():
    default = scorers.default_scorer()
    assert "default" in str(refusal(scorers.retire, scorer=default))
    assert "default" in str(refusal(scorers.delete, scorer=default))


def test_set_default_is_for_admins_and_global_scorers(user, admin):
    mine = scorers.create(name="x", definition=NDCG, by=user)
    shipped = Scorer.objects.get(name="nDCG@10")
    assert "Only an admin" in str(refusal(scorers.set_default, scorer=shipped, by=user))
    assert "belongs to one user" in str(refusal(scorers.set_default, scorer=mine, by=admin))
    scorers.set_default(scorer=shipped, by=admin)
    assert scorers.default_scorer() == shipped
    assert Scorer.objects.filter(is_default=True).count() == 1
    retired = Scorer.objects.get(name="P@10")
    scorers.retire(scorer=retired)
    assert "retired" in str(refusal(scorers.set_default, scorer=retired, by=admin))
    here = scorers.create_for_case(case=make_case(owner=admin), name="Here", definition=NDCG, by=admin)
    assert "one case only" in str(refusal(scorers.set_default, scorer=here, by=admin))


def test_make_global_is_for_admins(user, admin):
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    refusal(scorers.make_global, scorer=scorer, by=user)
    scorers.make_global(scorer=scorer, by=admin)
    scorer.refresh_from_db()
    assert scorer.owner is None
    assert scorer not in Scorer.objects.editable_by(user)


# --- cases that use it ---


def _used(user, count=2):
    scorer = scorers.create(name="x", definition=NDCG, by=user)
    made = [make_case(owner=user) for _ in range(count)]
    for case in made:
        scorers.add_scorer(case=case, scorer=scorer)
    return scorer, made


def test_uses_lists_the_live_cases(user):
    scorer, (first, second) = _used(user)
    cases.archive(case=second)
    assert [(entry.case, entry.version.number) for entry in scorers.uses(scorer)] == [(first, 1)]


def test_adopt_brings_the_named_cases_to_the_newest_version(user):
    scorer, (first, second) = _used(user)
    assert scorers.adopt(scorer=scorer, cases=[first, second]) == []
    scorers.change(scorer=scorer, by=user, definition=ScorerDefinition(measure="nDCG@6", scale=SCALE))
    assert scorers.adopt(scorer=scorer, cases=[first, make_case(owner=user)]) == [first]
    assert [entry.version.number for entry in scorers.uses(scorer)] == [2, 1]


def test_choose_scorers_restores_the_version_it_had(user):
    scorer, (case, _other) = _used(user)
    first = newest_version(scorer)
    scorers.change(scorer=scorer, by=user, definition=ScorerDefinition(measure="nDCG@6", scale=SCALE))
    shipped = ScorerVersion.objects.used_by(case)[0].scorer
    scorers.drop_scorer(case=case, scorer=scorer)
    scorers.choose_scorers(case=case, scorers=[scorer, shipped], versions=[first])
    assert [version.number for version in ScorerVersion.objects.used_by(case)] == [1, 1]
    scorers.choose_scorers(case=case, scorers=[shipped])
    scorers.add_scorer(case=case, scorer=scorer)
    assert ScorerVersion.objects.used_by(case)[1].number == 2
    scorers.choose_scorers(case=case, scorers=[shipped, scorer], versions=[first])
    assert ScorerVersion.objects.used_by(case)[1].number == 2, "one that the case has keeps its version"


def test_a_scorer_of_one_case_is_neither_shared_nor_made_global(user, admin):
    case = make_case(owner=user)
    made = scorers.create_for_case(case=case, name="Here", definition=NDCG, by=user)
    assert error_fields(refusal(scorers.share, scorer=made, team=make_team())) == ["team"]
    scorers.make_global(scorer=made, by=admin)
    made.refresh_from_db()
    assert (made.owner, made.only_for) == (None, None)
    assert made in Scorer.objects.offered(make_user("Somebody"))


def test_replace_keeps_the_position(user):
    scorer, (first, second) = _used(user)
    other = Scorer.objects.get(name="P@10")
    assert scorers.replace(scorer=scorer, replacement=other, cases=[first]) == [first]
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(first)] == ["nDCG@10", "P@10"]
    assert [entry.case for entry in scorers.uses(scorer)] == [second]


def test_replace_by_a_scorer_of_the_case_takes_the_better_position(user):
    scorer, (first, _) = _used(user)
    shipped = Scorer.objects.get(name="nDCG@10")
    scorers.make_primary(case=first, scorer=scorer)
    scorers.replace(scorer=scorer, replacement=shipped, cases=[first])
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(first)] == ["nDCG@10"]


def test_replace_refuses_itself_and_retired_ones(user):
    scorer, made = _used(user)
    retired = Scorer.objects.get(name="P@10")
    scorers.retire(scorer=retired)
    for wrong in (scorer, retired):
        reason = refusal(scorers.replace, scorer=scorer, replacement=wrong, cases=made)
        assert error_fields(reason) == ["replacement"]


def test_delete_refuses_a_scorer_in_use(user, script):
    scorer, made = _used(user, 1)
    assert "used by 1 case." in str(refusal(scorers.delete, scorer=scorer))
    run_now(make_attempt(made[0]))
    assert QueryScore.objects.filter(version__scorer=scorer).exists()
    scorers.drop_scorer(case=made[0], scorer=scorer)
    assert "cannot be deleted" in str(refusal(scorers.delete, scorer=scorer))
    unused = scorers.create(name="unused", definition=NDCG, by=user)
    scorers.delete(scorer=unused)
    assert not ScorerVersion.objects.filter(scorer__name="unused").exists()


def test_overview_counts_cases_in_few_statements(user, django_assert_max_num_queries):
    scorer, _ = _used(user)
    with django_assert_max_num_queries(4):
        result = {item.name: item for item in scorers.overview(user)}
        assert [team for item in result.values() for team in item.teams.all()] == []
    assert (result["x"].cases_using, result["x"].latest) == (2, 1)
    assert result["P@10"].cases_using == 0
    assert "x" not in {item.name for item in scorers.overview(make_user())}
    assert next(iter(result.values())).is_default
    assert scorer.name in result
