"""What the activity log says about each verb."""

from collections.abc import Mapping

from relevancy import hooks
from relevancy.models import Activity

# The kinds that a log is filtered by, in the order of the list.
KINDS: Mapping[str, str] = {
    "case": "Case",
    "sharing": "Sharing",
    "query": "Queries",
    "attempt": "Attempts",
    "run": "Runs",
    "annotation": "Annotations",
    "scorer": "Scorers",
    "book": "Book",
    "rating": "Ratings",
    "file": "Files",
    "team": "Team",
    "member": "Members",
    "endpoint": "Endpoints",
}

_V = Activity.Verb
SENTENCES: Mapping[str, str] = {
    _V.CASE_CREATED: "Created the case “{subject}”",
    _V.CASE_COPIED: "Created the case “{subject}” as a copy of “{original}”",
    _V.CASE_RENAMED: "Renamed the case from “{former}” to “{subject}”",
    _V.CASE_ARCHIVED: "Archived the case “{subject}”",
    _V.CASE_RESTORED: "Restored the case “{subject}”",
    _V.CASE_DELETED: "Deleted the case “{subject}”",
    _V.CASE_SHARED: "Shared the case “{subject}” with the team {team_name}",
    _V.CASE_UNSHARED: "Stopped sharing the case “{subject}” with the team {team_name}",
    _V.ATTEMPT_CREATED: "Created {subject}",
    _V.ATTEMPT_CHANGED: "Changed {subject}",
    _V.ATTEMPT_DESCRIBED: "Changed name or note of {subject}",
    _V.ATTEMPT_ARCHIVED: "Archived {subject}",
    _V.ATTEMPT_RESTORED: "Restored {subject}",
    _V.RUN_STARTED: "Started {subject}, queries: {queries:,}",
    _V.RUN_CONTINUED: "Continued {subject}",
    _V.RUN_STOPPED: "Stopped {subject}",
    _V.RUN_FINISHED: "Finished {subject}: complete",
    _V.RUN_INCOMPLETE: "Finished {subject}: incomplete. {reason}",
    _V.RUN_CANCELLED: "Finished {subject}: stopped. {reason}",
    _V.RUN_FAILED: "Finished {subject}: failed. {reason}",
    _V.RUN_PINNED: "Pinned {subject}",
    _V.RUN_UNPINNED: "Unpinned {subject}",
    _V.RUN_DESCRIBED: "Changed name or note of {subject}",
    _V.RUN_IMPORTED: "Imported {subject}",
    _V.ANNOTATION_ADDED: "Annotated run {run}: “{subject}”",
    _V.ANNOTATION_CHANGED: "Changed the annotation of run {run} to “{subject}”",
    _V.ANNOTATION_REMOVED: "Removed the annotation “{subject}” of run {run}",
    _V.ANNOTATION_RESTORED: "Restored the annotation “{subject}” of run {run}",
    _V.QUERIES_ADDED: "Added queries: {count:,}, the first one “{subject}”",
    _V.QUERY_CHANGED: "Changed the query “{subject}”: {changed}",
    _V.QUERY_DETAILS_IMPORTED: "Changed details of queries by a file: {count:,}",
    _V.QUERIES_MOVED: "Changed the order of the queries",
    _V.QUERY_REMOVED: "Removed the query “{subject}”",
    _V.QUERY_RESTORED: "Restored the query “{subject}”",
    _V.QUERIES_LINKED: "Linked queries: {subject}",
    _V.QUERIES_UNLINKED: "Unlinked queries: {subject}",
    _V.SCORER_ADDED: "Added the scorer {subject}",
    _V.SCORER_REMOVED: "Removed the scorer {subject}",
    _V.SCORER_PRIMARY: "Made {subject} the primary scorer",
    _V.SCORER_UPDATED: "Changed the scorer {subject} to version {version}",
    _V.SCORER_SHARED: "Shared the scorer {subject} with the team",
    _V.SCORER_UNSHARED: "Stopped sharing the scorer {subject} with the team",
    _V.BOOK_CHANGED: "Changed the book “{subject}”: {changed}",
    _V.BOOK_RENAMED: "Renamed the book from “{former}” to “{subject}”",
    _V.BOOK_DELETED: "Deleted the book “{subject}”",
    _V.BOOK_GUIDELINES: "Changed the guidelines of the book “{subject}”",
    _V.BOOK_MERGED: "Merged the book “{other}” into “{subject}”: {ratings:,} ratings",
    _V.RATINGS_COPIED: "Copied ratings of “{subject}” to the queries that it is linked with: {count:,}",
    _V.RATINGS_REMOVED: "Removed {removed} by {person} from the book “{subject}”: {count:,}",
    _V.RATINGS_ASSIGNED: "Gave the ratings by {rater} in the book “{subject}” to {person}: {count:,} given, {removed:,} removed",
    _V.RATINGS_IMPORTED: "Imported ratings into the book “{subject}”: {count:,} new or changed",
    _V.FILE_EXPORTED: "Exported a file of {subject}: {file}",
    _V.TEAM_CREATED: "Created the team {subject}",
    _V.TEAM_ALLOWED: "Gave the team the right to create endpoints",
    _V.TEAM_DISALLOWED: "Took the right to create endpoints from the team",
    _V.MEMBER_INVITED: "Invited {subject} as {role}",
    _V.INVITATION_WITHDRAWN: "Withdrew the invitation of {subject}",
    _V.INVITATION_DECLINED: "Declined the invitation",
    _V.MEMBER_JOINED: "{person} joined as {role}",
    _V.MEMBER_ROLE: "Changed the role of {person} from {former} to {role}",
    _V.MEMBER_LEFT: "Left the team",
    _V.MEMBER_REMOVED: "Removed {person} from the team",
    _V.ENDPOINT_CREATED: "Created the endpoint “{subject}” for the team",
    _V.ENDPOINT_CHANGED: "Changed the endpoint “{subject}”: {changed}",
    _V.ENDPOINT_SHARED: "Shared the endpoint “{subject}” with the team",
    _V.ENDPOINT_UNSHARED: "Stopped sharing the endpoint “{subject}” with the team",
    _V.ENDPOINT_ARCHIVED: "Archived the endpoint “{subject}”",
    _V.ENDPOINT_RESTORED: "Restored the endpoint “{subject}”",
}


def kind_of(verb: str) -> str:
    """Returns the kind of a verb, a key of `KINDS`."""
    return verb.partition(".")[0]


def describe(activity: Activity) -> str:
    """Returns the sentence of a line of the log, without who did it. A line of another version of the program is its verb."""
    sentence = SENTENCES.get(activity.verb) or hooks.activity_sentences.get(activity.verb)
    if sentence is None:
        return str(activity)
    values = {"subject": activity.subject, "person": str(activity.person or ""), **activity.details}
    if others := activity.details.get("of_others"):
        sentence += f", {others:,} of them in the name of others"
    try:
        return sentence.format_map(values).rstrip()
    except (KeyError, ValueError):
        return str(activity)
