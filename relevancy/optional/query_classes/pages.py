"""The rules that set tags on the queries of a case, their preview and their forms."""

from dataclasses import dataclass
from enum import StrEnum

from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy.models import Case
from relevancy.models.errors import error_text
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case, get_case_with_editable_book
from relevancy.wording import counted

from . import rules
from .conditions import describe
from .forms import RuleForm, build_form
from .models import TagRule
from .tasks import enqueue


class RuleAction(StrEnum):
    """What the submit buttons of the form of a rule do."""

    PREVIEW = "preview"
    SAVE = "save"


class DeleteAction(StrEnum):
    """What the submit buttons of the page that deletes a rule do."""

    WITH_TAGS = "with_tags"
    KEEP_TAGS = "keep_tags"


@dataclass(frozen=True)
class RuleRow:
    """A line of the list."""

    rule: TagRule
    condition: str


@require_GET
def query_classes(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The rules of a case with the number of queries that match. Polled by htmx while they are being applied."""
    case = get_case(request, case_id)
    state = rules.read_state(case)
    is_pending = state is not None and state.is_outdated
    if is_pending:
        enqueue(case.pk)
    context = {
        "case": case,
        "can_edit": CaseAccess(case, request.user).can_edit_book,
        "rows": [RuleRow(rule, describe(rule.kind, rule.settings)) for rule in rules.list_rules(case)],
        "state": state,
        "is_pending": is_pending,
        "kinds": TagRule.Kind.choices,
        "presets": ", ".join(tag for tag, _, _ in rules.PRESETS),
    }
    template = "query_classes/_list.html" if request.htmx else "query_classes/query_classes.html"
    return render(request, template, context)


@require_http_methods(["GET", "POST"])
def tag_rule_new(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The form of a new rule; `kind` is in the address. Previews it (`do=preview`) or creates it (`do=save`)."""
    case = get_case_with_editable_book(request, case_id)
    kind = _kind(request.GET.get("kind", ""))
    form = build_form(kind, request.POST or None)
    if request.method == "POST" and submitted(request, RuleAction) == RuleAction.SAVE and form.is_valid():
        try:
            rules.create(case=case, tag=form.cleaned_data["tag"], kind=kind, settings=form.settings, by=request.user)
            return _saved(request, case, f"Rule of the tag “{form.cleaned_data['tag']}” created.")
        except ValidationError as error:
            add_errors(form, error)
    return _render_form(request, case, kind, form)


@require_http_methods(["GET", "POST"])
def tag_rule_edit(request: HtmxRequest, case_id: int, rule_id: int) -> HttpResponse:
    """The form of a rule. Previews the changed rule (`do=preview`) or stores it (`do=save`)."""
    case = get_case_with_editable_book(request, case_id)
    rule = _get_rule(case, rule_id)
    form = build_form(rule.kind, request.POST or None, rule)
    if request.method == "POST" and submitted(request, RuleAction) == RuleAction.SAVE and form.is_valid():
        try:
            rules.change(rule=rule, tag=form.cleaned_data["tag"], settings=form.settings, by=request.user)
            return _saved(request, case, f"Rule of the tag “{form.cleaned_data['tag']}” saved.")
        except ValidationError as error:
            add_errors(form, error)
    return _render_form(request, case, rule.kind, form, rule)


@require_POST
def tag_rule_preview(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The queries that a rule of the form would match; `kind` is in the address. Requested by htmx while the form is filled in."""
    case = get_case_with_editable_book(request, case_id)
    kind = _kind(request.GET.get("kind", ""))
    return render(request, "query_classes/_preview.html", _preview(case, kind, build_form(kind, request.POST)))


@require_http_methods(["GET", "POST"])
def tag_rule_delete(request: HtmxRequest, case_id: int, rule_id: int) -> HttpResponse:
    """Asks whether the tags go, too, and deletes a rule."""
    case = get_case_with_editable_book(request, case_id)
    rule = _get_rule(case, rule_id)
    if request.method == "POST":
        with_tags = submitted(request, DeleteAction) == DeleteAction.WITH_TAGS
        rules.delete(rule=rule, with_tags=with_tags, by=request.user)
        text = f"Rule of the tag “{rule}” deleted."
        return _saved(request, case, f"{text} Its tags are being removed." if with_tags else f"{text} Its tags stay.")
    context = {
        "case": case,
        "rule": rule,
        "condition": describe(rule.kind, rule.settings),
        "tagged": rule.tagged.count(),
    }
    return render(request, "query_classes/delete.html", context)


@require_POST
def tag_rule_presets(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Creates the usual rules that the case does not have."""
    case = get_case_with_editable_book(request, case_id)
    try:
        created = rules.create_presets(case=case, by=request.user)
    except ValidationError as error:
        return conflict(request, reverse("query_classes", args=[case.pk]), error_text(error))
    text = f"{counted(len(created), 'rule')} created." if created else "The case has all usual rules already."
    return _saved(request, case, text)


def _kind(text: str) -> str:
    if text not in TagRule.Kind.values:
        raise BadRequest(f"There is no kind of rule {text[:50]!r}. Kinds are: {', '.join(TagRule.Kind.values)}.")
    return text


def _get_rule(case: Case, rule_id: int) -> TagRule:
    rule: TagRule = get_object_or_404(TagRule, case=case, pk=rule_id, is_deleted=False)
    rule.case = case
    return rule


def _saved(request: HtmxRequest, case: Case, text: str) -> HttpResponse:
    enqueue(case.pk)
    return redirect_with_message(request, reverse("query_classes", args=[case.pk]), text)


def _preview(case: Case, kind: str, form: RuleForm) -> dict[str, object]:
    context: dict[str, object] = {"case": case, "form": form, "was_sent": form.is_bound}
    if form.is_bound and form.is_valid():
        try:
            context["preview"] = rules.preview(
                case=case, tag=form.cleaned_data["tag"], kind=kind, settings=form.settings
            )
        except ValidationError as error:
            add_errors(form, error)
    return context


def _render_form(
    request: HtmxRequest, case: Case, kind: str, form: RuleForm, rule: TagRule | None = None
) -> HttpResponse:
    context = {**_preview(case, kind, form), "kind": kind, "label": TagRule.Kind(kind).label, "rule": rule}
    return render(request, "query_classes/rule.html", context, status=422 if form.errors else 200)
