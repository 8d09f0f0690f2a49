"""What an optional app adds to the core. docs/writing-an-app.md shows it by an example.

An optional app is a Django app in `relevancy/optional/`: its models, migrations, templates, admin, commands and translations are
found by Django, and its modules `urls` and `api` by the core. Its module `additions` registers functions with what is defined here.
The core calls them, and knows nothing else of the app.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model
from django.utils.module_loading import module_has_submodule

if TYPE_CHECKING:
    from django.forms import Field
    from django.http import HttpRequest, HttpResponse

    from relevancy.models import Book, Case, Endpoint, Run, User


class Audience(StrEnum):
    """For whom a guide is written. The values are headings of the list of guides."""

    RATERS = "For raters"
    ENGINEERS = "For search engineers"
    ADMINISTRATORS = "For administrators"
    DEVELOPERS = "For developers"


class OptionalApp(AppConfig):
    """The configuration of an optional app.

    requires: names of the optional apps that it imports. guides_for: whom its guides are for, the files `docs/*.md`.
    """

    requires: ClassVar[tuple[str, ...]] = ()
    guides_for: ClassVar[Audience] = Audience.ENGINEERS

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        for needed in self.requires:
            if needed in settings.WITHOUT:
                raise ImproperlyConfigured(
                    f"RELEVANCY_WITHOUT leaves out {needed}, which {self.label} needs. Leave out {self.label}, too."
                )

    def find_module(self, name: str) -> str:
        """Returns the dotted name of a module of the app; empty if it has no module of this name."""
        return f"{self.name}.{name}" if module_has_submodule(self.module, name) else ""

    def ready(self) -> None:
        """Registers what the app adds to the core."""
        if name := self.find_module("additions"):
            import_module(name)


def optional_apps() -> list[OptionalApp]:
    """Returns the optional apps of this site."""
    return [config for config in apps.get_app_configs() if isinstance(config, OptionalApp)]


class Hook[**P, R]:
    """Functions of optional apps that the core calls at one place, in the order in which they were added."""

    def __init__(self) -> None:
        self._functions: list[Callable[P, R]] = []

    def add(self, function: Callable[P, R]) -> Callable[P, R]:
        """Adds a function. Can be used as a decorator."""
        self._functions.append(function)
        return function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Calls the functions and returns their results."""
        return [function(*args, **kwargs) for function in self._functions]


# --- pages ---


class Place(StrEnum):
    """Where pages show what optional apps add, and what the functions get as `shown`."""

    ACCOUNT = "account"  # the User: links to pages of the account
    ADMINISTRATION = "administration"  # the User: links on the first page of the administration
    API_TOKENS = "api-tokens"  # the User: panels below the tokens
    ATTEMPT = "attempt"  # an Attempt: links beside it in the list of the attempts of its case
    BOOK_JUDGING = "book-judging"  # a Book with the user's role: pages of its tab Judging
    BOOK_QUALITY = "book-quality"  # the same of its tab Quality
    BOOK_SOURCES = "book-sources"  # the same of its tab Sources
    CASE_TABS = "case-tabs"  # a ShownRun, whose case has the user's role: tabs of the case after its History
    CASE_COMPARE = "case-compare"  # a Case with the user's role: pages of its tab Compare
    CASE_HISTORY = "case-history"  # the same of its tab History
    CASE_SETTINGS = "case-settings"  # the same of its tab Settings
    CASE_SHARING = "case-sharing"  # a Case: panels below the teams that it is shared with, for its owners
    COMPARISON = "comparison"  # a ComparisonPage: links of its next steps, panels below its verdict
    ENDPOINT_OPTIONS = "endpoint-options"  # an EndpointForm: panels below the options of engines
    FIRST_CASE = "first-case"  # None: links for users without cases, each with a heading
    HOME = "home"  # the User: links beside the lists of cases
    JUDGE = "judge"  # a Book: links beside the documents that a rater judges, each with a heading
    SIGN_IN = "sign-in"  # the address to open afterwards, or "": links below the form for the password
    TEAM = "team"  # a Team: links in the head of its page
    RATER = "rater"  # a BookRater: links where ratings that are not a person's cannot be changed, panels below their numbers


@dataclass(frozen=True)
class Link:
    """A link to a page of an optional app. id: of the element. heading: above the link, at places that have headings."""

    label: str
    url: str
    id: str
    heading: str = ""


@dataclass(frozen=True)
class Panel:
    """A part of a page: a template of the app and its context."""

    template: str
    context: Mapping[str, Any]


@dataclass(frozen=True)
class ShownRun:
    """A case, and the number of the run that its page shows; None for the one that pages of the case show by themselves."""

    case: Case
    number: int | None = None


@dataclass(frozen=True)
class BookRater:
    """A rater of a book."""

    book: Book
    rater: User


_links: dict[Place, Hook[[Any], Iterable[Link]]] = {place: Hook() for place in Place}
_panels: dict[Place, Hook[[Any], Panel | None]] = {place: Hook() for place in Place}

add_links = {place: hook.add for place, hook in _links.items()}
"""Decorators: `@add_links[Place.COMPARISON]`. The function yields links, and only those that the user may open."""

add_panel = {place: hook.add for place, hook in _panels.items()}
"""Decorators: `@add_panel[Place.COMPARISON]`. The function returns a panel, or None."""


def links_at(place: Place, shown: object) -> Iterator[Link]:
    """Yields the links at a place."""
    for added in _links[place](shown):
        yield from added


def panels_at(place: Place, shown: object) -> Iterator[Panel]:
    """Yields the panels at a place."""
    return (panel for panel in _panels[place](shown) if panel is not None)


@dataclass(frozen=True)
class BookFigure:
    """A figure of the overview of a book. id: of the element. step: what it asks for, in the line “Next”; empty if nothing."""

    label: str
    value: str
    url: str
    id: str
    step: str = ""


book_figures: Hook[[Book], BookFigure | None] = Hook()
"""Called for the overview of a book: a figure of the app, or None."""


@dataclass(frozen=True)
class ComparisonTab:
    """A part of the page that compares runs, below its list of queries. key: as addresses name it.

    panel: called if the tab is open. Its template also gets the context of the page.
    """

    key: str
    label: str
    panel: Callable[[], Panel]


comparison_tabs: Hook[[Any], ComparisonTab] = Hook()
"""Called with a `ComparisonPage` whose runs can be compared: tabs after those of the core."""


@dataclass(frozen=True)
class HistoryMark:
    """Something that changed the scores of a case between two runs, or may have.

    text: a sentence below the chart. label: of a line in the chart before the run with the number `before`; none without a number.
    version_id: of a scorer: the label stands beside its score of the run in the table instead. levels: horizontal lines in the chart,
    each from one run to another, by number, at so many points.
    """

    text: str
    label: str = ""
    before: int | None = None
    version_id: int | None = None
    levels: Sequence[tuple[int, int, float]] = ()


settings_tried: Hook[[Collection[int]], int] = Hook()
"""Called with the ids of attempts whose runs were compared with a baseline: how many settings were tried to find them, besides these
attempts. The p of their comparisons is corrected for them, too."""

query_pages: dict[str, str] = {}
"""Pages that add queries to a case, for its editors: labels by the URL name, which takes the id of the case. They are linked where
queries are added or imported, and offered for a new case."""

history_marks: Hook[[Any], Iterable[HistoryMark]] = Hook()
"""Called with a `scores.RunHistory` for the page of a case's history."""

# --- tasks ---

run_ended: Hook[[Run], None] = Hook()
"""Called by the worker when a run has ended, or may have: a worker that begins anew calls it again."""

held_requests: Hook[[Endpoint], Mapping[str, int]] = Hook()
"""How many requests at a time the app's own tasks send to an endpoint, by who sends them, such as "study 7". They are part of what
the endpoint answers at a time. An app takes them with `runs.take_lease`."""

judging_queue_built: Hook[[Book], None] = Hook()
"""Called by the worker when it has chosen the documents to judge in a book, after a run or a change of the settings."""

sweep: Hook[[], None] = Hook()
"""Called by the worker every quarter of a minute: enqueues what a process that has died left unfinished, and what is due."""

# --- ratings ---


@dataclass(frozen=True)
class Refusal:
    """Why a user may not rate in a book, in words for the user. url: of the page that judging leads to instead."""

    reason: str
    url: str


rating_refusal: Hook[[Book, User], Refusal | None] = Hook()
"""Why a user with the role rater may not rate in a book; None if the app has nothing against it."""


@dataclass(frozen=True)
class Work:
    """Something that a user can judge: a line with a bar and a button on the page Judge.

    title: such as the name of the book. text: what is left, such as "12 to judge". button: what it says. id: of the line.
    done, total: documents or queries, for the bar; no total while that is not known.
    is_coming: whether it is not ready yet, so that the page asks again.
    """

    title: str
    text: str
    url: str
    id: str
    button: str = "Judge"
    done: int = 0
    total: int = 0
    is_coming: bool = False


work: Hook[[User], Iterable[Work]] = Hook()
"""What a user can judge besides the documents of books."""

unattended_sources: list[str] = []
"""Sources of changes of ratings that the app does not make rating by rating."""

# --- navigation ---

section_paths: dict[str, list[str]] = {}
"""Beginnings of paths of pages that belong to a section of the main navigation, by the URL name of the section."""

help_pages: dict[str, str] = {}
"""Beginnings of the routes of pages with the guide that is their help, or a section of it: "reports#planning"."""

# --- data ---

queries_changed: Hook[[int], None] = Hook()
"""Called with the id of a book in the transaction that adds queries to one of its cases, brings one back, or changes the texts or
options of its queries."""

query_models: list[type[Model]] = []
"""Models with a foreign key `query`, whose rows follow the query when books are merged."""

books_merged: Hook[[Book, Book, Mapping[int, int]], None] = Hook()
"""Called in the transaction that merges the second book into the first, before its queries get the rows of `query_models`.

The mapping has those of its queries that the first book has, too: `{id: id of the query of the first book}`. Nothing has been moved
yet, and a function may raise `ValidationError`.
"""

check_unused: Hook[[Book], None] = Hook()
"""Called before all grades of a book are changed, or the book is merged, while it is locked. A function raises `ValidationError` if
the app is about to write grades of the present scale."""


@dataclass(frozen=True)
class GradeField:
    """A field with grades of a book, besides those of ratings. It gets the new grades when those of the ratings are changed.

    book: its path to the book. must_fit: whether a scale without one of its grades is refused, as for ratings.
    """

    model: type[Model]
    name: str = "value"
    book: str = "query__book"
    must_fit: bool = False


grade_fields: list[GradeField] = []

parts_of_book: list[str] = []
"""What is lost with a book, in words that continue a list."""

# --- accounts ---


@dataclass(frozen=True)
class Proof:
    """What users show besides the password, to sign in and to delete the account: those with a `RequiredProof` of the app.

    ask: called with a request whose password was right, the user and the address to open afterwards. It leads to a page of the app,
    which calls `finish_sign_in` of `relevancy.views.account.sign_in` in the end. The user has no session until then.
    field, check: the same in a form. The function gets the user and what was entered, and raises `ValidationError`.
    """

    ask: Callable[[HttpRequest, User, str], HttpResponse]
    field: Field
    check: Callable[[User, str], None]


proofs: dict[str, Proof] = {}
"""By the name of the app, as `RequiredProof.app` has it."""

access_revoked: Hook[[User, bool], None] = Hook()
"""Called in the transaction that sets a new password, if that ends other ways to sign in, too.

The second argument says that only now the address is known to be the user's: another person may have made the account.
"""


@dataclass(frozen=True)
class Loss:
    """What becomes of objects when an account or a case is deleted.

    outcome: "deleted", "archived" or "stopped". kind: a stable name for the line of the page. text: the line.
    """

    outcome: str
    kind: str
    text: str


user_losses: Hook[[User], Iterable[Loss]] = Hook()
"""Called for the page on which a person deletes the account. `accounts.deletion.unshared` finds what nobody else can see."""

user_deletion: Hook[[User], None] = Hook()
"""Called first in the transaction that deletes an account: the user is still a member of teams then."""

case_losses: Hook[[Case, User], Iterable[Loss]] = Hook()
"""Called for the page on which a user deletes a case: what is deleted with it, of what the user may see."""

# --- files ---

file_formats: list[Any] = []
"""Formats in which files can be imported: `formats.file_formats.FileFormat`. Offered after those of the core."""


@dataclass(frozen=True)
class CasePart:
    """What a case has of an app, in files with whole cases and in copies of a case.

    write: returns it as JSON; None if the case has nothing of it.
    read: called with what a file has, before anything is stored. Returns what `store` takes. Raises `BadFile`, whose message begins
    with the second argument, the location in the file.
    store: called in the transaction that creates a case, when all else of the case is stored. Raises `ValidationError`.
    """

    write: Callable[[Case], Any]
    read: Callable[[Any, str], Any]
    store: Callable[[Case, Any, User], None]


case_parts: dict[str, CasePart] = {}
"""By the name of the app. Files have them in the member `apps`; a site without the app leaves its part out and says so."""

downloads: defaultdict[type[Model], dict[str, Any]] = defaultdict(dict)
"""Files of a case, run or book that can be downloaded, by model and name: `formats.exports.Export`."""

# --- the activity log ---

case_activity_kinds: dict[str, str] = {}
team_activity_kinds: dict[str, str] = {}
"""Kinds of entries of the logs of cases and of teams, besides those of the core, with their labels."""

activity_sentences: dict[str, str] = {}
"""Sentences by verb, for `activity.record`. The part of a verb before its dot is a kind of this log."""
