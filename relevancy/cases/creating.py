"""New cases, and what they look like to others."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from relevancy import scoring
from relevancy.models import Book, Case, CaseScorer, Scorer, ScorerVersion, Team

from .errors import Refused
from .scales import newest_version

MAX_SCORERS = 10


def default_scorer() -> Scorer:
    """The scorer a new case starts with unless others are chosen."""
    return Scorer.objects.live().order_by("-is_default", "id")[0]


def create(
    *,
    name: str,
    owner: Any,
    scorers: Sequence[Scorer] = (),
    scale: Sequence[Sequence[Any]] | None = None,
    book: Book | None = None,
) -> Case:
    """A case with its book. The book takes `scale`, else that of the first scorer; an existing `book` brings its own."""
    name = " ".join(name.split())
    if not name:
        raise Refused("A case needs a name.", field="name")
    if len(name) > 191:
        raise Refused(f"The name has {len(name)} characters; 191 are possible.", field="name")
    chosen = list(scorers) or [default_scorer()]
    with transaction.atomic():
        if book is None:
            grades = list(scale or newest_version(chosen[0]).scale)
            relevant = scoring.Scale(tuple(float(grade) for grade, _ in grades)).relevant_from
            book = Book.objects.create(name=name, owner=owner, scale=grades, relevant_from=relevant)
        case = Case.objects.create(name=name, book=book, owner=owner)
        choose_scorers(case=case, scorers=chosen)
    return case


def choose_scorers(*, case: Case, scorers: Sequence[Scorer], versions: Sequence[ScorerVersion] = ()) -> None:
    """The case's scorers, the primary first. Those it has keep the version it is scored with, others come in the one of `versions`
    that is theirs, else in their newest."""
    if not scorers:
        raise Refused("A case needs at least one scorer.", field="scorer")
    if len(scorers) > MAX_SCORERS:
        raise Refused(f"A case has at most {MAX_SCORERS} scorers.", field="scorer")
    with transaction.atomic():
        used = {version.scorer_id: version for version in versions}
        used |= {entry.scorer_id: entry.version for entry in case.case_scorers.select_related("version")}
        case.case_scorers.all().delete()
        CaseScorer.objects.bulk_create(
            CaseScorer(case=case, scorer=scorer, version=used.get(scorer.pk) or newest_version(scorer), position=place)
            for place, scorer in enumerate(dict.fromkeys(scorers))
        )


def add_scorer(*, case: Case, scorer: Scorer) -> None:
    """One more scorer, beside those there are."""
    choose_scorers(case=case, scorers=[*_scorers(case), scorer])


def drop_scorer(*, case: Case, scorer: Scorer) -> None:
    """One scorer less; what it scored stays, and comes back with it."""
    choose_scorers(case=case, scorers=[other for other in _scorers(case) if other.pk != scorer.pk])


def make_primary(*, case: Case, scorer: Scorer) -> None:
    """Put one scorer first; the others stay behind it in their order."""
    others = [other for other in _scorers(case) if other.pk != scorer.pk]
    choose_scorers(case=case, scorers=[scorer, *others][:MAX_SCORERS])


def _scorers(case: Case) -> list[Scorer]:
    return [entry.scorer for entry in case.case_scorers.select_related("scorer")]


def rename(*, case: Case, name: str) -> None:
    """Another name for the case; the book keeps its own."""
    name = " ".join(name.split())
    if not 0 < len(name) <= 191:
        raise Refused("A name has 1 to 191 characters.", field="name")
    case.name = name
    case.save(update_fields=["name"])


def share(*, case: Case, team: Team) -> None:
    """Everyone in the team gets at the case by their role there; its book and its endpoints go with it."""
    with transaction.atomic():
        case.teams.add(team)
        case.book.teams.add(team)


def unshare(*, case: Case, team: Team) -> None:
    """The team loses the case; the book too, unless another of its cases is shared with the team."""
    with transaction.atomic():
        case.teams.remove(team)
        if not case.book.cases.filter(teams=team).exists():
            case.book.teams.remove(team)


def archive(*, case: Case) -> None:
    """Out of sight; nothing is lost, `restore` brings it back."""
    case.archived_at = timezone.now()
    case.save(update_fields=["archived_at"])


def restore(*, case: Case) -> None:
    """Back from the archive."""
    case.archived_at = None
    case.save(update_fields=["archived_at"])
