"""How people write features."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import engines
from relevancy.optional.features.feature_text import Feature, FeatureError, format_features, parse_features

EMBEDDED, SOLR = engines.get("embedded"), engines.get("solr")
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True)


def test_parse_features() -> None:
    text = (
        '# of films\ntitle: {"query": "#$query##"}\n\nlong:\n  {"query":\n   "#$query##"}\nvotes: number stats.votes\n'
    )
    assert parse_features(text, EMBEDDED) == [
        Feature("title", "query", '{"query": "#$query##"}'),
        Feature("long", "query", '{"query":\n"#$query##"}'),
        Feature("votes", "number", "stats.votes"),
    ]
    solr = parse_features("title: {!edismax qf=title}#$query##\npopular: {!func}field(votes)", SOLR)
    assert [feature.text for feature in solr] == ["{!edismax qf=title}#$query##", "{!func}field(votes)"]


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_format_features_is_read_again(names: list[str]) -> None:
    kinds = ('{"query": "#$query##"}', '{"query":\n"#$query##"}')
    features = [Feature(name, "query", kinds[place % 2]) for place, name in enumerate(names)]
    features.append(Feature("votes_1x", "number", "votes"))
    if "votes_1x" not in names:
        assert parse_features(format_features(features), EMBEDDED) == features


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no feature yet"),
        ("  indented", 1, "name of a feature"),
        ("a: number b\n1st: number b", 2, "does not begin with a name"),
        ("a: number b\na: number c", 2, "used twice"),
        ("a:\nb: number c", 1, "a has no query"),
        ('a: number b\nb: {"query": }', 2, "not valid JSON"),
        ('a: {"query": "#$query##", "tie": ##tie##}', 1, "knob tie"),
    ],
)
def test_mistakes_are_said_with_their_line(text: str, line: int, message: str) -> None:
    with pytest.raises(FeatureError, match=message) as caught:
        parse_features(text, EMBEDDED)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"Line {line}: ")


@pytest.mark.usefixtures("script")
def test_engines_that_cannot_log_say_so() -> None:
    scripted = engines.get("scripted")
    for text in ('title: {"query": "#$query##"}', "votes: number votes"):
        with pytest.raises(FeatureError, match="Scripted does not return"):
            parse_features(text, scripted)
    with pytest.raises(FeatureError, match="features such as “title: number FIELD”"):
        parse_features('title: {"query": "#$query##"}', engines.get("static"))
