"""Links that are made to be sent have a button that copies them, and a field in which they are read."""

from playwright.sync_api import expect

from relevancy import teams
from relevancy.models import Role, Team, User

from .conftest import Opens


def test_the_link_of_an_invitation_is_copied(look: Opens, people: dict[str, User]) -> None:
    """G42: wide enough for the address, and one press."""
    team = Team.objects.get(name="Search")
    teams.invitations.invite(team=team, by=people["owner"], email="new@example.org", role=Role.RATER)
    for width in (1280, 390):
        page = look(
            "owner", viewport={"width": width, "height": 844}, permissions=["clipboard-read", "clipboard-write"]
        )
        page.goto(f"/teams/{team.pk}/")
        field = page.get_by_label("Link of the invitation for new@example.org")
        page.get_by_role("button", name="Copy").first.click()
        expect(page.locator("#toasts")).to_contain_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == field.input_value()
        assert "/invitations/" in field.input_value()
        assert field.evaluate("field => field.clientWidth") > width / 2
        assert page.evaluate("document.documentElement.scrollWidth") == width
