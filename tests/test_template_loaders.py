"""Templates lose their indentation when they are loaded, and nothing else."""

from pathlib import Path

from django.template import Engine

SOURCE = """<ul>
  {% for item in items %}
    <li
      class="item"
    >{{ item }}</li>
  {% endfor %}
</ul>
<textarea>{{ text }}</textarea>
"""


def render(folder: Path, **context: object) -> str:
    (folder / "page.html").write_text(SOURCE)
    engine = Engine(dirs=[folder], loaders=["relevancy.template_loaders.Loader"])
    return engine.render_to_string("page.html", context)


def test_indentation_is_not_sent(tmp_path: Path) -> None:
    html = render(tmp_path, items=["a", "b"])
    assert [line for line in html.splitlines() if line != line.lstrip()] == []
    assert html.count('<li\nclass="item"\n>') == 2


def test_values_keep_their_indentation(tmp_path: Path) -> None:
    assert "<textarea>{\n  1\n}</textarea>" in render(tmp_path, text="{\n  1\n}")


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(SOURCE)
    engine = Engine(dirs=[tmp_path], loaders=["relevancy.template_loaders.Loader"], debug=True)
    assert engine.get_template("page.html").source.count("\n") == SOURCE.count("\n")
