"""`{% load gallery %}`: invented values for `_ui/gallery.html`, the page that shows every component in all its states."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms, template
from django.core.paginator import Paginator

from .icons import NAMES

register = template.Library()

_HISTORY = [38.2, 41.0, 44.7, 43.1, 47.9, 47.9, 51.6, 50.2, None, 55.9, 54.8, 61.0]
_PARAMS = (
    "q=#$query##\n&defType=edismax\n&qf=title^##title_boost## overview^1 cast^3\n&pf=title^##phrase_boost##\n"
    "&mm=2<75%\n&tie=##tie##\n&fq=vote_count:[10 TO *]"
)
_JSON = (
    '{\n  "query": {\n    "multi_match": {\n      "query": "#$query##",\n      "type": "best_fields",\n'
    '      "fields": ["title^10", "overview"],\n      "tie_breaker": ##tie##,\n      "boost": 1.5\n    }\n  }\n}'
)


class _SampleForm(forms.Form):
    name = forms.CharField(help_text="What the case is called in lists. It can be changed later.")
    address = forms.URLField(label="Address", assume_scheme="https")
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    scorer = forms.ChoiceField(choices=[("ndcg", "nDCG@10"), ("ap", "AP")])
    scale = forms.ChoiceField(choices=[("3", "0–3"), ("10", "1–10")], widget=forms.RadioSelect)
    archived = forms.BooleanField(label="Show archived cases", required=False)


def _points(scores: list[float | None], now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "label": f"run {number}",
            "when": now - timedelta(days=3 * (len(scores) - number)),
            "score": score,
            "low": None if score is None else score - 18 + number,
            "high": None if score is None else 85.0,
            "href": "#history",
        }
        for number, score in enumerate(scores, start=1)
    ]


@register.simple_tag
def samples() -> dict[str, Any]:
    """Everything the gallery shows; nothing in it comes from the database."""
    now = datetime.now(UTC)
    poor_to_perfect = [(0, "Poor"), (1, "Fair"), (2, "Good"), (3, "Perfect")]
    return {
        "four": poor_to_perfect,
        "ten": [(value, "") for value in range(1, 11)],
        "hundred": [(value, "") for value in range(101)],
        "scores": [(12.0, None, None), (38.1, 33, 86), (55.25, 48, 88), (72.9, 73, 81), (100, 100, 100), (0, 0, 0)],
        "differences": [6.2, -2.9, 0, -0.04, None],
        "grades": list(range(11)),
        "history": _points(_HISTORY, now),
        "one_point": _points([61.0], now),
        "notes": [{"at": 2, "text": "Synonyms loaded"}, {"at": 6, "text": "60 ratings by Jonas"}],
        "none": [],
        "lines": [_HISTORY, [70.2, 71.8, 73.4], [44.7, 44.7], [61.0], [None, None], []],
        "times": [now - timedelta(seconds=s) for s in (5, 240, 4000, 93000, 200000, 2000000, 9000000, 50000000)],
        "icons": NAMES,
        "fresh": _SampleForm(initial={"scale": "3"}),
        "refused": _SampleForm({"name": "", "address": "search internal", "scorer": "x", "scale": "3"}),
        "page": Paginator(range(5000), 100).page(3),
        "tabs": [
            {"label": "Results", "url": "#results", "current": True},
            {"label": "Not returned", "url": "#missing", "count": 3},
            {"label": "As sent", "url": "#sent"},
        ],
        "ways": [
            {"label": "Type or paste", "hint": "One query to a line", "url": "#paste"},
            {"label": "Import a file", "hint": "CSV, TREC, LTR, RRE, Quepid", "url": "#import"},
            {"label": "Share a book", "hint": "Use the queries and ratings of another case", "url": "#share"},
        ],
        "knobs": [
            {"name": "title_boost", "value": 12, "was": 12, "lowest": 0, "top": 30, "step": "0.5"},
            {"name": "phrase_boost", "value": 24, "was": 18, "lowest": 0, "top": 40, "step": 1},
            {"name": "tie", "value": "0.15", "was": None, "lowest": 0, "top": 1, "step": "0.05"},
        ],
        "params": _PARAMS,
        "params_before": _PARAMS.replace("&pf=title^##phrase_boost##\n", "").replace("##tie##", "0.3"),
        "json": _JSON,
    }
