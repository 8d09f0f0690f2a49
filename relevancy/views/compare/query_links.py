"""Sentences about a comparison whose queries are links."""

import re
from collections.abc import Callable, Mapping

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

_QUOTED = re.compile("(“[^”]+”)")
_CARRIERS = re.compile(r"(One query|[\d,]+ queries)(?= makes? up 80 %)")


def link_queries(sentence: str, queries: Mapping[str, int], carriers: list[int], url: Callable[..., str]) -> SafeString:
    """Returns a sentence as HTML: the name of a query leads to both its result lists, and the number of those that carry the
    difference to the list of them.

    queries: ids of case queries by text. carriers: those of the queries that carry it. url: the address of the page with some
    parameters changed.
    """
    pieces = []
    for part in _QUOTED.split(sentence):
        case_query_id = queries.get(part[1:-1]) if part.startswith("“") else None
        if case_query_id is not None:
            pieces.append(format_html('“<a class="inline-link" href="{}">{}</a>”', url(open=case_query_id), part[1:-1]))
            continue
        for number, piece in enumerate(_CARRIERS.split(part, maxsplit=1)):
            if number == 1 and carriers:
                only = "-".join(map(str, carriers))
                pieces.append(format_html('<a class="inline-link" href="{}">{}</a>', url(only=only), piece))
            else:
                pieces.append(conditional_escape(piece))
    return mark_safe("".join(pieces))
