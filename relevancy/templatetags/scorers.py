"""`{% load scorers %}`: the tables and formulas of the scorers' pages. The modules next to this one implement them."""

from django import template

from . import formulas, numbers, workings

register = template.Library()
register.filter("formula", formulas.formula)
register.filter("raised", workings.raised)
register.simple_tag(workings.working_table, name="working_table")


@register.filter
def milliseconds(seconds: object) -> str:
    """Seconds as milliseconds: whole from 10 on, below with one decimal."""
    value = numbers.known(seconds)
    if value is None:
        return numbers.MISSING
    return numbers.whole(value * 1000) if value >= 0.01 else numbers.fixed(value * 1000, 1)
