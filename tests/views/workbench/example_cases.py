"""Cases for tests of the workbench: shared with the team, run on the scripted engine. And functions that read its pages."""

import re

from django.db import transaction
from django.test.html import Element, parse_html
from django.urls import reverse
from django.utils import timezone

from relevancy import cases, runs, scores
from relevancy.models import Query, Ranking, Run
from tests import factories
from tests.factories import make_attempt, make_case, query_of, rescore_query, run_now

HTMX = {"HX-Request": "true"}
LIST = {**HTMX, "HX-Target": "queries"}
RATINGS = {"query 1": {"a": 3, "x": 1}, "query 2": {"c": 2}}
SCRIPT = '<script>alert("x")</script>'


def make_workbench_case(people, team, queries=3, ratings=RATINGS, *, run=True, **options):
    """A case of the admin, shared with the team, with an attempt and, unless `None` is passed, a run."""
    case = make_case(queries, ratings, owner=people["admin"], **options)
    cases.share(case=case, team=team)
    attempt = make_attempt(case)
    if run:
        run_now(attempt)
    return case


def start(case):
    """A run that waits for its worker."""
    attempt = case.attempts.select_related("endpoint", "case").first()
    return runs.start(attempt=attempt, by=case.owner)


def big_case(people, team, count, attempts=1):
    """A case of many queries with a finished run, written without an engine: three hits each, the first one rated."""
    case = make_workbench_case(people, team, count, None, run=False)
    for _ in range(attempts - 1):
        parent = case.attempts.first()
        runs.attempts.save(
            case=case,
            endpoint=parent.endpoint,
            template=f'{{"query": "#$query##", "n": {parent.number}}}',
            by=case.owner,
            parent=finished(start(case)).attempt,
        )
    finished(start(case))
    return case


def finished(run):
    """The run with three hits for every query of its case, scored."""
    queries = Query.objects.filter(book=run.case.book)
    hits = [["a", 2.0, {"id": "a"}], ["b", 1.0, {"id": "b"}], ["c", None, {"id": "c"}]]
    columns = {"total": 1204, "took_ms": 7}
    rows = [Ranking.with_hits(hits, run=run, query=query, former_text=query.text, **columns) for query in queries]
    with transaction.atomic():
        Ranking.objects.store(rows, endpoint=run.attempt.endpoint_id)
    done = {"status": "complete", "done": len(rows), "started_at": timezone.now(), "finished_at": timezone.now()}
    Run.objects.filter(pk=run.pk).update(**done)
    run.refresh_from_db()
    scores.rescore_run(run)
    return run


def set_hits(run, text, hits, **changes):
    """Other hits for one query of a run: ids, or `(id, fields)`."""
    rows = [[hit, 1.0, {"id": hit}] if isinstance(hit, str) else [hit[0], 1.0, hit[1]] for hit in hits]
    changes = {"total": len(rows), **changes}
    factories.set_hits(run.rankings.filter(query=query_of(run.case, text)), rows, **changes)
    rescore_query(run, query_of(run.case, text).pk)


def case_query_of(case, text):
    return case.case_queries.select_related("query").get(query__text=text)


def at(case, name, *args, **query):
    """The address of something on the case's workbench."""
    return reverse(name, args=[case.pk, *args], query=query or None)


# --- reading pages ---


def tree(response):
    """The response as a tree, without tokens, which differ each time."""
    text = response.content.decode() if hasattr(response, "content") else response
    return parse_html(re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]*"', r'\1""', text))


def elements(part, **wanted):
    """Every element within a part that has these attributes; `_name`: the tag, `cls`: one of its classes."""
    matching = []
    if not isinstance(part, Element):
        return matching
    tag, cls = wanted.get("_name"), wanted.get("cls")
    values = attributes(part)
    plain = {key.replace("_", "-"): value for key, value in wanted.items() if key not in {"_name", "cls"}}
    fits = (not tag or part.name == tag) and (not cls or cls in values.get("class", "").split())
    if fits and all(values.get(key) == value for key, value in plain.items()):
        matching.append(part)
    for child in part.children:
        matching += elements(child, **wanted)
    return matching


def attributes(part):
    return {name: "" if value is None else value for name, value in part.attributes}


def by_id(response, name):
    """The one element with an id."""
    (element,) = elements(response if isinstance(response, Element) else tree(response), id=name)
    return element


AFTER_RATINGS = "rated from:body delay:200ms"  # when a head that does not poll asks


def head_after(client, case, **parameters):
    """The head of the page, which it asks for after a rating."""
    return by_id(client.get(at(case, "run_state", only="head", **parameters), headers=HTMX), "case-score")


def same(one, other):
    """Whether two parts are the same but for being sent out of band."""
    return bare(one) == bare(other)


def bare(part):
    """A part without what only tells htmx where to put it."""
    if not isinstance(part, Element):
        return part
    kept = [(name, value) for name, value in part.attributes if name != "hx-swap-oob"]
    return (part.name, sorted((name, value or "") for name, value in kept), [bare(child) for child in part.children])


def words(part):
    """The text of a part, blanks collapsed."""
    if not isinstance(part, Element):
        return " ".join(str(part).split())
    return " ".join(" ".join(map(words, part.children)).split())


def shown(response):
    """The texts of the queries in the list, in order."""
    return [attributes(link)["title"] for link in elements(tree(response), **{"_name": "a", "data-key-open": ""})]
