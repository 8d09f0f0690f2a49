"""Icons: hidden unless they have a label, escaped, and an unknown name says which there are."""

import pytest

from relevancy.templatetags import icons


@pytest.mark.parametrize("name", icons.NAMES)
def test_icon_is_hidden_and_has_no_inline_style(name: str) -> None:
    html = icons.icon(name)
    assert 'aria-hidden="true"' in html
    assert "style=" not in html


def test_icon_with_a_label_is_read() -> None:
    assert 'role="img" aria-label="&lt;x&gt;"' in icons.icon("alert", label="<x>")


def test_icon_size() -> None:
    assert 'width="20" height="20"' in icons.icon("plus", 20)


def test_icon_unknown_names_the_known() -> None:
    with pytest.raises(KeyError, match='There is no icon "rocket"; there are: search, '):
        icons.icon("rocket")
