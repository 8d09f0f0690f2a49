"""What the app adds to the core: its link on the home page, and what becomes of groups with accounts and cases."""

from collections.abc import Iterator

from django.template.defaultfilters import pluralize
from django.urls import reverse

from relevancy.accounts.deletion import unshared
from relevancy.glossary import Term, terms
from relevancy.hooks import (
    Link,
    Loss,
    Place,
    activity_sentences,
    add_links,
    case_losses,
    help_pages,
    section_paths,
    team_activity_kinds,
    user_deletion,
    user_losses,
)
from relevancy.models import Case, User

from . import groups
from .models import CaseGroup

terms["group-mean"] = Term("Mean", "The mean of the scores of the cases of a group.", "groups", "mean")
section_paths.setdefault("home", []).append("/groups/")
team_activity_kinds["group"] = "Groups of cases"
activity_sentences.update(
    {
        groups.SHARED: "Shared the group of cases “{subject}” with the team",
        groups.UNSHARED: "Stopped sharing the group of cases “{subject}” with the team",
        groups.DELETED: "Deleted the group of cases “{subject}”; its cases are kept",
    }
)
help_pages["groups/"] = "groups"


@add_links[Place.HOME]
def home_links(user: User) -> Iterator[Link]:
    """Yields the link beside those of cases."""
    yield Link("Groups", reverse("groups"), "groups-link")


@case_losses.add
def lost_places(case: Case, user: User) -> Iterator[Loss]:
    """Yields the groups that lose a case, of those that the user sees."""
    names = CaseGroup.objects.visible_to(user).filter(cases=case).order_by("name").values_list("name", flat=True)
    if names:
        text = f"its place in the group{pluralize(len(names))} {', '.join(names)}, with what it adds to the mean"
        yield Loss("deleted", "groups", text)


@user_losses.add
def lost_groups(user: User) -> Iterator[Loss]:
    """Yields the groups that nobody else can see."""
    if own := unshared(user, CaseGroup.objects.all()):
        text = f"group{pluralize(len(own))} of cases that nobody else can see: {', '.join(map(str, own))}"
        yield Loss("deleted", "groups", text)


@user_deletion.add
def delete_groups(user: User) -> None:
    """Deletes the groups that nobody else can see. Their cases stay."""
    for group in unshared(user, CaseGroup.objects.all()):
        group.delete()
