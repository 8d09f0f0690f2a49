"""The list of queries as a CSV file."""

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from relevancy.formats.queries import query_list_csv
from relevancy.views.requests import HtmxRequest

from .workbench import open_workbench


@require_GET
def export(request: HtmxRequest, case_id: int) -> StreamingHttpResponse:
    """Exports the list as it is filtered and sorted, with the scores of the run shown; all pages of it."""
    workbench = open_workbench(request, case_id)
    run = workbench.selection.run
    lines = query_list_csv.export_lines(workbench.queries.case_queries, numbers=workbench.queries.numbers())
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = f"{slugify(workbench.case.name) or 'case'}{f'-run-{run.number}' if run else ''}-queries.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response
