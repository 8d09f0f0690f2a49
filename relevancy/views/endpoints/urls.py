"""URLs of endpoints."""

from django.urls import path

from . import pages

urlpatterns = [
    path("endpoints/", pages.endpoint_list, name="endpoints"),
    path("endpoints/new/", pages.endpoint_new, name="endpoint_new"),
    path("endpoints/<int:endpoint_id>/", pages.endpoint_edit, name="endpoint_edit"),
    path("endpoints/<int:endpoint_id>/try/", pages.endpoint_try, name="endpoint_try"),
    path("endpoints/<int:endpoint_id>/share/", pages.endpoint_share, name="endpoint_share"),
    path("endpoints/<int:endpoint_id>/archive/", pages.endpoint_archive, name="endpoint_archive"),
    path("endpoints/<int:endpoint_id>/restore/", pages.endpoint_restore, name="endpoint_restore"),
]
