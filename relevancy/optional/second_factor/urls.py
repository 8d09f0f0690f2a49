"""URLs of the second factor."""

from django.urls import path

from . import pages

urlpatterns = [
    path("login/code/", pages.login_code, name="login_code"),
    path("account/second-factor/", pages.second_factor, name="account_second_factor"),
]
