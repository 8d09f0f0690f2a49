"""URLs of an attempt on its way to production."""

from django.urls import path

from . import pages

ATTEMPT = "cases/<int:case_id>/attempts/all/<int:number>/production/"  # below the page of its tab
urlpatterns = [
    path(ATTEMPT, pages.show, name="production"),
    path(f"{ATTEMPT}deploy.json", pages.deployment_file, name="production_deployment"),
    path(f"{ATTEMPT}difference.diff", pages.difference_file, name="production_difference"),
    path(f"{ATTEMPT}evidence.md", pages.evidence_file, name="production_evidence"),
]
