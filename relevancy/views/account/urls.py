"""URLs of sign-in and account."""

from django.contrib.auth import views as auth
from django.urls import path

from . import pages, tokens

urlpatterns = [
    path("login/", pages.SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", pages.account, name="account"),
    path("account/tokens/", tokens.tokens, name="account_tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="account_token_revoke"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
]
