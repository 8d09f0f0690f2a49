"""URLs of the guides."""

from django.urls import path

from . import pages

urlpatterns = [
    path("help/", pages.show_help, name="help"),
    path("help/<slug:guide>/", pages.show_guide, name="guide"),
]
