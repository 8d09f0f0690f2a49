"""URLs of teams."""

from django.urls import path

from . import pages

urlpatterns = [
    path("teams/", pages.team_list, name="teams"),
    path("teams/new/", pages.team_new, name="team_new"),
    path("teams/<int:team_id>/", pages.team, name="team"),
    path("teams/<int:team_id>/invitations/", pages.team_invite, name="team_invite"),
    path(
        "teams/<int:team_id>/invitations/<int:invitation_id>/withdraw/",
        pages.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("invitations/<str:token>/", pages.invitation, name="invitation"),
    path("invitations/<str:token>/sign-up/", pages.invitation_sign_up, name="invitation_sign_up"),
    path("teams/<int:team_id>/members/<int:member_id>/role/", pages.team_member_role, name="team_member_role"),
    path("teams/<int:team_id>/members/<int:member_id>/remove/", pages.team_member_remove, name="team_member_remove"),
]
