"""Query templates: Quepid's syntax, and that no query text can leave its parameter or string."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.engines.errors import BadQuery, TemplateError
from relevancy.engines.templates.slots import read_knob_value
from relevancy.engines.templates.template import parse_template

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def render(text, syntax="json", *, query="star wars", options=None, knobs=None, escape=False):
    return parse_template(text, syntax).render(query=query, options=options or {}, knobs=knobs or {}, escape=escape)


def test_render_params_returns_decoded_pairs_in_order():
    text = "q=#$query##\n  &defType=edismax&fq=year:[1980%20TO+1989]\n&fq=genre:%22Sci-Fi%22&empty=&flag"
    assert render(text, "params") == [
        ("q", "star wars"),
        ("defType", "edismax"),
        ("fq", "year:[1980 TO 1989]"),
        ("fq", 'genre:"Sci-Fi"'),
        ("empty", ""),
        ("flag", ""),
    ]


def test_render_params_joins_trimmed_lines_without_comments():
    text = "?q=title:\n   #$query##\r\n# not yet: #$nonsense## ##half\n#\n&mm=2<75%"
    assert render(text, "params") == [("q", "title:star wars"), ("mm", "2<75%")]


def test_render_params_splits_only_at_the_first_equals_sign():
    assert render("bq={!term f=cat}a=b", "params") == [("bq", "{!term f=cat}a=b")]


def test_render_params_fills_names_too():
    assert render("f.#$qOption.field##.x=1", "params", options={"field": "title"}) == [("f.title.x", "1")]


def test_render_json_keeps_the_type_of_a_value_that_is_one_slot():
    options = {"n": 3, "list": [1, "a"], "deep": {"object": {"x": None}}, "yes": True}
    template = """{"n": "#$qOption.n##", "list": "#$qOption.list##", "object": "#$qOption.deep.object##",
                   "first": "#$qOption.list.0##", "yes": #$qOption.yes##, "all": "#$keyword##"}"""
    assert render(template, options=options) == {
        "n": 3,
        "list": [1, "a"],
        "object": {"x": None},
        "first": 1,
        "yes": True,
        "all": ["star", "wars"],
    }


def test_render_json_copies_values():
    options = {"list": [1]}
    render('{"a": "#$qOption.list##"}', options=options)["a"].append(2)
    assert options == {"list": [1]}


def test_render_json_knob_is_a_number_bare_or_in_quotes():
    knobs = {"b": 2.0, "c": 0.25}
    assert render('{"bare": ##b##, "quoted": "##c##"}', knobs=knobs) == {"bare": 2, "quoted": 0.25}
    assert isinstance(render('{"bare": ##b##}', knobs=knobs)["bare"], int)


def test_render_json_knob_that_is_a_text_stays_in_its_place():
    knobs = {"mm": "2<75%", "bad": 'a", "size": "9\\'}
    assert render('{"bare": ##mm##, "quoted": "##mm##", "in": ["x ##bad##"], "y": ##bad##}', knobs=knobs) == {
        "bare": "2<75%",
        "quoted": "2<75%",
        "in": ["x " + knobs["bad"]],
        "y": knobs["bad"],
    }


def test_render_params_knob_that_is_a_text_stays_in_its_parameter():
    knobs = {"mm": "2<75%", "bad": "a&rows=9\nfq=b%26c+d #$query##"}
    assert render("mm=##mm##&x=1 ##bad##", "params", knobs=knobs) == [("mm", "2<75%"), ("x", "1 " + knobs["bad"])]


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), (" -.5 ", -0.5), ("+1.", 1.0), ("1e-3", 0.001), ("1e999", float("inf")), ("2<75%", "2<75%")]
    + [(text, text) for text in ("100%", "AUTO", "nan", "inf", "1_000", "1,5", "0x10", "١", "", "1 2")],
)
def test_read_knob_value_reads_numbers_and_leaves_texts(text, value):
    assert read_knob_value(text) == value
    assert type(read_knob_value(text)) is type(value)


def test_render_fills_slots_in_texts_and_keys():
    assert render('{"f_##b##": ["title^##b##", "##b####c##"]}', knobs={"b": 12.0, "c": 1e-7}) == {
        "f_12": ["title^12", "120.0000001"]
    }


def test_render_formats_options_in_a_text():
    options = {"ids": [1, 2], "yes": True, "none": None, "object": {"a": "é"}}
    template = '{"a": "x #$qOption.ids## #$qOption.yes## #$qOption.object##"}'
    assert render(template, options=options) == {"a": 'x 1,2 true {"a": "é"}'}


@pytest.mark.parametrize(
    ("slot", "value"),
    [
        ("#$keyword1##", "harry"),
        ("#$keyword2##", "potter"),
        ("#$keyword.0##", "harry"),
        ("#$keyword3##", ""),
        ("#$keyword3|more##", "more"),
        ("#$keyword.7##", ""),
    ],
)
def test_render_splits_keywords_on_blanks_and_commas(slot, value):
    assert render(f'{{"k": "{slot}"}}', query=" harry, ,potter") == {"k": value}


def test_render_uses_the_default_if_an_option_is_missing_or_null():
    template = '{"a": "#$qOption.sort|score##", "b": "#$qOption.x.y.z|2|75% - 3##", "c": #$qOption.size|5##}'
    assert render(template, options={"sort": None}) == {"a": "score", "b": "2|75% - 3", "c": 5}
    assert render(template, options={"sort": "year", "size": 7})["c"] == 7


def test_render_without_option_and_default_names_the_placeholder():
    with pytest.raises(BadQuery, match=r"#\$qOption\.a\.b##.*line 2, column 7.*no option “a\.b”.*Add it"):
        render('{\n "a": #$qOption.a.b##}')


def test_render_without_knob_names_it():
    with pytest.raises(BadQuery, match=r"knob “boost”.*has no value"):
        render("qf=title^##boost##", "params")
    with pytest.raises(BadQuery, match=r"knob “boost”.*has the value inf"):
        render("qf=title^##boost##", "params", knobs={"boost": float("inf")})


def test_render_escapes_lucene_only_in_query_and_keywords():
    text = "q=#$query##&k=#$keyword2##&o=#$qOption.o##"
    query = r'AC/DC (live) AND "x" or c:\d'
    assert render(text, "params", query=query, options={"o": "a:b"}, escape=True) == [
        ("q", r"AC\/DC \(live\) \AND \"x\" \or c\:\\d"),
        ("k", r"\(live\)"),
        ("o", "a:b"),
    ]
    assert render(text, "params", query=query, options={"o": "a:b"})[0] == ("q", query)


def test_render_does_not_fill_slots_in_values():
    assert render('{"q": "#$query##"}', query="##b## #$qOption.x##") == {"q": "##b## #$qOption.x##"}
    assert render("q=%23%24query%23%23", "params") == [("q", "#$query##")]
    assert render(r'{"q": "\u0023$query\u0023#"}') == {"q": "#$query##"}


def test_template_lists_knobs_once_in_order():
    template = parse_template("q=#$query##&qf=a^##b## c^##a## d^##b##&x=#$query##&y=#$qOption.n|3##", "params")
    assert template.knobs == ("b", "a")
    assert template == parse_template(template.text, "params")


@pytest.mark.parametrize(
    ("text", "syntax", "line", "column", "message"),
    [
        ('{"a": 1,\n "b" 2}', "json", 2, 6, "not valid JSON"),
        ('{"a": #$query##,\n "b": ##b## "c"}', "json", 2, 13, "not valid JSON"),
        ('{"a": "#$query##}', "json", 1, 7, "not valid JSON"),
        ('{"a": NaN}', "json", 1, 1, "NaN"),
        ('{"a": 1e999}', "json", 1, 1, "1e999"),
        ("  ", "json", 1, 1, "empty"),
        ('"a"', "json", 1, 1, "JSON object"),
        ("[" * 200 + "]" * 200, "json", 1, 1, "levels deep"),
        ("[" * 100_000, "json", 1, 1, "cannot be parsed"),
        ('{"a": ' + "9" * 5000 + "}", "json", 1, 1, "cannot be parsed"),
        ('{\n"a": "#$querry##"}', "json", 2, 7, "#$querry##"),
        ("q=1\r\n&x=#$foo##", "params", 2, 4, "#$foo##"),
        ("q=#$query.x##", "params", 1, 3, "#$query.x##"),
        ("q=#$keyword0##", "params", 1, 3, "#$keyword0##"),
        ("q=#$...##", "params", 1, 3, "#$...##"),
        ("# fine\n# fine\nqf=a^##title boost##", "params", 3, 6, "##title boost##"),
        ('{"a": "##b#"}', "json", 1, 8, "##b#"),
        ("q=#$query#", "params", 1, 3, "#$query#"),
        ('{"a": "x\\u0000"}', "json", 1, 9, "NUL"),
        ("q=\0", "params", 1, 3, "NUL"),
    ],
)
def test_parse_template_reports_line_and_column(text, syntax, line, column, message):
    with pytest.raises(TemplateError) as caught:
        parse_template(text, syntax)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in str(caught.value)


@given(TEXT)
def test_render_params_keeps_any_query_in_its_parameter(query):
    pairs = render("a=1&q=#$query##&b=x #$query## y&c=2", "params", query=query)
    assert pairs == [("a", "1"), ("q", query), ("b", f"x {query} y"), ("c", "2")]


@given(TEXT)
def test_render_json_keeps_any_query_in_its_string(query):
    body = render('{"q": "#$query##", "bare": #$query##, "m": "x #$query## y", "n": 1}', query=query)
    assert json.loads(json.dumps(body)) == {"q": query, "bare": query, "m": f"x {query} y", "n": 1}


@given(TEXT)
def test_render_escaped_query_can_be_unescaped(query):
    escaped = render("q=#$query##", "params", query=query, escape=True)[0][1]
    plain, skip = [], False
    for character in escaped:
        if character == "\\" and not skip:
            skip = True
        else:
            plain.append(character)
            skip = False
    assert "".join(plain) == query


@given(st.text(alphabet='#$ab|."{}&=\\\n:1', max_size=30), st.sampled_from(["params", "json"]))
def test_parse_template_accepts_or_rejects_any_text(text, syntax):
    try:
        template = parse_template(text, syntax)
    except TemplateError as error:
        assert error.line >= 1
        assert error.column >= 1
        return
    knobs = dict.fromkeys(template.knobs, 1.0)
    assert template.render(query="q", options={}, knobs=knobs) is not None


def test_render_params_begins_a_parameter_at_a_line_that_looks_like_one():
    text = "q=#$query##\ndefType=edismax\nqf=title^3\n  overview\n&fq=a:b\nf.title.hl.fragsize=20\nmm=2<75%&\ntie=0.1\n"
    assert render(text, "params") == [
        ("q", "star wars"),
        ("defType", "edismax"),
        ("qf", "title^3overview"),
        ("fq", "a:b"),
        ("f.title.hl.fragsize", "20"),
        ("mm", "2<75%"),
        ("tie", "0.1"),
    ]


@pytest.mark.parametrize("line", ["{!term f=cat}a=b", "title:a=b", "^3 a=b", "=x", "1=2", "(a=b)"])
def test_render_params_continues_a_parameter_at_any_other_line(line):
    assert render(f"q=star \n{line}", "params") == [("q", f"star{line}")]


def test_parameters_have_locations():
    template = parse_template("# comment\n?q=#$query##&defType=edismax\n\n  &\n  qf=a\n   b&mm=1", "params")
    assert [(parameter.name, parameter.line, parameter.column) for parameter in template.parameters] == [
        ("q", 2, 2),
        ("defType", 2, 14),
        ("qf", 5, 3),
        ("mm", 6, 6),
    ]
