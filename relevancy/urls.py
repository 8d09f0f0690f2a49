"""Every address of the site, from the addresses of each package of views."""

from django.contrib import admin
from django.urls import include, path

from relevancy.hooks import optional_apps
from relevancy.views import health
from relevancy.views.account.passwords import PasswordChange
from relevancy.views.account.sign_in import SignIn

handler500 = "relevancy.views.middleware.server_error"

urlpatterns = [
    # Not the sign-in page of the administration site, which would sign in with a password alone.
    path("admin/login/", SignIn.as_view(), name="admin_login"),
    # Nor its page for the password, on which the old one could be guessed without limit.
    path("admin/password_change/", PasswordChange.as_view(), name="admin_password_change"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", include("relevancy.api.urls")),
    path("", include("relevancy.views.home.urls")),
    path("", include("relevancy.views.jump.urls")),
    path("", include("relevancy.views.help.urls")),
    path("", include("relevancy.views.ticks")),
    path("", include("relevancy.views.case_files.urls")),
    path("", include("relevancy.views.exports.urls")),
    path("", include("relevancy.views.account.urls")),
    path("", include("relevancy.views.new_case.urls")),
    path("", include("relevancy.views.workbench.urls")),
    path("", include("relevancy.views.compare.urls")),
    path("", include("relevancy.views.attempts.urls")),
    path("", include("relevancy.views.history.urls")),
    path("", include("relevancy.views.books.urls")),
    path("", include("relevancy.views.judge.urls")),
    path("", include("relevancy.views.endpoints.urls")),
    path("", include("relevancy.views.scorers.urls")),
    path("", include("relevancy.views.teams.urls")),
    *(path("", include(urls)) for app in optional_apps() if (urls := app.find_module("urls"))),
]
