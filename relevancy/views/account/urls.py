"""URLs of sign-in and account."""

from django.contrib.auth import views as auth
from django.urls import path

from relevancy import accounts

from . import pages, passwords, sessions, sign_in, sign_up, tokens

urlpatterns = [
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("sign-up/", sign_up.sign_up, name="sign_up"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", pages.account, name="account"),
    path("account/delete/", pages.account_delete, name="account_delete"),
    path("account/tokens/", tokens.tokens, name="account_tokens"),
    path("account/tokens/<int:token_id>/revoke/", tokens.revoke, name="account_token_revoke"),
    path("account/sessions/", sessions.sessions, name="account_sessions"),
    path("account/sessions/end/", sessions.sessions_end, name="account_sessions_end"),
    path("account/sessions/<str:reference>/end/", sessions.session_end, name="account_session_end"),
    path("account/password/", passwords.PasswordChange.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("account/password/forgotten/", passwords.password_reset, name="password_reset"),
    path("account/password/sent/", auth.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "account/password/new/<str:uidb64>/<str:token>/",
        passwords.PasswordChoice.as_view(),
        name="password_reset_confirm",
    ),
    path(
        "account/password/sent/<str:uidb64>/<str:token>/",
        passwords.PasswordChoice.as_view(by_message=True, token_generator=accounts.passwords.message_token_generator),
        name="password_message_confirm",
    ),
    path("account/password/set/", auth.PasswordResetCompleteView.as_view(), name="password_reset_complete"),
]
