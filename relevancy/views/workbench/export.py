"""The list of queries as a CSV file."""

from django.http import StreamingHttpResponse
from django.views.decorators.http import require_GET

from relevancy.formats.queries import query_list_csv
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import csv_file

from .workbench import open_workbench


@require_GET
def export(request: HtmxRequest, case_id: int) -> StreamingHttpResponse:
    """Exports the list as it is filtered and sorted, with the scores of the run shown; all pages of it."""
    workbench = open_workbench(request, case_id)
    run = workbench.selection.run
    lines = query_list_csv.export_lines(workbench.queries.numbered())
    return csv_file(lines, workbench.case.name, f"{f'-run-{run.number}' if run else ''}-queries.csv")
