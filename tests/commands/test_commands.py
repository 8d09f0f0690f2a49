"""Every command through `call_command`: its effects, its output and its errors."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy import endpoints, engines
from relevancy.models import Case, Endpoint, Rating, Run, User
from tests.commands.test_progress import Terminal
from tests.factories import make_attempt, make_case, make_scorer, make_user, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
RATINGS = "query,docid,rating\nstar wars,1,3\nstar wars,2,0\nalien,3,2\n"
DOCS = '{"id": "1", "title": "Star Wars"}\n{"id": "2", "title": "Star Trek"}\n{"id": "3", "title": "Alien"}\n'
TEMPLATE = '{"query": "#$query##", "fields": ["title"]}'


def command(*words: Any) -> str:
    """Returns the output of a command."""
    out = io.StringIO()
    call_command(*map(str, words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def refused(*words: Any) -> str:
    """Returns the error of a command that must end with exit status 2."""
    with pytest.raises(CommandError) as caught:
        command(*words)
    assert caught.value.returncode == 2
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with files, an admin, and an endpoint with three films."""
    make_user("Admin", superuser=True)
    for name, text in {
        "ratings.csv": RATINGS,
        "docs.jsonl": DOCS,
        "template.json": TEMPLATE,
        "queries.txt": "alien\r\n\r\nalien\r\n",
    }.items():
        (tmp_path / name).write_text(text, newline="")
    command("load_documents", "embedded", "few", tmp_path / "docs.jsonl")
    command("create_endpoint", "few", "embedded", "few")
    return tmp_path


def create_case(shop: Path, name: str = "Films", *more: Any) -> str:
    return command(
        "create_case", name, "--endpoint", "few", "--template", shop / "template.json", "--fields", "id:id title:title",
        "--ratings", shop / "ratings.csv", "--scale", "0:3", "--scorer", "nDCG@10", "--scorer", "P@10", *more,
    )  # fmt: skip


class TestTheMainJob:
    def test_from_nothing_to_scores(self, shop: Path) -> None:
        output = create_case(shop)
        case = Case.objects.get()
        assert output == f"Case {case.pk} Films created with 2 queries. Next: evaluate {case.pk}\n"
        printed = command("evaluate", "Films")
        assert "Films: run 1 of attempt 1, 2 queries in " in printed
        assert "on tantivy" in printed
        assert "nDCG@10  100" in printed.replace("100.0", "100")
        report = json.loads(command("evaluate", case.pk, "--json", "-", "--scorer", "nDCG@10"))
        assert list(report) == [
            "case", "attempt", "run", "number", "complete", "seconds", "scorers", "comparison", "passed",
        ]  # fmt: skip
        assert (report["case"], report["attempt"], report["number"], report["complete"]) == ("Films", 1, 2, True)
        assert report["run"] == case.runs.get(number=2).pk
        assert (report["comparison"], report["passed"]) == (None, True)
        [scorer] = report["scorers"]
        assert list(scorer) == ["name", "score", "low", "high", "scored", "queries", "per_query"]
        assert (scorer["name"], scorer["score"], scorer["scored"], scorer["queries"]) == ("nDCG@10", 100, 2, 2)
        assert list(scorer["per_query"]) == ["star wars", "alien"]
        query = scorer["per_query"]["star wars"]
        assert list(query) == ["score", "low", "high", "total", "took_ms", "error"]
        assert (query["score"], query["total"], query["error"]) == (100, 2, None)

    def test_evaluate_writes_a_file(self, shop: Path) -> None:
        create_case(shop)
        printed = command("evaluate", "Films", "--json", shop / "out.json", "--attempt", "1")
        assert "run 1 of attempt 1" in printed
        assert json.loads((shop / "out.json").read_text())["number"] == 1
        assert not list(shop.glob("*.partial"))

    def test_export_run_and_ratings(self, shop: Path) -> None:
        create_case(shop)
        command("evaluate", "Films")
        assert command("export_ratings", "Films") == RATINGS.replace(
            "star wars,1,3\nstar wars,2,0", "star wars,1,3\nstar wars,2,0"
        )
        qrels = command("export_ratings", "Films", "--format", "trec").splitlines()
        run = command("export_run", "Films:1", "--format", "trec").splitlines()
        assert command("export_run", Run.objects.get().pk).splitlines() == run
        assert {line.split()[0] for line in qrels} == {line.split()[0] for line in run}
        out, shown = io.StringIO(), Terminal()
        call_command("export_run", "Films:1", stdout=out, stderr=shown)
        assert out.getvalue().splitlines() == run  # the bar is no part of it
        assert "] 2 of 2 steps" in shown.getvalue()
        command("export_run", "Films:1", "--format", "csv", "--output", shop / "run.csv")
        assert (
            (shop / "run.csv")
            .read_text()
            .startswith("Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position")
        )

    def test_import_ratings_rescores(self, shop: Path) -> None:
        create_case(shop)
        command("evaluate", "Films")
        (shop / "more.csv").write_text("query,docid,rating\nstar wars,2,3\nnew,1,1\n")
        output = command("import_ratings", "Films", shop / "more.csv")
        assert output == "2 ratings read as ratings as CSV: 2 new or changed. 1 query added.\n"
        run = Run.objects.get()
        score = run.case_scores.get(version__scorer__name="P@10").score
        assert score == pytest.approx((20 + 10) / 2)

    def test_queries_from_a_file(self, shop: Path) -> None:
        command(
            "create_case",
            "Q",
            "--endpoint",
            "few",
            "--template",
            shop / "template.json",
            "--queries",
            shop / "queries.txt",
        )
        case = Case.objects.get()
        assert [str(case_query) for case_query in case.case_queries.all()] == ["alien"]
        assert case.scorers.get().is_default
        assert (case.book.lowest, case.book.top) == (1, 10)

    def test_static_engine(self, shop: Path) -> None:
        (shop / "static").mkdir()
        (shop / "static" / "old.csv").write_text("query,docid,position\nstar wars,2,1\nstar wars,1,2\nalien,,\n")
        command("create_endpoint", "old", "static", "old.csv")
        (shop / "empty.json").write_text("{}")
        command("create_case", "Old", "--endpoint", "old", "--template", shop / "empty.json", "--ratings", shop / "ratings.csv",
                "--scale", "0:3", "--scorer", "RR@10")  # fmt: skip
        report = json.loads(command("evaluate", "Old", "--json", "-"))
        assert report["scorers"][0]["per_query"]["star wars"]["score"] == 50
        alien = report["scorers"][0]["per_query"]["alien"]
        assert alien == {
            "score": 0, "low": 0, "high": 0, "total": 0, "took_ms": alien["took_ms"], "error": None,
        }  # fmt: skip

    def test_static_engine_takes_a_local_file(self, shop: Path) -> None:
        (shop / "Old engine.csv").write_text("query,docid,position\nstar wars,2,1\nstar wars,1,2\n")
        output = command("create_endpoint", "old", "static", shop / "Old engine.csv")
        endpoint = Endpoint.objects.get(name="old")
        assert re.fullmatch(r"old-engine-[0-9a-f]{16}\.csv", endpoint.url)
        (shop / "Old engine.csv").unlink()
        assert endpoints.test_connection(endpoint=endpoint, text="star wars").error == ""
        assert "2 fields" in output or "1 fields" in output

    def test_static_engine_refuses_a_bad_file(self, shop: Path) -> None:
        (shop / "bad.csv").write_text("query,docid,position\nstar wars,2,first\n")
        assert "Line 2" in refused("create_endpoint", "old", "static", shop / "bad.csv")
        assert not Endpoint.objects.filter(name="old").exists()


class TestMistakes:
    def test_unknown_things(self, shop: Path) -> None:
        create_case(shop)
        assert "There is no case 'Nope'. Cases: " in refused("evaluate", "Nope")
        assert "Case Films has no attempt 9. Attempts: 1." in refused("evaluate", "Films", "--attempt", "9")
        assert "There is no scorer 'X'" in refused("evaluate", "Films", "--scorer", "X")
        assert "There is no scorer 'X' that " in refused("evaluate", "Films", "--scorer", "nDCG@10", "--scorer", "X")
        assert "There is no run '77'" in refused("export_run", "77")
        assert "There is no run 'Films:9'" in refused("export_run", "Films:9")
        assert "No user has the email address 'x@y'" in refused("evaluate", "Films", "--owner", "x@y")
        assert "There is no endpoint 'nope'. Endpoints: few" in refused(
            "create_case", "C", "--endpoint", "nope", "--template", shop / "template.json"
        )
        create_case(shop)
        assert "Several cases are named 'Films'. Use an id instead" in refused("evaluate", "Films")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--template", "missing.json"], "missing.json cannot be read: No such file"),
            (["--ratings", "missing.csv"], "missing.csv cannot be read"),
            (["--scale", "3"], "at least two grades"),
            (["--scale", "a:b"], "'a:b' is not a valid scale"),
            (["--scale", "0:1"], "Line 2: column rating: 3 of document '1' is not on the book's scale, 0 to 1"),
            (["--depth", "0"], "0 results cannot be shown"),
            (["--scorer", "nope"], "There is no scorer 'nope'"),
            (["--owner", "nobody@x"], "No user has the email address"),
            (["--fields", "id:"], "column"),
        ],
    )
    def test_create_case_is_all_or_nothing(self, shop: Path, words: list[str], message: str) -> None:
        given = [shop / word if "missing" in word else word for word in words]
        assert message in refused(
            "create_case", "C", "--endpoint", "few", "--template", shop / "template.json", "--ratings", shop / "ratings.csv",
            *(["--scale", "0:3"] if "--scale" not in words else []), *given,
        )  # fmt: skip
        assert not Case.objects.exists()
        assert not Rating.objects.exists()

    def test_create_case_keeps_details_of_queries_and_the_raters_of_ratings(self, shop: Path) -> None:
        (shop / "queries.csv").write_text("query,notes\nalien,scary\n")
        (shop / "ratings.csv").write_text(
            "query,docid,rating,rater\nalien,3,2,admin@example.com\nalien,3,1,Ben\nstar wars,1,3,Ben\n"
        )
        words = ("--queries", shop / "queries.csv", "--ratings", shop / "ratings.csv", "--scale", "0:3")
        create_case(shop, "Films", *words)
        case = Case.objects.get()
        assert list(case.case_queries.values_list("query__text", "query__notes")) == [
            ("alien", "scary"),
            ("star wars", ""),
        ]
        given = Rating.objects.values_list("rater__name", "rater__is_active", "query__text", "value")
        assert set(given) == {
            ("Admin", True, "alien", 2),
            ("Ben", False, "alien", 1),
            ("Ben", False, "star wars", 3),
        }
        (shop / "ratings.csv").write_text("query,docid,rating,rater\nalien,3,2,Ann\nalien,3,1,\nalien,3,9,Ann\n")
        assert "not on the book's scale" in refused("create_case", "Other", *words)
        assert Case.objects.count() == 1

    def test_create_case_broken_files(self, shop: Path) -> None:
        (shop / "template.json").write_text('{"query": \n "#$query##"')
        assert "Line 2, column" in refused(
            "create_case", "C", "--endpoint", "few", "--template", shop / "template.json"
        )
        (shop / "template.json").write_bytes(b"\xff\xfe")
        assert "is not valid UTF-8" in refused(
            "create_case", "C", "--endpoint", "few", "--template", shop / "template.json"
        )
        (shop / "template.json").write_text(TEMPLATE)
        (shop / "queries.txt").write_text("fine\n" + "x" * 2049 + "\n")
        assert "Line 2: “xxx" in refused(
            "create_case",
            "C",
            "--endpoint",
            "few",
            "--template",
            shop / "template.json",
            "--queries",
            shop / "queries.txt",
        )
        assert not Case.objects.exists()

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["x", "nosuch", "url"], "No engine “nosuch” is installed"),
            (["few", "embedded", "few"], "name: "),
            (["x", "solr", "ftp://h/solr/c"], ""),
            (["x", "solr", "http://user:pw@127.0.0.1/solr/c"], ""),
            (["x", "embedded", "few", "--option", "nothing"], "--option 'nothing' does not have the form KEY=VALUE"),
            (["x", "embedded", "few", "--option", "pasword=x"], "There is no 'pasword' here. Did you mean password?"),
            (["x", "embedded", "few", "--option", "parallel=many"], "--option parallel is 'many'"),
            (["x", "embedded", "few", "--option", "parallel=0"], "parallel: "),
            (["x", "embedded", "few", "--option", "read_timeout=soon"], "The option read_timeout is 'soon'"),
            (["x", "embedded", "few", "--option", "read_timeout=-1"], "The option read_timeout is -1"),
            (["x", "embedded", "few", "--option", "query_options=[1]"], "query_options must be a JSON object"),
            (["x", "solr", "http://127.0.0.1:1/solr/a", "--option", "preset=vespa"], "It has none"),
        ],
    )
    def test_create_endpoint(self, shop: Path, words: list[str], message: str) -> None:
        assert message in refused("create_endpoint", *words)
        assert Endpoint.objects.count() == 1

    def test_create_endpoint_keeps_secrets(self, shop: Path) -> None:
        out = command("create_endpoint", "x", "embedded", "few", "--option", "password=verysecret", "--option", "username=u",
                      "--option", "header.x-key=alsosecret", "--option", "per_minute=60")  # fmt: skip
        endpoint = Endpoint.objects.get(name="x")
        assert endpoint.credentials == {"password": "verysecret", "username": "u"}
        assert (endpoint.headers, endpoint.per_minute, endpoint.options) == ({"x-key": "alsosecret"}, 60, {})
        assert "secret" not in out

    def test_import_ratings_changes_nothing(self, shop: Path) -> None:
        create_case(shop)
        (shop / "bad.csv").write_text("query,docid,rating\nalien,3,1\nalien,4,x\n")
        assert refused("import_ratings", "Films", shop / "bad.csv") == "Line 3: column rating: 'x' is not a number."
        assert Rating.objects.count() == 3

    def test_output_that_cannot_be_written(self, shop: Path) -> None:
        create_case(shop)
        assert "cannot be written" in refused("export_ratings", "Films", "--output", shop / "no" / "where.csv")
        assert "cannot be written" in refused("export_ratings", "Films", "--output", shop)
        command("export_ratings", "Films", "--output", "/dev/null")
        assert not Path("/dev/null").is_file()

    def test_no_admin_or_several(self) -> None:
        assert "There is no superuser" in refused("create_endpoint", "x", "embedded", "few")
        make_user(superuser=True)
        make_user(superuser=True)
        assert "There are several superusers" in refused("create_endpoint", "x", "embedded", "few")
        assert User.objects.count() == 2

    def test_evaluate_incomplete_or_failed(self) -> None:
        case = make_case(3, {"query 1": {"a": 2}})
        attempt = make_attempt(case)
        script_of(attempt).answers["query 2"] = engines.BadQuery("No such parser.")
        assert (
            refused("evaluate", case.pk)
            == "Run 1 is incomplete: 1 of 3 searches failed. First error: No such parser. Failed: “query 2”."
        )
        script_of(attempt).version = engines.EndpointUnreachable("Nothing answered.")
        out = io.StringIO()
        with pytest.raises(CommandError, match=r"Run 2 is failed: Nothing answered\."):
            call_command("evaluate", str(case.pk), "--json", "-", stdout=out)
        report = json.loads(out.getvalue())
        assert (report["complete"], report["scorers"][0]["score"], report["scorers"][0]["scored"]) == (False, None, 0)
        assert report["passed"] is False

    def test_evaluate_without_attempt_or_queries(self) -> None:
        case = make_case(0)
        assert f"Case {case.name} has no attempt. Attempts: none yet." in refused("evaluate", case.pk)
        make_attempt(case)
        assert "has no queries" in refused("evaluate", case.pk)

    def test_evaluate_interrupted(self) -> None:
        case = make_case(5)
        attempt = make_attempt(case)
        script = script_of(attempt)

        def interrupt(request: engines.Request) -> None:
            if len(script.requests) == 2:
                raise KeyboardInterrupt

        script.before = interrupt
        assert refused("evaluate", case.pk) == "Stopped. Run 1 keeps the results of 0 queries."
        assert Run.objects.get().status == "cancelled"


class TestTryScorerAndMeasure:
    def test_try_scorer_json(self) -> None:
        tried = json.loads(
            command(
                "try_scorer",
                "--measure",
                "nDCG(gain='linear')@6",
                "--grades",
                "3 2 3 0 1 2",
                "--known",
                "3 2",
                "--json",
            )
        )
        assert list(tried) == ["value", "score", "low", "high", "console", "error"]
        assert tried["value"] == pytest.approx(0.785002, abs=5e-7)
        assert (tried["console"], tried["error"]) == ([], None)

    def test_try_scorer_for_people(self) -> None:
        output = command("try_scorer", "--measure", "AvgEdit@10", "--grades", "10 8 9 – 5 1 4 – – –", "--scale", "1:10")
        assert output.startswith("AvgEdit@10: score 57")
        assert "score –, value –" in command("try_scorer", "--measure", "AP", "--grades", "- - -")
        assert "score –" in command("try_scorer", "--measure", "nDCG@10", "--grades", "")

    def test_try_scorer_named(self) -> None:
        make_scorer("P@2", "mine")
        assert "score 50" in command("try_scorer", "--scorer", "mine", "--grades", "1 0")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--measure", "nDGC@10", "--grades", "1"], "Did you mean nDCG?"),
            (["--measure", "AP", "--grades", "1 x"], "Grade 2 is 'x'"),
            (["--measure", "AP", "--grades", "1 -2"], "-2 is not on the scale 0–1"),
            (["--measure", "AP", "--grades", "4", "--scale", "0:3"], "4 is not on the scale 0–3"),
            (["--measure", "AP", "--grades", "1", "--scale", "x"], "'x' is not a valid scale"),
            (["--measure", "AP", "--grades", "1e300"], "is not a valid scale"),
            (["--scorer", "none", "--grades", "1"], "There is no scorer 'none'"),
        ],
    )
    def test_try_scorer_mistakes(self, words: list[str], message: str) -> None:
        assert message in refused("try_scorer", *words)

    def test_measure(self, tmp_path: Path) -> None:
        (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 0\n")
        (tmp_path / "run").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n")
        files = ("measure", "--qrels", tmp_path / "qrels", "--run", tmp_path / "run")
        result = json.loads(command(*files, "-m", "RR", "P@10", "-m", "AP", "--json"))
        assert list(result) == ["measures"]
        assert list(result["measures"]) == ["RR", "P@10", "AP"]
        assert result["measures"]["RR"] == {"mean": 0.5, "scored": 1, "queries": 2, "per_query": {"1": 0.5, "2": None}}
        zero = json.loads(command(*files, "-m", "RR", "--zero", "--json"))["measures"]["RR"]
        assert zero == {"mean": 0.25, "scored": 2, "queries": 2, "per_query": {"1": 0.5, "2": 0.0}}
        assert command(*files, "-m", "RR") == "RR  mean          0.5000  1 of 2 scored\n"
        assert command(*files, "-m", "RR", "--per-query").splitlines()[1].split() == ["RR", "2", "–"]
        assert "There is no measure 'X'" in refused(*files, "-m", "X")
        (tmp_path / "run").write_text("1 Q0 b\n")
        assert refused(*files, "-m", "RR").startswith("Line 1: 3 columns instead of 6")
