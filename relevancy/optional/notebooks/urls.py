"""URLs of notebooks."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/notebook/", pages.case_notebook, name="case_notebook"),
    path("cases/<int:case_id>/notebook/file/", pages.case_notebook_file, name="case_notebook_file"),
]
