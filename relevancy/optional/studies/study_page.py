"""What the page of a study shows: its state, and what it has found, in the parts that the templates draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict
from django.urls import reverse

from relevancy import comparison, runs
from relevancy.comparison import TagDifference
from relevancy.engines import KnobValue, knob_text
from relevancy.models import Case, User
from relevancy.statistics import Interval
from relevancy.templatetags import numbers
from relevancy.views.charts import Chart
from relevancy.wording import counted, describe_pace

from . import charts, findings, sealed_queries, studies
from .estimates import describe_estimates
from .models import SealedOpening, Study, StudyTrial
from .samplers import Origin, count_trials
from .space import Knob, Settings

TRIALS_PER_PAGE = 50
LIVE_CHARTS = 4  # knobs that are drawn while the study runs: the most important ones
ORIGINS = {
    Origin.PARENT: "the attempt",
    Origin.GRID: "all settings",
    Origin.SOBOL: "spread evenly",
    Origin.TPE: "TPE",
    Origin.LOCAL: "a small step",
    Origin.ESTIMATED: "estimated to be the best",
}
STATE_LABELS = {
    Study.Status.WAITING: ("waiting", ""),
    Study.Status.RUNNING: ("running", "info"),
    Study.Status.STOPPED: ("stopped", "warn"),
    Study.Status.COMPLETE: ("complete", "outline"),
    Study.Status.FAILED: ("failed", "bad"),
}


@dataclass(frozen=True)
class StudyState:
    """How far a study has come. done: trials; total: that it makes."""

    study: Study
    done: int

    @cached_property
    def total(self) -> int:
        return count_trials(self.study.knobs, self.study.trials_wanted)

    @property
    def label(self) -> str:
        return "stopping" if self.study.is_active and self.study.stop_requested else self._label[0]

    @property
    def kind(self) -> str:
        return self._label[1]

    @property
    def _label(self) -> tuple[str, str]:
        return STATE_LABELS[Study.Status(self.study.status)]

    @property
    def sentence(self) -> str:
        """What the study has found; what it waits for before it has found anything."""
        if found := self.study.findings.get("sentence"):
            return str(found)
        if self.study.status == Study.Status.WAITING:
            return "Waiting for a worker."
        if self.study.is_active:
            return "Searching; the first result follows within seconds." if self.done else "Searching the attempt."
        return "Nothing was found."

    @property
    def is_improvement(self) -> bool:
        return bool(self.study.findings.get("is_improvement"))

    @property
    def warnings(self) -> list[str]:
        """What the findings lack, in sentences."""
        return list(self.study.findings.get("warnings", ()))

    @property
    def progress(self) -> str:
        """ "120 of 200 trials · 5,400 requests · 380 a second · 2 s left"."""
        study = self.study
        parts = [f"{self.done:,} of {counted(self.total, 'trial')}", counted(study.requests, "request")]
        if study.is_active and study.seconds > 0 and study.requests:
            left = math.ceil(study.requests * (self.total - self.done) / max(1, self.done))
            parts.append(describe_pace(study.requests / study.seconds, left))
        elif study.seconds:
            parts.append(f"{study.seconds:,.0f} s of work" if study.seconds >= 1 else "less than a second of work")
        if findings := study.findings:
            if findings["stopped"]:
                parts.append(f"{findings['stopped']:,} given up early")
            if findings["failed"]:
                parts.append(f"{findings['failed']:,} failed")
        return " · ".join(parts)

    @property
    def more(self) -> int:
        """How many more trials are offered: those that a used budget has left, or a hundred; 0 if all settings have been tried."""
        left = self.total - self.done
        if self.is_budget_used and left > 0:
            return left
        return 0 if self.study.knobs.grid_size == self.total - 1 else 100

    @property
    def is_budget_used(self) -> bool:
        """Whether the study makes no further trial unless it is given more: its requests or minutes are used."""
        return bool(self.study.used_budget) and self.done > 1

    @property
    def could_return(self) -> str:
        """Which trials that were given up could win with the ratings of now, in a sentence; empty for none."""
        count = int(self.study.findings.get("could_return", 0))
        if not count:
            return ""
        return (
            f"{counted(count, 'trial')} that {'was' if count == 1 else 'were'} given up could win with the ratings of now. "
            "Search them for the other queries."
        )


@dataclass(frozen=True)
class SettingRow:
    """A knob in the table of settings: values of the attempt, of the chosen and of the best trial, and of the plateau."""

    name: str
    now: str
    chosen: str
    best: str
    plateau: str
    is_changed: bool


@dataclass(frozen=True)
class TagRow:
    """What the queries with a tag gain, with the positions of the interval on a bar from −limit to +limit, in hundredths.

    seen: what the shown trial gains on these queries, which may have chosen it.
    """

    figures: TagDifference
    seen: float
    limit: float

    @classmethod
    def build(cls, row: Mapping[str, Any], limit: float) -> TagRow:
        """Reads a row of the findings."""
        interval = row["interval"] and Interval(**row["interval"])
        fields = {name: value for name, value in row.items() if name != "seen"}
        return cls(TagDifference(**{**fields, "interval": interval}), row["seen"], limit)

    def _x(self, value: float) -> float:
        return round(50 + 50 * max(-1.0, min(1.0, value / self.limit)), 1)

    @property
    def x_mark(self) -> float:
        return round(self._x(self.figures.difference) - 0.5, 1)

    @property
    def x_low(self) -> float:
        return self._x(self.figures.interval.low if self.figures.interval else self.figures.difference)

    @property
    def width(self) -> float:
        interval = self.figures.interval
        return round(self._x(interval.high) - self.x_low, 1) if interval else 0.0


class StudyPage:
    """What a study has found. Parts are read when the template draws them."""

    def __init__(self, case: Case, study: Study, user: User, parameters: QueryDict) -> None:
        self.case, self.study, self.user, self.parameters = case, study, user, parameters
        self.findings: Mapping[str, Any] = study.findings
        self.state = StudyState(study, study.trials.count())

    @cached_property
    def settings(self) -> dict[int, Settings]:
        """The settings of the trials by number."""
        return dict(self.study.trials.order_by("number").values_list("number", "settings"))

    @property
    def has_charts(self) -> bool:
        return self.findings.get("complete", 0) > 1

    @cached_property
    def curves(self) -> Chart:
        return charts.curves(self.findings)

    @cached_property
    def importance(self) -> list[tuple[str, float, float]]:
        """Knobs with the part of the variance that each explains, in hundredths, and the width of its bar; the largest first."""
        parts = sorted(self.findings.get("importance", {}).items(), key=lambda item: -item[1])
        return [(name, 100 * part, round(100 * min(1.0, part), 1)) for name, part in parts]

    @cached_property
    def responses(self) -> list[Chart]:
        """A chart for each knob, the most important first; while the study runs, of a few."""
        order = [name for name, *_ in self.importance]
        knobs = sorted(
            self.study.knobs.knobs, key=lambda knob: order.index(knob.name) if knob.name in order else len(order)
        )
        shown = knobs[:LIVE_CHARTS] if self.study.is_active else knobs
        proposed = self.settings.get(self.proposed or -1, {})
        return [
            charts.response(
                knob,
                self.findings,
                self.settings,
                self.study.config["knobs"][knob.name],
                proposed.get(knob.name),
                [row for row, _ in self.best_estimates if row["trial"] is None],
            )
            for knob in shown
        ]

    @cached_property
    def heat_map(self) -> charts.HeatMap | None:
        """Two knobs together: those of the parameters `across` and `down`, or the two most important ones."""
        knobs = {knob.name: knob for knob in self.study.knobs.knobs}
        if len(knobs) < 2:
            return None
        first, second = [name for name, *_ in self.importance][:2]
        across, down = self.parameters.get("across", first), self.parameters.get("down", second)
        if across not in knobs or down not in knobs or across == down:
            across, down = first, second
        return charts.heat_map(knobs[across], knobs[down], self.findings["gains"], self.settings)

    @property
    def knob_names(self) -> list[str]:
        return [knob.name for knob in self.study.knobs.knobs]

    # --- the proposed setting ---

    @property
    def proposed(self) -> int:
        """The trial that is proposed; 0 for the attempt."""
        return int(self.findings.get("proposed", 0))

    @property
    def choice(self) -> int:
        """The trial that the queries have chosen, proposed or not; 0 for the attempt."""
        return int(self.findings.get("choice", 0))

    @property
    def winner(self) -> int:
        """The trial with the best mean on all queries; 0 for the attempt."""
        return int(self.findings.get("winner", 0))

    @cached_property
    def setting_rows(self) -> list[SettingRow]:
        """The knobs, as the attempt, the chosen and the best trial have them."""
        plateau = [self.settings[trial] for trial in self.findings["plateau"] if trial in self.settings]
        rows = []
        for knob in self.study.knobs.knobs:
            now = self.study.config["knobs"][knob.name]
            chosen, best = (self.settings.get(trial, {}).get(knob.name, now) for trial in (self.choice, self.winner))
            values = [values[knob.name] for values in plateau]
            rows.append(
                SettingRow(
                    knob.name,
                    knob_text(now),
                    knob_text(chosen),
                    knob_text(best),
                    _span(knob, values),
                    chosen != now,
                )
            )
        return rows

    @cached_property
    def made_attempts(self) -> list[Any]:
        return list(self.study.made_attempts.select_related("attempt", "created_by"))

    @property
    def made_trials(self) -> set[int]:
        return {made.trial for made in self.made_attempts}

    # --- who gains ---

    @cached_property
    def tags(self) -> list[TagRow]:
        """The gains of tags, the surest first."""
        rows = self.findings.get("tags", [])
        ends = [abs(row["interval"][end]) for row in rows if row["interval"] for end in ("low", "high")]
        limit = max([1.0, *ends, *(abs(row["difference"]) for row in rows)])
        return [TagRow.build(row, limit) for row in rows]

    @property
    def tag_correction(self) -> str:
        """What the p of the tags is corrected for."""
        return comparison.describe_correction([row.figures for row in self.tags])

    @cached_property
    def to_rate(self) -> list[tuple[Mapping[str, Any], str]]:
        """The documents to rate, each with the address of its query; empty for a query that was removed."""
        return self._with_addresses("to_rate")

    @cached_property
    def carriers(self) -> list[tuple[Mapping[str, Any], str]]:
        """The queries that most of the gain comes from, each with its address; empty for a query that was removed."""
        return self._with_addresses("carriers")

    def _with_addresses(self, name: str) -> list[tuple[Mapping[str, Any], str]]:
        rows = self.findings.get(name, [])
        present = self.case.case_queries.present().filter(query__in={row["query_id"] for row in rows})
        ids = dict(present.values_list("query_id", "pk"))
        return [
            (row, reverse("query", args=[self.case.pk, ids[row["query_id"]]]) if row["query_id"] in ids else "")
            for row in rows
        ]

    @cached_property
    def times(self) -> tuple[float | None, float | None]:
        """Milliseconds that a search took on average: of the attempt, and of the shown trial."""
        took = dict(self.study.trials.filter(number__in={0, self.shown_trial}).values_list("number", "took_ms"))
        return took.get(0), took.get(self.shown_trial)

    @property
    def shown_trial(self) -> int:
        """The trial whose tags, unrated documents and search time are shown."""
        return self.choice or self.winner

    # --- trials ---

    @cached_property
    def trials(self) -> Page[Any]:
        """A page of the trials: by gain, those that were not searched for all queries last; by number with `sort=number`."""
        gains: Sequence[float | None] = self.findings.get("gains", [])
        rows = list(self.study.trials.defer("answers", "columns").order_by("number"))
        shown = [(trial, gains[trial.number] if trial.number < len(gains) else None) for trial in rows]
        if not self.by_number:
            shown.sort(key=lambda row: (self._is_partial(row[0]), -(row[1] if row[1] is not None else -math.inf)))
        trials: Paginator[Any] = Paginator(shown, TRIALS_PER_PAGE)
        page = trials.get_page(self.parameters.get("page"))
        page.object_list = [self._trial_row(trial, gain) for trial, gain in page.object_list]
        return page

    @cached_property
    def unscored(self) -> set[int]:
        """The trials that have no score of some query, because nothing is rated of what they returned."""
        return set(self.findings.get("unscored", ()))

    @cached_property
    def to_score(self) -> list[tuple[Mapping[str, Any], str]]:
        """The documents to rate so that the best of these trials can be chosen, each with the address of its query."""
        return self._with_addresses("to_score")

    def _is_partial(self, trial: StudyTrial) -> bool:
        return bool(trial.stopped or trial.error or trial.number in self.unscored)

    @property
    def by_number(self) -> bool:
        return self.parameters.get("sort") == "number"

    def _trial_row(self, trial: StudyTrial, gain: float | None) -> dict[str, Any]:
        state = "failed" if trial.error else "given up" if trial.stopped else ""
        if trial.number in self.unscored:
            state = "not scored"
        marks = [
            label
            for label, number in (("proposed" if self.proposed else "chosen", self.choice), ("best", self.winner))
            if number and number == trial.number
        ]
        return {
            "trial": trial,
            "origin": ORIGINS.get(Origin(trial.origin), trial.origin),
            "values": [knob_text(trial.settings[name]) for name in self.knob_names],
            "gain": gain,
            "estimate": self.estimates.get(trial.number) if trial.origin == Origin.ESTIMATED else None,
            "state": state,
            "marks": marks,
        }

    # --- sealed queries ---

    @cached_property
    def opening(self) -> SealedOpening | None:
        """The opening of its sealed queries."""
        return SealedOpening.objects.filter(study=self.study).select_related("opened_by").first()

    @cached_property
    def opening_changes(self) -> list[str]:
        """What makes the sealed queries of the opening less than they seem, in sentences."""
        return sealed_queries.describe_changes(self.opening) if self.opening else []

    @property
    def opening_unrated(self) -> tuple[str, ...] | None:
        """The parts of the considered results of the sealed queries that are unrated, as in `unrated`."""
        result = self.opening.result if self.opening else {}
        return _percent(*result["unrated"]) if result.get("queries") else None

    @cached_property
    def openings(self) -> list[str]:
        """How often the sealed queries of the case were opened, in sentences."""
        return sealed_queries.describe_openings(self.case)

    @property
    def why_not_opened(self) -> str:
        """Why the sealed queries cannot be opened; empty if they can."""
        return studies.why_not_opened(self.study)

    @property
    def can_open_sealed(self) -> bool:
        """Whether the user can open the sealed queries now."""
        return bool(self.case.is_editable and not self.opening and not self.why_not_opened and not self.why_not)

    @property
    def opened_trial(self) -> int:
        """The trial that the sealed queries would be opened for."""
        return studies.choose_opened(self.study)

    @property
    def is_unfinished(self) -> bool:
        """Whether going on makes trials that were planned already, or searches sealed queries that were opened."""
        is_open = self.opening is not None and self.opening.finished_at is None
        return is_open or (self.state.done < self.state.total and not self.state.is_budget_used)

    # --- estimates ---

    @cached_property
    def estimates(self) -> dict[int, float]:
        """The points that trials were estimated to gain, by number."""
        estimated = self.study.estimated
        proposals = enumerate(estimated.get("proposals", ()), estimated.get("first", 0))
        return {number: proposal["gain"] for number, proposal in proposals if proposal}

    @cached_property
    def best_estimates(self) -> list[tuple[Mapping[str, Any], list[str]]]:
        """The best settings that were estimated, with their values as text."""
        rows = findings.list_estimates(self.study)
        return [(row, [knob_text(row["settings"][name]) for name in self.knob_names]) for row in rows]

    @property
    def estimated(self) -> str:
        """What came of estimating settings, in sentences; empty before."""
        return describe_estimates(self.study.estimated) if self.study.estimated else ""

    # --- rights ---

    @cached_property
    def why_not(self) -> str:
        """Why the user cannot go on with the study or make an attempt of it; empty if that is possible."""
        if not self.case.is_editable:
            return ""
        return runs.why_not_usable(case=self.case, endpoint=self.study.parent.endpoint, by=self.user)

    @property
    def url(self) -> str:
        return reverse("study", args=[self.case.pk, self.study.number])

    @property
    def unrated(self) -> tuple[str, ...] | None:
        """The parts of the considered results that are unrated, in percent: of the attempt, and of the shown trial."""
        shares = self.findings.get("unrated")
        return shares and _percent(shares["parent"], shares["trial"])


def _span(knob: Knob, values: Sequence[KnobValue]) -> str:
    """Returns from where to where values go, or which texts there are among them."""
    if knob.is_text:
        return ", ".join(knob_text(value) for value in knob.values if value in values)
    ends = [float(value) for value in values]
    return " – ".join(knob_text(end) for end in sorted({min(ends), max(ends)})) if ends else ""


def _percent(*shares: float) -> tuple[str, ...]:
    return tuple(numbers.whole(100 * share) for share in shares)
