"""The chart of the history page: a plotly figure with one line for each scorer."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from relevancy import cases, hooks, scores
from relevancy.models import ScorerVersion
from relevancy.templatetags import numbers
from relevancy.views.charts import MARGIN, Chart, figure_json
from relevancy.views.former_scores import describe_day

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")  # of attempts, with their colours
DASHES = ("solid", "dash", "dot", "dashdot")  # of scorers
FEW_RUNS = 20  # every number is a label of the axis
MANY_RUNS = 200  # smaller points


def build_chart(
    history: scores.RunHistory,
    notes: Sequence[cases.annotations.Mark],
    marks: Sequence[hooks.HistoryMark],
    colours: Mapping[int, int],
) -> Chart:
    """Returns the chart of the case scores by the number of the run, with the range of the first scorer as a band, the
    annotations, the marks of optional apps, and what scores were. A score that is being rescored is a gap.

    colours: of the attempts, from 1, by attempt id.
    """
    figure = go.Figure()
    first, *others = history.versions
    _add_band(figure, history, first)
    for number, version in enumerate(others, 1):
        _add_line(figure, history, version, DASHES[number % len(DASHES)], "--ink-3")
    _add_line(figure, history, first, DASHES[0], "--ink-2")
    _add_levels(figure, marks)
    _add_former(figure, history, first)
    _add_dots(figure, history, first, colours)
    _add_notes(figure, history, notes)
    _add_marks(figure, marks)
    ticks: dict[str, object] = {"dtick": 1} if len(history.runs) <= FEW_RUNS else {}
    start, end = history.runs[0].run.number, history.runs[-1].run.number
    margin = max(0.5, (end - start) * 0.02)
    figure.update_layout(
        showlegend=bool(others) or any(trace.name == "was" for trace in figure.data),
        legend={"orientation": "h", "x": 0, "y": 1.16},
        margin={**MARGIN, "t": 40},
        hovermode="closest",
        xaxis={
            "title": {"text": "run"},
            "range": [start - margin, end + margin],
            "tickformat": "d",
            "showgrid": False,
            "zeroline": False,
            **ticks,
        },
        yaxis={"title": {"text": "score"}, "range": [0, 103], "zeroline": True},
    )
    return Chart("history", "Score of each run", _describe(history, first), figure_json(figure))


def _scored(
    history: scores.RunHistory, version: ScorerVersion
) -> Iterator[tuple[scores.HistoryRun, scores.HistoryScore]]:
    """Yields the runs with a score."""
    for entry in history.runs:
        score = entry.scores.get(version.pk)
        if score is not None and score.score is not None:
            yield entry, score


def _add_line(figure: go.Figure, history: scores.RunHistory, version: ScorerVersion, dash: str, token: str) -> None:
    run_scores = [entry.scores.get(version.pk) for entry in history.runs]
    is_first = version == history.versions[0]
    figure.add_trace(
        go.Scatter(
            name=escape(version.scorer.name),
            mode="lines",
            x=[entry.run.number for entry in history.runs],
            y=[score.score if score else None for score in run_scores],
            line={"width": 1.5, "dash": dash},
            hoverinfo="skip" if is_first else "text",
            hovertext=[] if is_first else [_hover(entry, version) for entry in history.runs],
            meta={"color": token},
        )
    )


def _add_dots(
    figure: go.Figure, history: scores.RunHistory, version: ScorerVersion, colours: Mapping[int, int]
) -> None:
    """Adds the points of a scorer, coloured by attempt: one trace for each colour."""
    by_colour: dict[int, list[tuple[scores.HistoryRun, scores.HistoryScore]]] = {}
    for entry, score in _scored(history, version):
        by_colour.setdefault(colours[entry.run.attempt_id], []).append((entry, score))
    for colour, points in sorted(by_colour.items()):
        figure.add_trace(
            go.Scatter(
                name="",
                mode="markers",
                showlegend=False,
                x=[entry.run.number for entry, _ in points],
                y=[score.score for _, score in points],
                marker={"size": 8 if len(history.runs) <= MANY_RUNS else 5, "symbol": SYMBOLS[colour - 1]},
                customdata=[f"?run={entry.run.number}" for entry, _ in points],
                hovertext=[_hover(entry, version) for entry, _ in points],
                hoverinfo="text",
                meta={"color": f"--series-{colour}"},
            )
        )


def _add_band(figure: go.Figure, history: scores.RunHistory, version: ScorerVersion) -> None:
    """Adds the range that unrated documents leave open, for each stretch of runs that have one."""
    stretches: list[list[tuple[int, float, float]]] = [[]]
    for entry in history.runs:
        score = entry.scores.get(version.pk)
        if score is None or score.low is None or score.high is None:
            stretches.append([])
        else:
            stretches[-1].append((entry.run.number, score.low, score.high))
    x: list[float | None] = []
    y: list[float | None] = []
    for stretch in stretches:
        if len(stretch) > 1:
            numbers_of_runs = [number for number, _, _ in stretch]
            x += [*numbers_of_runs, *reversed(numbers_of_runs), None]
            y += [*(high for *_, high in stretch), *(low for _, low, _ in reversed(stretch)), None]
    if x:
        figure.add_trace(
            go.Scatter(
                name="Range",
                mode="lines",
                showlegend=False,
                x=x,
                y=y,
                fill="toself",
                line={"width": 0},
                hoverinfo="skip",
                meta={"color": "--accent", "fill": 0.12},
            )
        )


def _add_levels(figure: go.Figure, marks: Sequence[hooks.HistoryMark]) -> None:
    """Adds the levels of marks as lines."""
    levels = [level for mark in marks for level in mark.levels]
    if levels:
        figure.add_trace(
            go.Scatter(
                name="Level",
                mode="lines",
                x=[number for first, last, _ in levels for number in (first, last, None)],
                y=[score for *_, points in levels for score in (points, points, None)],
                line={"width": 3},
                opacity=0.6,
                hoverinfo="skip",
                meta={"color": "--accent"},
            )
        )


def _add_former(figure: go.Figure, history: scores.RunHistory, version: ScorerVersion) -> None:
    """Adds a line from what a score was to what it is, with a tick at what it was."""
    changed = [(entry.run.number, score.score, score.former) for entry, score in _scored(history, version)]
    moves = [(number, score, former) for number, score, former in changed if former]
    if moves:
        figure.add_trace(
            go.Scatter(
                name="was",
                mode="lines+markers",
                x=[x for number, _, _ in moves for x in (number, number, None)],
                y=[y for _, score, former in moves for y in (former.score, score, None)],
                line={"width": 1, "dash": "dot"},
                marker={"size": 9, "symbol": "line-ew-open", "opacity": [1, 0, 0] * len(moves)},
                hovertext=[
                    text
                    for number, _, former in moves
                    for text in (f"Run {number} was {numbers.score(former.score)} {describe_day(former.at)}", "", "")
                ],
                hoverinfo="text",
                meta={"color": "--ink-3"},
            )
        )


def _add_notes(figure: go.Figure, history: scores.RunHistory, notes: Sequence[cases.annotations.Mark]) -> None:
    """Adds a line with its letter for each annotation; letters of one run stand together."""
    letters: dict[int, list[str]] = {}
    texts: dict[int, list[str]] = {}
    for mark in notes:
        if mark.point is not None:
            number = history.runs[mark.point].run.number
            letters.setdefault(number, []).append(mark.letter)
            texts.setdefault(number, []).append(f"{mark.letter}: {escape(mark.annotation.text)}")
    for number, names in letters.items():
        figure.add_shape(type="line", x0=number, x1=number, y0=0, y1=1, yref="paper", layer="below", line={"width": 1})
        figure.add_annotation(
            x=number,
            y=1,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            text=" ".join(names),
            hovertext="<br>".join(texts[number]),
        )


def _add_marks(figure: go.Figure, marks: Sequence[hooks.HistoryMark]) -> None:
    """Adds a dotted line for each mark that stands before a run."""
    for mark in marks:
        if mark.before is not None and mark.version_id is None:
            x = mark.before - 0.5
            line = {"width": 1, "dash": "dot"}
            figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", layer="below", line=line)
            figure.add_annotation(
                x=x,
                y=1,
                yref="paper",
                yanchor="bottom",
                showarrow=False,
                text=escape(mark.label),
                hovertext=escape(mark.text),
            )


def _hover(entry: scores.HistoryRun, version: ScorerVersion) -> str:
    """Returns the label of a point, such as `Run 12 · 61.0 (57–84) · 22 of 24`, and its attempt."""
    score = entry.scores.get(version.pk)
    if score is None or score.score is None:
        return ""
    between = numbers.span(score.low, score.high)
    figures = f"{numbers.score(score.score)} ({between})" if between else numbers.score(score.score)
    attempt = f"attempt {entry.attempt.number} {entry.attempt.name}".rstrip()
    if score.former:
        figures += f", was {numbers.score(score.former.score)} {describe_day(score.former.at)}"
    return (
        f"Run {entry.run.number} · {figures} · {score.scored:,} of {score.queries:,}"
        f"<br>{escape(version.scorer.name)} · {escape(attempt)}"
    )


def _describe(history: scores.RunHistory, version: ScorerVersion) -> str:
    scored = list(_scored(history, version))
    name = version.scorer.name
    if not scored:
        return f"{name}: none of {len(history.runs):,} runs has a score."
    (first, first_score), (last, last_score) = scored[0], scored[-1]
    text = f"{name}: run {first.run.number} scored {numbers.score(first_score.score)}"
    if len(scored) > 1:
        low = min(scored, key=lambda point: point[1].score or 0.0)
        high = max(scored, key=lambda point: point[1].score or 0.0)
        text += (
            f", run {last.run.number} {numbers.score(last_score.score)}; lowest {numbers.score(low[1].score)} in run "
            f"{low[0].run.number}, highest {numbers.score(high[1].score)} in run {high[0].run.number}"
        )
    text += f". {len(scored):,} of {len(history.runs):,} runs have a score."
    return f"{text} {history.rescoring:,} are being rescored." if history.rescoring else text
