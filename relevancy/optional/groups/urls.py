"""URLs of groups of cases."""

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/", pages.group_list, name="groups"),
    path("groups/new/", pages.group_new, name="group_new"),
    path("groups/<int:group_id>/", pages.group, name="group"),
    path("groups/<int:group_id>/edit/", pages.group_edit, name="group_edit"),
    path("groups/<int:group_id>/cases/add/", pages.group_case_add, name="group_case_add"),
    path("groups/<int:group_id>/cases/<int:case_id>/remove/", pages.group_case_remove, name="group_case_remove"),
    path("groups/<int:group_id>/delete/", pages.group_delete, name="group_delete"),
]
