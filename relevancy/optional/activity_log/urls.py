"""URLs of the activity logs of cases and teams."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/activity/", pages.activity_log, name="case_activity"),
    path("cases/<int:case_id>/activity.csv", pages.activity_export, name="case_activity_csv"),
    path("teams/<int:team_id>/activity/", pages.activity_log, name="team_activity"),
    path("teams/<int:team_id>/activity.csv", pages.activity_export, name="team_activity_csv"),
]
