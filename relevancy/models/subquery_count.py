"""Counts rows in the database, as many as wanted."""

from django.db.models import IntegerField, Subquery


class SubqueryCount(Subquery):
    """The number of rows of a queryset, which may be sliced and may refer to the outer query."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()
