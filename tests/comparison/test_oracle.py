"""Generated comparisons: the command, the API, the page, the CSV and the report say what `oracle` computes, and round it alike."""

import csv
import io
import json
import random
from itertools import combinations

import pytest
from django.core.management import call_command
from django.test.html import parse_html
from django.urls import reverse

from relevancy import comparison, engines, queries
from relevancy.models import Case, Run, ScorerVersion
from tests.api.conftest import ApiClient
from tests.factories import make_attempt, make_case, query_of, run_now, script_of
from tests.views.workbench.example_cases import attributes, by_id, elements, words

from .conftest import figures_of, run_with
from .oracle import Oracle, World, holm, hsd, jaccard, ndcg, precision, printed_p, rbo, rounded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
MEASURES = {"nDCG@3": ndcg(3), "P@3": precision(3)}
TAGS = {"brand": 4, "long": 3, "typo": 2}  # every n-th query
# In every world: what has no rating, has only grades of 0, has the weight 0, has failed in run B, and is the same in all runs.
UNRATED, WORTHLESS, WEIGHTLESS, FAILED, SAME = "query 03", "query 05", "query 07", "query 09", ("query 11", "query 12")
LINKED = ({"query 13", "query 14", "query 15"}, {"query 16", "query 17"})


def invent(count: int, seed: int = 12) -> World:
    """Queries with three runs: A, B, which is better for most of them, and C."""
    draw = random.Random(seed)
    names = [f"query {number:02}" for number in range(1, count + 1)]
    grades = {
        name: {letter: draw.choice([0, 0, 1, 2, 3]) for letter in "abcdef" if draw.random() < 0.75} for name in names
    }
    grades[UNRATED], grades[WORTHLESS] = {}, {"a": 0, "b": 0}
    grades["query 16"] = grades["query 17"] = {"a": 3, "c": 1, "d": 2}
    lists = {run: {name: "".join(draw.sample("abcdefgh", draw.randint(2, 6))) for name in names} for run in "ABC"}
    for name in names:
        if draw.random() < 0.5:
            lists["B"][name] = "".join(sorted(lists["A"][name], key=lambda letter: -grades[name].get(letter, 0)))
    for name in SAME:
        lists["A"][name] = lists["B"][name] = lists["C"][name]
    lists["B"][FAILED] = None
    weights = {name: draw.choice([1.0, 1.0, 2.0, 0.5]) for name in names}
    weights[WEIGHTLESS] = 0.0
    tags = {name: [tag for tag, step in TAGS.items() if not number % step] for number, name in enumerate(names)}
    return World(names, lists, grades, weights, tags, [*LINKED])


def build(world: World) -> tuple[Case, dict[str, Run]]:
    """The case of a world, and its runs."""
    case = make_case(world.queries, world.grades, measures=tuple(MEASURES))
    for name, weight in world.weights.items():
        case.case_queries.filter(query__text=name).update(weight=weight)
        queries.tags.set_tags(query=query_of(case, name), tags=", ".join(world.tags.get(name, [])))
    for names in world.links:
        queries.link(queries=[query_of(case, name) for name in sorted(names)])
    runs = {}
    for run, lists in world.lists.items():
        attempt = make_attempt(case)
        script_of(attempt).answers = {
            name: engines.BadQuery("no") if documents is None else list(documents) for name, documents in lists.items()
        }
        runs[run] = run_now(attempt)
    return case, runs


def printed(*arguments):
    out = io.StringIO()
    call_command("compare", *map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def download(client, case, name, **query):
    response = client.get(reverse(name, args=[case.pk], query=query))
    assert response.status_code == 200, response.content
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()


def assert_members(actual, expected):
    for key, value in expected.items():
        assert actual[key] == (value if isinstance(value, str | bool | None) else pytest.approx(value, abs=1e-9)), key


def assert_figures(data, oracle, ids):
    """The members of the JSON are those of the oracle. ids: of the runs."""
    compared, left_out = oracle.compared, [name for name in oracle.world.queries if name not in oracle.compared]
    assert (data["queries"], data["independent"]) == (len(compared), len(oracle.units(compared)))
    assert (data["left_out"], data["left_out_queries"]) == (len(left_out), left_out)
    for run, member in zip(oracle.runs, data["runs"], strict=True):
        assert_members(member, {"run": ids[run], **oracle.run(run)})
    pairs = {(a, b): oracle.pair(a, b) for a, b in combinations(oracle.runs, 2)}
    first = oracle.runs[0]
    against = [(a, b) for a, b in pairs if a == first]
    for key, p in zip(against, holm([pairs[key]["p_randomisation"] for key in against]), strict=True):
        pairs[key]["p_holm"] = p
    if len(oracle.runs) > 2:
        units = oracle.units(compared)
        means = [[oracle.mean(run, unit) for run in oracle.runs] for unit in units]
        for (a, b), p in hsd(means, [sum(oracle.weights(unit)) for unit in units]).items():
            pairs[oracle.runs[a], oracle.runs[b]]["p_hsd"] = p
    for ((a, b), expected), member in zip(pairs.items(), data["pairs"], strict=True):
        assert_members(member, {"a": ids[a], "b": ids[b], "p_holm": None, "p_hsd": None, **expected})
    tags = oracle.tags()
    assert len(data["tags"]) == len(tags)
    for member in data["tags"]:
        run = next(run for run, pk in ids.items() if pk == member["b"])
        assert_members(member, tags[member["tag"], run])


def figures_on(page):
    """`[(key, text)]` of the figures on a page or in a report."""
    cards = [(attributes(item).get("data-figure"), item) for item in elements(page, _name="div")]
    return [(key, words(elements(card, _name="dd")[0])) for key, card in cards if key]


def expected_figures(oracle, a, b):
    """The figures of a pair as they are printed. In the report, explanations follow some of them."""
    pair, of_run = oracle.pair(a, b), [oracle.run(run) for run in (a, b)]
    changed = round(pair["changed"] * len(oracle.searched(a, b)))
    return {
        "interval": " to ".join(rounded(bound, signed=True) for bound in pair["interval"]),
        "p": printed_p(pair["p_randomisation"]),
        "effect": rounded(pair["effect"], 2, signed=True),
        "counts": f"{pair['wins']} · {pair['ties']} · {pair['losses']}",
        "detectable": ("about " if len(oracle.units(oracle.compared)) < 40 else "") + rounded(pair["detectable"]),
        "carriers": f"{pair['carried_by']} quer",
        "jaccard": rounded(pair["jaccard"], 2, zero=False),
        "rbo": rounded(pair["rbo"], 2, zero=False),
        "changed": f"{changed} of {len(oracle.searched(a, b))}",
        "coverage": " → ".join(f"{rounded(100 * run['rated'] / run['documents'], 0)} %" for run in of_run),
        "bounds": " to ".join(rounded(bound, signed=True) for bound in pair["bounds"]),
        "pool": " · ".join(rounded(run["score_without_own"] - run["score_with_own"], signed=True) for run in of_run),
        "gain": " → ".join(rounded(run["gain"]) for run in of_run),
        "not-compared": str(len(oracle.world.queries) - len(oracle.compared)),
    }


def assert_printed(page, oracle, others):
    """The page or the report prints the figures of each of the `others` against the baseline, and the scores and tags."""
    printed = figures_on(page)
    a = oracle.runs[0]
    expected = [figure for b in others for figure in expected_figures(oracle, a, b).items()]
    assert [key for key, _ in printed] == [key for key, _ in expected]
    for (key, text), (_, value) in zip(printed, expected, strict=True):
        assert text.startswith(("p = " if key == "p" and value[0] != "<" else "p " if key == "p" else "") + value), key


def assert_rows(text, oracle):
    """The rows of the CSV: scores and differences with four decimals, overlaps with six."""
    a, b = oracle.runs[:2]
    header, *rows = csv.reader(io.StringIO(text))
    assert len(rows) == len(oracle.world.queries)
    for cells in rows:
        row = dict(zip(header, cells, strict=True))
        query = row["query"]
        score_a, score_b = oracle.score(a, query), oracle.score(b, query)
        difference = score_b - score_a if query in oracle.compared else None
        for key, value in (("run 1", score_a), ("run 2", score_b), ("difference", difference)):
            assert row[key] == "" if value is None else float(row[key]) == pytest.approx(value, abs=5.1e-5), (
                query,
                key,
            )
        lists = [oracle.world.lists[run][query] for run in (a, b)]
        if None in lists:
            assert (row["jaccard"], row["rbo"], row["changed"]) == ("", "", "")
        else:
            assert float(row["jaccard"]) == pytest.approx(jaccard(*lists), abs=5.1e-7)
            assert float(row["rbo"]) == pytest.approx(rbo(*lists), abs=5.1e-7)
            is_same, is_set = lists[0] == lists[1], {*lists[0]} == {*lists[1]}
            assert row["changed"] == ("same" if is_same else "order" if is_set else "documents")
        for key, documents in zip(("unrated run 1", "unrated run 2"), lists, strict=True):
            unrated = (
                None if documents is None else sum(d not in oracle.world.grades[query] for d in documents[: oracle.k])
            )
            assert row[key] == ("" if unrated is None else str(unrated))


@pytest.mark.parametrize(("count", "compared"), [(17, ("AB", "ABC")), (30, ("ABC",))], ids=["few", "many"])
def test_every_place_says_what_the_oracle_computes(client, count, compared):
    world = invent(count)
    case, runs = build(world)
    client.force_login(case.owner)
    ids = {run: stored.pk for run, stored in runs.items()}
    for name, measure in MEASURES.items():
        version = ScorerVersion.objects.used_by(case).get(scorer__name=name)
        for letters in compared:
            oracle = Oracle(world, list(letters), measure, 3)
            chosen = [runs[letter] for letter in letters]
            stored = comparison.stored.find_or_create(runs=chosen, version=version)
            comparison.stored.compute(stored.pk)
            data = printed(*(run.pk for run in chosen), "--scorer", name)
            assert_figures(data, oracle, ids)
            query = {"run": [run.number for run in chosen], "scorer": version.scorer_id}
            assert json.loads(download(client, case, "compare_json", **query)) == data
            if letters == "AB":
                path = f"/runs/{ids['B']}/compare/{ids['A']}?scorer={version.scorer_id}"
                assert ApiClient(case.owner).get(path) == data
            page = by_id(
                client.get(reverse("compare", args=[case.pk], query={**query, "tab": "figures"})), "compared-figures"
            )
            assert_printed(page, oracle, letters[1])
            assert_printed(parse_html(download(client, case, "compare_report", **query)), oracle, letters[1:])
            assert_rows(download(client, case, "compare_csv", **query), oracle)


EDGES = {
    "one query": (1, "xa", "ax"),
    "no differences": (25, "ax", "ax"),
    "equal differences": (25, "xa", "ax"),
    "failed searches in one run": (3, None, "ax"),
}


@pytest.mark.parametrize(("count", "before", "after"), EDGES.values(), ids=EDGES)
def test_figures_that_cannot_be_computed_are_missing_in_every_place(client, count, before, after):
    names = [*(f"query {number}" for number in range(count)), UNRATED]
    lists = {run: {**dict.fromkeys(names, doc_ids), UNRATED: "ax"} for run, doc_ids in (("A", before), ("B", after))}
    world = World(names, lists, {**{key: {"a": 3} for key in names}, UNRATED: {}}, dict.fromkeys(names, 1.0))
    case, runs = build(world)
    client.force_login(case.owner)
    version = ScorerVersion.objects.used_by(case).get(scorer__name="nDCG@3")
    chosen = list(runs.values())
    (pair,) = printed(*(run.pk for run in chosen), "--scorer", "nDCG@3")["pairs"]
    assert (pair["effect"], pair["detectable"]) == (None, None)
    query = {"run": [run.number for run in chosen], "scorer": version.scorer_id}
    client.get(reverse("compare", args=[case.pk], query=query))  # the worker of the tests computes at once
    assert json.loads(download(client, case, "compare_json", **query))["pairs"] == [pair]
    shown = client.get(reverse("compare", args=[case.pk], query={**query, "tab": "figures"}))
    page = dict(figures_on(by_id(shown, "compared-figures")))
    report = figures_on(parse_html(download(client, case, "compare_report", **query)))
    assert all(in_report.startswith(page.get(key, "–")) for key, in_report in report)
    shown = {key: page.get(key, "–") for key, _ in report}
    difference = pair["difference"]
    assert shown["effect"] == shown["detectable"] == "–"
    if difference is None or count == 1:
        assert (shown["interval"], shown["p"], pair["p_randomisation"]) == ("–", "–", None)
    else:
        assert shown["interval"] == " to ".join([rounded(difference, signed=True)] * 2)
        assert shown["p"] == ("p = 1.000" if difference == 0 else "p < .001")
    assert shown["carriers"] == ("–" if not difference else "1 query" if count == 1 else "20 queries")


def test_the_same_results_at_other_depths_may_differ_and_the_bounds_say_so():
    """CG without a cutoff looks at the displayed results, and both runs fetch as many as P@10 needs."""
    case = make_case(2, {f"query {number}": {"a": 1, "b": 3} for number in (1, 2)}, measures=("CG", "P@10"))
    version = ScorerVersion.objects.used_by(case).get(scorer__name="CG")
    runs = [run_with(case, dict.fromkeys(("query 1", "query 2"), "abx"), depth=depth) for depth in (1, 3)]
    figures = figures_of(runs, version)
    (pair,) = figures.comparison.pairs
    low, high = pair.bounds
    assert pair.difference != 0
    assert low <= pair.difference <= high


def test_bounds_of_two_equal_runs_that_differ_from_the_baseline_are_zero():
    case = make_case(1, {"query 1": {"a": 1}}, measures=("P@2",))
    version = ScorerVersion.objects.used_by(case)[0]
    runs = [run_with(case, {"query 1": doc_ids}) for doc_ids in ("ax", "xy", "xy")]
    bounds = [pair.bounds for pair in figures_of(runs, version).comparison.pairs]
    assert bounds[2] == (0, 0)
    assert bounds[0][0] < bounds[0][1]
