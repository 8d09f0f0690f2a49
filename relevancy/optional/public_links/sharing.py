"""Public links where a case is shared: the valid ones, and the form for another one."""

from django import forms

from relevancy.models import Case

from .models import PublicLink


class PublicLinkForm(forms.Form):
    """How long a public link is valid."""

    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[("1", "a day"), ("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "a year")],
        coerce=int,
        initial="30",
    )


def sharing_context(case: Case, form: PublicLinkForm) -> dict[str, object]:
    """Returns what `public_links/_sharing.html` shows."""
    links = PublicLink.objects.valid().filter(case=case).select_related("created_by")
    return {"case": case, "public_links": links, "link_form": form}
