"""URLs of public links."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/public-links/", pages.case_link_new, name="case_link_new"),
    path(
        "cases/<int:case_id>/public-links/<int:public_link_id>/withdraw/",
        pages.case_link_withdraw,
        name="case_link_withdraw",
    ),
    path("public/<str:link_token>/", pages.public_case, name="public_case"),
    path("public/<str:link_token>/queries/<int:case_query_id>/", pages.public_query, name="public_query"),
]
