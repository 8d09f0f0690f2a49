"""URLs of the search over cases, books, queries and scorers."""

from django.urls import path

from . import pages

urlpatterns = [path("jump/", pages.jump, name="jump")]
