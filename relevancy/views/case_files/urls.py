"""URLs of the files of a case."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from relevancy.formats import exports
from relevancy.models import Case, Run

from . import case_import, pages


class CaseFileName(StringConverter):
    """The files of a case that can be downloaded."""

    regex = "|".join(exports.files_of(Case))


class RunFileName(StringConverter):
    """The files of a run that can be downloaded."""

    regex = "|".join(exports.files_of(Run))


register_converter(CaseFileName, "case_file")
register_converter(RunFileName, "run_file")

urlpatterns = [
    path("cases/import/", case_import.import_case, name="case_import"),
    path("cases/<int:case_id>/files/", pages.case_files, name="case_files"),
    path("cases/<int:case_id>/files/<case_file:name>/", pages.case_download, name="case_download"),
    path("cases/<int:case_id>/files/runs/<int:number>/<run_file:kind>/", pages.run_download, name="run_download"),
    path("cases/<int:case_id>/files/import-ratings/", pages.import_ratings, name="ratings_import"),
    path("cases/<int:case_id>/files/import-queries/", pages.import_queries, name="queries_import"),
    path("cases/<int:case_id>/files/import-runs/", pages.import_runs, name="runs_import"),
]
