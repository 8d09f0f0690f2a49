"""URLs of sign-in and account."""

from django.contrib.auth import views as auth
from django.urls import path

from . import pages

urlpatterns = [
    path("login/", pages.SignIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", pages.account, name="account"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
]
