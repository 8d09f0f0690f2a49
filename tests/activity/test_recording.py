"""Every kind of change adds a line to the log of its case or team, in words, with the person who made it."""

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from relevancy import (
    accounts,
    activity,
    books,
    cases,
    endpoints,
    engines,
    judging,
    queries,
    ratings,
    runs,
    scorers,
    teams,
)
from relevancy.activity import describe, kind_of
from relevancy.activity.sentences import SENTENCES
from relevancy.formats import exports
from relevancy.formats.queries import queries_import
from relevancy.models import (
    Activity,
    Book,
    Case,
    Role,
    Run,
    ScorerDefinition,
    User,
)
from relevancy.runs.imported import ImportedRankings
from tests.factories import (
    import_csv,
    make_attempt,
    make_case,
    make_scorer,
    make_team,
    make_user,
    script_of,
    set_rule,
    set_scale,
)

Verb = Activity.Verb
ROOT = Path(activity.__file__).parent.parent


class Recorder:
    """Runs actions and returns what they added to logs."""

    def __init__(self) -> None:
        self.verbs: set[str] = set()

    def __call__(self, action: Callable[[], Any], *expected: str, case: Case | None = None, by: User | None) -> Any:
        """Checks the sentences that an action adds, who did it, and in whose log they are. Returns what the action returns."""
        last = Activity.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        result = action()
        rows = list(Activity.objects.filter(pk__gt=last).order_by("pk").select_related("by", "person"))
        assert [describe(row) for row in rows] == list(expected)
        assert {row.by for row in rows} <= {by}
        assert {row.case_id for row in rows} <= ({case.pk} if case else {None})
        self.verbs.update(row.verb for row in rows)
        return result


@pytest.mark.django_db
@pytest.mark.usefixtures("script")
def test_every_change_is_recorded() -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    check = Recorder()
    team = check(lambda: teams.create(name="Search", by=ann), "Created the team Search", by=ann)
    scorer, other = make_scorer("P@5", "First"), make_scorer("RR@10", "Second")

    # the case
    last = Activity.objects.order_by("-pk")[0].pk
    case = cases.create(name="Movies", owner=ann, scorers=[scorer])
    rows = Activity.objects.filter(pk__gt=last).order_by("pk")
    assert [describe(row) for row in rows] == ["Created the case “Movies”", "Added the scorer First"]
    check.verbs.update(rows.values_list("verb", flat=True))
    check(lambda: cases.rename(case=case, name="Movies", by=ben), case=case, by=ben)
    check(
        lambda: cases.rename(case=case, name="Films", by=ben),
        "Renamed the case from “Movies” to “Films”",
        case=case,
        by=ben,
    )
    check(lambda: cases.archive(case=case, by=ann), "Archived the case “Films”", case=case, by=ann)
    check(lambda: cases.restore(case=case, by=ann), "Restored the case “Films”", case=case, by=ann)
    text = "Shared the case “Films” with the team Search"
    check(lambda: cases.share(case=case, team=team, by=ann), text, case=case, by=ann)
    text = "Stopped sharing the case “Films” with the team Search"
    check(lambda: cases.unshare(case=case, team=team, by=ann), text, case=case, by=ann)
    assert Activity.objects.filter(team=team).count() == 3

    # queries
    text = "Added queries: 3, the first one “a”"
    added = check(lambda: queries.add(case=case, texts=["a", "b", "c"], by=ben), text, case=case, by=ben).added
    check(lambda: queries.add(case=case, texts=["a"], by=ben), case=case, by=ben)
    values = {"case_query": added[0], "text": "a", "notes": "", "by": ben}
    text = "Changed the query “a”: weight"
    check(lambda: queries.edit(**values, weight=2), text, case=case, by=ben)
    check(lambda: queries.edit(**values, weight=2), case=case, by=ben)
    check(lambda: queries.remove(case_query=added[0], by=ben), "Removed the query “a”", case=case, by=ben)
    check(lambda: queries.restore(case_query=added[0], by=ben), "Restored the query “a”", case=case, by=ben)
    text = "Changed the query “a”: information need, reference answer or notes"
    describe_query = {"query": added[0].query, "information_need": "x", "notes": "", "by": ben}
    check(lambda: queries.describe(**describe_query), text, case=case, by=ben)
    text = "Changed the query “a”: tags"
    check(lambda: queries.tags.set_tags(query=added[0].query, tags="new", by=ben), text, case=case, by=ben)
    move = {"case": case, "case_query": added[2], "before": added[0], "by": ben}
    check(lambda: queries.move(**move), "Changed the order of the queries", case=case, by=ben)
    check(lambda: queries.move_by(case_query=added[2], steps=1, by=ben), case=case, by=ben)
    pair = [row.query for row in added[:2]]
    check(lambda: queries.link(queries=pair, by=ben), "Linked queries: “a”, “b”", case=case, by=ben)
    ratings.rate(query=pair[0], doc_id="copied", value=1, by=ann)
    text = "Copied ratings of “a” to the queries that it is linked with: 1"
    check(lambda: books.copy_to_linked(query=pair[0], by=ben), text, case=case, by=ben)
    check(lambda: books.copy_to_linked(query=pair[0], by=ben), case=case, by=ben)
    check(lambda: queries.unlink(query=pair[0], by=ben), "Unlinked queries: “a”", case=case, by=ben)

    text = "Changed details of queries by a file: 1"
    source = queries_import.open_source(case=case, file=BytesIO(b"query,notes\na,new\nb,\n"), name="queries.csv")
    values = {"case": case, "source": source, "by": ben}
    check(lambda: queries_import.import_queries(**values), text, case=case, by=ben)

    # scorers of the case
    check(lambda: scorers.add_scorer(case=case, scorer=other, by=ben), "Added the scorer Second", case=case, by=ben)
    text = "Made Second the primary scorer"
    check(lambda: scorers.make_primary(case=case, scorer=other, by=ben), text, case=case, by=ben)
    check(lambda: scorers.drop_scorer(case=case, scorer=scorer, by=ben), "Removed the scorer First", case=case, by=ben)
    scale = ((0, ""), (1, ""))
    own = scorers.create(name="Own", definition=ScorerDefinition(measure="P@5", scale=scale), by=ann)
    scorers.add_scorer(case=case, scorer=own, by=ann)
    scorers.change(scorer=own, by=ann, definition=ScorerDefinition(measure="P@7", scale=scale))
    text = "Changed the scorer Own to version 2"
    check(lambda: scorers.adopt(scorer=own, cases=[case], by=ben), text, case=case, by=ben)
    check(lambda: scorers.share(scorer=own, team=team, by=ann), "Shared the scorer Own with the team", by=ann)
    text = "Stopped sharing the scorer Own with the team"
    check(lambda: scorers.unshare(scorer=own, team=team, by=ann), text, by=ann)

    # endpoints
    values = {"name": "films", "engine": "scripted", "url": "s", "by": ann, "teams": (team,)}
    text = "Created the endpoint “films” for the team"
    endpoint = check(lambda: endpoints.create(**values), text, by=ann)
    values = {"name": "films", "engine": "scripted", "url": "s", "parallel": 2, "per_minute": 0}
    secrets = {"credentials": {"user": "u", "password": "secret"}, "headers": {}}
    text = "Changed the endpoint “films”: credentials, parallel requests"
    check(lambda: endpoints.update(endpoint=endpoint, by=ann, **values, **secrets), text, by=ann)
    check(lambda: endpoints.archive(endpoint=endpoint, by=ann), "Archived the endpoint “films”", by=ann)
    check(lambda: endpoints.restore(endpoint=endpoint, by=ann), "Restored the endpoint “films”", by=ann)
    text = "Stopped sharing the endpoint “films” with the team"
    check(lambda: endpoints.unshare(endpoint=endpoint, team=team, by=ann), text, by=ann)
    text = "Shared the endpoint “films” with the team"
    check(lambda: endpoints.share(endpoint=endpoint, team=team, by=ann), text, by=ann)
    assert "secret" not in str(list(Activity.objects.values_list("subject", "details")))

    # attempts and runs
    attempt = check(lambda: make_attempt(case), "Created attempt 1", case=case, by=ann)
    change = {"case": case, "endpoint": attempt.endpoint, "template": attempt.template, "parent": attempt, "by": ann}
    check(lambda: runs.attempts.save(**change, depth=5), "Changed attempt 1", case=case, by=ann)
    text = "Changed name or note of attempt 1"
    check(lambda: runs.attempts.describe(attempt=attempt, name="x", note="", by=ben), text, case=case, by=ben)
    copy = check(lambda: runs.attempts.duplicate(attempt=attempt, by=ann), "Created attempt 2", case=case, by=ann)
    check(lambda: runs.attempts.archive(attempt=copy, by=ben), "Archived attempt 2", case=case, by=ben)
    check(lambda: runs.attempts.restore(attempt=copy, by=ben), "Restored attempt 2", case=case, by=ben)
    run = check(lambda: runs.start(attempt=attempt, by=ann), "Started run 1, queries: 3", case=case, by=ann)
    check(lambda: runs.finish_here(run), "Finished run 1: complete", case=case, by=None)
    queries.add(case=case, texts=["d"], by=ann)
    check(lambda: runs.complete(run=run, by=ann), "Continued run 1", case=case, by=ann)
    run.parts.update(claimed_by="worker", heartbeat_at=timezone.now())
    check(lambda: runs.cancel(run=run, by=ben), "Stopped run 1", case=case, by=ben)
    run.parts.update(claimed_by="")
    text = "Finished run 1: stopped. 3 of 4 queries had been searched."
    check(lambda: runs.finish_here(run), text, case=case, by=None)
    check(lambda: runs.pin(run=run, by=ben), "Pinned run 1", case=case, by=ben)
    check(lambda: runs.pin(run=run, by=ben), case=case, by=ben)
    check(lambda: runs.unpin(run=run, by=ben), "Unpinned run 1", case=case, by=ben)
    text = "Changed name or note of run 1"
    check(lambda: runs.describe(run=run, name="x", note="", by=ben), text, case=case, by=ben)
    script_of(attempt).answers["a"] = engines.EndpointRefused("bad")
    run = runs.start(attempt=attempt, by=ann)
    text = "Finished run 2: incomplete. 1 of 4 searches failed. First error: bad"
    check(lambda: runs.finish_here(run), text, case=case, by=None)
    run = runs.start(attempt=attempt, by=ann)
    run.parts.update(worker_restarts=3)
    reason = (
        "3 workers in a row stopped unexpectedly during this run. Check the log of the worker, then complete the run."
    )
    check(runs.sweep, f"Finished run 3: failed. {reason}", case=case, by=None)
    both = [("b", 2.0, {"id": "b"}), ("a", 1.0, {"id": "a"})]
    hits = {row.query_id: both for row in added[:2]}
    imported = ImportedRankings(name="Other", note="", fields="id", hits=hits)
    rankings = {"case": case, "rankings": [imported], "by": ben}
    check(lambda: runs.import_rankings(**rankings), "Imported run 4", case=case, by=ben)

    # annotations
    values = {"case": case, "run": run, "text": "New index", "by": ben}
    annotation = check(lambda: cases.annotations.add(**values), "Annotated run 3: “New index”", case=case, by=ben)
    text = "Changed the annotation of run 3 to “Old index”"
    check(lambda: cases.annotations.change(annotation=annotation, text="Old index", by=ben), text, case=case, by=ben)
    text = "Removed the annotation “Old index” of run 3"
    check(lambda: cases.annotations.remove(annotation=annotation, by=ben), text, case=case, by=ben)
    text = "Restored the annotation “Old index” of run 3"
    check(lambda: cases.annotations.restore(annotation=annotation, by=ben), text, case=case, by=ben)

    # the book and its ratings
    book = case.book
    text = "Changed the book “Movies”: rule latest → mean"
    check(lambda: set_rule(book=book, rule="mean", by=ben), text, case=case, by=ben)
    check(lambda: set_rule(book=book, rule="mean", by=ben), case=case, by=ben)
    scale = [[0, "no"], [1, ""], [2, ""], [3, "yes"]]
    text = "Changed the book “Movies”: scale, relevant from 3"
    values = {"book": book, "scale": scale, "relevant_from": 3, "by": ben}
    check(lambda: set_scale(**values), text, case=case, by=ben)
    text = "Renamed the book from “Movies” to “Films”"
    check(lambda: books.change_book(book=book, name="Films", by=ben), text, case=case, by=ben)
    books.change_book(book=book, name="Movies", by=ben)
    text = "Changed the guidelines of the book “Movies”"
    check(lambda: books.change_book(book=book, guidelines="Be kind.", by=ben), text, case=case, by=ben)
    check(lambda: books.change_book(book=book, guidelines="Be kind.", by=ben), case=case, by=ben)
    text = "Changed the book “Movies”: which documents are judged, and in which order"
    chosen = {"book": book, "depth": 10, "ratings_per_pair": 1, "order": "query", "by": ben}
    check(lambda: judging.set_judging(**chosen), text, case=case, by=ben)
    csv = "query,docid,rating\na,doc,2\nz,doc,1\n"
    check(
        lambda: import_csv(case=case, text=csv, by=ben),
        "Added queries: 1, the first one “z”",
        "Imported ratings into the book “Movies”: 2 new or changed",
        case=case,
        by=ben,
    )
    csv = f"query,docid,rating,rater\na,x,1,{ann.email}\na,y,1,Zoe\nz,x,0,{ben.email}\n"
    check(
        lambda: import_csv(case=case, text=csv, by=ben),
        "Imported ratings into the book “Movies”: 3 new or changed, 2 of them in the name of others",
        case=case,
        by=ben,
    )
    check(lambda: ratings.rate(query=added[0].query, doc_id="a", value=1, by=ann), case=case, by=ann)
    named = accounts.ensure_raters(["Eve"], by=ann)["Eve"]
    ratings.rate_book(book=book, values={added[0].query_id: {"a": 1, "e": 1}}, rater=named, by=ann)
    text = "Gave the ratings by Eve in the book “Movies” to Ann: 1 given, 1 removed"
    check(lambda: books.assign_ratings(book=book, rater=named, person=ann, by=ann), text, case=case, by=ann)
    check(lambda: books.remove_ratings(book=book, rater=named, by=ben), case=case, by=ben)
    fay = make_user("Fay")
    ratings.rate(query=added[0].query, doc_id="e", value=1, by=fay)
    text = "Removed all ratings by Fay from the book “Movies”: 1"
    check(lambda: books.remove_ratings(book=book, rater=fay, by=ann), text, case=case, by=ann)

    # files
    text = "Exported a file of the case: Qrels, TREC"
    check(lambda: exports.files_of(Case)["qrels"].open(case, ben).close(), text, case=case, by=ben)
    text = "Exported a file of run 1: TREC"
    check(lambda: exports.files_of(Run)["trec"].open(case.runs.get(number=1), ben).close(), text, case=case, by=ben)
    text = "Exported a file of the book “Movies”: Ratings, CSV"
    check(lambda: exports.files_of(Book)["ratings"].open(book, ben).close(), text, case=case, by=ben)

    # copies, merges and the end
    values = {"case": case, "name": "Copy", "ratings": "copy", "with_attempts": False, "by": ben}
    last = Activity.objects.order_by("-pk")[0].pk
    copied = cases.duplicate(**values).case
    first = Activity.objects.filter(pk__gt=last).order_by("pk")[0]
    assert (describe(first), first.case, first.by) == ("Created the case “Copy” as a copy of “Films”", copied, ben)
    check.verbs.add(first.verb)
    last = Activity.objects.order_by("-pk")[0].pk
    Book.objects.filter(pk=copied.book_id).update(owner=ann)  # who owns both may merge them
    merged = books.merge_books(book=book, other=copied.book, by=ann)
    rows = Activity.objects.filter(pk__gt=last).order_by("case_id")
    text = f"Merged the book “Copy” into “Movies”: {merged.ratings} ratings"
    assert [(describe(row), row.case, row.by) for row in rows] == [(text, case, ann), (text, copied, ann)]
    check.verbs.update(rows.values_list("verb", flat=True))
    copied = Case.objects.get(pk=copied.pk)
    cases.share(case=copied, team=team, by=ben)
    check(lambda: cases.delete(case=copied, by=ben), "Deleted the case “Copy”", by=ben)
    unused = books.copy_book(book=book, name="Unused", settings=books.BookSettings.of(book), by=ben)
    unused.teams.add(team)
    check(lambda: books.delete_book(book=unused, by=ben), "Deleted the book “Unused”", by=ben)

    # members
    values = {"team": team, "role": Role.RATER, "by": ann}
    text = "Invited ben@example.com as rater"
    invitation = check(lambda: teams.invitations.invite(**values, email="ben@example.com"), text, by=ann)
    check(lambda: teams.invitations.accept(invitation=invitation, by=ben), "Ben joined as rater", by=ben)
    member = team.memberships.get(user=ben)
    text = "Changed the role of Ben from rater to editor"
    check(lambda: teams.set_role(member=member, role=Role.EDITOR, by=ann), text, by=ann)
    check(lambda: teams.set_role(member=member, role=Role.EDITOR, by=ann), by=ann)
    check(lambda: teams.remove_member(member=member, by=ben), "Left the team", by=ben)
    member = check(
        lambda: teams.add_member(team=team, email=ben.email, role=Role.VIEWER), "Ben joined as viewer", by=None
    )
    check(lambda: teams.remove_member(member=member, by=ann), "Removed Ben from the team", by=ann)
    text = "Invited 3 people with a link as rater"
    invitation = check(lambda: teams.invitations.invite(**values, uses=3), text, by=ann)
    text = "Withdrew the invitation of 3 people with a link"
    check(lambda: teams.invitations.withdraw(invitation=invitation, by=ann), text, by=ann)
    invitation = teams.invitations.invite(**values, email="ben@example.com")
    check(lambda: teams.invitations.decline(invitation=invitation, by=ben), "Declined the invitation", by=ben)
    check.verbs |= {Verb.TEAM_ALLOWED, Verb.TEAM_DISALLOWED}  # in tests/test_admin.py
    assert check.verbs == set(Verb)
    assert set(SENTENCES) == set(Verb)
    assert {kind_of(verb) for verb in Verb} == set(activity.KINDS)


@pytest.mark.django_db
def test_a_change_that_fails_is_not_recorded() -> None:
    """The log is written in the transaction of the change."""
    case = make_case(1)
    last = Activity.objects.count()
    with pytest.raises(ValueError), transaction.atomic():
        cases.archive(case=case, by=case.owner)
        raise ValueError
    assert Activity.objects.count() == last


@pytest.mark.django_db
def test_a_deleted_account_leaves_no_name_in_a_log() -> None:
    team = make_team("Search", Ann=Role.OWNER, Ben=Role.OWNER)
    ann, ben = (User.objects.get(name=name) for name in ("Ann", "Ben"))
    teams.remove_member(member=team.memberships.get(user=ben), by=ann)
    invitation = teams.invitations.invite(team=team, role=Role.OWNER, by=ann, email=ben.email)
    teams.invitations.accept(invitation=invitation, by=ben)
    accounts.deletion.delete(user=ben)
    entries = [f"{row.by} {describe(row)}" for row in Activity.objects.filter(team=team).select_related("by", "person")]
    former = f"Former user {ben.pk}"
    assert entries == [
        f"{former} Left the team",
        f"{former} {former} joined as owner",
        f"Ann Invited {former} as owner",
        f"Ann Removed {former} from the team",
    ]


def test_a_sentence_of_another_version_is_the_verb() -> None:
    assert describe(Activity(verb="run.flown", subject="run 1")) == "run.flown run 1"
    assert describe(Activity(verb=Verb.RUN_STARTED, subject="run 1", details={})) == "run.started run 1"


def test_long_texts_are_cut() -> None:
    assert len(activity.recording._shortened("x" * 300)) == 200


SERVICES = ("accounts", "books", "cases", "endpoints", "judging", "queries", "ratings", "runs", "scorers", "teams")


def calls_without_actor() -> Iterator[str]:
    """Calls of services that could say who acts, and do not."""
    for path in sorted(path for path in ROOT.glob("**/*.py") if "tests" not in path.parts):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            *names, name = ast.unparse(node.func).split(".")
            if names and names[0] in SERVICES:
                service: Any = importlib.import_module(f"relevancy.{names[0]}")
                for part in (*names[1:], name):
                    service = getattr(service, part, None)
                if not inspect.isfunction(service):
                    continue
                keywords = {keyword.arg for keyword in node.keywords}
                if "by" in inspect.signature(service).parameters and "by" not in keywords and None not in keywords:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node.func)}"


def test_every_caller_says_who_acts() -> None:
    """`by` is optional only for tests: a page that leaves it out would record a change of the server. Commands may say None."""
    assert list(calls_without_actor()) == []
