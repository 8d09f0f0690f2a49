"""The list of queries as a file."""

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from relevancy.transfer import list_csv

from .bench import Bench, find_case


@require_GET
def export(request: HttpRequest, case_id: int) -> StreamingHttpResponse:
    """The list as it is looked at: its filter, its order, its run; all pages of it."""
    bench = Bench(request, find_case(request, case_id))
    run = f"-run-{bench.run.number}" if bench.run else ""
    response = StreamingHttpResponse(list_csv.lines(bench.entries), content_type="text/csv; charset=utf-8")
    name = f"{slugify(bench.case.name) or 'case'}{run}-queries.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response
