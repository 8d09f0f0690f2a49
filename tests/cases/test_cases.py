"""Cases, attempts, scales, endpoints and teams: created, changed, rejected."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, endpoints, runs, scorers, teams
from relevancy.models import Attempt, Book, Case, Endpoint, Membership, Role, Scorer, Team
from relevancy.models.errors import error_fields
from tests.factories import TEMPLATE, make_attempt, make_case, make_endpoint, make_scorer, make_team, make_user, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


class TestScales:
    @pytest.mark.parametrize(
        ("text", "scale"),
        [
            ("0:3", [[0, ""], [1, ""], [2, ""], [3, ""]]),
            (" 1 : 3 ", [[1, ""], [2, ""], [3, ""]]),
            ("0 Poor, 1 Fair", [[0, "Poor"], [1, "Fair"]]),
            ("1 Good\n0 Bad thing", [[0, "Bad thing"], [1, "Good"]]),
            ("0=Poor, 1 = Fair", [[0, "Poor"], [1, "Fair"]]),
            ("0 Poor: not it, 1 Good: this", [[0, "Poor: not it"], [1, "Good: this"]]),
            ("0, 0.5, 1", [[0, ""], [0.5, ""], [1, ""]]),
        ],
    )
    def test_parse_scale(self, text: str, scale: list[Any]) -> None:
        assert scorers.parse_scale(text) == scale

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "at least two grades"), ("3", "at least two"), ("3:0", "3:0 must end with a grade above"), ("0:0", "above"),
            ("0:500", "at most 101"), ("a:3", "'a:3'"), (":", "':' is not a valid scale"), ("0:0.5", "not a valid scale"),
            ("0 a, 0 b", "contains the grade 0 twice"), ("bad 0, good 1", "'bad'"), ("-1:3", "whole numbers from 0 up"),
            ("nan, 1", "The grade nan is not possible"), ("0:inf", "inf"),
        ],
    )  # fmt: skip
    def test_parse_scale_refuses(self, text: str, message: str) -> None:
        with pytest.raises(ValidationError) as caught:
            scorers.parse_scale(text)
        assert error_fields(caught.value) == ["scale"]
        assert message in str(caught.value)


class TestCases:
    def test_create_with_defaults(self) -> None:
        owner = make_user()
        case = cases.create(name="  Shop   search ", owner=owner)
        assert case.name == case.book.name == "Shop search"
        assert case.scorers.get().is_default
        assert (case.book.lowest, case.book.top, case.book.relevant_from) == (1, 10, 6)

    @pytest.mark.parametrize("name", ["", "   ", "x" * 192])
    def test_create_refuses_a_name(self, name: str) -> None:
        with pytest.raises(ValidationError) as caught:
            cases.create(name=name, owner=make_user())
        assert error_fields(caught.value) == ["name"]
        assert not Book.objects.exists()

    def test_choose_scorers(self) -> None:
        case = make_case(0)
        one, two = Scorer.objects.get(name="P@10"), Scorer.objects.get(name="ERR@10")
        scorers.choose_scorers(case=case, scorers=[one, two, one])
        assert [entry.scorer for entry in case.case_scorers.all()] == [one, two]
        scorers.make_primary(case=case, scorer=two)
        assert [entry.scorer for entry in case.case_scorers.all()] == [two, one]
        with pytest.raises(ValidationError, match="at least one"):
            scorers.choose_scorers(case=case, scorers=[])
        with pytest.raises(ValidationError, match="at most 10"):
            scorers.choose_scorers(case=case, scorers=[make_scorer("P@3") for _ in range(11)])
        assert case.case_scorers.count() == 2

    def test_share_and_unshare(self) -> None:
        case = make_case(0)
        other = make_case(0, book_of=case)
        team = make_team(rater=Role.RATER)
        cases.share(case=case, team=team)
        cases.share(case=other, team=team)
        cases.unshare(case=case, team=team)
        assert list(team.cases.all()) == [other]
        assert list(team.books.all()) == [case.book]
        cases.unshare(case=other, team=team)
        assert not team.books.exists()

    def test_archive_rename_restore(self) -> None:
        case = make_case(0)
        cases.archive(case=case)
        assert not Case.objects.live().exists()
        cases.restore(case=case)
        cases.rename(case=case, name=" New  name ")
        assert Case.objects.live().get().name == "New name"
        with pytest.raises(ValidationError):
            cases.rename(case=case, name=" ")


class TestAttempts:
    def test_save_makes_a_new_one_only_after_a_run(self) -> None:
        case = make_case(1)
        endpoint = make_endpoint(case.owner)
        first = make_attempt(case, endpoint)
        same = make_attempt(case, endpoint, parent=first)
        assert same == first
        changed = make_attempt(case, endpoint, parent=first, depth=5)
        assert (changed.pk, changed.depth) == (first.pk, 5)
        run_now(changed)
        assert make_attempt(case, endpoint, parent=changed, depth=5) == changed
        second = make_attempt(case, endpoint, parent=changed, depth=7)
        assert (second.number, second.parent) == (2, changed)
        assert Attempt.objects.get(number=1).depth == 5

    def test_save_keeps_only_the_knobs_that_are_used(self) -> None:
        attempt = make_attempt(
            make_case(0), template='{"query": "#$query##", "fields": {"title": ##boost##, "cast": ##other##}}',
            knobs={"boost": "2.5", "gone": 3},
        )  # fmt: skip
        assert attempt.knobs == {"boost": 2.5, "other": 10}

    def test_save_keeps_texts_that_are_no_numbers(self) -> None:
        template = '{"query": "#$query##", "minimum_should_match": ##mm##, "type": "##type##", "tie": ##tie##}'
        attempt = make_attempt(make_case(0), template=template, knobs={"mm": " 2<75% ", "type": "best", "tie": "1e-1"})
        attempt.refresh_from_db()
        assert attempt.knobs == {"mm": "2<75%", "type": "best", "tie": 0.1}

    @pytest.mark.parametrize(
        ("values", "field", "message"),
        [
            ({"template": '{"query": "#$query##"'}, "template", "Line 1"),
            ({"template": "x" * 20_001}, "template", "20,001 characters"),
            ({"depth": 0}, "depth", "0 results"),
            ({"depth": 1001}, "depth", "1001 results"),
            ({"fields": "id:"}, "fields", "column"),
            ({"template": '{"a": ##b##}', "knobs": {"b": " "}}, "knobs", "' '"),
            ({"template": '{"a": ##b##}', "knobs": {"b": "1,5"}}, "knobs", "with a point"),
            ({"template": '{"a": ##b##}', "knobs": {"b": "x" * 501}}, "knobs", "501 characters"),
            ({"template": '{"a": ##b##}', "knobs": {"b": "a\x00"}}, "knobs", "U+0000"),
            ({"template": '{"a": ##b##}', "knobs": {"b": [1]}}, "knobs", "[1]"),
            ({"template": '{"a": ##b##}', "knobs": {"b": float("nan")}}, "knobs", "nan"),
            ({"template": '{"a": ##b##}', "knobs": {"b": "1e400"}}, "knobs", "1e400"),
        ],
    )
    def test_save_refuses(self, values: dict[str, Any], field: str, message: str) -> None:
        with pytest.raises(ValidationError) as caught:
            make_attempt(make_case(0), **values)
        assert error_fields(caught.value) == [field]
        assert message in str(caught.value)
        assert not Attempt.objects.exists()

    def test_changes_in_words(self) -> None:
        case = make_case(1)
        endpoint = make_endpoint(case.owner)
        template = '{"q": "#$query##",\n"tie": ##tie##}'
        first = make_attempt(case, endpoint, template=template, knobs={"tie": 0.3})
        run_now(first)
        second = make_attempt(
            case, endpoint, template=template + "\n ", knobs={"tie": 0.15}, depth=20, parent=first, escape=True
        )
        assert runs.find_changes(first).summary == ""
        assert runs.find_changes(second).summary == (
            "tie 0.3 → 0.15 · results 10 → 20 · escapes Lucene’s special characters"
        )


class TestEndpoints:
    def test_create_refuses_invalid_values(self) -> None:
        owner = make_user()
        for values, field in (
            ({"name": " "}, "name"), ({"name": "x" * 121}, "name"), ({"url": ""}, "url"), ({"url": "x" * 501}, "url"),
            ({"parallel": 65}, "parallel"), ({"engine": "nosuch"}, "engine"),
            ({"options": {"connect_timeout": True}}, "options"), ({"options": {"query_options": "x"}}, "options"),
        ):  # fmt: skip
            with pytest.raises(ValidationError) as caught:
                endpoints.create(**{"name": "e", "engine": "embedded", "url": "films", "by": owner, **values})
            assert error_fields(caught.value) == [field], values
        assert not Endpoint.objects.exists()

    def test_name_is_unique(self) -> None:
        owner = make_user()
        endpoints.create(name="shop", engine="embedded", url="films", by=owner)
        with pytest.raises(ValidationError, match="This name cannot be used"):
            endpoints.create(name=" shop ", engine="embedded", url="films", by=owner)

    def test_connection_test_never_raises_for_what_the_endpoint_does(self, data_dir: Any) -> None:
        endpoint = endpoints.create(name="shop", engine="embedded", url="absent", by=make_user())
        trial = endpoints.test_connection(endpoint=endpoint, text="x")
        assert trial.error and trial.page is None
        good = make_endpoint(make_user())
        trial = endpoints.test_connection(endpoint=good, text="x", template=TEMPLATE, fields="id")
        assert (trial.version, trial.fields, trial.error) == ("Scripted 1.0", ["id"], "")
        assert trial.page is not None
        assert trial.page.hits[0].id == "a"


class TestTeams:
    def test_create_and_members(self) -> None:
        owner, other = make_user("Owner"), make_user("Other")
        team = teams.create(name=" Search  team ", by=owner)
        assert (team.name, team.memberships.get().role) == ("Search team", Role.OWNER)
        with pytest.raises(ValidationError, match="cannot be used"):
            teams.create(name="SEARCH TEAM", by=other)
        member = teams.add_member(team=team, email=" OTHER@example.com ", role=Role.RATER)
        again = teams.add_member(team=team, email="other@example.com", role=Role.EDITOR)
        assert (again.pk, again.role) == (member.pk, Role.EDITOR)
        with pytest.raises(ValidationError, match="no account with the address"):
            teams.add_member(team=team, email="nobody@example.com", role=Role.RATER)

    def test_a_team_keeps_an_owner(self) -> None:
        team = make_team(ann=Role.OWNER, ben=Role.RATER)
        ann, ben = (Membership.objects.get(user__name=name) for name in ("ann", "ben"))
        with pytest.raises(ValidationError, match="only owner"):
            teams.remove_member(member=ann)
        with pytest.raises(ValidationError, match="only owner"):
            teams.set_role(member=ann, role=Role.EDITOR)
        teams.set_role(member=ben, role=Role.OWNER)
        teams.remove_member(member=ann)
        assert Team.objects.get().members.get() == ben.user
        assert team.name
