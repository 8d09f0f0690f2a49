"""URLs of public links."""

from django.urls import path

from . import pages

urlpatterns = [
    path("public/<str:link_token>/", pages.case, name="public_case"),
    path("public/<str:link_token>/queries/<int:case_query_id>/", pages.query, name="public_query"),
]
