"""What a judge model answered, and the prompt that it got: as it is sent for a document, and its own instructions."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import judging
from relevancy.judging.judging_documents import JudgedDocument, read_documents
from relevancy.models import Book, JudgingPair, Role
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted

from . import answer_list, counting, jobs, judges, prompts
from .access import get_book, get_judge, page_context
from .forms import InstructionsForm
from .models import JudgeAnswer, JudgeModel

ANSWERS_PER_PAGE = 50
OFFERED = 20  # documents that the prompt can be read for, besides those of the answers


@require_GET
def judge_model_answers(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """The answers, the largest disagreement with people first, filtered by state and by the text of the query."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge = get_judge(request, book, judge_id)
    text, state = request.GET.get("text", "").strip()[:200], request.GET.get("state", "")
    answers = answer_list.read_answers(judge=judge, book=book, text=text)
    chosen = [answer for answer in answers if answer.matches(state)]
    page = Paginator(chosen, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **page_context(request, book, judge),
        "page": page,
        "rows": answer_list.read_page(judge, book, list(page.object_list)),
        "states": answer_list.count_states(answers),
        "state": state,
        "text": text,
        "total": len(answers),
    }
    return render(request, "judge_models/answers.html", context)


@require_GET
def judge_model_prompt(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """The prompt as it would be sent for a document, `query` and `doc` in the address, and the instructions for those who may edit
    them."""
    book = get_book(request, book_id)
    return _render_prompt(request, book, get_judge(request, book, judge_id))


@require_POST
def instructions_change(request: HtmxRequest, book_id: int, judge_id: int) -> HttpResponse:
    """Saves own instructions; `do=restore` restores those of the shipped prompt."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    judge: JudgeModel = get_or_403(JudgeModel.objects.live(), request.user, judge_id, needs=Role.EDITOR)
    form = InstructionsForm({} if request.POST.get("do") == "restore" else request.POST)
    if form.is_valid():
        with errors_to(form):
            judges.set_instructions(judge=judge, text=form.cleaned_data["instructions"])
            former = counting.count_former(judge, book)
            text = "Saved. The next documents are judged with these instructions."
            if former:
                text += (
                    f" {counted(former, 'document was', 'documents were')} judged with others, and can be judged again."
                )
            return redirect_with_message(request, reverse("judge_model_prompt", args=[book.pk, judge.pk]), text)
    return _render_prompt(request, book, judge, form)


def _render_prompt(
    request: HtmxRequest, book: Book, judge: JudgeModel, form: InstructionsForm | None = None
) -> HttpResponse:
    documents = _offered_documents(judge, book)
    key = parse_number(request.GET.get("query", "")), request.GET.get("doc", "")
    document = _find_document(judge, book, *key) or next(iter(documents), None)
    instructions = judges.build_instructions(judge, book)
    can_edit = book.is_editable and judge.is_editable and judge.archived_at is None
    context = {
        **page_context(request, book, judge),
        "template": judges.template_of(judge),
        "instructions": instructions,
        "documents": documents,
        "document": document,
        "prompt": jobs.prompt_for(judge, book, document, instructions) if document else None,
        "can_edit": can_edit,
        "form": form or InstructionsForm(initial={"instructions": judge.instructions or prompts.OWN_TEXT}),
        "placeholders": prompts.PLACEHOLDERS,
        "lacks_guidelines": bool(book.guidelines and judge.instructions and "{guidelines}" not in judge.instructions),
        "former": counting.count_former(judge, book),
    }
    return render(request, "judge_models/prompt.html", context, status=422 if form else 200)


def _offered_documents(judge: JudgeModel, book: Book) -> list[JudgedDocument]:
    """Returns documents of the judging queue, one of each of some queries."""
    pairs = judging.judging_queue(book).pairs.order_by("pk")[: 50 * OFFERED]
    firsts = {pair.query_id: pair for pair in reversed(pairs)}
    return [
        document
        for document in read_documents(list(reversed(firsts.values()))[:OFFERED], by=judge.rater)
        if document.result is not None
    ]


def _find_document(judge: JudgeModel, book: Book, query_id: int, doc_id: str) -> JudgedDocument | None:
    """Returns a document that the judge model has answered for, or that it would be asked for; None if no run stores it."""
    answer = JudgeAnswer.objects.filter(judge=judge, query=query_id, query__book=book, doc_id=doc_id).first()
    pair = judging.judging_queue(book).pairs.filter(query=query_id, doc_id=doc_id).first()
    if answer is not None:
        pair = JudgingPair(query_id=answer.query_id, doc_id=answer.doc_id, run_id=answer.run_id or 0)
    documents = read_documents([pair], by=judge.rater) if pair else []
    return next((document for document in documents if document.result is not None), None)
