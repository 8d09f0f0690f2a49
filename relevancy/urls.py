"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import path

from relevancy.views import (
    accounts,
    endpoints,
    health,
    home,
    new_case,
    queries,
    rating,
    runs,
    scorers,
    sharing,
    teams,
    workbench,
)

# The workbench of a case: its page, its queries, their ratings, its runs.
urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("cases/<int:case_id>/", workbench.show, name="case"),
    path("cases/<int:case_id>/state/", workbench.state, name="run_state"),
    path("cases/<int:case_id>/scorer/", workbench.choose_scorer, name="case_scorer"),
    path("cases/<int:case_id>/queries/", queries.add, name="queries_add"),
    path("cases/<int:case_id>/queries/<int:entry_id>/", queries.show, name="query"),
    path("cases/<int:case_id>/queries/<int:entry_id>/edit/", queries.edit, name="query_edit"),
    path("cases/<int:case_id>/queries/<int:entry_id>/remove/", queries.remove, name="query_remove"),
    path("cases/<int:case_id>/queries/<int:entry_id>/restore/", queries.restore, name="query_restore"),
    path("cases/<int:case_id>/queries/<int:entry_id>/search/", queries.search_again, name="query_search"),
    path("cases/<int:case_id>/queries/<int:entry_id>/sent/", queries.as_sent, name="query_sent"),
    path("cases/<int:case_id>/queries/<int:entry_id>/document/", queries.document, name="document"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate/", rating.rate, name="rate"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate-shown/", rating.rate_shown, name="rate_shown"),
    path("cases/<int:case_id>/run/", runs.run, name="run"),
    path("cases/<int:case_id>/preview/", runs.preview, name="attempt_preview"),
    path("cases/<int:case_id>/runs/<int:number>/cancel/", runs.cancel, name="run_cancel"),
    path("cases/<int:case_id>/runs/<int:number>/complete/", runs.complete, name="run_complete"),
]

# Home, accounts, new cases, endpoints, scorers, teams.
urlpatterns += [
    path("", home.home, name="home"),
    path("login/", auth.LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", accounts.account, name="account"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("cases/new/", new_case.new_case, name="new_case"),
    path("cases/new/<slug:step>/", new_case.new_case, name="new_case_step"),
    path("cases/<int:case_id>/share/", sharing.case_share, name="case_share"),
    path("cases/<int:case_id>/rename/", sharing.case_rename, name="case_rename"),
    path("cases/<int:case_id>/archive/", sharing.case_archive, name="case_archive"),
    path("cases/<int:case_id>/restore/", sharing.case_restore, name="case_restore"),
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint_new"),
    path("endpoints/<int:endpoint_id>/", endpoints.endpoint_edit, name="endpoint_edit"),
    path("endpoints/<int:endpoint_id>/try/", endpoints.endpoint_try, name="endpoint_try"),
    path("endpoints/<int:endpoint_id>/archive/", endpoints.endpoint_archive, name="endpoint_archive"),
    path("endpoints/<int:endpoint_id>/restore/", endpoints.endpoint_restore, name="endpoint_restore"),
    path("scorers/", scorers.scorers, name="scorers"),
    path("teams/", teams.teams, name="teams"),
    path("teams/new/", teams.team_new, name="team_new"),
    path("teams/<int:team_id>/", teams.team, name="team"),
    path("teams/<int:team_id>/members/", teams.team_member_add, name="team_member_add"),
    path("teams/<int:team_id>/members/<int:member_id>/role/", teams.team_member_role, name="team_member_role"),
    path("teams/<int:team_id>/members/<int:member_id>/remove/", teams.team_member_remove, name="team_member_remove"),
]
