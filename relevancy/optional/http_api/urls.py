"""URLs of mappings."""

from django.urls import path

from . import pages

urlpatterns = [
    path("endpoints/mapping/", pages.endpoint_new_mapping, name="endpoint_new_mapping"),
    path("endpoints/<int:endpoint_id>/mapping/", pages.endpoint_mapping, name="endpoint_mapping"),
]
