"""URLs of single sign-on."""

from django.urls import path

from . import pages

urlpatterns = [
    path("login/openid/", pages.openid_login, name="openid_login"),
    path("login/openid/answer/", pages.openid_answer, name="openid_answer"),
    path("account/external/", pages.external_accounts, name="account_external"),
    path(
        "account/external/<int:external_id>/disconnect/",
        pages.external_account_disconnect,
        name="account_external_disconnect",
    ),
]
