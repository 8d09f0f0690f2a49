"""URLs of large files."""

from django.urls import path

from . import pages

urlpatterns = [
    path("exports/<int:export_id>/", pages.export, name="export"),
    path("exports/<int:export_id>/file/", pages.export_file, name="export_file"),
    path("exports/<int:export_id>/again/", pages.export_again, name="export_again"),
]
