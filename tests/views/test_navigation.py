"""The top bar: nouns, help, the menu of the account."""

import re

import pytest
from django.urls import reverse

from tests.views.factories import make_case


def links(page: str, start: str, end: str) -> list[str]:
    """The texts of the links of a part of a page."""
    part = page.partition(start)[2].partition(end)[0]
    return [" ".join(text.split()) for text in re.findall(r"<a [^>]*>([^<]+)</a>", part)]


def test_teams_are_in_the_menu_of_the_account(sign_in):
    page = sign_in("owner").get(reverse("books")).content.decode()
    nouns = links(page, '<nav aria-label="Main">', "</nav>")
    assert "Teams" not in nouns
    assert nouns[-4:] == ["Cases", "Books", "Scorers", "Endpoints"]
    assert links(page, '<details class="account"', "</details>") == ["Account", "Teams"]


def test_a_narrow_window_has_a_menu_with_the_same_links_and_help(sign_in):
    """G43: its button says Menu."""
    page = sign_in("rater").get(reverse("books")).content.decode()
    nouns = links(page, '<nav aria-label="Main">', "</nav>")
    assert links(page, '<details class="main-menu"', "</details>") == [*nouns, "Jump to…", "Help"]
    assert re.search(r"<summary[^>]*>\s*<svg.*?</svg>\s*Menu\s*</summary>", page, re.DOTALL)


@pytest.mark.parametrize(
    ("is_superuser", "users", "scorers"),
    [(True, "admin:relevancy_user_changelist", "scorer_policy"), (False, "admin:index", "admin:index")],
)
def test_administration_has_users_first(sign_in, people, is_superuser, users, scorers):
    """G44."""
    people["owner"].is_staff, people["owner"].is_superuser = True, is_superuser
    people["owner"].save()
    page = sign_in("owner").get(reverse("books")).content.decode()
    entries = links(page, '<details class="account"', "</details>")
    assert entries == ["Account", "Teams", "Users", "Scorers and site settings", "Work", "Data"]
    for name, label in ((users, "Users"), (scorers, "Scorers and site settings")):
        assert re.search(rf'href="{reverse(name)}(?:#\w+)?">{label}<', page)


def test_pages_of_a_case_have_the_keys_of_its_tabs(sign_in, people):
    """G49: `g c` and its like work on each page with the bar of a case."""
    case = make_case(people["owner"], "Films")
    client = sign_in("owner")
    for name in ("case", "compare", "history"):
        page = client.get(reverse(name, args=[case.pk])).content.decode()
        for target in ("queries-tab", "compare-tab", "history-tab"):
            assert f'data-does="go:{target}"' in page
            assert f'data-key-go="{target}"' in page
    assert "go:compare-tab" not in client.get(reverse("books")).content.decode()
