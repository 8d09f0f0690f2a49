"""A new book from a file, with a preview."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import formats
from relevancy.formats.cases import book_import
from relevancy.formats.cases.case_content import BookContent
from relevancy.formats.file_formats import FileKind
from relevancy.models.errors import error_text
from relevancy.views.forms import WholeFileForm
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted

MAX_RATERS = 20  # that are listed


@require_http_methods(["GET", "POST"])
def import_book(request: HtmxRequest) -> HttpResponse:
    """Says what would be made of a file (`do=preview`), and makes it (`do=import`)."""
    if request.method == "GET":
        return _render(request, WholeFileForm(FileKind.BOOK))
    action = submitted(request, ImportAction)
    form = WholeFileForm(FileKind.BOOK, files=request.FILES)
    if not form.is_valid():
        return _render(request, form, status=422)
    file = form.cleaned_data["file"]
    try:
        content = formats.read_book(file)
        formats.check_page_limit(content.ratings.count, "import_book", is_book=True)
        if action == ImportAction.PREVIEW:
            return _render(request, form, content)
        book = book_import.import_book(content=content, by=request.user)
    except (formats.BadFile, ValidationError) as error:
        form.add_error("file", error_text(error))
        return _render(request, form, status=422)
    text = (
        f"Book “{book}” imported with {counted(len(content.details), 'query', 'queries')} and "
        f"{counted(content.ratings.count, 'rating')}."
    )
    return redirect_with_message(request, reverse("book", args=[book.pk]), text)


def _render(
    request: HtmxRequest,
    form: WholeFileForm,
    content: BookContent | None = None,
    status: int = 200,
) -> HttpResponse:
    """Renders the page; for a file sent by htmx the preview alone."""
    raters = content.ratings.names if content else []
    context = {
        "file_form": form,
        "content": content,
        "raters": raters[:MAX_RATERS],
        "more_raters": len(raters) - MAX_RATERS,
    }
    name = "_import_preview" if request.htmx and request.method == "POST" else "import"
    return render(request, f"books/{name}.html", context, status=status)
