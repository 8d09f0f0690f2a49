"""What a workroom refuses becomes an error at the field it names."""

from django import forms

from relevancy import cases


def refuse(form: forms.Form, reason: cases.Refused) -> None:
    """Put the reason at its field; where the form has no such field, above all of them."""
    form.add_error(reason.field if reason.field in form.fields else None, str(reason))
